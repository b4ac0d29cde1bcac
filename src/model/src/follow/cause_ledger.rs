//! The causes of one rollout over time: since when each one lasts, which ones were reported, and which ones fail the
//! rollout.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::report::CauseChange;
use crate::cause::container_logs::{LogLines, LogRef};
use crate::cause::{AllowedRestarts, Cause, CauseKey, is_crash_looping};
use crate::engine::{Effects, Now};
use crate::observation::Observation;

/// A cause that returns within this time never counted as gone. A container in a crash loop runs
/// for a moment, and the kubelet retries an image pull.
const ABSENCE_GRACE: Duration = Duration::from_secs(10);

/// The shortest time between two reports of one cause, because pods join one by one.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// How long a container must have been unready, as far as this process saw, before its log is read. It often becomes ready.
const UNREADY_BEFORE_LOG: Duration = Duration::from_secs(10);

/// The causes of one rollout.
#[derive(Clone, Debug, Default)]
pub(crate) struct CauseLedger {
    reported: BTreeMap<CauseKey, ReportedCause>,
    /// The name of the revision that the grace periods are about.
    revision_name: Option<String>,
}

/// A cause that was reported.
#[derive(Clone, Debug)]
struct ReportedCause {
    reported: Cause,
    reported_at: Duration,
    /// When it was reported first.
    appeared_at: Duration,
    latest: Cause,
    /// The time since when the cause is absent, if it is.
    absent_since: Option<Duration>,
    /// Since when the cause fails the rollout, and its grace period; none for a cause that does not fail it.
    fatal: Option<(Duration, Duration)>,
    /// The container log that was requested last, and the restarts of the container then.
    requested_log: Option<(LogRef, i64)>,
    /// Whether that log could not be read, or was empty: the kubelet removes old containers.
    is_log_missing: bool,
}

impl CauseLedger {
    /// Records the causes of one observation, which were found with these allowed restarts. `grace` returns the grace
    /// period of a cause that fails the rollout. `last_progress` is when the rollout last progressed. Another revision gets
    /// its own grace periods. Returns the causes that changed, one that is gone as it was reported last, and the logs to read.
    pub(crate) fn record(
        &mut self,
        causes: &[Cause],
        observation: &Observation,
        allowed: AllowedRestarts,
        grace: impl Fn(&Cause) -> Option<Duration>,
        last_progress: Duration,
        Now { elapsed: now, server_time }: Now,
    ) -> Effects<(Cause, CauseChange), LogRef> {
        let revision_name = observation.revisions.current().map(|current| current.name.clone());
        if revision_name != self.revision_name {
            self.reported.values_mut().for_each(|entry| entry.fatal = None);
            self.revision_name = revision_name;
        }
        let mut effects = self.record_present(causes, now);
        // A container that runs for a while between two crashes has no cause meanwhile, if its rollout is complete.
        let mut updated = observation.updated_pods();
        let has_crash_loop = updated.any(|pod| is_crash_looping(pod, allowed, server_time));
        let will_return = |entry: &ReportedCause| {
            has_crash_loop && entry.fatal.is_some() && entry.latest.id.ends_container()
        };
        let gone = self.remove(|entry| entry.gone_at().is_some_and(|at| now >= at) && !will_return(entry));
        effects.reports.extend(gone.into_iter().map(|cause| (cause, CauseChange::Gone)));
        for entry in self.reported.values_mut().filter(|entry| entry.absent_since.is_none()) {
            entry.fatal =
                grace(&entry.latest).map(|grace| (entry.fatal.map_or(now, |(since, _)| since), grace));
            if let Some((since, _)) = entry.fatal.as_mut().filter(|_| entry.latest.id.is_refusal()) {
                *since = last_progress.max(*since);
            }
        }
        effects
    }

