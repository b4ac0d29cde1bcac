//! The command line: clap types, help text, and lowering into plain requests.
//!
//! Lowering reads neither the cluster nor a file, except manifests and templates, so a usage error never reaches the
//! cluster.

mod common;
mod completion;
mod diff;
mod explain;
pub mod help;
mod history;
mod hold;
mod list;
mod parse_error;
mod preview;
mod restart;
mod scope;
mod status;
mod step;
mod undo;
mod values;
mod version;
mod write;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use self::completion::PartialLine;
use crate::command::{Command, Verb, complete};
use crate::error::Error;
use crate::exit::Exit;
use crate::render::appearance::Color;
use crate::render::ui::Ui;
use crate::world::World;

/// Show, explain and drive rollouts of Deployments, StatefulSets and DaemonSets.
///
/// Has the verbs of `kubectl rollout`, with the same arguments and output. In addition it shows what each
/// revision changed, which revision is current, and why a rollout does not progress.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-rollout2",
    bin_name = "kubectl rollout2",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    args_override_self = true // the last value is used, as in kubectl, since aliases put flags in front
)]
pub struct Arguments {
    #[command(subcommand)]
    verb: VerbArguments,
    #[command(flatten)]
    common: common::CommonArgs,
}

#[derive(Debug, Subcommand)]
enum VerbArguments {
    List(list::ListArgs),
    Status(status::StatusArgs),
    History(history::HistoryArgs),
    Diff(diff::DiffArgs),
    Preview(preview::PreviewArgs),
    Undo(undo::UndoArgs),
    Restart(restart::RestartArgs),
    Pause(hold::PauseArgs),
    Resume(hold::ResumeArgs),
    Step(step::StepArgs),
    Explain(explain::ExplainArgs),
    Completion(completion::CompletionArgs),
    Version(version::VersionArgs),
}

/// Returns the definition of the command line, from which man pages and completions are generated.
#[must_use]
pub fn definition() -> clap::Command {
    help::with_options_line(Arguments::command().after_long_help(help::after_help()))
}

/// The result of parsing a command line.
pub enum ParsedArgs {
    /// A verb to run.
    Command(Box<Command>),
    /// A request of a shell for completions.
    Completion(Box<complete::Request>),
    /// Help, another text or an error was printed; exit with this code.
    Handled(Exit),
}

/// Parses a command line, whose first word is the program's name.
pub fn parse(args: impl IntoIterator<Item = OsString>, world: &mut World) -> ParsedArgs {
    let args = help::with_help_flag(args.into_iter().collect());
    if let [_, verb, words @ ..] = args.as_slice()
        && verb == completion::COMPLETE_VERB
    {
        return ParsedArgs::Completion(Box::new(completion::parse(words, definition())));
    }
    if help::asks_for_options(&args) {
        return ParsedArgs::Handled(print_help(&help::options(), &args, world));
    }
    let parsed =
        definition().try_get_matches_from(&args).and_then(|matches| Arguments::from_arg_matches(&matches));
    let exit = match parsed {
        Ok(arguments) => match refuse_namespaces_of_targets(&args).and_then(|()| arguments.lower(world)) {
            Ok(parsed) => return parsed,
            Err(error) => refuse(&error, &args, world),
        },
        Err(help) if !help.use_stderr() => print_help(&help.render().to_string(), &args, world),
        // To stderr, because it is a usage error.
        Err(mistake) if parse_error::is_missing_verb(&mistake) => {
            let help = help::styled(&definition().render_help().to_string());
            print(help::color(&args), world, Exit::Usage, |ui| ui.err_styled(&help))
        }
        Err(mistake) => {
            let program = definition();
            let verb = parse_error::verb(&args, &program); // a guess, because parsing failed
            let error = parse_error::error(&mistake, verb, &program);
            print(help::color(&args), world, error.exit(), |ui| ui.err_masked_error(&error))
        }
    };
    ParsedArgs::Handled(exit)
}

