//! `list --watch`: redraws the list on a terminal, and prints changed lines elsewhere.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::cli::list::ListArgs;
use crate::cli::scope::TargetWord;
use crate::cluster::list::ListQuery;
use crate::cluster::objects::observer::Observer;
use crate::cluster::source::Source;
use crate::command::CommandOutcome;
use crate::command::context::Context;
use crate::command::event_loop::{Executor, RequestsInFlight, drive};
use crate::command::inputs::TargetScope;
use crate::command::targets::{is_absent, namespace_of};
use crate::error::{ErrorKind, Result};
use crate::exit::Exit;
use crate::model::engine::{Effects, Engine, LoopEvent, Now, StopSignal, TargetEvent, TargetId};
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Kind;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::text::go_duration;
use crate::model::view::{RolloutView, StateCounts, sort};
use crate::render::list::{WatchedList, event_json};
use crate::render::message_writer::Frame;
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;
use crate::world::Terminal;

/// Changes within this time after the first one are evaluated together. Controllers observe most changes within it.
const EVALUATION_DELAY: Duration = Duration::from_secs(1);

/// The pause after an evaluation, for each rollout: five times as long as its evaluation takes.
const EVALUATION_PAUSE: Duration = Duration::from_micros(250);

/// Some causes appear without a change of an object, so everything is evaluated again after this time.
const EVALUATION_INTERVAL: Duration = Duration::from_secs(5);

/// How long the first evaluation waits for the warnings of rollouts that are not complete.
const WARNINGS_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a changed row is marked on a terminal.
const MARKED: Duration = Duration::from_secs(10);

/// Watches the rollouts until the timeout, until a signal arrives, or until the reader of a pipe exited. Recorded objects
/// do not change, so they are listed once.
pub(in crate::command) async fn run(
    request: &ListArgs,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    let Source::Cluster(cluster) = context.source else { return super::run(request, context, ui).await };
    let now = Instant::now();
    let end = request.timeout().map(|timeout| now + timeout);
    let mut outcome = CommandOutcome::default();
    let queries = match end {
        Some(end) => timeout_at(end, queries(&context.inputs.scope, context.source, &mut outcome, ui)).await,
        None => Ok(queries(&context.inputs.scope, context.source, &mut outcome, ui).await),
    };
    let Ok(queries) = queries else {
        return Ok(CommandOutcome { exit: unread_in_time(request.timeout(), ui), ..outcome });
    };
    let queries = queries?;
    if queries.is_empty() {
        return Ok(outcome);
    }
    outcome.print_errors(ui);
    let observer = Observer::of_scope(Arc::clone(cluster), queries, request.output != OutputForm::Text);
    let left = end.map(|end| end.saturating_duration_since(Instant::now()));
    let draws = ui.can_draw() && matches!(request.output, OutputForm::Text | OutputForm::Wide);
    let mut printer = Printer { request, list: WatchedList::new(request.columns(None)), draws, outcome };
    let (watch, signals) = (Watch::new(request, left), context.world.signals.clone());
    let (watch, now) = drive(watch, &mut printer, vec![observer], context.source, signals, ui).await;
    printer.outcome.exit = match watch.end {
        Some(End::TimedOut) if watch.evaluated.is_none() => unread_in_time(request.timeout(), ui),
        Some(End::TimedOut | End::Unreadable) => Exit::Done,
        Some(End::Stopped(stop)) => stop.exit(),
        None => Exit::Unfinished, // nobody reads the output
    };
    if printer.draws(&watch) && matches!(watch.end, Some(End::TimedOut | End::Stopped(_))) {
        ui.draw_last(|size| printer.frame_of(&watch, now, true, size));
    }
    Ok(printer.outcome)
}

/// Prints that a timeout passed before the first evaluation, and returns the exit code.
fn unread_in_time(limit: Option<Duration>, ui: &mut Ui) -> Exit {
    let limit = go_duration::write(limit.unwrap_or_default());
    let text = format!("timed out after {limit} before the workloads were read");
    ui.messages.finding(&Finding::error(Reason::TimedOut, text));
    Exit::Unfinished
}

/// Returns the queries of the workloads to watch. Kinds that are not Kubernetes' own are listed once, to find out whether the
/// server has them and in which version. `outcome` gets the errors of kinds that it does not have although the user named
/// them, and of those of `all` that it cannot be asked about.
///
/// # Errors
/// When there is no valid namespace.
async fn queries(
    scope: &TargetScope,
    source: &Source,
    outcome: &mut CommandOutcome,
    ui: &mut Ui,
) -> Result<Vec<ListQuery>> {
    let namespace = namespace_of(scope, source)?;
    let of = |kind: &dyn Kind| scope.query(kind, namespace.as_deref());
    let mut queries = Vec::new();
    for word in &scope.targets {
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
                ui.messages.finding(&Finding::note(Reason::Incomplete, error.to_string()));
            }
            Err(error) => outcome.errors.push(error),
        }
    }
    Ok(queries)
}

