//! The causes of one rollout over time: since when each one lasts, which ones were reported, and which ones fail the
//! rollout.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::report::CauseChange;
use crate::model::cause::container_logs::LogRef;
use crate::model::cause::{AllowedRestarts, Cause, CauseId, has_crash_loop};
use crate::model::engine::Now;
use crate::model::observation::Observation;

/// A cause that returns within this time never counted as gone. A container in a crash loop runs
/// for a moment, and the kubelet retries an image pull.
const ABSENCE_GRACE: Duration = Duration::from_secs(10);

/// The shortest time between two reports of one cause. Restarts count up, and pods join one by one.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The causes of one rollout.
#[derive(Debug, Default)]
pub(in crate::model) struct CauseLedger {
    reported: BTreeMap<CauseKey, ReportedCause>,
    fatal: BTreeMap<CauseId, FatalCause>,
    /// The name of the revision that the fatal causes are about.
    revision: Option<String>,
}

/// What an observation changes: the causes to report, and the container logs to read.
#[derive(Debug, Default)]
pub(in crate::model) struct CauseUpdate {
    /// A cause that is gone is as it was reported last.
    pub(in crate::model) changes: Vec<(Cause, CauseChange)>,
    pub(in crate::model) logs: Vec<LogRef>,
}

/// Identifies a cause independently of its wording: the id, the container, and an index among the
/// causes that share both.
type CauseKey = (CauseId, Option<String>, usize);

/// A cause that was reported.
#[derive(Debug)]
struct ReportedCause {
    reported: Cause,
    reported_at: Duration,
    latest: Cause,
    /// The time since when the cause is absent, if it is.
    absent_since: Option<Duration>,
    log: LogState,
}

/// A cause that fails the rollout once it has outlasted its grace period.
#[derive(Clone, Copy, Debug)]
struct FatalCause {
    since: Duration,
    grace: Duration,
    /// The time since when the cause is absent, if it is.
    absent_since: Option<Duration>,
}

/// Whether the last log lines of a cause's container were read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LogState {
    /// The lines were not requested.
    Unread,
    /// The lines were requested from this container, after this number of restarts.
    Requested(LogRef, i64),
    /// The lines could not be read, or there were none: the kubelet removes old containers.
    Missing(LogRef, i64),
}

impl CauseLedger {
    /// Records the causes of one observation, which were found with these allowed restarts. `grace` returns the grace
    /// period of a cause that fails the rollout. `last_progress` is when the rollout last progressed. Another revision gets
    /// its own grace periods.
    pub(in crate::model) fn record(
        &mut self,
        causes: &[Cause],
        observation: &Observation,
        allowed: AllowedRestarts,
        grace: impl Fn(&Cause) -> Option<Duration>,
        last_progress: Duration,
        now: Now,
    ) -> CauseUpdate {
        let revision = observation.revisions.current().map(|current| current.name.clone());
        if revision != self.revision {
            self.fatal.clear();
            self.revision = revision;
        }
        let mut update = CauseUpdate::default();
        self.record_reported(causes, now.elapsed, &mut update);
        let graces = causes.iter().filter_map(|cause| Some((cause.id, grace(cause)?)));
        // A container that runs for a while between two crashes has no cause meanwhile.
        let has_crash_loop = has_crash_loop(observation, allowed, now.server_time);
        self.record_fatal(graces, has_crash_loop, last_progress, now.elapsed);
        update
    }

    /// Returns the causes that were reported and are not gone.
    pub(in crate::model) fn active(&self) -> impl Iterator<Item = &Cause> {
        self.reported.values().map(|entry| &entry.latest)
    }

    /// Returns every present fatal cause whose grace period is over, with its grace period.
    pub(in crate::model) fn expired(&self, now: Duration) -> impl Iterator<Item = (CauseId, Duration)> {
        let is_expired = move |fatal: &FatalCause| fatal.absent_since.is_none() && now >= fatal.expires_at();
        self.fatal.iter().filter(move |(_, fatal)| is_expired(fatal)).map(|(id, fatal)| (*id, fatal.grace))
    }

    /// Whether the grace period of a fatal cause is not over.
    pub(in crate::model) fn is_pending(&self, now: Duration) -> bool {
        self.fatal.values().any(|fatal| now < fatal.expires_at())
    }

    /// Returns when elapsed time alone changes the causes: the end of the first grace period, or the first report that is
    /// not due yet.
    pub(in crate::model) fn dues(&self) -> impl Iterator<Item = Duration> {
        let entries = || self.reported.values();
        let restated = entries()
            .filter(|entry| entry.is_worth_reporting())
            .map(|entry| entry.reported_at + REPORT_INTERVAL);
        let gone_at = entries().filter_map(|entry| Some(entry.absent_since? + ABSENCE_GRACE));
        let expires_at = self.fatal.values().map(FatalCause::expires_at);
        [restated.chain(gone_at).min(), expires_at.min()].into_iter().flatten()
    }

    /// Records that a container's last log lines could not be read. They are requested again once the container
    /// has ended or started again.
    pub(in crate::model) fn note_missing_log(&mut self, pod: &str, container: &str) {
        for entry in self.reported.values_mut() {
            if let LogState::Requested(place, restarts) = &entry.log
                && place.pod == pod
                && place.container == container
            {
                entry.log = LogState::Missing(place.clone(), *restarts);
            }
        }
    }

    /// Removes every absent cause without waiting for [`ABSENCE_GRACE`], because the goal is reached. Returns them as they
    /// were reported last. Causes that are still present, such as a hold, stay.
    pub(in crate::model) fn remove_absent(&mut self) -> impl Iterator<Item = Cause> {
        self.remove(|entry| entry.absent_since.is_some()).into_iter()
    }

