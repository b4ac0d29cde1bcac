//! The steps that every writing verb shares: find the targets, confirm, write, print.

use std::convert::identity;

use serde_json::Value;

use super::CommandOutcome;
use crate::cli::write::{DryRun, WriteArgs};
use crate::cluster::source::ContextSource;
use crate::cluster::write::WriteOptions;
use crate::command::context::Context;
use crate::command::patch::{self, PatchTarget};
use crate::command::stop_signals::StopSignals;
use crate::command::targets::{FoundTargets, find_workloads};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::patch::Patch;
use crate::model::change::effect::Effect;
use crate::model::change::written::Written;
use crate::model::diff::{SecretValues, shown};
use crate::model::engine::StopSignal;
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::render::change as render;
use crate::render::json::list_document;
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;

/// A writing verb at work: it finds the workloads, asks, writes and prints, and collects what it did.
pub(super) struct Writer<'a> {
    pub(super) request: &'a WriteArgs,
    /// Whether to write nothing if new pods cannot start.
    pub(super) strict: bool,
    pub(super) context: &'a Context<'a>,
    /// The context to write in, if there are several.
    named: Option<&'a ContextSource>,
    pub(super) ui: &'a mut Ui,
    /// How many workloads have no error.
    done: usize,
    /// Whether the arguments can mean several workloads, whose objects are one list then.
    is_for_several: bool,
    /// The objects of `-o json`, which are printed together.
    objects: Vec<Value>,
    outcome: CommandOutcome,
    /// The signals since the first change of the command; `None` before, when a signal ends the process.
    pub(super) stops: Option<StopSignals>,
    /// The patch that has no answer yet.
    in_flight: Option<(PatchTarget, Patch)>,
}

impl<'a> Writer<'a> {
    /// Finds the workloads to write to.
    ///
    /// # Errors
    /// When the search cannot start, and when a patch is to be printed without its secret values.
    pub(super) async fn select(
        request: &'a WriteArgs,
        strict: bool,
        context: &'a Context<'a>,
        ui: &'a mut Ui,
    ) -> Result<(Self, Vec<Workload>)> {
        if request.output == OutputForm::Patch && context.secret_values == SecretValues::Masked {
            return Err(Error::usage(
                "cannot print the patch: with ROLLOUT2_REDACT it would write *** for secret values",
            )
            .hint("unset ROLLOUT2_REDACT"));
        }
        let found = find_workloads(&context.inputs.scope, identity, context.source, ui).await?;
        let FoundTargets { workloads, outcome, .. } = found;
        let writer = Self { outcome, ..Self::new(request, strict, context, None, ui) };
        Ok((writer, workloads))
    }

    /// Creates the writer of workloads that were found. `named` is its context, if there are several.
    pub(super) fn new(
        request: &'a WriteArgs,
        strict: bool,
        context: &'a Context<'a>,
        named: Option<&'a ContextSource>,
        ui: &'a mut Ui,
    ) -> Self {
        Self {
            request,
            strict,
            context,
            named,
            ui,
            done: 0,
            is_for_several: context.inputs.scope.is_for_several(),
            objects: Vec::new(),
            outcome: CommandOutcome::default(),
            stops: None,
            in_flight: None,
        }
    }

    /// Prints the workloads if a type or a selector selected several, and which of them are being deleted.
    pub(super) fn print_selection(&mut self, workloads: &[Workload]) {
        if self.context.inputs.scope.is_selection() && workloads.len() > 1 {
            self.ui.messages.line(&render::selection(workloads));
        }
        let deletions = workloads.iter().filter_map(Workload::deletion_sentence);
        let deletions = deletions.map(|sentence| Finding::warning(Reason::BeingDeleted, sentence));
        deletions.for_each(|deletion| self.ui.messages.finding(&deletion));
    }

    /// Whether this is no dry run.
    pub(super) fn is_real(&self) -> bool {
        self.request.dry_run == DryRun::None
    }

    /// Whether the effect on the pods is a part of the result: in a dry run, and on a terminal.
    pub(super) fn shows_effect(&self) -> bool {
        self.request.dry_run == DryRun::Client || self.ui.terminal().is_some()
    }

