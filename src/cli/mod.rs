//! The command line: the arguments of each verb, which are the requests that `command` runs, and help text.
//!
//! Nothing here reads the cluster or a file, so a usage error never reaches the cluster.

pub mod common;
pub mod completion;
pub mod diff;
pub mod explain;
pub mod help;
pub mod history;
pub mod hold;
pub mod list;
mod parse_error;
pub mod preview;
pub mod restart;
pub mod scope;
pub mod status;
pub mod step;
pub mod undo;
mod values;
pub mod version;
pub mod write;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use self::completion::PartialLine;
use self::hold::{PauseArgs, ResumeArgs};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::render::appearance::Color;
use crate::render::output_form::OutputForm;
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
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
    /// The flags of every verb.
    #[command(flatten)]
    pub common: common::CommonArgs,
}

/// A verb with its arguments.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "clap shows the comments of the arguments")]
pub enum Verb {
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
    Command(Box<Arguments>),
    /// A request of a shell for completions.
    Completion(Box<completion::request::Request>),
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
        Ok(mut arguments) => match refuse_namespaces_of_targets(&args).and_then(|()| arguments.validate()) {
            Ok(()) => return arguments.parsed(world),
            Err(error) => refuse(&error, &args, world),
        },
        Err(help) if !help.use_stderr() => print_help(&help.render().to_string(), &args, world),
        // To stderr, because it is a usage error.
        Err(mistake) if parse_error::is_missing_verb(&mistake) => {
            let help = help::styled(&definition().render_help().to_string());
            print(help::color(&args), world, Exit::Usage, |ui| ui.messages.styled(&help))
        }
        Err(mistake) => {
            if let Some(error) = parse_error::of_value(&mistake) {
                return ParsedArgs::Handled(refuse(error, &args, world));
            }
            let program = definition();
            let verb = parse_error::verb(&args, &program); // a guess, because parsing failed
            let error = parse_error::error(&mistake, verb, &program);
            print(help::color(&args), world, error.exit(), |ui| ui.messages.masked_error(&error))
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

impl Verb {
    /// Returns the patterns of `--contexts`.
    #[must_use]
    pub fn contexts(&self) -> &[String] {
        match self {
            Self::List(arguments) => &arguments.contexts,
            Self::Status(arguments) => &arguments.scope.contexts,
            Self::History(arguments) => &arguments.scope.contexts,
            Self::Diff(arguments) => &arguments.contexts,
            Self::Undo(arguments) => &arguments.write.scope.contexts,
            Self::Restart(arguments) => &arguments.write.scope.contexts,
            Self::Pause(arguments) => &arguments.write.scope.contexts,
            Self::Resume(arguments) => &arguments.write.scope.contexts,
            Self::Step(arguments) => &arguments.contexts,
            _ => &[],
        }
    }

    /// Whether the command may read several clusters.
    fn takes_contexts(&self) -> bool {
        match self {
            Self::History(arguments) => arguments.since.is_some(),
            Self::Diff(arguments) => arguments.with_context.is_none(),
            Self::Step(_) | Self::Preview(_) => false,
            _ => true,
        }
    }

    /// Returns the form of the output.
    #[must_use]
    pub fn output(&self) -> &OutputForm {
        match self {
            Self::List(arguments) => &arguments.output,
            Self::Status(arguments) => &arguments.output,
            Self::History(arguments) => &arguments.output,
            Self::Diff(arguments) => &arguments.output,
            Self::Preview(arguments) => &arguments.output,
            Self::Undo(arguments) => &arguments.write.output,
            Self::Restart(arguments) => &arguments.write.output,
            Self::Pause(arguments) => &arguments.write.output,
            Self::Resume(arguments) => &arguments.write.output,
            Self::Step(arguments) => &arguments.output,
            Self::Version(arguments) => &arguments.output,
            Self::Completion(_) | Self::Explain(_) => &OutputForm::Text,
        }
    }
}

impl Arguments {
    /// Checks the arguments, and completes them with what one flag says of another.
    ///
    /// # Errors
    /// Usage errors.
    fn validate(&mut self) -> Result<()> {
        let common = &self.common;
        common.validate()?;
        if !self.verb.takes_contexts() {
            self.refuse_contexts()?;
        }
        match &mut self.verb {
            Verb::List(arguments) => arguments.validate(common),
            Verb::Status(arguments) => arguments.validate(common),
            Verb::History(arguments) => {
                arguments.validate(common)?;
                arguments.scope.refuse_read_only("history")
            }
            Verb::Diff(arguments) => arguments.validate(common),
            Verb::Preview(arguments) => arguments.validate(common),
            Verb::Undo(arguments) => {
                arguments.validate(common)?;
                arguments.write.scope.refuse_read_only("undo")
            }
            Verb::Restart(arguments) => {
                arguments.validate(common)?;
                arguments.write.scope.refuse_read_only("restart")
            }
            Verb::Pause(PauseArgs { write }) => {
                write.validate(common, false)?;
                write.scope.refuse_read_only("pause")
            }
            Verb::Resume(ResumeArgs { write, .. }) => {
                write.validate(common, false)?;
                write.scope.refuse_read_only("resume")
            }
            Verb::Step(arguments) => arguments.validate(common),
            Verb::Completion(_) | Verb::Explain(_) | Verb::Version(_) => Ok(()),
        }
    }

    /// Refuses several clusters.
    ///
    /// # Errors
    /// When there are several.
    fn refuse_contexts(&self) -> Result<()> {
        if self.common.from.len() < 2 && self.verb.contexts().is_empty() {
            return Ok(());
        }
        let hint = match self.verb {
            Verb::History(_) => "add --since to show what changed in several clusters",
            Verb::Step(_) => {
                "docs/step.md, \"Several clusters\": pause and apply everywhere, then step --context in one after the other"
            }
            _ => "choose one with --context, or one --from",
        };
        Err(Error::usage("this command works on one cluster").hint(hint))
    }

    /// Returns the command, or prints the text that the verb is about.
    fn parsed(self, world: &mut World) -> ParsedArgs {
        let exit = match &self.verb {
            Verb::Completion(arguments) => {
                print(Color::Auto, world, Exit::Done, |ui| ui.out_text(arguments.script))
            }
            Verb::Explain(arguments) => print(Color::Auto, world, Exit::Done, |ui| arguments.print(ui)),
            Verb::Version(arguments) => print(Color::Auto, world, Exit::Done, |ui| arguments.print(ui)),
            _ => return ParsedArgs::Command(Box::new(self)),
        };
        ParsedArgs::Handled(exit)
    }
}

fn refuse(error: &Error, args: &[OsString], world: &mut World) -> Exit {
    print(help::color(args), world, error.exit(), |ui| ui.messages.error(error))
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