    fn record_reported(&mut self, causes: &[Cause], now: Duration, update: &mut CauseUpdate) {
        let mut present = BTreeSet::new();
        // A cause keeps its key while it reads the same; one that reads differently takes the first key that is left.
        let (known, others): (Vec<_>, Vec<_>) =
            causes.iter().map(|cause| (self.key_of(cause), cause)).partition(|(key, _)| key.is_some());
        for (key, cause) in known.into_iter().chain(others) {
            let key = key.filter(|key| !present.contains(key));
            let free = || {
                let mut keys = (0..).map(|nth| (cause.id, cause.container.clone(), nth));
                keys.find(|key| !present.contains(key))
            };
            let Some(key) = key.or_else(free) else { continue };
            present.insert(key.clone());
            if !self.reported.contains_key(&key) {
                update.changes.push((cause.clone(), CauseChange::Appeared));
            }
            let entry = self.reported.entry(key).or_insert_with(|| ReportedCause::new(cause, now));
            update.logs.extend(entry.renew(cause));
        }
        for (key, entry) in &mut self.reported {
            if !present.contains(key) {
                entry.absent_since.get_or_insert(now);
            }
        }
        let is_due = |entry: &&mut ReportedCause| {
            entry.is_worth_reporting() && now >= entry.reported_at + REPORT_INTERVAL
        };
        for entry in self.reported.values_mut().filter(is_due) {
            (entry.reported, entry.reported_at) = (entry.latest.clone(), now);
            update.changes.push((entry.latest.clone(), CauseChange::Changed));
        }
        let gone = self.remove(|entry| is_gone(entry.absent_since, now));
        update.changes.extend(gone.into_iter().map(|cause| (cause, CauseChange::Gone)));
    }

    fn record_fatal(
        &mut self,
        graces: impl Iterator<Item = (CauseId, Duration)>,
        has_crash_loop: bool,
        last_progress: Duration,
        now: Duration,
    ) {
        let mut present = BTreeSet::new();
        for (id, grace) in graces {
            let entry = self.fatal.entry(id).or_insert(FatalCause { since: now, grace, absent_since: None });
            (entry.grace, entry.absent_since) = (grace, None);
            if id.is_refusal() {
                entry.since = entry.since.max(last_progress);
            }
            present.insert(id);
        }
        self.fatal.retain(|id, entry| {
            if !present.contains(id) {
                entry.absent_since.get_or_insert(now);
            }
            !is_gone(entry.absent_since, now) || id.ends_container() && has_crash_loop
        });
    }

    /// Returns the key of a reported cause with the same text.
    fn key_of(&self, cause: &Cause) -> Option<CauseKey> {
        let is_same = |(key, entry): &(&CauseKey, &ReportedCause)| {
            key.0 == cause.id && key.1 == cause.container && cause.reads_as(&entry.latest)
        };
        self.reported.iter().find(is_same).map(|(key, _)| key.clone())
    }

    /// Removes reported causes, and returns them as they were reported last.
    fn remove(&mut self, is_gone: impl Fn(&ReportedCause) -> bool) -> Vec<Cause> {
        let mut gone = Vec::new();
        self.reported.retain(|_, entry| {
            let is_gone = is_gone(entry);
            if is_gone {
                gone.push(entry.reported.clone());
            }
            !is_gone
        });
        gone
    }
}

impl ReportedCause {
    fn new(cause: &Cause, now: Duration) -> Self {
        let (reported, latest) = (cause.clone(), cause.clone());
        Self { reported, reported_at: now, latest, absent_since: None, log: LogState::Unread }
    }

    /// Records that the cause is present. Returns the container log to read, if it was not requested yet.
    fn renew(&mut self, cause: &Cause) -> Option<LogRef> {
        // The kubelet gives the reason for a moment only, and then reports that it waits for the next try.
        let known = self.latest.evidence.take().filter(|_| cause.reads_as(&self.latest));
        let evidence = cause.evidence.clone().or(known);
        (self.latest, self.absent_since) = (Cause { evidence, ..cause.clone() }, None);
        let is_unread = |place: &LogRef| match &self.log {
            LogState::Unread => true,
            LogState::Requested(..) => false,
            LogState::Missing(before, restarts) => before != place || *restarts != cause.restarts,
        };
        let place = LogRef::of(cause).filter(is_unread)?;
        self.log = LogState::Requested(place.clone(), cause.restarts);
        Some(place)
    }

    /// Whether the cause changed enough to report it again. The evidence changes with every attempt
    /// to pull an image, so only its first appearance counts.
    fn is_worth_reporting(&self) -> bool {
        if self.absent_since.is_some() {
            return false;
        }
        let (before, now) = (&self.reported, &self.latest);
        let is_explained = before.evidence.is_none() && now.evidence.is_some();
        // A container in a crash loop runs for a moment, and the cause then lacks its pod.
        let runs_between = now.id.ends_container() && now.pods.len() < before.pods.len();
        let has_other_pods = now.pods.len() != before.pods.len() && !runs_between;
        !before.reads_as(now) || has_other_pods || before.restarts != now.restarts || is_explained
    }
}

impl FatalCause {
    fn expires_at(&self) -> Duration {
        self.since + self.grace
    }
}

fn is_gone(absent_since: Option<Duration>, now: Duration) -> bool {
    absent_since.is_some_and(|since| now >= since + ABSENCE_GRACE)
}