    /// Returns the title of a workload, with its context if there are several.
    pub(super) fn title_of(&self, workload: &Workload) -> String {
        let target = workload.target();
        self.named.map_or(target.clone(), |named| format!("{}: {target}", named.name))
    }

    /// Prints what a verb does to the pods, or why that is not known.
    pub(super) fn print_effect(&mut self, read: Result<Observation>, verb: &str, patch: &Patch) {
        let observed = match read {
            Ok(observed) => observed,
            Err(error) => {
                let text = format!("the effect on the pods is not shown: {error}");
                return self.ui.messages.finding(&Finding::note(Reason::Incomplete, text));
            }
        };
        let effect = Effect::of_change(&observed, patch.after());
        let effect = render::verb_effect(&self.title_of(&observed.workload), verb, &effect);
        if self.shows_effect() && self.request.output == OutputForm::Text {
            self.ui.out_lines(&effect);
        } else {
            self.ui.messages.styled(&effect);
        }
    }

    /// Asks the user to confirm a write: with `--interactive`, and a `surprising` one. Without a terminal only `--interactive`
    /// asks, so that no script waits. Returns whether it asked.
    ///
    /// # Errors
    /// When the user does not confirm.
    pub(super) async fn confirm(&mut self, question: &str, surprising: bool) -> Result<bool> {
        let asks = self.is_real() && (self.request.interactive || surprising && self.ui.can_ask());
        let question = self.named.map_or(question.to_owned(), |named| format!("{}: {question}", named.name));
        if asks && !self.ui.confirms(&question).await {
            return Err(Error::new(ErrorKind::Refused, "not confirmed; nothing was written"));
        }
        Ok(asks)
    }

    /// Changes the workloads one after another, and records the result of each. Returns the results of those without an error;
    /// none after a signal, which leaves the other workloads as they are. `target` names a workload.
    pub(super) async fn change_each<W, T>(
        &mut self,
        workloads: impl IntoIterator<Item = W>,
        target: impl Fn(&W) -> String,
        change: impl AsyncFn(W, &mut Self) -> Result<T>,
    ) -> Option<Vec<T>> {
        let (mut workloads, mut changed) = (workloads.into_iter(), Vec::new());
        while let Some(workload) = workloads.next() {
            let name = target(&workload);
            let done = self.unless_stopped(async |writer: &mut Self| change(workload, writer).await).await;
            let stop = match done {
                Ok(done) => {
                    self.record(done.map(|done| changed.push(done)));
                    continue;
                }
                Err(stop) => stop,
            };
            let unanswered = self.unanswered_write(stop).await;
            let left = unanswered.is_none().then_some(name).into_iter();
            let left: Vec<_> = left.chain(workloads.map(|workload| target(&workload))).collect();
            self.outcome.errors.extend(unanswered);
            self.record_stop(stop, &left);
            return None;
        }
        Some(changed)
    }

    /// Reads before the first change of these workloads. Returns none after a signal, which leaves them as they are.
    pub(super) async fn read_ahead<T>(
        &mut self,
        workloads: &[Workload],
        read: impl AsyncFnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let read = self.unless_stopped(read).await;
        read.map_err(|stop| {
            let left: Vec<_> = workloads.iter().map(Workload::target).collect();
            self.record_stop(stop, &left);
        })
        .ok()
    }

    /// Records the end by a signal, and prints the workloads that are left.
    fn record_stop(&mut self, stop: StopSignal, left: &[String]) {
        self.ui.messages.lines(render::not_changed(stop, left));
        self.outcome.exit = stop.exit();
    }

    /// Acts until it is done.
    ///
    /// # Errors
    /// When a signal comes first. [`Writer::unanswered_write`] follows.
    pub(super) async fn unless_stopped<T>(
        &mut self,
        act: impl AsyncFnOnce(&mut Self) -> T,
    ) -> Result<T, StopSignal> {
        let mut stops = self.stops.take().unwrap_or_else(|| self.context.stop_signals());
        let done = tokio::select! {
            biased;
            stop = stops.next() => Err(stop),
            done = act(self) => Ok(done),
        };
        self.stops = Some(stops);
        done
    }

    /// Returns the error for the write that a signal left without an answer, with what is known of it; `None` without such a
    /// write.
    pub(super) async fn unanswered_write(&mut self, stop: StopSignal) -> Option<Error> {
        let (target, patch) = self.in_flight.take()?;
        Some(target.unanswered_at(&patch, stop, self.stops.as_mut()?, self.context.source).await)
    }

