//! Shell completion: the scripts, and the hidden verb `__complete` that they call.
//!
//! The scripts are small and call the program at every Tab. Scripts of `clap_complete`, which contain all
//! verbs and flags, would still have to call it for names and revisions. kubectl calls a plugin with the
//! same protocol to complete `kubectl rollout2`.

pub mod request;
mod suggest;

use std::ffi::OsString;

use clap::{Args, CommandFactory, FromArgMatches, Parser};

use self::request::Request;
pub(super) use self::suggest::PartialLine;
use self::suggest::{suggest, verbs};
use super::common::{CommonArgs, UnusedArgs};
use super::values::{Words, words};
use crate::render::completion::{BASH, Candidate, FISH, KUBECTL, POWERSHELL, ZSH};

/// The hidden verb that a completion script calls, followed by an unfinished command line.
pub(super) const COMPLETE_VERB: &str = "__complete";

/// Print a completion script for a shell or for kubectl
///
/// For kubectl-rollout2, load the script of your shell at startup. For kubectl rollout2, install the
/// script kubectl_complete-rollout2 as an executable in a directory of the PATH. kubectl calls it in
/// every shell in which kubectl's own completion is set up.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionArgs {
    /// The shell, or kubectl
    #[arg(value_name = "SHELL", value_parser = words(SHELLS))]
    pub(super) script: &'static str,

    #[command(flatten)]
    unused: UnusedArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 completion bash > ~/.local/share/bash-completion/completions/kubectl-rollout2
  kubectl rollout2 completion zsh > ~/.zfunc/_kubectl-rollout2
  kubectl rollout2 completion fish > ~/.config/fish/completions/kubectl-rollout2.fish
  kubectl rollout2 completion powershell >> $PROFILE
  kubectl rollout2 completion kubectl > ~/.local/bin/kubectl_complete-rollout2";

const SHELLS: &Words<&str> = &[
    ("bash", "", BASH),
    ("zsh", "", ZSH),
    ("fish", "", FISH),
    ("powershell", "", POWERSHELL),
    ("kubectl", "For kubectl rollout2, in any of these shells", KUBECTL),
];

/// Returns the request for completions of the last of these words, which may be empty. An invalid line
/// gets no completions.
pub(super) fn parse(words: &[OsString], mut program: clap::Command) -> Request {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let words = if words.is_empty() { vec![String::new()] } else { words };
    program.build();
    if let [help, typed] = words.as_slice()
        && help == "help"
    {
        let options = Candidate::new("options", "The connection options");
        return Request { typed: typed.clone(), known: verbs(&program, options), ..Request::default() };
    }
    let Some(line) = PartialLine::read(&program, &words) else {
        return Request::default();
    };
    Request { common: common(&line.common), ..suggest(&line) }
}

/// The common flags, parsed without a verb.
#[derive(Debug, Parser)]
#[command(disable_help_flag = true, args_override_self = true)]
struct CommonFlags {
    #[command(flatten)]
    common: CommonArgs,
}

/// Returns the flags for look-ups; `None` for a snapshot on standard input, which belongs to the shell.
fn common(flags: &[String]) -> Option<CommonArgs> {
    let words = std::iter::once("kubectl-rollout2").chain(flags.iter().map(String::as_str));
    let matches = CommonFlags::command().try_get_matches_from(words).ok()?;
    let common = CommonFlags::from_arg_matches(&matches).ok()?.common;
    common.validate().ok()?;
    Some(common).filter(|common| !common.reads_stdin())
}
