//! The warnings and notes of `undo`, besides those about owners of the manifest.

use k8s_openapi::jiff::Timestamp;

use crate::command::writing_verb::{Output, Writer};
use crate::model::cause::causes_of_revision;
use crate::model::change::stuck_pods;
use crate::model::change::undo::{self, Doubt, TargetRevision, Undo, UndoOptions};
use crate::model::hold::plan::is_rollback_held;
use crate::model::kind::{Workload, strategy};
use crate::model::observation::Observation;
use crate::model::text::shell_command::{Word, command};
use crate::render::change as render;

/// Returns the reasons to doubt a rollback; none if there are none.
pub(super) fn doubts(
    observed: &Observation,
    undo: &Undo<'_>,
    word: &TargetRevision,
    now: Timestamp,
) -> Option<Vec<String>> {
    let doubts = undo::doubts(observed, undo.to, word);
    let causes = causes_of_revision(observed, undo.to, now);
    let cause = causes.iter().find(|cause| !cause.is_transient);
    // A cause says more than that no pod is ready.
    let shown = doubts.iter().filter(|doubt| cause.is_none() || !matches!(doubt, Doubt::NotReady { .. }));
    let cause = cause.map(|cause| {
        let (label, pods) = (undo.to.label(), cause.pods.join(", "));
        format!("warning: revision {label} has pods that cannot start: {pods}: {}", cause.summary)
    });
    let is_doubtful = cause.is_some() || !doubts.is_empty();
    let lines = shown.map(|doubt| render::doubt(undo.to, *doubt)).chain(cause).collect();
    is_doubtful.then_some(lines)
}

/// Returns the warning of pods that block the rollback of a StatefulSet, with the commands that delete them.
pub(super) fn stuck_pods(observed: &Observation, undo: &Undo<'_>, are_replaced: bool) -> Vec<String> {
    let after = Workload::of_json(undo.patch.after());
    let after = after.as_ref().unwrap_or(&observed.workload);
    let stuck = stuck_pods::stuck_pods(observed, after, Some(undo.to));
    let Some(first) = stuck.first() else { return Vec::new() };
    let names: Vec<_> = stuck.iter().map(|pod| pod.name.as_str()).collect();
    let names = names.join(", ");
    let (are, them, order) = match stuck.len() {
        1 => ("is", "it", ""),
        _ => ("are", "them", ", lowest ordinal first"),
    };
    if are_replaced {
        return vec![format!(
            "note: {names} {are} not ready; --replace-stuck-pods deletes {them} after the undo, because the StatefulSet \
             controller does not replace {them}"
        )];
    }
    let (target, place) = (observed.workload.command_target(), observed.workload.in_namespace());
    // By name: the controller gives the revision another number.
    let undo = [target, Word::name(&undo.to.name, "REVISION")];
    let undo = command("kubectl rollout2 undo {} --to-revision {} --replace-stuck-pods", undo);
    let delete = command("kubectl delete pod {}{}", [Word::name(&first.name, "POD"), place]);
    vec![
        format!("warning: {}", render::stuck_pods(&names, stuck.len())),
        format!("hint: to delete {them}, now or after the undo: {undo}"),
        format!("hint: or by hand, after the undo{order}: {delete}"),
    ]
}

/// Returns that a plan holds the workload during the rollback, and how its hold ends.
pub(in crate::command) fn held_rollback(undo: &Undo<'_>) -> Vec<String> {
    let after = undo.below.as_ref().and_then(|_| Workload::of_json(undo.patch.after()));
    let lines = after.map(|after| [Some(render::held_rollback(&after)), rollback_under_way(&after)]);
    lines.into_iter().flatten().flatten().collect()
}

/// Returns how a rollback by `step` that is under way ends.
pub(super) fn rollback_under_way(workload: &Workload) -> Option<String> {
    is_rollback_held(workload).then(|| render::rollback_hint(workload))
}

/// Returns a note if the rollback replaces no pod, because the update strategy holds all pods.
pub(super) fn no_pod_replaced(after: &Workload) -> Option<String> {
    let reason = if strategy::is_on_delete(after) {
        "updateStrategy OnDelete: each pod is rolled back when it is deleted".to_owned()
    } else {
        let partition = strategy::partition(after);
        let holds_all = partition > 0 && partition >= after.wanted();
        holds_all.then(|| format!("partition {partition} keeps all of them on their revision"))?
    };
    Some(format!("note: no pod of {} is replaced: {reason}", after.target()))
}

/// Prints that the template already is that of the target.
pub(super) fn print_skipped(workload: &Workload, label: &str, writer: &mut Writer<'_>) {
    if writer.options.output == Output::Patch {
        writer.ui.out_exact("[]\n"); // an empty patch: there is nothing to change
    } else {
        let line = format!("skipped rollback (current template already matches revision {label})");
        writer.print_as_read(workload, &line);
    }
}

/// Returns that flags have no effect, because the template already is that of the target, and how to resume.
pub(super) fn ignored_flags(workload: &Workload, options: &UndoOptions) -> Vec<String> {
    let stays_paused = options.resume && workload.is_paused();
    let flags = [
        ("--resume", stays_paused),
        ("--sync-last-applied", options.sync_last_applied),
        ("--cause", options.change_cause.is_some()),
    ];
    let ignored: Vec<_> = flags.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect();
    let (target, flags) = (workload.target(), ignored.join(", "));
    let note = (!ignored.is_empty())
        .then(|| format!("note: ignored {flags}: {target} already has the template of the revision"));
    let resume = || command("hint: kubectl rollout2 resume {}", [workload.command_target()]);
    note.into_iter().chain(stays_paused.then(resume)).collect()
}

/// Returns a line for each namespace with the one command that takes back the rollbacks of several workloads. Each goes to
/// the revision before the current one, which is the one that was rolled back until there is another release. The lines
/// of the single workloads name their revisions.
pub(super) fn receipts(rolled_back: &[Workload]) -> Vec<String> {
    let mut namespaces: Vec<&str> = Vec::new();
    for namespace in rolled_back.iter().map(|workload| workload.object().namespace()) {
        if !namespaces.contains(&namespace) {
            namespaces.push(namespace);
        }
    }
    if rolled_back.len() < 2 {
        return Vec::new();
    }
    let target = |workload: &Workload| Word::typed_name(workload.kind().type_().typed(), workload.name());
    let receipt = |namespace: &&str| {
        let here = rolled_back.iter().filter(|workload| workload.object().namespace() == *namespace);
        let targets = here.map(target).reduce(|all, next| all.and(&Word::command(" {}", [next])))?;
        let undo = command("kubectl rollout2 undo {}{}", [targets, Word::in_namespace(namespace)]);
        let of = if namespaces.len() > 1 { format!(" in namespace {namespace}") } else { String::new() };
        Some(format!("to take all of this back{of}, before another release: {undo}"))
    };
    namespaces.iter().filter_map(receipt).collect()
}
