//! Why a command is refused before it writes anything.

use super::mechanism_of;
use super::request::StepOptions;
use crate::api::count::as_count;
use crate::change::effect::UpdatedPods;
use crate::diff::pod_update::needs_only_resize;
use crate::error::{Error, ErrorKind, Result};
use crate::hold::plan::{Amount, BatchSize, Plan, Reach};
use crate::kind::owners::refuse_driven;
use crate::kind::{Workload, strategy};
use crate::observation::Observation;
use crate::text::shell_command::command;

/// Refuses options that are invalid for this workload or these permissions.
pub(super) fn check_options(options: &StepOptions, observed: &Observation) -> Result<()> {
    let workload = &observed.workload;
    refuse_driven(workload, "approve")?;
    let mechanism = mechanism_of(workload)?;
    check_flags(options, mechanism.flags(), workload)?;
    mechanism.check_workload(workload, options.force)?;
    strategy::require_gradual(workload, "stepped")?;
    check_numbers(options, workload)?;
    if observed.pods.is_none() {
        return Err(unreadable(workload, "pods", "pods"));
    }
    // A controller that has observed the workload has stored a revision of it.
    if let Some(store) = workload.kind().revisions().type_()
        && observed.revisions.is_empty()
        && workload.is_observed()
    {
        return Err(unreadable(workload, "revisions", store.plural));
    }
    Ok(())
}

/// Refuses a flag that only other kinds have.
fn check_flags(options: &StepOptions, flags: &[&str], workload: &Workload) -> Result<()> {
    let pace = &options.pace;
    let given = [
        ("--surge", pace.surge.is_some()),
        ("--order", pace.order.is_some()),
        ("--node-selector", pace.node_selector.is_some()),
        ("--evict", pace.evict == Some(true)),
    ];
    match given.into_iter().find(|(flag, is_given)| *is_given && !flags.contains(flag)) {
        None => Ok(()),
        Some((flag, _)) => Err(Error::usage(format!("{flag} does not apply to {}", workload.target()))),
    }
}

/// Refuses a plan that the policy `InPlaceOnly` forbids.
pub(super) fn check_in_place(observed: &Observation) -> Result<()> {
    let workload = &observed.workload;
    let update = foretold_update(observed);
    if !update.refused || needs_only_resize(&update.because) {
        return Ok(());
    }
    let because: Vec<String> = update.because.iter().map(ToString::to_string).collect();
    let target = workload.target();
    let sentence = format!("{target} cannot be stepped: its policy InPlaceOnly keeps the outdated pods");
    Err(Error::new(ErrorKind::Refused, sentence)
        .caused_by(format!("{} cannot change in place", because.join(", ")))
        .hint(command("to go back: kubectl rollout2 undo {}", [workload.command_target()])))
}

/// Foretells the update of each outdated pod of a workload.
pub(super) fn foretold_update(observed: &Observation) -> UpdatedPods {
    let pods: Vec<_> = observed.outdated_pods().collect();
    UpdatedPods::of(&pods, observed, &observed.workload)
}

/// Checks that the command repeats the check of the plan, which stores only its digest.
pub(super) fn check_repeated(options: &StepOptions, plan: &Plan, workload: &Workload) -> Result<()> {
    let Some(stored) = &plan.pace.check else { return Ok(()) };
    let target = workload.target();
    let message = match &options.pace.check {
        Some(digest) if digest.is_empty() || *digest == stored.digest => return Ok(()),
        Some(_) => format!("the plan of {target} began with another --check"),
        None => format!("the plan of {target} has a --check, and stores only its digest"),
    };
    Err(Error::usage(message).hint("repeat the same --check, or remove it with --check ''"))
}

/// Refuses a blank check for a new plan: of a variable that is not set, so that nothing would be checked.
pub(super) fn check_not_blank(options: &StepOptions, has_plan: bool) -> Result<()> {
    if has_plan || options.pace.check.as_ref().is_none_or(|digest| !digest.is_empty()) {
        return Ok(());
    }
    Err(Error::usage("--check '' removes the check of a plan, and there is no plan")
        .hint("leave out --check"))
}

fn unreadable(workload: &Workload, what: &str, plural: &str) -> Error {
    Error::new(
        ErrorKind::Refused,
        format!("{} cannot be stepped without its {what}, which could not be read", workload.target()),
    )
    .hint(format!("request permission to list {plural}"))
}

/// Refuses numbers that are impossible for the present replicas, which is no usage mistake. It checks only the flags of
/// this command, because a plan may have begun with more replicas.
fn check_numbers(options: &StepOptions, workload: &Workload) -> Result<()> {
    let wanted = as_count(workload.wanted());
    if wanted == 0 {
        return Ok(()); // the controller has not observed it yet
    }
    let target = workload.target();
    if let Some(amount) = options.pace.max_unavailable.filter(|_| wanted > 1)
        && amount.pods_of(wanted) >= wanted
    {
        let sentence =
            format!("--max-unavailable {amount} would let all {wanted} pods of {target} be down at a time");
        return Err(Error::new(ErrorKind::Refused, sentence));
    }
    match options.reach {
        Some(Reach::To(amount)) if amount.pods_of(wanted) > wanted => {
            let pods = if wanted == 1 { "the only pod".to_owned() } else { format!("the {wanted} pods") };
            let sentence = format!("--to {amount} is more than {pods} of {target}; nothing was written");
            Err(Error::new(ErrorKind::Refused, sentence).hint("all of them are --to 100%, or --all"))
        }
        _ => Ok(()),
    }
}

impl BatchSize {
    /// Refuses a list that does not end at 100%, for a command with `--all`.
    ///
    /// # Errors
    /// A usage error, whose hint is a list that ends at 100%.
    pub fn check_end(&self) -> Result<()> {
        let Self::Until(goals) = self else { return Ok(()) };
        if goals.last() == Some(&Amount::PerCent(100)) {
            return Ok(());
        }
        let goals = listed(goals);
        Err(Error::usage(format!("--batches {goals:?} does not lead to the end, and --all does"))
            .hint(format!("--batches {goals},100% says that the rest is one batch")))
    }
}

fn listed(goals: &[Amount]) -> String {
    goals.iter().map(Amount::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goals(words: &str) -> Vec<Amount> {
        words.split(',').map(|word| word.parse().unwrap()).collect()
    }

    #[test]
    fn a_list_of_batches_must_end_at_100_per_cent_for_all() {
        assert!(BatchSize::By(Amount::Pods(1)).check_end().is_ok());
        assert!(BatchSize::Until(goals("1,100%")).check_end().is_ok());
        assert!(BatchSize::Until(goals("1,10%")).check_end().is_err());
    }
}
