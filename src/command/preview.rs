//! `preview`: what applying manifests would do to rollouts. It never writes.

mod applied;
mod apply_result;
mod connection_flags;
mod kubectl;

pub use applied::AppliedObjects;
pub use kubectl::{ApplyFlags, RunContext};

use std::collections::BTreeMap;
use std::io::Read;

use serde_json::Value;

use super::CommandOutcome;
use super::diff::show_lines;
use super::stop_signals::{self, StopSignals};
use crate::cluster::concurrently::concurrently;
use crate::cluster::source::Source;
use crate::command::targets::{BulkReader, Details, TargetScope};
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::change::preview::{Preview, PreviewWarning};
use crate::model::revision::diff::SecretValues;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::render::preview::{self as render, RefusedObject, json};
use crate::render::screen::Screen;
use crate::render::yaml;
use crate::world::Environment;

/// The arguments of `preview`.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where the applied objects come from.
    pub applied: AppliedObjects,
    /// The namespace, which has no targets here.
    pub scope: TargetScope,
    /// The output format.
    pub output: Output,
    /// Whether secret-looking values are shown.
    pub secrets: SecretValues,
    /// Whether exit code 1 means that something rolls out (`--exit-code`).
    pub exit_code: bool,
}

/// The output formats of `preview`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The changes in words.
    Text {
        /// The number of equal lines around each change of a unified diff; none to print no diff.
        diff: Option<usize>,
    },
    /// One JSON document.
    Json,
    /// The same document as YAML.
    Yaml,
}

impl Request {
    /// Reads standard input if the objects or manifests come from there. Called before the first request.
    pub fn read_stdin(&mut self, stdin: &mut dyn Read) {
        self.applied.read_stdin(stdin);
    }
}

/// Prints what applying the objects would do. A signal stops kubectl and the command.
pub(super) async fn run(
    request: &Request,
    source: &Source,
    context: RunContext<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome> {
    let mut signals = StopSignals::new(context.signals.clone());
    let stopped = tokio::select! {
        biased;
        outcome = preview(request, source, &context, screen) => return outcome,
        signal = signals.next() => signal,
    };
    screen.note("stopped; nothing was written");
    Ok(stop_signals::exit(stopped).into())
}

async fn preview(
    request: &Request,
    source: &Source,
    context: &RunContext<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome> {
    let applied = request.applied.read(context, screen).await?;
    let mut others = BTreeMap::new();
    let mut workloads = Vec::new();
    for object in applied.objects {
        let kind = object.kind().to_owned();
        match Workload::of(object) {
            Some(workload) => workloads.push(workload),
            None => *others.entry(kind).or_insert(0) += 1,
        }
    }
    let (before, mut errors) = observe_all(&workloads, request, source, screen).await;
    let mut printed = PreviewPrinter::of(request, &workloads, &applied.refused);
    for (after, before) in workloads.into_iter().zip(before) {
        let Some(before) = before else { continue }; // its error is among the others
        let preview = match before {
            Existing::Observed(before) => {
                Preview::of(&before, after, request.applied.field_manager(), request.secrets)
            }
            Existing::None => Preview::of_new(after),
        };
        if let Err(error) = printed.show(&preview, context.environment, screen).await {
            errors.push(error);
        }
    }
    for refused in &applied.refused {
        printed.show_refused(refused, screen);
        let message = format!("{}: refused by the API server: {}", refused.reference, refused.message);
        errors.push(Error::new(ErrorKind::Refused, message));
    }
    errors.extend(applied.errors);
    printed.finish(&others, screen);
    let exit = if printed.rollouts > 0 && request.exit_code { Exit::Differs } else { Exit::Done };
    Ok(CommandOutcome { exit, errors })
}

/// A workload before the change.
enum Existing {
    None,
    Observed(Box<Observation>),
}

/// Reads each workload as it is now, with its revisions and pods. None for one that cannot be read, whose error is
/// returned.
async fn observe_all(
    workloads: &[Workload],
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> (Vec<Option<Existing>>, Vec<Error>) {
    let found = concurrently(workloads.iter().map(|after| live(after, source))).await;
    let live: Vec<Workload> =
        found.iter().filter_map(|found| found.as_ref().ok().cloned().flatten()).collect();
    let mut errors = Vec::new();
    let mut reader = match BulkReader::read(&request.scope, &live, Details::STATUS, source).await {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), vec![error]),
    };
    let mut observe = |found: Result<Option<Workload>>| {
        Ok(match found? {
            Some(workload) => Existing::Observed(Box::new(reader.observe(workload, screen)?)),
            None => Existing::None,
        })
    };
    let observed =
        found.into_iter().map(|found| observe(found).map_err(|error| errors.push(error)).ok()).collect();
    (observed, errors)
}

/// Reads a workload as it is now; none if it does not exist.
async fn live(after: &Workload, source: &Source) -> Result<Option<Workload>> {
    let object = after.object();
    match source.get(after.kind().type_(), object.namespace(), object.name()).await {
        // A snapshot without any object of the type has not this one.
        Err(error) if error.kind() == ErrorKind::NotReadable && !source.is_live() => Ok(None),
        found => Ok(found?.and_then(Workload::of)),
    }
}

/// Prints each workload, and counts them.
struct PreviewPrinter<'a> {
    request: &'a Request,
    in_namespaces: bool,
    workloads: usize,
    rollouts: usize,
    items: Vec<Value>,
}

