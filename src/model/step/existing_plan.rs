//! Finds the existing plan of a workload, or prepares a new one.

use serde_json::Value;

use super::kind_lookup::{holding_strategy, step_kind};
use super::outcome::{StepOutcome, StopReason};
use super::request::{CheckOverride, Request};
use super::slot::{ExcludedBy, PodSlot};
use super::validate;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::managed_fields::last_template_author;
use crate::model::api::object::Object;
use crate::model::change::owners::{driver, driver_command};
use crate::model::change::plan::{Amount, Hold, HoldReason, Pace, Plan, PlanRecord, Reach};
use crate::model::status::effect::UpdatedPods;
use crate::model::status::observation::Observation;
use crate::model::text::shell_command::command;
use crate::model::workload::Workload;
use crate::model::workload::kind::PodUpdatePolicy;
use crate::model::workload::strategy;

/// The existing plan, or the new plan that the command would begin.
pub(super) struct ExistingPlan {
    /// The record as this process would write it, without its lease.
    pub(super) record: PlanRecord,
    pub(super) origin: Origin,
    /// The update strategy to write so that the workload is held; none if it is held already.
    pub(super) set: Option<Value>,
}

/// What held the workload before this command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A plan that continues, releasing batches or rolling back.
    Plan,
    /// A plan, which a new one replaces.
    Replaced,
    /// A pause.
    Pause,
    /// No hold.
    Free {
        /// Whether there was a hold that another client ended.
        was_held: bool,
    },
}

impl ExistingPlan {
    /// Whether a plan for the live template exists and must be ended, even if every pod is updated.
    pub(super) fn has_to_end(&self) -> bool {
        match self.origin {
            Origin::Plan => true,
            Origin::Replaced => self.set.is_none(),
            Origin::Pause | Origin::Free { .. } => false,
        }
    }

    /// Returns the observation as it would be after the first write holds the workload; none if it is held already.
    pub(super) fn as_held(&self, observed: &Observation) -> Option<Observation> {
        let patch = self.record.patch(&observed.workload, Some(self.set.clone()?));
        let workload = Workload::of(Object::read(patch.after().clone()).ok()?)?;
        Some(Observation { workload, ..observed.clone() })
    }
}

/// Finds the existing plan, or prepares a new one.
///
/// # Errors
/// The outcome of a command that ends before it writes anything.
pub(super) fn find_plan(request: &Request, observed: &Observation) -> Result<ExistingPlan, StepOutcome> {
    let workload = &observed.workload;
    check(request, observed).map_err(StepOutcome::Error)?;
    let hold = Hold::of(workload).map_err(StepOutcome::Error)?;
    let found = match hold {
        Some(hold) if hold.is_in_force(workload) && hold.reason() == HoldReason::Pause => {
            let record = new_plan(request, observed, hold.into_plan_hold()).adopting(workload);
            ExistingPlan { record, origin: Origin::Pause, set: None }
        }
        Some(hold) if hold.is_in_force(workload) => continue_plan(request, observed, &hold)?,
        hold => match rollback_without_hold(workload) {
            Some(record) if record.plan.is_for_live_template(workload) && !request.new_plan => {
                ExistingPlan { record, origin: Origin::Plan, set: None }
            }
            rollback => {
                let was_held = hold.is_some() && rollback.is_none();
                // A lease has no effect in a hold that another client ended.
                let set = holding_strategy(observed).map_err(StepOutcome::Error)?;
                let hold = Hold::new(workload, HoldReason::Plan, &set);
                let record = new_plan(request, observed, hold);
                ExistingPlan { record, origin: Origin::Free { was_held }, set: Some(set) }
            }
        },
    };
    if request.in_place_only && found.record.plan.is_releasing() {
        let after = found.as_held(observed);
        check_in_place(after.as_ref().unwrap_or(observed)).map_err(StepOutcome::Error)?;
    }
    let plan = &found.record.plan;
    if plan.reach == Some(Reach::All) && plan.is_releasing() {
        plan.pace.batches.check_end().map_err(StepOutcome::Error)?;
    }
    Ok(found)
}

