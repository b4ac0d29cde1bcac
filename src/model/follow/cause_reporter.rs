//! Decides which causes to report, and when to report them again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::event::TargetId;
use super::fatal_causes::ends_container;
use super::report::{CauseChange, FollowerRequest, LogRef, Report};
use crate::model::status::cause::{Cause, CauseId};

/// A cause that is absent for less than this time is still active. A container in a crash loop runs
/// for a moment between two crashes.
const ABSENCE_GRACE: Duration = Duration::from_secs(10);

/// The shortest time between two reports of one cause. Restarts count up, and pods join one by one.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The causes of one target that were reported.
#[derive(Debug, Default)]
pub(in crate::model) struct CauseReporter(BTreeMap<CauseKey, ReportedCause>);

/// Identifies a cause independently of its wording: the id, the container, and an index among the
/// causes that share both.
type CauseKey = (CauseId, Option<String>, usize);

#[derive(Debug)]
struct ReportedCause {
    reported: Cause,
    reported_at: Duration,
    latest: Cause,
    /// The time since when the cause is absent, if it is.
    absent_since: Option<Duration>,
    log: LogState,
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

impl CauseReporter {
    /// Records the causes of one observation and reports what changed.
    pub(in crate::model) fn record(
        &mut self,
        target: TargetId,
        causes: &[Cause],
        now: Duration,
        reports: &mut Vec<Report>,
    ) {
        let mut present = BTreeSet::new();
        let mut count: BTreeMap<(CauseId, Option<&str>), usize> = BTreeMap::new();
        for cause in causes {
            let nth = count.entry((cause.id, cause.container.as_deref())).or_default();
            let key = (cause.id, cause.container.clone(), *nth);
            *nth += 1;
            present.insert(key.clone());
            self.record_present(target, key, cause, now, reports);
        }
        for (key, entry) in &mut self.0 {
            if !present.contains(key) {
                entry.absent_since.get_or_insert(now);
            }
        }
        self.report_changes(target, now, reports);
        self.remove_gone(
            target,
            |entry| entry.absent_since.is_some_and(|absent_since| now >= absent_since + ABSENCE_GRACE),
            reports,
        );
    }

    /// Records that a container's last log lines could not be read. They are requested again once the container
    /// has ended or started again.
    pub(in crate::model) fn note_missing_log(&mut self, pod: &str, container: &str) {
        for entry in self.0.values_mut() {
            if let LogState::Requested(place, restarts) = &entry.log
                && place.pod == pod
                && place.container == container
            {
                entry.log = LogState::Missing(place.clone(), *restarts);
            }
        }
    }

    /// Reports every absent cause as gone without waiting for [`ABSENCE_GRACE`], because the goal
    /// is reached. Causes that are still present, such as a hold, stay.
    pub(in crate::model) fn report_gone(&mut self, target: TargetId, reports: &mut Vec<Report>) {
        self.remove_gone(target, |entry| entry.absent_since.is_some(), reports);
    }

    /// Returns the time of the next report that is not due yet, counted from the start of the
    /// follower.
    pub(in crate::model) fn due(&self) -> Option<Duration> {
        let entries = || self.0.values();
        let restated = entries()
            .filter(|entry| entry.is_worth_reporting())
            .map(|entry| entry.reported_at + REPORT_INTERVAL);
        let absent_since = entries().filter_map(|entry| Some(entry.absent_since? + ABSENCE_GRACE));
        restated.chain(absent_since).min()
    }

    /// Returns the causes that were reported and are not gone.
    pub(in crate::model) fn active(&self) -> impl Iterator<Item = &Cause> {
        self.0.values().map(|entry| &entry.latest)
    }

    fn record_present(
        &mut self,
        target: TargetId,
        key: CauseKey,
        cause: &Cause,
        now: Duration,
        reports: &mut Vec<Report>,
    ) {
        if !self.0.contains_key(&key) {
            reports.push(Report::Cause { target, cause: cause.clone(), change: CauseChange::Appeared });
        }
        let entry = self.0.entry(key).or_insert_with(|| ReportedCause {
            reported: cause.clone(),
            reported_at: now,
            latest: cause.clone(),
            absent_since: None,
            log: LogState::Unread,
        });
        // The kubelet gives the reason for a moment only, and then reports that it waits for the next try.
        let known = entry.latest.evidence.take().filter(|_| cause.reads_as(&entry.latest));
        let evidence = cause.evidence.clone().or(known);
        (entry.latest, entry.absent_since) = (Cause { evidence, ..cause.clone() }, None);
        let is_unread = |place: &LogRef| match &entry.log {
            LogState::Unread => true,
            LogState::Requested(..) => false,
            LogState::Missing(before, restarts) => before != place || *restarts != cause.restarts,
        };
        if let Some(place) = log_ref(cause).filter(is_unread) {
            entry.log = LogState::Requested(place.clone(), cause.restarts);
            reports.push(Report::Request(FollowerRequest::ReadLog(target, place)));
        }
    }

    fn report_changes(&mut self, target: TargetId, now: Duration, reports: &mut Vec<Report>) {
        let due = |entry: &&mut ReportedCause| {
            entry.is_worth_reporting() && now >= entry.reported_at + REPORT_INTERVAL
        };
        for entry in self.0.values_mut().filter(due) {
            (entry.reported, entry.reported_at) = (entry.latest.clone(), now);
            reports.push(Report::Cause { target, cause: entry.latest.clone(), change: CauseChange::Changed });
        }
    }

    fn remove_gone(
        &mut self,
        target: TargetId,
        is_gone: impl Fn(&ReportedCause) -> bool,
        reports: &mut Vec<Report>,
    ) {
        self.0.retain(|_, entry| {
            let gone = is_gone(entry);
            if gone {
                reports.push(Report::Cause {
                    target,
                    cause: entry.latest.clone(),
                    change: CauseChange::Gone,
                });
            }
            !gone
        });
    }
}

impl ReportedCause {
    /// Whether the cause changed enough to report it again. The evidence changes with every attempt
    /// to pull an image, so only its first appearance counts.
    fn is_worth_reporting(&self) -> bool {
        if self.absent_since.is_some() {
            return false;
        }
        let (before, now) = (&self.reported, &self.latest);
        let is_explained = before.evidence.is_none() && now.evidence.is_some();
        // A container in a crash loop runs for a moment, and the cause then lacks its pod.
        let runs_between = ends_container(now.id) && now.pods.len() < before.pods.len();
        let has_other_pods = now.pods.len() != before.pods.len() && !runs_between;
        !before.reads_as(now) || has_other_pods || before.restarts != now.restarts || is_explained
    }
}

/// Returns the container log to read for a cause, if its container crashed: the log of the previous instance only
/// while another one runs.
fn log_ref(cause: &Cause) -> Option<LogRef> {
    let crashed = matches!(
        cause.id,
        CauseId::CrashLoop
            | CauseId::InitCrash
            | CauseId::OutOfMemory
            | CauseId::LivenessProbe
            | CauseId::StartupProbe
    );
    let (pod, container) = (cause.pods.first()?.clone(), cause.container.clone()?);
    crashed.then_some(LogRef { pod, container, previous: cause.runs })
}