    /// Applies a patch to an object.
    pub(super) async fn apply(&mut self, patch: &Patch, target: PatchTarget) -> Written {
        let options = WriteOptions {
            dry_run: self.request.dry_run == DryRun::Server,
            field_manager: &self.request.field_manager,
        };
        self.in_flight = self.is_real().then(|| (target.clone(), patch.clone()));
        let written = patch::apply(patch, &target, options, self.context.source, &self.ui.messages).await;
        self.in_flight = None;
        written
    }

    /// Writes a workload, and prints what was written. `operation` is what is done, for kubectl's line: `restarted`.
    pub(super) async fn write(&mut self, workload: &Workload, patch: &Patch, operation: &str) -> Written {
        if self.request.dry_run == DryRun::Client {
            self.print(workload, operation, patch.after(), patch);
            return Written::NotSent;
        }
        let result = self.apply(patch, PatchTarget::of(workload)).await;
        if let Written::Stored(object) = &result {
            self.print(workload, operation, object.json(), patch);
        }
        result
    }

    /// Prints a workload as it was read, without a change.
    pub(super) fn print_as_read(&mut self, workload: &Workload, operation: &str) {
        let object = workload.object();
        self.print(workload, operation, object.json(), &Patch::of(object));
    }

    /// Prints an object in the output format of the request.
    fn print(&mut self, workload: &Workload, operation: &str, object: &Value, patch: &Patch) {
        let document = match Object::read(object.clone()) {
            Ok(object) if !self.request.shows_managed_fields() => {
                object.without_managed_fields().json().clone()
            }
            _ => object.clone(),
        };
        let document = shown(&document, self.context.secret_values);
        let (mut reference, dry_run) = (workload.reference(), self.request.dry_run);
        if let Some(ContextSource { name, .. }) = self.named {
            reference = match self.request.output {
                OutputForm::Name => {
                    format!("{name}/{}/{}", workload.object().namespace(), workload.target())
                }
                _ => format!("{name}: {reference}"),
            };
        }
        if self.is_real() && !patch.is_empty() {
            self.outcome.changes.push(format!("{reference} {operation}"));
        }
        match &self.request.output {
            OutputForm::Text => self.ui.out_line(&format!("{reference} {operation}{}", suffix(dry_run))),
            OutputForm::Name => self.ui.out_line(&reference),
            OutputForm::Patch => self.ui.out_json(&format!("{}\n", patch.body())),
            OutputForm::Json => self.objects.push(document.into_owned()),
            form => {
                if let Err(error) = self.ui.out_document(&document, form, true) {
                    self.ui.fail_output(&error);
                }
            }
        }
    }

    /// Prints the command that takes a change back, and adds it to the object of `-o json`.
    pub(super) fn print_receipt(&mut self, command: Option<&str>) {
        let Some(command) = command else { return };
        self.ui.messages.line(&render::receipt(command));
        if let Some(object) = self.objects.last_mut().and_then(Value::as_object_mut) {
            object.insert("hint".to_owned(), command.into());
        }
    }

    /// Records the result for one workload.
    pub(super) fn record(&mut self, result: Result<()>) {
        match result {
            Ok(()) => self.done += 1,
            Err(error) => self.outcome.errors.push(error),
        }
    }

    /// Returns the outcome so far. Prints how many workloads failed if only some of them did.
    pub(super) fn take_outcome(&mut self) -> CommandOutcome {
        let failed = self.outcome.errors.len();
        if self.done > 0 && failed > 0 {
            self.ui.messages.line(&format!("{failed} of {} workloads failed", self.done + failed));
        }
        let mut outcome = std::mem::take(&mut self.outcome);
        if self.request.output == OutputForm::Json {
            let mut objects = std::mem::take(&mut self.objects);
            outcome.document =
                if self.is_for_several { Some(list_document(&objects)) } else { objects.pop() };
        }
        outcome
    }
}

/// Returns what kubectl appends to the printed line.
fn suffix(dry_run: DryRun) -> &'static str {
    match dry_run {
        DryRun::None => "",
        DryRun::Client => " (dry run)",
        DryRun::Server => " (server dry run)",
    }
}
