//! The verbs: each reads objects, decides, and prints or patches. One file a verb.
//!
//! The arguments of a verb, in `cli`, are its request. `inputs` reads what they name outside of the command line. `render`
//! formats the output.

pub mod complete;
pub mod context;
mod contexts;
pub mod diff;
mod event_loop;
pub mod follow;
pub mod history;
pub mod hold;
mod inputs;
pub mod list;
mod patch;
mod preflight;
pub mod preview;
pub mod restart;
mod staged_write;
pub mod status;
pub mod step;
mod stop_signals;
pub mod targets;
pub mod undo;
mod undo_on_failure;
pub mod writing_verb;

use crate::cli::common::Recording;
use crate::cli::{Arguments, Verb};
use crate::cluster::access::Access;
use crate::cluster::kubeconfig::contexts::{ContextIdentity, select_contexts};
use crate::cluster::notice::Listener;
use crate::cluster::source::{ContextSource, Source, in_context};
use crate::error::{Error, ErrorKind};
use crate::exit::Exit;
use crate::model::finding::{Finding, Reason, Severity};
use crate::render::job_summary::markdown;
use crate::render::json::{error_document, with_errors};
use crate::render::message_writer::MessageWriter;
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;
use crate::world::{World, append_job_summary};
pub use context::CommandOutcome;
use context::Context;
use inputs::Inputs;

/// Returns the exit code of the process.
fn process_exit(verb: &Verb, exit: Exit) -> Exit {
    match verb {
        Verb::Diff(request) if request.exit_code => diff::diff_exit(exit),
        Verb::Preview(request) if request.exit_code => diff::diff_exit(exit),
        _ => exit,
    }
}

/// Whether the table of a template has headers.
fn has_headers(verb: &Verb) -> bool {
    match verb {
        Verb::List(request) => !request.no_headers,
        Verb::History(request) => !request.no_headers,
        _ => true,
    }
}

/// Whether a verb prints one document after another, and its errors after them.
fn is_stream(verb: &Verb, output: &OutputForm) -> bool {
    match verb {
        Verb::Status(_) | Verb::Step(_) => true,
        Verb::List(request) => request.watch,
        Verb::Diff(_) | Verb::Preview(_) => false,
        // As kubectl, they print an object after another as YAML.
        _ => *output == OutputForm::Yaml,
    }
}

