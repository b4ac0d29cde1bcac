//! The verbs: each reads objects, decides, and prints or patches. One file a verb.
//!
//! `cli` parses the command line into the plain requests that are defined here. `render` formats the
//! output.

pub mod complete;
pub mod context;
pub mod diff;
mod event_loop;
pub mod follow;
pub mod history;
pub mod hold;
pub mod list;
mod patch;
mod preflight;
pub mod preview;
pub mod restart;
pub mod status;
pub mod step;
mod stop_signals;
pub mod targets;
pub mod undo;
mod undo_on_failure;
pub mod writing_verb;

pub use crate::cluster::kubeconfig::overrides;
use crate::cluster::notice::Listener;
pub use crate::cluster::source::Access;
use crate::cluster::source::{ContextSource, Source};
use crate::error::{Error, ErrorKind};
use crate::exit::Exit;
use crate::render::appearance::Color;
use crate::render::job_summary::markdown;
use crate::render::json::{error_document, with_errors};
use crate::render::message_writer::MessageWriter;
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;
use crate::world::{World, append_job_summary};
pub use context::CommandOutcome;
use context::Context;

/// A parsed command line.
#[derive(Debug)]
pub struct Command {
    /// The cluster or the snapshot to read from.
    pub access: Access,
    /// When to use colour.
    pub color: Color,
    /// The verb and its own options.
    pub verb: Verb,
}

/// The verb and its own options.
#[derive(Debug)]
pub enum Verb {
    /// Lists rollouts.
    List(list::Request),
    /// Shows the revisions of workloads.
    History(history::Request),
    /// Shows the differences between two templates of a workload.
    Diff(diff::Request),
    /// Shows what applying manifests would do to rollouts.
    Preview(Box<preview::Request>),
    /// Rolls workloads back to an earlier revision.
    Undo(undo::Request),
    /// Pauses or resumes rollouts.
    Hold(hold::Request),
    /// Replaces every pod.
    Restart(restart::Request),
    /// Shows or follows the status of rollouts.
    Status(status::Request),
    /// Releases an update batch by batch.
    Step(Box<step::Request>),
}

impl Verb {
    /// Returns the exit code of the process.
    fn process_exit(&self, exit: Exit) -> Exit {
        match self {
            Self::Diff(request) if request.exit_code => diff::diff_exit(exit),
            Self::Preview(request) if request.exit_code => diff::diff_exit(exit),
            _ => exit,
        }
    }

    /// Returns the form of its output.
    fn output(&self) -> &OutputForm {
        match self {
            Self::List(request) => &request.output,
            Self::History(request) => &request.output,
            Self::Status(request) => &request.output,
            Self::Diff(request) => &request.output,
            Self::Preview(request) => &request.output,
            Self::Undo(request) => &request.options.output,
            Self::Hold(request) => &request.options.output,
            Self::Restart(request) => &request.options.output,
            Self::Step(request) => &request.output,
        }
    }

    /// Returns the contexts that it names beside the one that the flags choose.
    fn named_contexts(&self) -> Vec<String> {
        let Self::Diff(request) = self else { return Vec::new() };
        request.elsewhere.iter().filter_map(|elsewhere| elsewhere.context.clone()).collect()
    }

    /// Whether the table of a template has headers.
    fn has_headers(&self) -> bool {
        match self {
            Self::List(request) => !request.no_headers,
            Self::History(request) => !request.no_headers,
            _ => true,
        }
    }

    /// Whether it prints one document after another, and its errors after them.
    fn is_stream(&self) -> bool {
        match self {
            Self::Status(_) | Self::Step(_) => true,
            Self::List(request) => request.watch,
            // As kubectl, they print an object after another as YAML.
            Self::History(_) | Self::Undo(_) | Self::Hold(_) | Self::Restart(_) => {
                *self.output() == OutputForm::Yaml
            }
            Self::Diff(_) | Self::Preview(_) => false,
        }
    }

