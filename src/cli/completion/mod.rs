//! Completion: the scripts that teach it to a shell, and what a shell is answered.
//!
//! The scripts are small and ask the program at every Tab, through the hidden `__complete`. Scripts that
//! know all verbs and flags by themselves, as `clap_complete` makes them, would have to ask for names and
//! revisions all the same, would fall behind the program they were made from, and serve only whoever types
//! `kubectl-rollout2`: for `kubectl rollout2` kubectl asks as well, in the same protocol. So there is one
//! answer for five askers, and no further crate in the binary.

mod line;
mod offer;

use std::ffi::OsString;

use clap::{Args, CommandFactory, FromArgMatches, Parser, ValueEnum};

use self::line::Line;
use self::offer::Offer;
use super::common::CommonArgs;
use crate::command::complete::Request;
use crate::model::access::{Access, SnapshotPath};
use crate::render::completion::{Asker, script};

/// The word by which a shell asks. It is no verb: nobody types it, and what follows it is no whole line.
pub(super) const ASKED: &str = "__complete";

/// Print what teaches a shell to complete this program
///
/// For kubectl-rollout2 a script of the shell itself, to be read where the shell is set up. For
/// kubectl rollout2 the script kubectl_complete-rollout2, to be put into a directory of the PATH,
/// executable: kubectl asks it, in every shell that kubectl's own completion was set up for.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionArgs {
    /// Who is to complete
    #[arg(value_name = "SHELL", value_enum)]
    asker: WhoAsks,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 completion bash > ~/.local/share/bash-completion/completions/kubectl-rollout2
  kubectl rollout2 completion zsh > ~/.zfunc/_kubectl-rollout2
  kubectl rollout2 completion fish > ~/.config/fish/completions/kubectl-rollout2.fish
  kubectl rollout2 completion powershell >> $PROFILE
  kubectl rollout2 completion kubectl > ~/.local/bin/kubectl_complete-rollout2";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhoAsks {
    Bash,
    Zsh,
    Fish,
    Powershell,
    /// For kubectl rollout2, in any of these shells
    Kubectl,
}

impl CompletionArgs {
    /// The script.
    pub(super) fn script(&self) -> &'static str {
        script(match self.asker {
            WhoAsks::Bash => Asker::Bash,
            WhoAsks::Zsh => Asker::Zsh,
            WhoAsks::Fish => Asker::Fish,
            WhoAsks::Powershell => Asker::PowerShell,
            WhoAsks::Kubectl => Asker::Kubectl,
        })
    }
}

/// What could come next after these words, the last of which is being typed and may be empty. On a
/// line that makes no sense, nothing.
pub(super) fn understand(words: &[OsString]) -> Request {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let words = if words.is_empty() { vec![String::new()] } else { words };
    let mut program = super::definition();
    program.build();
    let Some(line) = Line::read(&program, &words) else {
        return Request::default();
    };
    let Offer { typed, known, lookup, directive } = Offer::of(&line);
    let request = Request { typed, known, directive, ..Request::default() };
    match access(&line.common) {
        Some(access) => Request { access, lookup, ..request },
        None => request,
    }
}

/// The flags that every verb takes, without a verb.
#[derive(Debug, Parser)]
#[command(disable_help_flag = true)]
struct Common {
    #[command(flatten)]
    common: CommonArgs,
}

/// Where things are looked up. None where they cannot be: standard input is the shell's own here.
fn access(flags: &[String]) -> Option<Access> {
    let words = std::iter::once("kubectl-rollout2").chain(flags.iter().map(String::as_str));
    let matches = Common::command().try_get_matches_from(words).ok()?;
    let common = Common::from_arg_matches(&matches).ok()?.common.lower(false).ok()?;
    (common.access.snapshot != Some(SnapshotPath::Stdin)).then_some(common.access)
}
