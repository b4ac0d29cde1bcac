//! `list --watch`: redraws the list on a terminal, and prints changed lines elsewhere.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use super::Request;
use crate::cluster::list::ListQuery;
use crate::cluster::objects::observer::Observer;
use crate::cluster::source::{Cluster, Source};
use crate::command::CommandOutcome;
use crate::command::context::Context;
use crate::command::stop_signals::{Continuations, StopSignals};
use crate::command::targets::{TargetWord, is_absent, namespace_of};
use crate::error::{ErrorKind, Result};
use crate::exit::Exit;
use crate::model::engine::StopSignal;
use crate::model::kind::Kind;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::go_duration;
use crate::model::view::{RolloutView, StateCounts, sort};
use crate::render::list::{WatchedList, event_json};
use crate::render::message_writer::Frame;
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;
use crate::world::Terminal;

/// Changes within this time after the first one are evaluated together. Controllers observe most changes within it.
const EVALUATION_DELAY: Duration = Duration::from_secs(1);

/// Evaluations take at most one fifth of the time.
const EVALUATION_SHARE: u32 = 5;

/// Some causes appear without a change of an object, so everything is evaluated again after this time.
const EVALUATION_INTERVAL: Duration = Duration::from_secs(5);

/// How long the first evaluation waits for the warnings of rollouts that are not complete.
const WARNINGS_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a changed row is marked on a terminal.
const MARKED: Duration = Duration::from_secs(10);

/// Watches the rollouts until the timeout, until a signal arrives, or until the reader of a pipe exited. Recorded objects
/// do not change, so they are listed once.
pub(in crate::command) async fn run(
    request: &Request,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    let Source::Cluster(cluster) = context.source else { return super::run(request, context, ui).await };
    let now = Instant::now();
    let end = request.timeout.map(|timeout| now + timeout);
    let mut outcome = CommandOutcome::default();
    let queries = match end {
        Some(end) => timeout_at(end, queries(request, context.source, &mut outcome, ui)).await,
        None => Ok(queries(request, context.source, &mut outcome, ui).await),
    };
    let Ok(queries) = queries else {
        return Ok(CommandOutcome { exit: unread_in_time(request.timeout, ui), ..outcome });
    };
    let queries = queries?;
    if queries.is_empty() {
        return Ok(outcome);
    }
    outcome.print_errors(ui);
    let observer = Observer::of_scope(Arc::clone(cluster), queries, request.output != OutputForm::Text);
    let draws = ui.can_draw() && matches!(request.output, OutputForm::Text | OutputForm::Wide);
    let mut watch = Watch {
        request,
        cluster,
        observer,
        list: WatchedList::new(request.columns(None)),
        rows: Vec::new(),
        begun: now,
        evaluated: None,
        pause: Duration::ZERO,
        stale_since: None,
        warnings_until: None,
        draws,
        outcome,
    };
    let signals = &context.world.signals;
    watch.run(StopSignals::new(signals.clone()), Continuations::new(signals.clone()), ui).await;
    Ok(watch.outcome)
}

/// Prints that a timeout passed before the first evaluation, and returns the exit code.
fn unread_in_time(limit: Option<Duration>, ui: &mut Ui) -> Exit {
    let limit = go_duration::write(limit.unwrap_or_default());
    ui.err_line(&format!("error: timed out after {limit} before the workloads were read"));
    Exit::Unfinished
}