    async fn run(&self, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome, Error> {
        match self {
            Self::List(request) if request.watch => Box::pin(list::watch::run(request, context, ui)).await,
            Self::List(request) => Box::pin(list::run(request, context, ui)).await,
            Self::History(request) => match request.since {
                Some(start) => Box::pin(history::since::run(request, start, context.source, ui)).await,
                None => Box::pin(history::run(request, context, ui)).await,
            },
            Self::Status(request) => Box::pin(status::run(request, context, ui)).await,
            Self::Diff(request) => Box::pin(diff::run(request, context, ui)).await,
            Self::Preview(request) => Box::pin(preview::run(request, context, ui)).await,
            Self::Undo(request) => Box::pin(undo::run(request, context, ui)).await,
            Self::Hold(request) => Box::pin(hold::run(request, context, ui)).await,
            Self::Restart(request) => Box::pin(restart::run(request, context, ui)).await,
            Self::Step(request) => Box::pin(step::run(request, context, ui)).await,
        }
    }
}

/// Runs a command on the source that `open` returns, and returns its exit code.
pub async fn run(
    open: impl FnOnce(&Access, &mut World, Listener) -> Result<Source, Error>,
    command: Command,
    world: &mut World,
) -> Exit {
    let access = &command.access;
    let messages = MessageWriter::new(world.err.clone(), &world.environment, command.color);
    if access.snapshot.is_none() {
        messages.set_cluster_flags(access.overrides.cluster_flags());
    }
    let opened = open(access, world, listener(messages.clone(), None)).map(|source| {
        let named = command.verb.named_contexts().into_iter();
        let open = |name: String| {
            let listener = listener(messages.clone(), Some(name.clone()));
            ContextSource::open(name, access, world, listener)
        };
        (source, named.map(open).collect::<Vec<_>>())
    });
    let mut ui = Ui::with(messages, world, command.color);
    let (ran, warnings) = match &opened {
        Ok((source, contexts)) => {
            let secret_values = context::secret_values(&world.environment);
            let context = Context { source, contexts, access, secret_values, world };
            (command.verb.run(&context, &mut ui).await, context.warnings_error())
        }
        Err(error) => (Err(error.clone()), None),
    };
    // `step` prints its errors as documents.
    let printed_error_documents = ran.is_ok() && matches!(command.verb, Verb::Step(_));
    let mut outcome = ran.unwrap_or_else(CommandOutcome::from);
    outcome.errors.extend(warnings);
    outcome.print_errors(&mut ui);
    if command.verb.output().is_document() && !printed_error_documents {
        let printed = print_documents(&command.verb, &mut outcome, &mut ui);
        outcome.errors.extend(printed.err());
        outcome.print_errors(&mut ui);
    }
    if let Err(error) = append_job_summary(&world.environment, &markdown(&outcome.summary)) {
        let error = Error::new(ErrorKind::File, "cannot write the job summary").caused_by(error);
        ui.err_line(&format!("warning: {error}"));
    }
    let exit = outcome.worst_exit();
    if ui.finish().is_ok() {
        return command.verb.process_exit(exit);
    }
    // `finish` printed the error.
    ui.err_lines(outcome.changes.iter().map(|change| format!("note: the change was made: {change}")));
    command.verb.process_exit(exit.worst(Exit::Error))
}

/// Prints the document of a command with its errors, or the errors after a stream of documents. A template is for the document
/// alone.
///
/// # Errors
/// When the document does not have what a template asks for.
fn print_documents(verb: &Verb, outcome: &mut CommandOutcome, ui: &mut Ui) -> Result<(), Error> {
    let form = verb.output();
    let error = |error: &Error| error_document(error, verb.process_exit(error.exit()).code());
    let is_template = matches!(form, OutputForm::Template(_));
    let errors: Vec<_> = outcome.printed.iter().filter(|_| !is_template).map(error).collect();
    let document = outcome.document.take();
    if document.is_none() && verb.is_stream() {
        for error in &errors {
            ui.out_streamed(error, form);
        }
        return Ok(());
    }
    with_errors(document, errors)
        .map_or(Ok(()), |document| ui.out_document(&document, form, verb.has_headers()))
}

/// Returns a listener that prints the notices of the transport to stderr, with the context that the command names, if it does.
fn listener(messages: MessageWriter, context: Option<String>) -> Listener {
    Listener::new(move |notice| match (&context, notice.split_once(": ")) {
        (Some(context), Some((severity @ ("note" | "warning"), notice))) => {
            messages.err_line(&format!("{severity}: context {context}: {notice}"));
        }
        _ => messages.err_line(notice),
    })
}