impl<'a> PreviewPrinter<'a> {
    fn of(request: &'a Request, workloads: &[Workload], refused: &[RefusedObject]) -> Self {
        let mut namespaces: Vec<&str> =
            workloads.iter().map(|workload| workload.object().namespace()).collect();
        namespaces.extend(refused.iter().map(|refused| refused.namespace.as_str()));
        namespaces.sort_unstable();
        namespaces.dedup();
        Self { request, in_namespaces: namespaces.len() > 1, workloads: 0, rollouts: 0, items: Vec::new() }
    }

    async fn show(
        &mut self,
        preview: &Preview,
        environment: &Environment,
        screen: &mut Screen<'_>,
    ) -> Result<()> {
        self.workloads += 1;
        self.rollouts += usize::from(preview.outcome.is_rollout());
        let Output::Text { diff } = self.request.output else {
            self.items.push(json::item(preview));
            return Ok(());
        };
        screen.styled(&render::block(preview, self.in_namespaces));
        for warning in &preview.warnings {
            screen.note(&render::warning(warning, &preview.after));
            if matches!(warning, PreviewWarning::MovingTag(_)) {
                screen.note(&render::moving_tag_hint(&preview.after));
            }
        }
        match diff.filter(|_| !preview.changes.is_empty()) {
            Some(context) => {
                let sides = ["live", "applied"];
                show_lines(&preview.changes, &preview.after, sides, context, environment, screen).await
            }
            None => Ok(()),
        }
    }

    fn show_refused(&mut self, refused: &RefusedObject, screen: &mut Screen<'_>) {
        self.workloads += 1;
        match self.request.output {
            Output::Text { .. } => screen.styled(&render::refused(refused, self.in_namespaces)),
            Output::Json | Output::Yaml => self.items.push(json::refused_item(refused)),
        }
    }

    fn finish(&mut self, others: &BTreeMap<String, usize>, screen: &mut Screen<'_>) {
        let items = std::mem::take(&mut self.items);
        match self.request.output {
            Output::Json => screen.exact(&format!("{:#}\n", json::document(&items, others))),
            Output::Yaml => screen.document(&yaml::yaml(&json::document(&items, others))),
            Output::Text { .. } if self.workloads == 1 && others.is_empty() => {}
            Output::Text { .. } => screen.result(&render::summary(self.rollouts, self.workloads, others)),
        }
    }
}