/// Returns the queries of the workloads to watch. Kinds that are not Kubernetes' own are listed once, to find out whether the
/// server has them and in which version. `outcome` gets the errors of kinds that it does not have although the user named
/// them, and of those of `all` that it cannot be asked about.
///
/// # Errors
/// When there is no valid namespace.
async fn queries(
    request: &Request,
    source: &Source,
    outcome: &mut CommandOutcome,
    ui: &mut Ui,
) -> Result<Vec<ListQuery>> {
    let namespace = namespace_of(&request.scope, source)?;
    let of = |kind: &dyn Kind| request.scope.query(kind, namespace.as_deref());
    let mut queries = Vec::new();
    for word in &request.scope.targets {
        let (kind, is_named) = match word {
            TargetWord::All(kind) => (*kind, true),
            TargetWord::IfServed(kind) => (*kind, false),
            TargetWord::Named(..) => continue,
        };
        if kind.is_built_in() {
            queries.push(of(kind));
            continue;
        }
        match source.list(&of(kind), |_| Some(())).await {
            Ok(_) => queries.push(of(kind)),
            Err(error) if is_named && !is_absent(&error) => queries.push(of(kind)), // the watch reports it
            Err(error) if !is_named && is_absent(&error) => {}
            Err(error) if !is_named && error.kind() == ErrorKind::Refused => {
                ui.err_line(&format!("note: {error}"));
            }
            Err(error) => outcome.errors.push(error),
        }
    }
    Ok(queries)
}

struct Watch<'a> {
    request: &'a Request,
    cluster: &'a Cluster,
    observer: Observer,
    list: WatchedList<'a>,
    /// The rollouts of the last evaluation, in order.
    rows: Vec<Row>,
    begun: Instant,
    evaluated: Option<Instant>,
    /// The minimum time between the last evaluation and the next one.
    pause: Duration,
    /// When something changed first since the last evaluation.
    stale_since: Option<Instant>,
    /// Until when evaluations wait for the first warnings, which are watched last.
    warnings_until: Option<Instant>,
    /// Whether the list is redrawn in place.
    draws: bool,
    outcome: CommandOutcome,
}

/// A rollout, and when its row changed, unless that was before the first evaluation.
struct Row {
    rollout: RolloutView,
    changed_at: Option<Instant>,
}