    /// Returns the causes that were reported and are not gone.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Cause> {
        self.reported.values().map(|entry| &entry.latest)
    }

    /// Returns the active causes to show. A complete rollout contradicts an absent one, and so does a present one of the same
    /// pods; but a container in a crash loop runs for a moment.
    pub(crate) fn shown(&self, is_complete: bool) -> impl Iterator<Item = &Cause> {
        let is_shown = move |entry: &&ReportedCause| {
            let is_absent = entry.absent_since.is_some() && !entry.latest.id.ends_container();
            !is_absent || !is_complete && !self.is_replaced(&entry.latest)
        };
        self.reported.values().filter(is_shown).map(|entry| &entry.latest)
    }

    /// Whether each pod of a cause has a present cause.
    fn is_replaced(&self, cause: &Cause) -> bool {
        let present = || self.reported.values().filter(|entry| entry.absent_since.is_none());
        let has_present = |pod| present().any(|entry| entry.latest.pods.contains(pod));
        !cause.pods.is_empty() && cause.pods.iter().all(has_present)
    }

    /// Returns every present cause whose grace period is over, with its grace period.
    pub(crate) fn expired(&self, now: Duration) -> impl Iterator<Item = (&Cause, Duration)> {
        let present = self.reported.values().filter(|entry| entry.absent_since.is_none());
        present.filter_map(move |entry| {
            let (since, grace) = entry.fatal?;
            (now >= since + grace).then_some((&entry.latest, grace))
        })
    }

    /// Whether the grace period of a cause is not over.
    pub(crate) fn is_pending(&self, now: Duration) -> bool {
        self.reported.values().filter_map(ReportedCause::expires_at).any(|expires_at| now < expires_at)
    }

    /// Returns when elapsed time alone changes the causes: the ends of grace periods, and the reports that are not due yet.
    /// Some are past.
    pub(crate) fn dues(&self) -> impl Iterator<Item = Duration> {
        let dues = |entry: &ReportedCause| {
            let restated = entry.is_worth_reporting().then_some(entry.reported_at + REPORT_INTERVAL);
            [restated, entry.gone_at(), entry.expires_at()]
        };
        self.reported.values().flat_map(dues).flatten()
    }

    /// Records that a container's last log lines could not be read. They are requested again once the container
    /// has ended or started again.
    pub(crate) fn note_missing_log(&mut self, pod: &str, container: &str) {
        for entry in self.reported.values_mut() {
            let requested = entry.requested_log.as_ref();
            entry.is_log_missing |=
                requested.is_some_and(|(log, _)| log.pod == pod && log.container == container);
        }
    }

    /// Records the line of a container's log that explains its problem, as the evidence of the cause that requested the log,
    /// unless a component has explained it.
    pub(crate) fn explain(&mut self, log: &LogLines) {
        for entry in self.reported.values_mut() {
            let requested = entry.requested_log.as_ref();
            if requested.is_some_and(|(of, _)| of.pod == log.pod && of.container == log.container) {
                // The log itself was reported, so the cause is not reported again.
                for cause in [&mut entry.reported, &mut entry.latest] {
                    cause.evidence = cause.evidence.take().or_else(|| log.error_line().map(str::to_owned));
                }
            }
        }
    }

    /// Returns the logs that were not due before the rollout ended without success. They explain why.
    pub(crate) fn take_logs_before_due(&mut self) -> Vec<LogRef> {
        let present = self.reported.values_mut().filter(|entry| entry.absent_since.is_none());
        let unread = present.filter(|entry| entry.requested_log.is_none()).filter_map(|entry| {
            let log = LogRef::of(&entry.latest)?;
            entry.requested_log = Some((log.clone(), entry.latest.restarts));
            Some(log)
        });
        unread.collect()
    }

    /// Removes every absent cause without waiting for [`ABSENCE_GRACE`], because the goal is reached. Returns them as they
    /// were reported last. Causes that are still present, such as a hold, stay.
    pub(crate) fn remove_absent(&mut self) -> Vec<Cause> {
        self.remove(|entry| entry.absent_since.is_some())
    }

    fn record_present(&mut self, causes: &[Cause], now: Duration) -> Effects<(Cause, CauseChange), LogRef> {
        let (mut effects, mut present) = (Effects::default(), BTreeSet::new());
        // The logs are read next, so that the last of these causes is above its own log.
        let mut with_log = Vec::new();
        // One whose detail changed takes the place of an absent cause with the same id and container.
        let keyed = causes.iter().map(|cause| (cause.key(), cause));
        let (known, others): (Vec<_>, Vec<_>) = keyed.partition(|(key, _)| self.reported.contains_key(key));
        for (key, cause) in known.into_iter().chain(others) {
            if !present.insert(key.clone()) {
                continue; // the secrets in its detail were masked
            }
            if !self.reported.contains_key(&key) {
                let is_former = |former: &&CauseKey| {
                    (former.0, &former.1) == (key.0, &key.1) && !present.contains(*former)
                };
                let former = self.reported.keys().find(is_former).cloned();
                let entry = former.and_then(|former| self.reported.remove(&former));
                self.reported.extend(entry.map(|entry| (key.clone(), entry)));
            }
            let is_new = !self.reported.contains_key(&key);
            let entry = self.reported.entry(key).or_insert_with(|| ReportedCause::new(cause, now));
            let log = entry.renew(cause, now);
            let reports = if log.is_some() { &mut with_log } else { &mut effects.reports };
            reports.extend(is_new.then(|| (cause.clone(), CauseChange::Appeared)));
            effects.tasks.extend(log);
        }
        for (key, entry) in &mut self.reported {
            if !present.contains(key) {
                entry.absent_since.get_or_insert(now);
            }
        }
        let changed = self.take_changed(|entry| now >= entry.reported_at + REPORT_INTERVAL, now);
        effects.reports.extend(changed.into_iter().map(|cause| (cause, CauseChange::Changed)));
        effects.reports.extend(with_log);
        effects
    }

    /// Returns the causes that changed since they were reported, without waiting for [`REPORT_INTERVAL`]: an outcome is
    /// reported below its causes as they are then.
    pub(crate) fn take_all_changed(&mut self, now: Duration) -> Vec<Cause> {
        self.take_changed(|_| true, now)
    }

    /// Returns the changed causes that are to be reported now.
    fn take_changed(&mut self, is_due: impl Fn(&ReportedCause) -> bool, now: Duration) -> Vec<Cause> {
        let is_reported = |entry: &&mut ReportedCause| entry.is_worth_reporting() && is_due(entry);
        let changed = self.reported.values_mut().filter(is_reported).map(|entry| {
            (entry.reported, entry.reported_at) = (entry.latest.clone(), now);
            entry.latest.clone()
        });
        changed.collect()
    }

    /// Removes reported causes, and returns them as they were reported last.
    fn remove(&mut self, is_removed: impl Fn(&ReportedCause) -> bool) -> Vec<Cause> {
        let mut removed = Vec::new();
        self.reported.retain(|_, entry| {
            let stays = !is_removed(entry);
            if !stays {
                removed.push(entry.reported.clone());
            }
            stays
        });
        removed
    }
}