async fn run_verb(verb: &Verb, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome, Error> {
    match verb {
        Verb::List(request) if !context.contexts.is_empty() => {
            Box::pin(list::contexts::run(request, context, ui)).await
        }
        Verb::List(request) if request.watch => Box::pin(list::watch::run(request, context, ui)).await,
        Verb::List(request) => Box::pin(list::run(request, context, ui)).await,
        Verb::History(request) => match request.since {
            Some(start) => Box::pin(history::since::run(request, start, context, ui)).await,
            None => Box::pin(history::run(request, context, ui)).await,
        },
        Verb::Status(request) => Box::pin(status::run(request, context, ui)).await,
        Verb::Diff(request) => Box::pin(diff::run(request, context, ui)).await,
        Verb::Preview(request) => Box::pin(preview::run(request, context, ui)).await,
        Verb::Undo(request) if !context.contexts.is_empty() => {
            Box::pin(undo::contexts::run(request, context, ui)).await
        }
        Verb::Undo(request) => Box::pin(undo::run(request, context, ui)).await,
        Verb::Pause(request) => Box::pin(hold::pause_all(request, context, ui)).await,
        Verb::Resume(request) => Box::pin(hold::resume_all(request, context, ui)).await,
        Verb::Restart(request) => Box::pin(restart::run(request, context, ui)).await,
        Verb::Step(request) => Box::pin(step::run(request, context, ui)).await,
        Verb::Completion(_) | Verb::Explain(_) | Verb::Version(_) => Ok(CommandOutcome::default()), // `cli` prints their text
    }
}

/// Returns the context that is read beside the cluster of the command.
fn context_beside(verb: &Verb) -> Option<&String> {
    if let Verb::Diff(request) = verb { request.with_context.as_ref() } else { None }
}

/// Returns what two contexts must have in common so that a command finds the same workloads in both.
fn context_identity(Arguments { verb, common }: &Arguments) -> ContextIdentity {
    let (writes, all_namespaces) = match verb {
        Verb::List(request) => (false, request.all_namespaces),
        Verb::Status(request) => (request.options().undo_on_failure.is_some(), request.scope.all_namespaces),
        Verb::History(request) => (false, request.scope.all_namespaces),
        Verb::Undo(request) => (true, request.write.scope.all_namespaces),
        Verb::Restart(_) | Verb::Pause(_) | Verb::Resume(_) => (true, false), // they refuse -A
        _ => (false, false),
    };
    ContextIdentity { user: !writes, namespace: common.namespace().is_none() && !all_namespaces }
}

/// Returns the contexts that a command names, each with its access, and prints which ones are left out.
///
/// # Errors
/// When the kubeconfig cannot be read, or has no such context, and when other flags choose one cluster.
fn named_contexts(
    arguments: &Arguments,
    access: &Access,
    world: &World,
    messages: &MessageWriter,
) -> Result<Vec<(String, Access)>, Error> {
    let Arguments { verb, common } = arguments;
    let to_context = |name: &String| (name.clone(), access.to_context(name));
    if let Some(other) = context_beside(verb) {
        return Ok(vec![to_context(other)]);
    }
    let patterns = verb.contexts();
    if patterns.is_empty() {
        let several = common.from.iter().filter(|_| common.from.len() > 1);
        let recorded =
            |recording: &Recording| Access { snapshot: Some(recording.path.clone()), ..access.clone() };
        let named = several.filter_map(|recording| Some((recording.context.clone()?, recorded(recording))));
        return Ok(named.collect());
    }
    let other = match access {
        _ if !common.from.is_empty() => Some("--from"),
        _ if access.overrides.chooses_cluster() => Some("flags that choose one cluster"),
        _ => None,
    };
    if let Some(other) = other {
        return Err(Error::usage(format!("--contexts cannot be used with {other}")));
    }
    let identity = context_identity(arguments);
    let equal = match (identity.user, identity.namespace) {
        (true, true) => "server, user and namespace",
        (true, false) => "server and user",
        (false, true) => "server and namespace",
        (false, false) => "server",
    };
    let (kubeconfig, overrides) = (&access.kubeconfig, &access.overrides);
    let selected = select_contexts(patterns, identity, kubeconfig, overrides, &world.environment)?;
    for (name, same) in selected.same {
        let note = format!("left out, because {same} has the same {equal}");
        messages.finding(&Finding::note(Reason::Skipped, note).about(format!("context {name}")));
    }
    Ok(selected.names.iter().map(to_context).collect())
}

/// Runs a command on the sources that `open` returns, and returns its exit code.
pub async fn run(
    mut open: impl FnMut(&Access, &mut World, Listener) -> Result<Source, Error>,
    arguments: Arguments,
    world: &mut World,
) -> Exit {
    let mut messages = MessageWriter::new(world.err.clone(), &world.environment, arguments.common.color);
    let Arguments { verb, common } = &arguments;
    let opened = Inputs::read(&arguments, world).and_then(|mut inputs| {
        let mut named = named_contexts(&arguments, &inputs.access, world, &messages)?;
        let is_beside = context_beside(verb).is_some();
        if let (false, [(_, only)]) = (is_beside, named.as_slice()) {
            inputs.access = only.clone(); // one context is as `--context`
            named.clear();
        }
        let access = &inputs.access;
        if access.snapshot.is_none() {
            messages = messages.with_flags(access.overrides.cluster_flags());
        }
        let own = (is_beside || named.is_empty())
            .then(|| open(access, world, listener(messages.clone(), None)))
            .transpose()?;
        let open = |(name, access): (String, Access)| {
            let listener = listener(messages.clone(), Some(name.clone()));
            let source = open(&access, world, listener).map_err(|error| in_context(&name, error));
            let flags = access.overrides.cluster_flags().filter(|_| access.snapshot.is_none());
            let context = ContextSource { name, flags, source };
            let unread = context.source.as_ref().err().filter(|_| access.snapshot.is_some()).cloned();
            unread.map_or(Ok(context), Err) // a file that cannot be read is a usage error
        };
        let contexts = named.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        Ok((inputs, own, contexts))
    });
    let mut ui = Ui::with(messages, world, common.color);
    let (ran, warnings) = match &opened {
        Ok((inputs, own, contexts)) => match first_source(own.as_ref(), contexts) {
            Ok(source) => {
                let secret_values = context::secret_values(&world.environment);
                let context = Context { source, contexts, common, inputs, secret_values, world };
                (run_verb(verb, &context, &mut ui).await, context.warnings_error())
            }
            Err(error) => (Err(error), None),
        },
        Err(error) => (Err(error.clone()), None),
    };
    // `step` prints its errors as documents.
    let printed_error_documents = ran.is_ok() && matches!(verb, Verb::Step(_));
    let mut outcome = ran.unwrap_or_else(CommandOutcome::from);
    outcome.errors.extend(warnings);
    outcome.print_errors(&mut ui);
    let form = verb.output();
    if form.is_document() && !printed_error_documents {
        let printed = print_documents(verb, form, &mut outcome, &mut ui);
        outcome.errors.extend(printed.err());
        outcome.print_errors(&mut ui);
    }
    if let Err(error) = append_job_summary(&world.environment, &markdown(&outcome.summary)) {
        let error = Error::new(ErrorKind::File, "cannot write the job summary").caused_by(error);
        ui.messages.finding(&Finding { severity: Severity::Warning, ..Finding::from(&error) });
    }
    let exit = outcome.worst_exit();
    if ui.finish().is_ok() {
        return process_exit(verb, exit);
    }
    // `finish` printed the error.
    let written = |change| Finding::note(Reason::Written, format!("the change was made: {change}"));
    outcome.changes.iter().for_each(|change| ui.messages.finding(&written(change)));
    process_exit(verb, exit.worst(Exit::Error))
}

/// Returns the source that the flags choose, or else the first one of the contexts.
///
/// # Errors
/// That of the first context, if none has a source.
fn first_source<'a>(own: Option<&'a Source>, contexts: &'a [ContextSource]) -> Result<&'a Source, Error> {
    let named = || contexts.iter().map(|context| context.source.as_ref());
    let error = || named().find_map(Result::err).cloned();
    let source = own.or_else(|| named().find_map(Result::ok));
    source.ok_or_else(|| error().unwrap_or_else(|| Error::usage("no context is selected")))
}

/// Prints the document of a command with its errors, or the errors after a stream of documents. A template is for the document
/// alone.
///
/// # Errors
/// When the document does not have what a template asks for.
fn print_documents(
    verb: &Verb,
    form: &OutputForm,
    outcome: &mut CommandOutcome,
    ui: &mut Ui,
) -> Result<(), Error> {
    let error = |error: &Error| error_document(error, process_exit(verb, error.exit()).code());
    let is_template = form.is_template();
    let errors: Vec<_> = outcome.printed.iter().filter(|_| !is_template).map(error).collect();
    let document = outcome.document.take();
    if document.is_none() && is_stream(verb, form) {
        for error in &errors {
            ui.out_streamed(error, form);
        }
        return Ok(());
    }
    with_errors(document, errors)
        .map_or(Ok(()), |document| ui.out_document(&document, form, has_headers(verb)))
}

/// Returns a listener that prints the notices of the transport to stderr, with the context that the command names, if it does.
fn listener(messages: MessageWriter, context: Option<String>) -> Listener {
    Listener::new(move |notice| match &context {
        Some(context) if notice.severity != Severity::Info => {
            let subject = notice.subject.as_ref().map(|subject| format!(": {subject}")).unwrap_or_default();
            messages.finding(&notice.clone().about(format!("context {context}{subject}")));
        }
        _ => messages.finding(notice),
    })
}
