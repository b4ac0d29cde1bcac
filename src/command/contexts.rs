//! Reads several clusters, each of a context, at the same time.

use futures_util::stream::{StreamExt, iter};
use k8s_openapi::jiff::Timestamp;

use super::context::CommandOutcome;
use super::inputs::TargetScope;
use super::targets::{FoundTargets, TargetFinder};
use crate::cluster::source::{ContextSource, Source, in_context};
use crate::error::{Error, ErrorKind, Result};
use crate::model::finding::Reason;
use crate::model::kind::Workload;
use crate::model::text::plural::plural;
use crate::render::contexts::ReadContext;
use crate::render::message_writer::MessageWriter;

/// How many clusters are read at the same time.
const MAX_CLUSTERS: usize = 16;

/// Reads each context, in any order, because one that does not answer must not keep others from being read. Returns them in
/// their order. `with_version` reads the version of each API server too.
pub(super) async fn read_each<'a, T>(
    contexts: &'a [ContextSource],
    with_version: bool,
    read: impl AsyncFn(&'a Source) -> Result<T>,
) -> Vec<(ReadContext, Option<T>)> {
    let reads = contexts.iter().enumerate().map(async |(index, context)| {
        let version = async {
            let source = context.source.as_ref().ok().filter(|_| with_version)?;
            source.version().await.ok()
        };
        let read = async { read(context.source.as_ref().map_err(Clone::clone)?).await };
        let (read, server_version) = tokio::join!(read, version);
        let (read, error) = match read {
            Ok(read) => (Some(read), None),
            Err(error) => (None, Some(error)),
        };
        let (now, is_live) = match &context.source {
            Ok(source) => (source.now(), source.is_live()),
            Err(_) => (Timestamp::UNIX_EPOCH, false),
        };
        let name = context.name.clone();
        (index, (ReadContext { name, server_version, error, now, is_live }, read))
    });
    let mut all: Vec<_> = iter(reads).buffer_unordered(MAX_CLUSTERS).collect().await;
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, read)| read).collect()
}

/// Returns the errors of a context of which something was read, each once and with the context. If nothing was found, the first
/// one becomes the error of the context.
pub(super) fn errors_of(one: &mut ReadContext, mut errors: Vec<Error>, is_empty: bool) -> Vec<Error> {
    errors.dedup_by(|one, other| one.to_string() == other.to_string());
    if is_empty && !errors.is_empty() {
        one.error = Some(errors.remove(0));
    }
    errors.into_iter().map(|error| in_context(&one.name, error)).collect()
}

/// Finds the workloads of a scope in each context, and keeps what `keep` makes of each. Prints what it finds out about the
/// search. A context that cannot be read is an error of the outcome, and hides nothing of the others.
pub(super) async fn find_in_contexts<'a>(
    scope: &TargetScope,
    keep: impl Fn(Workload) -> Workload,
    contexts: &'a [ContextSource],
    messages: &MessageWriter,
) -> (Vec<(&'a ContextSource, Vec<Workload>)>, CommandOutcome) {
    let search = async |source| Ok(TargetFinder::new(scope, source, true)?.search(scope, &keep).await);
    let (mut all, mut outcome) = (Vec::new(), CommandOutcome::default());
    for (context, (read, found)) in contexts.iter().zip(read_each(contexts, false, search).await) {
        outcome.errors.extend(read.error.map(|error| in_context(&context.name, error)));
        let Some(FoundTargets { workloads, outcome: of_context, notes }) = found else { continue };
        let messages = messages.in_context(&context.name, context.flags.clone());
        messages.findings(notes.iter().filter(|note| note.reason != Reason::NotFound));
        let errors = of_context.errors.into_iter();
        outcome.errors.extend(errors.map(|error| in_context(&context.name, error)));
        all.extend((!workloads.is_empty()).then_some((context, workloads)));
    }
    if all.is_empty() && outcome.errors.is_empty() && !scope.allow_empty {
        outcome.errors.push(nothing_found(contexts.len()));
    }
    (all, outcome)
}

/// Returns the error of a search that found nothing in several contexts.
pub(super) fn nothing_found(contexts: usize) -> Error {
    let place = plural(contexts, "context");
    Error::new(ErrorKind::NotFound, format!("no workload found in {place}"))
}
