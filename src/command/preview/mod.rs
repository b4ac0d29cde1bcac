//! `preview`: what applying manifests would do to rollouts. It never writes.

mod kubectl_apply;

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use self::kubectl_apply::KubectlApply;
use super::CommandOutcome;
use super::diff::show_lines;
use super::preflight::{self, Planned};
use super::stop_signals::StopSignals;
use crate::cli::preview::PreviewArgs;
use crate::cluster::concurrent::concurrently;
use crate::cluster::objects::read::{Parts, read_all};
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::api::object::Object;
use crate::model::change::preview::{Preview, PreviewWarning, refusal_by_plan};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::references::Reference;
use crate::render::change::pods_not_checked;
use crate::render::preview::{self as render, RefusedObject};
use crate::render::ui::Ui;
use crate::world::Environment;

/// Prints what applying the objects would do. A signal stops kubectl and the command.
pub(super) async fn run(request: &PreviewArgs, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let mut signals = StopSignals::new(context.world.signals.clone());
    let stopped = tokio::select! {
        biased;
        outcome = preview(request, context, ui) => return outcome,
        signal = signals.next() => signal,
    };
    ui.messages.line("stopped; nothing was written");
    Ok(stopped.exit().into())
}

async fn preview(request: &PreviewArgs, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    let Source::Cluster(cluster) = source else {
        return Err(Error::usage("kubectl cannot apply to recorded objects"));
    };
    let applied = KubectlApply::new(request, context, cluster).await?.run(&context.inputs.stdin, ui).await?;
    let lacks_namespace =
        |object: &Object| object.namespace().is_empty() && Workload::of(object.clone()).is_some();
    let namespace = match context.common.namespace() {
        Some(namespace) => namespace.to_owned(),
        None if applied.objects.iter().any(lacks_namespace) => source.default_namespace()?,
        None => String::new(),
    };
    let mut others = BTreeMap::new();
    let mut workloads = Vec::new();
    let identity =
        |object: &Object| (object.kind().to_owned(), object.namespace().to_owned(), object.name().to_owned());
    let given: HashSet<_> = applied.objects.iter().map(identity).collect();
    for object in applied.objects {
        let kind = object.kind().to_owned();
        match Workload::of(object).filter(|workload| workload.kind().read_only().is_none()) {
            Some(workload) if workload.object().namespace().is_empty() => {
                workloads.extend(in_namespace(&workload, &namespace));
            }
            Some(workload) => workloads.push(workload),
            None => *others.entry(kind).or_insert(0) += 1,
        }
    }
    let is_given = |of_workload: &str, named: &Reference| {
        let is_in = |namespace: &str| {
            given.contains(&(named.type_.kind.to_owned(), namespace.to_owned(), named.name.clone()))
        };
        is_in(if named.type_.is_namespaced() { of_workload } else { "" })
            || of_workload == namespace && is_in("")
    };
    let planned: Vec<_> = workloads.iter().cloned().map(Planned::of).collect();
    let (before, findings) =
        tokio::join!(read_all_live(&workloads, source, ui), preflight::check_all(&planned, source, is_given));
    let mut errors = Vec::new();
    let mut printed = PreviewPrinter::of(request, &workloads, &applied.refused);
    for ((after, before), findings) in workloads.into_iter().zip(before).zip(findings) {
        let unread = pods_not_checked(&after, &findings.unread);
        let mut preview = match before {
            Ok(Some(before)) => {
                Preview::of(&before, after, request.field_manager(), request.format.secrets())
            }
            Ok(None) => Preview::of_new(after),
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        if preview.outcome.is_rollout() {
            preview.warnings.extend(findings.obstacles.into_iter().map(PreviewWarning::PodsCannotStart));
            ui.messages.findings(findings.notes.iter().chain(&unread));
        }
        errors.extend(printed.show(&preview, &context.world.environment, ui).await.err());
    }
    let mut shown_errors = Vec::new(); // that an item has
    for refused in &applied.refused {
        let RefusedObject { workload, how, message } = refused;
        let live = live(workload, source).await.ok().flatten();
        let by_plan = live.and_then(|live| refusal_by_plan(&live, message));
        let hint = by_plan.or_else(|| render::conflict_hint(message));
        printed.show_refused(refused, hint.as_deref(), ui);
        let message = format!("{}: {how}: {message}", workload.target());
        shown_errors.push(Error::new(ErrorKind::Refused, message).hint_if(hint));
    }
    errors.extend(applied.errors);
    let document = printed.finish(&others, ui);
    for error in &shown_errors {
        ui.messages.error(error);
    }
    let exit = if printed.rollouts > 0 && request.exit_code { Exit::Differs } else { Exit::Done };
    let exit = shown_errors.iter().map(Error::exit).fold(exit, Exit::worst);
    Ok(CommandOutcome { errors, document, ..exit.into() })
}

/// Returns a workload in a namespace. As for kubectl, that of the command counts where the object has none.
fn in_namespace(workload: &Workload, namespace: &str) -> Option<Workload> {
    let mut object = workload.object().json().clone();
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    metadata.insert("namespace".to_owned(), namespace.into());
    Workload::of_json(&object)
}

/// Reads each workload as it is now, with its revisions and pods; `None` for one that does not exist.
async fn read_all_live(
    workloads: &[Workload],
    source: &Source,
    ui: &mut Ui,
) -> Vec<Result<Option<Observation>>> {
    let found = concurrently(workloads.iter().map(|after| live(after, source))).await;
    let live = found.iter().filter_map(|found| found.as_ref().ok().cloned().flatten()).collect();
    let (observations, notes) = read_all(live, false, Parts::PODS, source).await;
    ui.messages.findings(&notes);
    let mut observations = observations.into_iter();
    let mut observation = |found: Option<Workload>| found.and_then(|_| observations.next()).transpose();
    found.into_iter().map(|found| found.and_then(&mut observation)).collect()
}

/// Reads a workload as it is now; `None` if it does not exist.
async fn live(after: &Workload, source: &Source) -> Result<Option<Workload>> {
    let object = after.object();
    let found = source.get(after.kind().type_(), object.namespace(), object.name()).await?;
    Ok(found.and_then(Workload::of))
}

/// Prints each workload, and counts them.
struct PreviewPrinter<'a> {
    request: &'a PreviewArgs,
    in_namespaces: bool,
    workloads: usize,
    rollouts: usize,
    items: Vec<Value>,
}