/// Refuses targets with a namespace each, as `list -A -o name` prints them: the last `-n` would be that of all.
fn refuse_namespaces_of_targets(args: &[OsString]) -> Result<(), Error> {
    let words = args.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.chain([String::new()]).collect(); // the last one is that of a completion
    let is_namespace = |word: &&String| word.starts_with("-n") || word.starts_with("--namespace");
    if words.iter().filter(is_namespace).count() < 2 {
        return Ok(()); // without the definition of every flag
    }
    let mut program = definition();
    program.build();
    let Some(line) = PartialLine::read(&program, &words) else {
        return Ok(());
    };
    let (mut first, mut before) = (None, 0);
    for (position, namespace) in &line.namespaces {
        let targets =
            line.words.get(std::mem::replace(&mut before, *position)..*position).unwrap_or_default();
        if !targets.iter().any(|word| word.contains('/')) {
            continue; // an alias puts it in front
        }
        if let Some(other) = first.replace(namespace).filter(|other| *other != namespace) {
            return Err(Error::usage(format!("the targets have two namespaces, {other} and {namespace}"))
                .hint("give the targets of one namespace to each command"));
        }
    }
    Ok(())
}

impl Arguments {
    /// Returns the command, or prints the text that the verb is about.
    fn lower(self, world: &mut World) -> Result<ParsedArgs, Error> {
        let (access, color) = self.common.lower()?;
        let printed = |world: &mut World, write: &dyn Fn(&mut Ui)| {
            Ok(ParsedArgs::Handled(print(Color::Auto, world, Exit::Done, write)))
        };
        let verb = match self.verb {
            VerbArguments::List(arguments) => Verb::List(arguments.lower(&access)?),
            VerbArguments::Status(arguments) => Verb::Status(arguments.lower(&access, &mut world.stdin)?),
            VerbArguments::History(arguments) => Verb::History(arguments.lower(&access, &mut world.stdin)?),
            VerbArguments::Restart(arguments) => Verb::Restart(arguments.lower(&access, &mut world.stdin)?),
            VerbArguments::Pause(arguments) => Verb::Hold(arguments.lower(&access, &mut world.stdin)?),
            VerbArguments::Resume(arguments) => Verb::Hold(arguments.lower(&access, &mut world.stdin)?),
            VerbArguments::Step(arguments) => Verb::Step(Box::new(arguments.lower(&access)?)),
            VerbArguments::Undo(arguments) => Verb::Undo(arguments.lower(&access, &mut world.stdin)?),
            VerbArguments::Diff(arguments) => Verb::Diff(arguments.lower(&access)?),
            VerbArguments::Preview(arguments) => {
                Verb::Preview(Box::new(arguments.lower(&access, &mut world.stdin)?))
            }
            VerbArguments::Completion(arguments) => {
                return printed(world, &|ui| ui.out_text(arguments.script));
            }
            VerbArguments::Explain(arguments) => return printed(world, &|ui| arguments.print(ui)),
            VerbArguments::Version(arguments) => return printed(world, &|ui| arguments.print(ui)),
        };
        Ok(ParsedArgs::Command(Box::new(Command { access, color, verb })))
    }
}

fn refuse(error: &Error, args: &[OsString], world: &mut World) -> Exit {
    print(help::color(args), world, error.exit(), |ui| ui.err_error(error))
}

/// Prints a requested help text to stdout.
fn print_help(text: &str, args: &[OsString], world: &mut World) -> Exit {
    let help = help::styled(&help::compacted(text));
    print(help::color(args), world, Exit::Done, |ui| ui.out_lines(&help))
}

/// Prints something, and returns the exit code.
fn print(color: Color, world: &mut World, exit: Exit, write: impl FnOnce(&mut Ui)) -> Exit {
    let mut ui = Ui::new(world, color);
    write(&mut ui);
    ui.finish().map_or(Exit::Error, |()| exit)
}
