//! A `step` command in a simulated cluster.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;

use super::fake_cluster::FakeCluster;
use super::observation::watched;
use crate::change::written::{DeletionResult, Written};
use crate::engine::{Effects, Engine, LoopEvent, Now, PodRef, TargetId};
use crate::error::{Error, ErrorKind};
use crate::hold::plan::{Amount, BatchSize, CheckResult, Lock, PaceFlags, Reach};
use crate::step::memory::Memory;
use crate::step::request::Then;
use crate::step::*;

/// The only target.
pub(super) const TARGET: TargetId = TargetId::of(0);

/// Only time passed.
pub(super) const TICK: LoopEvent<Reply> = LoopEvent::Tick { since_answer: Vec::new() };

/// A command, its reports, and the invariants at every moment.
#[expect(clippy::struct_excessive_bools, reason = "each switches one fault of the simulated cluster")]
pub(super) struct StepperFixture {
    pub(super) stepper: Stepper,
    pub(super) cluster: FakeCluster,
    pub(super) reports: Vec<StepReport>,
    pub(super) acts: usize,
    /// The result of the check.
    pub(super) check: CheckResult,
    /// The results of its next runs, which come first.
    pub(super) next_checks: VecDeque<CheckResult>,
    pub(super) checks: usize,
    /// Whether the check does not end before the test applies its result.
    pub(super) is_check_slow: bool,
    /// How many pods may be unavailable; none for no assertion.
    pub(super) bound: Option<usize>,
    /// How long the next refreshes take, in seconds.
    pub(super) refresh_times: VecDeque<u64>,
    /// The results of the next deletions, which are not executed.
    pub(super) removals: VecDeque<DeletionResult>,
    /// Whether refreshes fail, because nodes cannot be read.
    pub(super) has_no_nodes: bool,
    /// Whether the server is unreachable.
    pub(super) is_away: bool,
    /// Whether writes are executed and their responses lost.
    pub(super) loses_answers: bool,
    /// Whether the server answers every write with 500 and executes none, as with an admission webhook that is down.
    pub(super) fails_writes: bool,
    /// Whether another client ends the hold before the lock is released.
    pub(super) ends_hold_before_release: bool,
    /// Whether watches deliver no more events.
    pub(super) loses_events: bool,
    /// Whether the write of a rollback gets no response.
    pub(super) holds_rollback: bool,
    /// After how many tasks the process dies, before the result of the last one arrives.
    pub(super) dies_at: Option<usize>,
    /// Whether the process forgets all but the annotation after each of its writes and deletions.
    pub(super) forgets: bool,
    pub(super) is_dead: bool,
    /// Whether deletions get no response.
    pub(super) holds_deletions: bool,
    /// The pods of the last such wave.
    pub(super) wave: Vec<PodRef>,
    pub(super) began: u64,
}

pub(super) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A request to go to the end, so many pods at a time.
pub(super) fn all_by(pods: u32) -> StepOptions {
    let given = PaceFlags { batch_size: Some(BatchSize::By(Amount::Pods(pods))), ..PaceFlags::default() };
    StepOptions { pace: given, reach: Some(Reach::All), ..StepOptions::default() }
}

/// The lock of a process: its holder is the name of the process.
pub(super) fn lock(holder: &str) -> Lock {
    Lock { holder: holder.to_owned(), by: Some(format!("ada@{holder}")), ..Lock::default() }
}

impl StepperFixture {
    pub(super) fn of(options: StepOptions, cluster: FakeCluster) -> Self {
        Self::by("one", options, cluster)
    }

    pub(super) fn by(holder: &str, options: StepOptions, cluster: FakeCluster) -> Self {
        let mut fixture = Self::unstarted(holder, options, cluster);
        fixture.see(TICK);
        fixture
    }

    /// A command that has received no event yet.
    pub(super) fn unstarted(holder: &str, options: StepOptions, cluster: FakeCluster) -> Self {
        let stepper = Stepper::new(options, lock(holder), cluster.workload());
        let began = cluster.seconds;
        Self {
            stepper,
            cluster,
            reports: Vec::new(),
            acts: 0,
            check: CheckResult::Passed,
            next_checks: VecDeque::new(),
            checks: 0,
            is_check_slow: false,
            bound: Some(1),
            refresh_times: VecDeque::new(),
            removals: VecDeque::new(),
            has_no_nodes: false,
            is_away: false,
            loses_answers: false,
            fails_writes: false,
            ends_hold_before_release: false,
            loses_events: false,
            holds_rollback: false,
            dies_at: None,
            forgets: false,
            is_dead: false,
            holds_deletions: false,
            wave: Vec::new(),
            began,
        }
    }

    /// Another command on the same host after the process of this one has ended, on the cluster as it is.
    pub(super) fn then(self, holder: &str, options: StepOptions) -> Self {
        let ended_holder = Some(self.stepper.holder().to_owned());
        self.beside(holder, StepOptions { ended_holder, ..options })
    }

    /// Another command while the process of this one may still run.
    pub(super) fn beside(self, holder: &str, options: StepOptions) -> Self {
        let Self { cluster, bound, check, .. } = self;
        let mut next = Self::by(holder, options, cluster);
        (next.bound, next.check) = (bound, check);
        next
    }

    fn now(&self) -> Now {
        Now { elapsed: seconds(self.cluster.seconds - self.began), server_time: self.cluster.wall() }
    }