impl<'a> PreviewPrinter<'a> {
    fn of(request: &'a PreviewArgs, workloads: &[Workload], refused: &[RefusedObject]) -> Self {
        let mut namespaces: Vec<&str> =
            workloads.iter().map(|workload| workload.object().namespace()).collect();
        namespaces.extend(refused.iter().map(|refused| refused.workload.object().namespace()));
        namespaces.sort_unstable();
        namespaces.dedup();
        Self { request, in_namespaces: namespaces.len() > 1, workloads: 0, rollouts: 0, items: Vec::new() }
    }

    async fn show(&mut self, preview: &Preview, environment: &Environment, ui: &mut Ui) -> Result<()> {
        self.workloads += 1;
        self.rollouts += usize::from(preview.outcome.is_rollout());
        if self.request.output.is_document() {
            self.items.push(render::item_json(preview));
            return Ok(());
        }
        ui.out_lines(&render::block(preview, self.in_namespaces));
        for warning in &preview.warnings {
            ui.messages.finding(&render::warning(warning, &preview.after));
        }
        match self.request.unified().filter(|_| !preview.changes.is_empty()) {
            Some(context) => {
                let sides = ["live", "applied"];
                show_lines(&preview.changes, &preview.after, sides, context, environment, ui).await
            }
            None => Ok(()),
        }
    }

    fn show_refused(&mut self, refused: &RefusedObject, hint: Option<&str>, ui: &mut Ui) {
        self.workloads += 1;
        if self.request.output.is_document() {
            self.items.push(render::refused_item_json(refused, hint));
        } else {
            ui.out_lines(&[render::refused(refused, self.in_namespaces)]);
        }
    }

    /// Prints the last line, or returns the document.
    fn finish(&self, others: &BTreeMap<String, usize>, ui: &mut Ui) -> Option<Value> {
        if self.request.output.is_document() {
            return Some(render::json_list(&self.items, others));
        }
        if self.workloads != 1 || !others.is_empty() {
            ui.out_line(&render::summary(self.rollouts, self.workloads, others));
        }
        None
    }
}
