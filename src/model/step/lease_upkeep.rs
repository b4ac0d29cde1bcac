//! The lease of the plan: finds that of another process, renews this process's lease and releases it.
//!
//! [`acquire`](super::acquire::acquire) writes the lease first. Every later patch of the plan renews it.

use super::action::{Action, Decision, Purpose};
use super::outcome::StepOutcome;
use super::situation::{Situation, StepCommand};
use super::timers::{Leaving, Timers};
use crate::model::change::plan::{LEASE_DURATION, Lease, PlanRecord, RENEW_EVERY};

/// Returns the lease of another process, unless it has expired or this command takes it over. A lease has expired
/// when this process saw it unchanged for the duration of a lease.
pub(super) fn foreign_lease(
    command: &StepCommand,
    situation: &Situation<'_>,
    timers: &Timers,
    record: &PlanRecord,
) -> Option<Lease> {
    let lease = record.lease.as_ref().filter(|lease| lease.holder != command.identity.holder)?;
    let has_expired = timers
        .other_lease
        .as_ref()
        .is_some_and(|(other, since)| other == lease && situation.now.elapsed >= *since + LEASE_DURATION);
    (!command.request.take_over && !has_expired).then(|| lease.clone())
}

/// Renews the lease when it is due. After an external change it is not renewed: the patch would make the change look
/// like one of this process.
pub(super) fn renewal(command: &StepCommand, situation: &Situation<'_>, timers: &Timers) -> Option<Decision> {
    let is_ours = timers.ownership.has_acquired() && timers.leaving.is_none();
    let is_due = timers.renewed.is_none_or(|renewed| situation.now.elapsed >= renewed + RENEW_EVERY);
    let record = situation.record.filter(|_| is_ours && is_due)?;
    if timers.ownership.external_change(situation.observed, &command.identity.holder).is_some() {
        return None;
    }
    let patch = record.renewed(situation.now.stamp()).patch(&situation.observed.workload, None);
    Some(Decision::write(Purpose::RenewLease, patch, Vec::new(), "the lease is due: renew it"))
}

/// Releases the lease, so that the next process need not wait for it to expire.
pub(super) fn release_lease(situation: &Situation<'_>, holder: &str, leaving: &Leaving) -> Decision {
    let is_ours = |record: &&PlanRecord| record.lease.as_ref().is_some_and(|lease| lease.holder == holder);
    let Some(record) = situation.record.filter(is_ours) else {
        return Decision::new(Action::End(leaving.outcome.clone()), "the lease is released: end");
    };
    let mut record = record.clone();
    record.lease = None;
    if matches!(leaving.outcome, StepOutcome::Reached { .. }) {
        record.plan.reach = None;
    }
    let patch = record.patch(&situation.observed.workload, None);
    Decision::write(Purpose::ReleaseLease, patch, Vec::new(), "the command ends: release the lease")
}