    /// Applies an event, and executes the tasks.
    pub(super) fn see(&mut self, seen: LoopEvent<Reply>) {
        let mut queue = VecDeque::from([seen]);
        while let Some(seen) = queue.pop_front().filter(|_| !self.is_dead) {
            let now = self.now();
            let ends_an_action = matches!(seen, LoopEvent::Answer(Reply::Written(_) | Reply::Deleted(_)));
            let Effects { reports, tasks } = self.stepper.apply(seen, now);
            if self.forgets && ends_an_action {
                self.forget();
            }
            self.reports.extend(reports);
            for act in tasks {
                self.acts += 1;
                let answers = self.answer(act);
                if self.dies_at.is_some_and(|dies_at| self.acts >= dies_at) {
                    self.is_dead = true;
                    return;
                }
                queue.extend(answers.into_iter().map(LoopEvent::Answer));
            }
        }
    }

    /// Discards the memory of the process.
    fn forget(&mut self) {
        let Memory { ownership, .. } = std::mem::take(&mut self.stepper.memory);
        self.stepper.memory = Memory { ownership, ..Memory::default() };
    }

    fn answer(&mut self, act: Request) -> Vec<Reply> {
        match act {
            Request::DeleteStuck(pod) => self.answer(Request::Delete { pods: vec![pod], evict: false }),
            Request::Refresh if self.has_no_nodes => {
                let error = Error::new(ErrorKind::Unreachable, "cannot read nodes");
                vec![Reply::Unrefreshed(error)]
            }
            Request::Refresh => {
                let look = Reply::Refreshed {
                    observed: Box::new(self.cluster.observed()),
                    nodes: Some(self.cluster.nodes()),
                };
                (0..self.refresh_times.pop_front().unwrap_or_default()).for_each(|_| self.cluster.tick());
                vec![look]
            }
            Request::Patch(_) if self.is_away => {
                let error = Error::new(ErrorKind::Unreachable, "out of reach");
                vec![Reply::Written(Written::Unavailable(error))]
            }
            Request::Patch(_) if self.fails_writes => {
                let error = Error::new(ErrorKind::Unreachable, "500 Internal Server Error");
                vec![Reply::Written(Written::Unknown(error))]
            }
            Request::Patch(patch) if self.loses_answers => {
                self.cluster.write(&patch.patch);
                let error = Error::new(ErrorKind::Unreachable, "no answer");
                vec![Reply::Written(Written::Unknown(error))]
            }
            Request::Patch(patch)
                if self.holds_rollback
                    && patch.patch.after()["spec"]["template"] != self.cluster.object["spec"]["template"] =>
            {
                Vec::new()
            }
            Request::Patch(patch) => {
                if patch.then == Then::Unlock && std::mem::take(&mut self.ends_hold_before_release) {
                    self.cluster.change("/spec/updateStrategy", json!({"type": "RollingUpdate"}));
                }
                vec![Reply::Written(self.cluster.write(&patch.patch))]
            }
            Request::Delete { pods, .. } if self.holds_deletions => {
                self.wave = pods;
                Vec::new()
            }
            Request::Delete { pods, .. } => {
                let deletions = pods.into_iter().map(|pod| {
                    if let Some(result) = self.removals.pop_front() {
                        return (pod, result);
                    }
                    self.cluster.delete(&pod.name, &pod.uid);
                    (pod, DeletionResult::Accepted)
                });
                vec![Reply::Deleted(deletions.collect())]
            }
            Request::Check(_) => {
                self.checks += 1;
                if self.is_check_slow {
                    return Vec::new();
                }
                vec![Reply::Checked(self.next_checks.pop_front().unwrap_or(self.check))]
            }
            Request::ReadLog(_) => Vec::new(),
        }
    }

    /// Sends a watch event.
    fn show(&mut self) {
        self.see(LoopEvent::Target(TARGET, watched(self.cluster.observed())));
    }

    /// Advances the clock by seconds, or until the command ends.
    pub(super) fn pass(&mut self, seconds_: u64) {
        for _ in 0..seconds_ {
            if self.is_over() {
                return;
            }
            self.cluster.tick();
            if let Some(bound) = self.bound {
                assert!(self.cluster.unavailable() <= bound, "{} are down", self.cluster.unavailable());
            }
            if !self.loses_events {
                self.show();
            }
            if self.stepper.due.is_some_and(|due| due <= self.now().elapsed) {
                self.see(TICK);
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_dead || self.stepper.outcome().is_some()
    }

    /// Runs the command to its end.
    pub(super) fn run(&mut self) -> StepOutcome {
        self.pass(5_000);
        self.stepper.outcome().cloned().unwrap_or_else(|| panic!("no end after {:?}", self.reports))
    }

    /// Returns the batches that began, with their slots.
    pub(super) fn begun(&self) -> Vec<String> {
        let batches = self.reports.iter().filter_map(|event| match event {
            StepReport::Batch(batch) if batch.stage == BatchStage::Updating => {
                let names: Vec<&str> = batch.slots.iter().map(|slot| slot.label.as_str()).collect();
                let canary = if batch.is_canary { "canary " } else { "" };
                Some(format!("{} {canary}{}", batch.number, names.join(" ")))
            }
            _ => None,
        });
        batches.collect()
    }

    pub(super) fn elapsed(&self) -> u64 {
        self.cluster.seconds - self.began
    }
}