/// Refuses requests that are invalid for this workload or these permissions.
fn check(request: &Request, observed: &Observation) -> Result<()> {
    let workload = &observed.workload;
    if let Some(driver) = driver(workload) {
        let sentence = format!("{driver} drives the rollout of {}", workload.target());
        let advice = "use the steps of that rollout; two programs would undo each other's changes";
        let hint =
            driver_command(workload).map_or_else(|| advice.to_owned(), |step| format!("{advice}: {step}"));
        return Err(Error::new(ErrorKind::Refused, sentence).hint(hint));
    }
    step_kind(workload)?.check_request(workload, request)?;
    validate::check_numbers(request, workload)?;
    if observed.pods.is_none() {
        return Err(unreadable(workload, "pods", "pods"));
    }
    // A controller that has observed the workload has stored a revision of it.
    if observed.revisions.is_empty() && workload.is_observed() {
        return Err(unreadable(workload, "revisions", workload.kind().revisions.type_().plural()));
    }
    Ok(())
}

/// Refuses a plan that would recreate a pod, for `--in-place-only`.
fn check_in_place(observed: &Observation) -> Result<()> {
    let workload = &observed.workload;
    let update = foretold_update(observed);
    if update.recreated == 0 && !update.refused {
        return Ok(());
    }
    let target = workload.target();
    let sentence = format!("--in-place-only: the update recreates pods of {target}; nothing was written");
    let error = Error::new(ErrorKind::Refused, sentence);
    let because: Vec<String> = update.because.iter().map(ToString::to_string).collect();
    let error = match workload.pod_update_policy() {
        PodUpdatePolicy::Recreate => error.caused_by("its update strategy replaces every outdated pod"),
        _ if because.is_empty() => error.caused_by("the revision of an outdated pod is not kept"),
        _ => error.caused_by(format!("{} cannot change in place", because.join(", "))),
    };
    Err(error.hint(command("kubectl rollout2 diff {}", [workload.command_target()])))
}

/// Foretells the update of each outdated pod of a workload.
pub(super) fn foretold_update(observed: &Observation) -> UpdatedPods {
    let pods: Vec<_> = observed.outdated_pods().collect();
    UpdatedPods::of(&pods, observed, &observed.workload)
}

/// Returns the record of a rollback whose original strategy is restored already, for any live template.
fn rollback_without_hold(workload: &Workload) -> Option<PlanRecord> {
    let record = PlanRecord::of(workload).ok().flatten()?;
    (!record.plan.is_releasing() && !record.hold.is_in_force(workload)).then_some(record)
}

fn new_plan(request: &Request, observed: &Observation, hold: Hold) -> PlanRecord {
    let template = observed.workload.template_digest();
    let reach = request.reach.unwrap_or(Reach::Next);
    let pace = request.pace.apply_to(Pace::default());
    let from = observed.stable_at_start().map(|stable| stable.name.clone());
    let plan = Plan::new(&template, from, pace, reach);
    PlanRecord {
        hold,
        plan: Plan { below_partition: goes_below_partition(request.reach), ..plan },
        lease: None,
    }
}

/// Continues the plan in force, unless it is paused or is for another template.
fn continue_plan(
    request: &Request,
    observed: &Observation,
    hold: &Hold,
) -> Result<ExistingPlan, StepOutcome> {
    let workload = &observed.workload;
    if hold.is_paused() || hold.is_paused_by_another_client(workload) {
        return Err(StepOutcome::Stopped(StopReason::Paused));
    }
    let record = PlanRecord::of(workload).map_err(StepOutcome::Error)?;
    match record {
        Some(record) if record.plan.is_for_live_template(workload) && !request.new_plan => {
            let plan = &record.plan;
            if !plan.is_rolling_back() {
                check_repeated(request, plan, workload).map_err(StepOutcome::Error)?;
            }
            let plan = Plan {
                pace: request.pace.apply_to(plan.pace.clone()),
                reach: Some(request.reach.or(plan.reach).unwrap_or(Reach::Next)),
                below_partition: plan.below_partition || goes_below_partition(request.reach),
                ..plan.clone()
            };
            let record = PlanRecord { plan, ..record }.adopting(workload);
            Ok(ExistingPlan { record, origin: Origin::Plan, set: None })
        }
        Some(record) if request.new_plan => replace_plan(request, observed, record),
        _ => Err(StepOutcome::Stopped(another_template(workload))),
    }
}