/// Evaluates the rollouts of a scope again and again.
struct Watch<'a> {
    request: &'a ListArgs,
    /// How long to watch; `None` for no limit.
    limit: Option<Duration>,
    /// What is observed of each workload.
    observed: BTreeMap<TargetId, Observation>,
    /// Whether everything was read once.
    is_synced: bool,
    /// Until when evaluations wait for the first warnings, which are watched last.
    warnings_until: Option<Duration>,
    /// When something changed first since the last evaluation.
    stale_since: Option<Duration>,
    /// When the last evaluation was.
    evaluated: Option<Duration>,
    /// The rollouts of the last evaluation, in order.
    rows: Vec<Row>,
    end: Option<End>,
}

/// A rollout, and when its row changed, unless that was before the first evaluation.
struct Row {
    rollout: RolloutView,
    changed_at: Option<Duration>,
}

/// Why a watch ended.
#[derive(Clone, Copy)]
enum End {
    TimedOut,
    Stopped(StopSignal),
    /// No kind of workload can be read.
    Unreadable,
}

/// The rows that an evaluation changed.
struct ChangedRows {
    /// Their indices.
    changed: Vec<usize>,
    deleted: Vec<RolloutView>,
    is_first: bool,
}

/// Whether a scope was read.
struct ScopeRead {
    is_synced: bool,
    is_unreadable: bool,
}

/// To watch the warning events.
struct WatchWarnings;

impl Engine for Watch<'_> {
    type Answer = ScopeRead;
    type Report = ChangedRows;
    type Task = WatchWarnings;

    fn apply(&mut self, event: LoopEvent<ScopeRead>, now: Now) -> Effects<ChangedRows, WatchWarnings> {
        match event {
            LoopEvent::Target(id, change) => {
                match change {
                    TargetEvent::Observed { observation, .. } | TargetEvent::Refreshed(observation) => {
                        self.observed.insert(id, *observation);
                    }
                    TargetEvent::Deleted | TargetEvent::Unreadable(_) => drop(self.observed.remove(&id)),
                    TargetEvent::Log(_) => {}
                }
                self.stale_since.get_or_insert(now.elapsed);
                return Effects::default(); // the answer about the scope follows
            }
            LoopEvent::Answer(read) => {
                self.is_synced = read.is_synced;
                self.end = read.is_unreadable.then_some(End::Unreadable);
            }
            LoopEvent::Stop(stop) => self.end = Some(End::Stopped(stop)),
            LoopEvent::Tick { .. } if self.limit.is_some_and(|limit| now.elapsed >= limit) => {
                self.end = Some(End::TimedOut);
            }
            LoopEvent::Tick { .. } => {}
        }
        let is_due = self.end.is_none() && self.next_evaluation().is_some_and(|due| now.elapsed >= due);
        if is_due { self.evaluate(now) } else { Effects::default() }
    }

    fn due(&self) -> Option<Duration> {
        [self.limit, self.next_evaluation()].into_iter().flatten().min()
    }

    fn is_finished(&self) -> bool {
        self.end.is_some()
    }
}

impl<'a> Watch<'a> {
    fn new(request: &'a ListArgs, limit: Option<Duration>) -> Self {
        Self {
            request,
            limit,
            observed: BTreeMap::new(),
            is_synced: false,
            warnings_until: None,
            stale_since: None,
            evaluated: None,
            rows: Vec::new(),
            end: None,
        }
    }

    /// Returns when the next evaluation is due: the first one as soon as everything was read, or everything but warnings
    /// that do not arrive.
    fn next_evaluation(&self) -> Option<Duration> {
        let read = if self.is_synced { Some(Duration::ZERO) } else { self.warnings_until };
        let due = self.evaluated.map_or(Duration::ZERO, |evaluated| {
            let pause = EVALUATION_PAUSE * u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
            let changed = self.stale_since.map(|since| (since + EVALUATION_DELAY).max(evaluated + pause));
            changed.unwrap_or(evaluated + EVALUATION_INTERVAL)
        });
        Some(read?.max(due))
    }

