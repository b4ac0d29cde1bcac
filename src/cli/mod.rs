//! The command line: what may be typed, all help text, and its lowering into plain requests.
//!
//! Lowering is pure: nothing is read from the cluster or from a file while arguments are checked,
//! so a mistake in them never reaches the cluster.

mod common;
mod completion;
mod connection;
mod diff;
mod following;
mod history;
mod hold;
pub mod manual;
mod mistake;
mod restart;
mod revision;
mod scope;
mod status;
mod step;
mod undo;
mod undo_on_failure;
mod waiting;
mod writing;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::command::{Command, Verb, complete};
use crate::error::Error;
use crate::exit::Exit;
use crate::render::appearance::Color;
use crate::render::screen::Screen;
use crate::world::{Environment, World};

/// Status, history, diff, undo and step-by-step rollouts for Deployments, DaemonSets and StatefulSets.
///
/// The verbs of `kubectl rollout`, with the same arguments and the same words, and more to go by:
/// what each revision changed, which one runs, and why a rollout does not go on.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-rollout2",
    bin_name = "kubectl rollout2",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    args_override_self = true // the last counts, as with kubectl: aliases and wrappers put flags in front
)]
pub struct Arguments {
    #[command(subcommand)]
    verb: VerbArguments,
    #[command(flatten)]
    common: common::CommonArgs,
}

#[derive(Debug, Subcommand)]
enum VerbArguments {
    Status(status::StatusArgs),
    History(history::HistoryArgs),
    Diff(diff::DiffArgs),
    Undo(undo::UndoArgs),
    Restart(restart::RestartArgs),
    Pause(hold::PauseArgs),
    Resume(hold::ResumeArgs),
    Step(step::StepArgs),
    Completion(completion::CompletionArgs),
}

/// The verbs that `kubectl rollout` has not. To them `--compat` means nothing: least of all that an error
/// is 1, which `diff --exit-code` has another meaning for.
const OURS: [&str; 3] = ["diff", "step", "completion"];

/// The definition of the whole command line, from which man pages and completions are made.
#[must_use]
pub fn definition() -> clap::Command {
    Arguments::command().after_long_help(manual::below_the_flags())
}

/// What a command line comes to: something to do, or something that was already answered.
pub enum Understood {
    /// Do this.
    Command(Box<Command>),
    /// Tell a shell what could come next.
    Completion(Box<complete::Request>),
    /// Help or a mistake was printed; end like this.
    Answered(Exit),
}

/// Reads a command line, whose first word is the program's own name.
pub fn understand(args: impl IntoIterator<Item = OsString>, world: &mut World) -> Understood {
    let args: Vec<OsString> = args.into_iter().collect();
    if let [_, asked, words @ ..] = args.as_slice()
        && asked == completion::ASKED
    {
        return Understood::Completion(Box::new(completion::understand(words)));
    }
    let asks = asks_for_compat(&args, &world.environment);
    let compat_of = |verb: Option<&str>| asks && verb.is_none_or(|verb| !OURS.contains(&verb));
    let parsed = definition().try_get_matches_from(&args).and_then(|matches| {
        Ok((Arguments::from_arg_matches(&matches)?, compat_of(matches.subcommand_name())))
    });
    let compat = compat_of(mistake::verb(&args)); // as far as a mistake lets one tell
    match parsed {
        Ok((arguments, compat)) => match arguments.lower(compat) {
            Ok(Lowered::Command(command)) => Understood::Command(command),
            Ok(Lowered::Text(text)) => Understood::Answered(print(text, Exit::Done, world, compat)),
            Err(error) => Understood::Answered(refuse(&error, world, compat)),
        },
        Err(answer) if !answer.use_stderr() => {
            Understood::Answered(print(&answer.render().to_string(), Exit::Done, world, compat))
        }
        Err(mistake) if mistake::lacks_verb(&mistake) => {
            Understood::Answered(print(&definition().render_help().to_string(), Exit::Usage, world, compat))
        }
        Err(mistake) => Understood::Answered(refuse(&mistake::error(&mistake, &args), world, compat)),
    }
}

/// What arguments come to.
enum Lowered {
    Command(Box<Command>),
    /// Text that needs nothing but to be printed.
    Text(&'static str),
}

impl Arguments {
    fn lower(self, compat: bool) -> Result<Lowered, Error> {
        let common = self.common.lower(compat)?;
        let verb = match self.verb {
            VerbArguments::Status(arguments) => Verb::Status(arguments.lower(&common)?),
            VerbArguments::History(arguments) => Verb::History(arguments.lower(&common)?),
            VerbArguments::Restart(arguments) => Verb::Restart(arguments.lower(&common)?),
            VerbArguments::Pause(arguments) => Verb::Hold(arguments.lower(&common)?),
            VerbArguments::Resume(arguments) => Verb::Hold(arguments.lower(&common)?),
            VerbArguments::Step(arguments) => Verb::Step(Box::new(arguments.lower(&common)?)),
            VerbArguments::Undo(arguments) => Verb::Undo(arguments.lower(&common)?),
            VerbArguments::Diff(arguments) => Verb::Diff(arguments.lower(&common)?),
            VerbArguments::Completion(arguments) => return Ok(Lowered::Text(arguments.script())),
        };
        Ok(Lowered::Command(Box::new(Command { common, verb })))
    }
}

/// Looked for by hand, because a mistake in the arguments must be told in the right words too.
fn asks_for_compat(args: &[OsString], environment: &Environment) -> bool {
    args.iter().take_while(|word| *word != "--").any(|word| word == "--compat")
        || environment.text("ROLLOUT2_COMPAT") == Some("kubectl")
}

fn refuse(error: &Error, world: &mut World, compat: bool) -> Exit {
    let mut screen = Screen::new(world, Color::Auto, compat);
    screen.errors(std::slice::from_ref(error));
    let exit = if compat { Exit::Error } else { error.exit() };
    screen.finish().map_or(Exit::Error, |()| exit)
}

/// Help goes to stdout, asked for or not, as kubectl has it.
fn print(text: &str, exit: Exit, world: &mut World, compat: bool) -> Exit {
    let mut screen = Screen::new(world, Color::Auto, compat);
    screen.result(text);
    let exit = if compat && exit != Exit::Done { Exit::Error } else { exit };
    screen.finish().map_or(Exit::Error, |()| exit)
}