/// Replaces a plan. Released slots stay released: for the same template, the strategy that holds is kept.
fn replace_plan(
    request: &Request,
    observed: &Observation,
    other: PlanRecord,
) -> Result<ExistingPlan, StepOutcome> {
    let workload = &observed.workload;
    let is_same_template = other.plan.is_for_live_template(workload);
    let set =
        if is_same_template { None } else { Some(holding_strategy(observed).map_err(StepOutcome::Error)?) };
    let was_below = is_same_template
        && other.plan.below_partition
        && strategy::partition(workload) < other.hold.own_partition(workload);
    let mut record = new_plan(request, observed, other.hold).adopting(workload);
    // A rollback still goes to the revision before the replaced plan.
    let from = other.plan.from.filter(|from| is_replaced(observed, from));
    record.plan.from = from.or(record.plan.from);
    record.plan.below_partition |= was_below;
    record.lease = other.lease;
    Ok(ExistingPlan { record, origin: Origin::Replaced, set })
}

/// Checks that the command repeats the check of the plan, which stores only its digest.
fn check_repeated(request: &Request, plan: &Plan, workload: &Workload) -> Result<()> {
    let Some(stored) = &plan.pace.check else { return Ok(()) };
    let target = workload.target();
    let message = match &request.pace.check {
        Some(CheckOverride::Skip) => return Ok(()),
        Some(CheckOverride::Run(digest)) if *digest == stored.digest => return Ok(()),
        Some(CheckOverride::Run(_)) => format!("the plan of {target} began with another --check"),
        None => format!("the plan of {target} has a --check, and stores only its digest"),
    };
    Err(Error::usage(message).hint("repeat the same --check, or add --no-check"))
}

/// Whether a revision is stored, and its template is not the live one.
fn is_replaced(observed: &Observation, name: &str) -> bool {
    let is_current = observed.revisions.current().is_some_and(|current| current.name == name);
    !is_current && observed.revisions.iter().any(|one| one.name == name)
}

/// Whether the command also releases pods below the original partition.
fn goes_below_partition(reach: Option<Reach>) -> bool {
    matches!(reach, Some(Reach::To(Amount::PerCent(100))))
}

fn another_template(workload: &Workload) -> StopReason {
    StopReason::Changed {
        manager: last_template_author(workload.object()).map(|author| author.manager),
        changes: vec!["the live template is not the one of the plan".to_owned()],
        lost_original: None,
        rolled_back_to: None,
    }
}

fn unreadable(workload: &Workload, what: &str, plural: &str) -> Error {
    Error::new(
        ErrorKind::Refused,
        format!("{} cannot be stepped without its {what}, which could not be read", workload.target()),
    )
    .hint(format!("request permission to list {plural}"))
}

/// Returns the outcome when the plan may release no slot. A StatefulSet whose original partition keeps every pod
/// outdated counts as stopped.
pub(super) fn nothing_to_release(
    slots: &[PodSlot<'_>],
    record: &PlanRecord,
    workload: &Workload,
) -> StepOutcome {
    let others = slots.iter().filter(|slot| slot.is_not_selected()).count();
    if others > 0 {
        return StepOutcome::Stopped(StopReason::NotSelected { others });
    }
    let is_all = slots.iter().all(|slot| slot.excluded == Some(ExcludedBy::OwnPartition));
    if is_all && slots.iter().any(|slot| !slot.is_updated) {
        let partition = record.hold.own_partition(workload);
        return StepOutcome::Stopped(StopReason::OwnPartition { partition });
    }
    StepOutcome::NothingOutdated
}