    fn evaluate(&mut self, now: Now) -> Effects<ChangedRows, WatchWarnings> {
        let views = self.observed.values().filter_map(|one| self.request.view(one, now.server_time));
        let mut rollouts: Vec<_> = views.collect();
        sort(&mut rollouts);
        let is_incomplete = |rollout: &RolloutView| rollout.state() != RolloutState::Complete;
        if self.warnings_until.is_none() && rollouts.iter().any(is_incomplete) {
            // Once they are read, this is evaluated again.
            (self.is_synced, self.warnings_until) = (false, Some(now.elapsed + WARNINGS_TIMEOUT));
            return Effects { tasks: vec![WatchWarnings], ..Effects::default() };
        }
        let is_first = self.evaluated.is_none();
        let rows = std::mem::take(&mut self.rows).into_iter();
        let mut before: HashMap<_, _> =
            rows.map(|row| (row.rollout.workload.object().uid().to_owned(), row)).collect();
        let (columns, mut changed) = (self.request.columns(None), Vec::new());
        for rollout in rollouts {
            let before = before.remove(rollout.workload.object().uid());
            let has_same_row = |before: &&Row| {
                let [now, before] = [&rollout, &before.rollout];
                now.has_same_row(before)
                    && columns.have_same_labels(now.workload.object(), before.workload.object())
            };
            let same = before.as_ref().filter(has_same_row);
            let is_shown = self.request.shows(&rollout)
                || before.as_ref().is_some_and(|before| self.request.shows(&before.rollout));
            if same.is_none() && is_shown {
                changed.push(self.rows.len());
            }
            let changed_at = same.map_or((!is_first).then_some(now.elapsed), |same| same.changed_at);
            self.rows.push(Row { rollout, changed_at });
        }
        let deleted = before.into_values().map(|row| row.rollout);
        let mut deleted: Vec<_> = deleted.filter(|rollout| self.request.shows(rollout)).collect();
        sort(&mut deleted);
        (self.evaluated, self.stale_since) = (Some(now.elapsed), None);
        Effects { reports: vec![ChangedRows { changed, deleted, is_first }], ..Effects::default() }
    }
}

/// Prints the changed rows: at first all of them with a header. Or draws all of them.
struct Printer<'a> {
    request: &'a ListArgs,
    list: WatchedList<'a>,
    /// Whether the list is redrawn in place.
    draws: bool,
    outcome: CommandOutcome,
}

impl Printer<'_> {
    /// Returns the frame of the rollouts to show, each with whether it changed lately.
    fn frame_of(&self, watch: &Watch<'_>, now: Now, is_last: bool, size: Terminal) -> Frame {
        let is_marked = |row: &Row| row.changed_at.is_some_and(|changed| now.elapsed < changed + MARKED);
        let shown = watch.rows.iter().filter(|row| self.request.shows(&row.rollout));
        let shown: Vec<_> = shown.map(|row| (&row.rollout, is_marked(row))).collect();
        let all = StateCounts::of(watch.rows.iter().map(|row| &row.rollout));
        self.list.frame(&shown, &all, now.server_time, is_last, size)
    }
}

impl<'a> Executor<'a, Watch<'a>> for Printer<'a> {
    fn execute(
        &mut self,
        WatchWarnings: WatchWarnings,
        _watch: &Watch<'a>,
        observers: &mut [Observer],
        _requests: &mut RequestsInFlight<'a, ScopeRead>,
        _now: Now,
        _ui: &mut Ui,
    ) {
        if let Some(observer) = observers.first_mut() {
            observer.watch_warnings();
        }
    }

    fn observed(&mut self, observer: &mut Observer, ui: &mut Ui) -> Option<ScopeRead> {
        self.outcome.errors.extend(observer.take_errors());
        self.outcome.print_errors(ui);
        Some(ScopeRead { is_synced: observer.is_synced(), is_unreadable: observer.can_read_no_kind() })
    }

    fn must_stop_writing(_watch: &Watch<'a>) -> bool {
        true
    }

    fn draws(&self, watch: &Watch<'a>) -> bool {
        self.draws && watch.evaluated.is_some()
    }

    fn report(&mut self, watch: &Watch<'a>, report: &ChangedRows, now: Now, ui: &mut Ui) {
        let changed = report.changed.iter().filter_map(|index| Some(&watch.rows.get(*index)?.rollout));
        if self.draws {
            // the frame has them
        } else if self.request.output.is_document() {
            let word = if report.is_first { "listed" } else { "changed" };
            let deleted = report.deleted.iter().map(|rollout| ("deleted", rollout));
            for (word, rollout) in changed.map(|rollout| (word, rollout)).chain(deleted) {
                ui.out_streamed(&event_json(word, rollout, now.elapsed), &OutputForm::Json);
            }
        } else {
            ui.out_lines(&self.list.lines(&changed.collect::<Vec<_>>(), &report.deleted, now.server_time));
        }
    }

    fn frame(&self, watch: &Watch<'a>, now: Now, size: Terminal) -> Frame {
        self.frame_of(watch, now, false, size)
    }
}
