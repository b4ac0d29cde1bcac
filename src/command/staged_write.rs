//! A writing verb in several contexts: it writes in the first one, and once that is complete in the others.

use std::convert::identity;

use super::context::{CommandOutcome, Context};
use super::contexts::find_in_contexts;
use super::follow::after_changes;
use super::stop_signals::StopSignals;
use super::writing_verb::Writer;
use crate::cli::write::{DryRun, WriteArgs};
use crate::cluster::source::{ContextSource, in_context};
use crate::error::Error;
use crate::model::change::contexts::{goes_on_after, stages};
use crate::model::finding::{Finding, Reason};
use crate::model::follow::FollowOptions;
use crate::model::kind::Workload;
use crate::model::observation::pod_stage::SETTLE_TIME;
use crate::render::message_writer::with_context_flag;
use crate::render::ui::Ui;

/// A context to write in, with the workloads that were found in it.
pub(super) struct WriteContext<'a> {
    pub(super) named: &'a ContextSource,
    pub(super) context: Context<'a>,
    pub(super) workloads: Vec<Workload>,
}

impl WriteContext<'_> {
    /// Acts in this context. Messages are about it. `stops` are the signals since the first change in any context.
    pub(super) async fn act<T>(
        &self,
        (request, strict): (&WriteArgs, bool),
        stops: &mut Option<StopSignals>,
        ui: &mut Ui,
        act: impl AsyncFnOnce(&mut Writer<'_>) -> T,
    ) -> (T, CommandOutcome) {
        let of_context = ui.messages.in_context(&self.named.name, self.named.flags.clone());
        let all = std::mem::replace(&mut ui.messages, of_context);
        let mut writer = Writer::new(request, strict, &self.context, Some(self.named), ui);
        writer.stops = stops.take();
        let acted = act(&mut writer).await;
        *stops = writer.stops.take();
        let mut outcome = writer.take_outcome();
        ui.messages = all;
        let name = &self.named.name;
        let in_this_context = |error: Error| {
            let hint = error.hint_text().map(|hint| with_context_flag(hint, Some(name)).into_owned());
            in_context(name, error).hint_if(hint)
        };
        outcome.errors = std::mem::take(&mut outcome.errors).into_iter().map(in_this_context).collect();
        (acted, outcome)
    }
}

/// Finds the workloads of a writing verb in each context. A context that cannot be read is an error, and the others are written
/// all the same.
pub(super) async fn find<'a>(context: &'a Context<'_>, ui: &Ui) -> (Vec<WriteContext<'a>>, CommandOutcome) {
    let scope = &context.inputs.scope;
    let (found, outcome) = find_in_contexts(scope, identity, context.contexts, &ui.messages).await;
    let of_context = |(named, workloads): (&'a ContextSource, Vec<Workload>)| {
        let Context { common, inputs, secret_values, world, .. } = *context;
        let source = named.source.as_ref().ok()?;
        let context = Context { source, contexts: &[], common, inputs, secret_values, world };
        Some(WriteContext { named, context, workloads })
    };
    (found.into_iter().filter_map(of_context).collect(), outcome)
}

/// A verb that writes in one context after another.
pub(super) trait StagedVerb {
    /// Writes in a context. Returns the workloads to follow; `None` after a signal.
    async fn write(
        &mut self,
        context: usize,
        workloads: &[Workload],
        writer: &mut Writer<'_>,
    ) -> Option<Vec<Workload>>;

    /// Ends what is left to do in a context after its rollouts were followed.
    async fn finish(&mut self, _context: usize, _outcome: &mut CommandOutcome, _writer: &mut Writer<'_>) {}
}

/// How a verb writes and waits.
pub(super) struct StagedRequest<'a> {
    pub(super) write: &'a WriteArgs,
    pub(super) strict: bool,
    pub(super) wait: Option<FollowOptions>,
    pub(super) plain: bool,
}

/// Writes in the first context, follows its rollouts, and then writes in the others. When a stage does not end with 0, nothing
/// more is written, and the contexts that are left are printed.
pub(super) async fn run(
    contexts: &[WriteContext<'_>],
    request: &StagedRequest<'_>,
    verb: &mut impl StagedVerb,
    mut outcome: CommandOutcome,
    ui: &mut Ui,
) -> CommandOutcome {
    let StagedRequest { write, strict, wait, plain } = request;
    let is_real = write.dry_run == DryRun::None;
    let mut stops = None;
    for stage in stages(contexts.len(), write.at_once || !is_real) {
        let (mut of_stage, mut written, mut is_stopped) = (CommandOutcome::default(), Vec::new(), false);
        for index in stage.clone() {
            let Some(one) = contexts.get(index).filter(|_| !is_stopped) else { continue };
            let act = async |writer: &mut Writer<'_>| verb.write(index, &one.workloads, writer).await;
            let (done, of_context) = one.act((write, *strict), &mut stops, ui, act).await;
            of_stage = of_stage.and(of_context);
            is_stopped = done.is_none();
            written.push((Some(one.named), one.context.source, done.unwrap_or_default()));
        }
        let left = contexts.get(stage.start + written.len()..).unwrap_or_default();
        let Some(first) = contexts.get(stage.start) else { continue };
        if !is_stopped {
            // A container without a probe is ready at once and crashes a second later, in every cluster.
            let stable =
                |options: &FollowOptions| options.stable.or(Some(SETTLE_TIME).filter(|_| !left.is_empty()));
            let wait = wait.clone().map(|options| FollowOptions { stable: stable(&options), ..options });
            of_stage = after_changes(written, write, &first.context, of_stage, wait, *plain, ui).await;
        }
        for index in stage {
            let Some(one) = contexts.get(index).filter(|_| wait.is_some() && !is_stopped) else { continue };
            let mut finished = CommandOutcome::from(of_stage.worst_exit());
            let finish = async |writer: &mut Writer<'_>| verb.finish(index, &mut finished, writer).await;
            let ((), of_context) = one.act((write, *strict), &mut stops, ui, finish).await;
            let errors = finished.errors.into_iter().map(|error| in_context(&one.named.name, error));
            of_stage.errors.extend(errors);
            of_stage.exit = of_stage.exit.worst(finished.exit);
            of_stage = of_stage.and(of_context);
        }
        let exit = of_stage.worst_exit();
        outcome = outcome.and(of_stage);
        if !goes_on_after(exit) && !left.is_empty() {
            let names: Vec<_> = left.iter().map(|one| one.named.name.as_str()).collect();
            let text = format!("nothing was written in {}", names.join(", "));
            ui.messages.finding(&Finding::note(Reason::Skipped, text));
            break;
        }
    }
    outcome
}