impl Watch<'_> {
    async fn run(&mut self, mut stops: StopSignals, mut continuations: Continuations, ui: &mut Ui) {
        let mut closed = pin!(ui.closed());
        loop {
            let due = self.due();
            let end = self.request.timeout.map(|timeout| self.begun + timeout);
            tokio::select! {
                biased;
                () = sleep_until(end.unwrap_or(self.begun)), if end.is_some() => {
                    if self.evaluated.is_none() {
                        self.outcome.exit = unread_in_time(self.request.timeout, ui);
                    }
                    break;
                }
                stop = stops.next() => {
                    if stop == StopSignal::Interrupted {
                        ui.end_echo();
                    }
                    self.outcome.exit = stop.exit();
                    break;
                }
                () = continuations.next() => ui.leave_frame(),
                () = &mut closed, if ui.can_write() => ui.note_closed(),
                () = sleep_until(due.unwrap_or(self.begun)), if due.is_some() => {}
                () = self.observer.changed() => self.stale_since = self.stale_since.or_else(|| Some(Instant::now())),
            }
            self.outcome.errors.extend(self.observer.take_errors());
            self.outcome.print_errors(ui);
            if self.observer.can_read_no_kind() {
                return;
            }
            if self.was_read() && self.is_due() {
                self.evaluate(ui);
            }
            if self.draws && self.evaluated.is_some() {
                ui.draw(|size| self.frame(false, size));
            }
            if !ui.can_write() {
                self.outcome.exit = Exit::Unfinished;
                return;
            }
        }
        if self.draws && self.evaluated.is_some() {
            ui.draw_last(|size| self.frame(true, size));
        }
    }

    /// Whether everything was read, or everything but warnings that do not arrive.
    fn was_read(&self) -> bool {
        self.observer.is_synced() || self.warnings_until.is_some_and(|until| until <= Instant::now())
    }

    /// Returns when to wake up without a change: for the next evaluation, and each second to redraw ages.
    fn due(&self) -> Option<Instant> {
        let evaluation = if self.was_read() { self.evaluation_due() } else { self.warnings_until };
        let next_second = self.draws.then(|| Instant::now() + Duration::from_secs(1));
        [evaluation, next_second.filter(|_| self.evaluated.is_some())].into_iter().flatten().min()
    }

    /// Whether an evaluation is due. The first one is, as soon as everything was read.
    fn is_due(&self) -> bool {
        self.evaluation_due().is_none_or(|due| due <= Instant::now())
    }

    /// Returns when the next evaluation is due; none before the first one.
    fn evaluation_due(&self) -> Option<Instant> {
        let evaluated = self.evaluated?;
        let changed = self.stale_since.map(|since| (since + EVALUATION_DELAY).max(evaluated + self.pause));
        Some(changed.unwrap_or(evaluated + EVALUATION_INTERVAL))
    }

    fn evaluate(&mut self, ui: &mut Ui) {
        let begun = Instant::now();
        let now = self.cluster.now();
        let observed = self.observer.observations();
        let mut rollouts: Vec<_> =
            observed.filter_map(|observed| self.request.view(&observed, now)).collect();
        sort(&mut rollouts);
        let is_incomplete = |rollout: &RolloutView| rollout.state() != RolloutState::Complete;
        if rollouts.iter().any(is_incomplete) && self.observer.watch_warnings() {
            self.warnings_until = Some(begun + WARNINGS_TIMEOUT);
            return; // once they are read, this is evaluated again
        }
        let is_first = self.evaluated.is_none();
        let rows = std::mem::take(&mut self.rows).into_iter();
        let mut before: HashMap<_, _> =
            rows.map(|row| (row.rollout.workload.object().uid().to_owned(), row)).collect();
        let (mut rows, mut is_printed) = (Vec::new(), Vec::new());
        for rollout in rollouts {
            let before = before.remove(rollout.workload.object().uid());
            let same = before.as_ref().filter(|before| rollout.has_same_row(&before.rollout));
            let is_shown = self.request.shows(&rollout)
                || before.as_ref().is_some_and(|before| self.request.shows(&before.rollout));
            is_printed.push(same.is_none() && is_shown);
            let changed_at = same.map_or((!is_first).then_some(begun), |same| same.changed_at);
            rows.push(Row { rollout, changed_at });
        }
        if !self.draws {
            let changed = rows.iter().zip(is_printed).filter_map(|(row, is)| is.then_some(&row.rollout));
            let deleted = before.into_values().map(|row| row.rollout);
            let mut deleted: Vec<_> = deleted.filter(|row| self.request.shows(row)).collect();
            sort(&mut deleted);
            self.print(&changed.collect::<Vec<_>>(), &deleted, is_first, ui);
        }
        self.rows = rows;
        self.pause = begun.elapsed() * EVALUATION_SHARE;
        (self.evaluated, self.stale_since) = (Some(Instant::now()), None);
    }

    /// Prints the changed rows: at first all of them with a header.
    fn print(&mut self, changed: &[&RolloutView], deleted: &[RolloutView], is_first: bool, ui: &mut Ui) {
        if self.request.output.is_document() {
            let elapsed = self.begun.elapsed();
            let word = if is_first { "listed" } else { "changed" };
            let changed = changed.iter().map(|rollout| (word, *rollout));
            for (word, rollout) in changed.chain(deleted.iter().map(|rollout| ("deleted", rollout))) {
                ui.out_streamed(&event_json(word, rollout, elapsed), &self.request.output);
            }
            return;
        }
        ui.out_lines(&self.list.lines(changed, deleted, self.cluster.now()));
    }

    /// Returns the frame of the rollouts to show, each with whether it changed lately.
    fn frame(&self, is_last: bool, size: Terminal) -> Frame {
        let is_marked = |row: &Row| row.changed_at.is_some_and(|changed| changed.elapsed() < MARKED);
        let shown = self.rows.iter().filter(|row| self.request.shows(&row.rollout));
        let shown: Vec<_> = shown.map(|row| (&row.rollout, is_marked(row))).collect();
        let all = StateCounts::of(self.rows.iter().map(|row| &row.rollout));
        self.list.frame(&shown, &all, self.cluster.now(), is_last, size)
    }
}