impl ReportedCause {
    fn new(cause: &Cause, now: Duration) -> Self {
        let (reported, latest) = (cause.clone(), cause.clone());
        Self {
            reported,
            reported_at: now,
            appeared_at: now,
            latest,
            absent_since: None,
            fatal: None,
            requested_log: None,
            is_log_missing: false,
        }
    }

    /// Records that the cause is present. Returns the container log to read, if it is due and was not requested yet.
    fn renew(&mut self, cause: &Cause, now: Duration) -> Option<LogRef> {
        // The kubelet gives the reason for a moment only, and then reports that it waits for the next try.
        let is_same = cause.detail.what == self.latest.detail.what; // the id and the container are
        let known = self.latest.evidence.take().filter(|_| is_same);
        let evidence = cause.evidence.clone().or(known);
        (self.latest, self.absent_since) = (Cause { evidence, ..cause.clone() }, None);
        let log = (LogRef::of(cause)?, cause.restarts);
        if !log.0.is_of_crash(cause) && now < self.appeared_at + UNREADY_BEFORE_LOG {
            return None;
        }
        if let Some(before) = &self.requested_log {
            // The kubelet restarts a container at once after its first crash, so the log may be that of the next run.
            let may_be_of_next_run = before.1 == 0 && !before.0.previous;
            let is_outdated = before.0.pod == log.0.pod && (!is_same || may_be_of_next_run);
            if *before == log || !is_outdated && !self.is_log_missing {
                return None;
            }
        }
        self.is_log_missing = false;
        Some(self.requested_log.insert(log).0.clone())
    }

    /// Returns when the cause is gone; none while it is present.
    fn gone_at(&self) -> Option<Duration> {
        self.absent_since.map(|since| since + ABSENCE_GRACE)
    }

    /// Returns when the grace period of the cause ends; none for a cause that does not fail the rollout.
    fn expires_at(&self) -> Option<Duration> {
        self.fatal.map(|(since, grace)| since + grace)
    }

    /// Whether the cause changed enough to report it again: another problem, other pods, that it needs a fix now. The
    /// restarts of a crash loop count up, and the evidence changes with every attempt to pull an image, so that only its
    /// first appearance counts.
    fn is_worth_reporting(&self) -> bool {
        if self.absent_since.is_some() {
            return false;
        }
        let (before, now) = (&self.reported, &self.latest);
        let is_explained = before.evidence.is_none() && now.evidence.is_some();
        // A container in a crash loop runs for a moment, and the cause then lacks its pod.
        let runs_between = now.id.ends_container() && now.pods.len() < before.pods.len();
        let has_other_pods = now.pods.len() != before.pods.len() && !runs_between;
        let is_serious = before.severity != now.severity;
        before.detail.what != now.detail.what || has_other_pods || is_serious || is_explained
    }
}
