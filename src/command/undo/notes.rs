//! The warnings and notes of `undo`, besides those about owners of the manifest.

use k8s_openapi::jiff::Timestamp;

use crate::command::writing_verb::{ChangeOptions, Output, print_as_read};
use crate::model::cause::causes_of_revision;
use crate::model::change::stuck_pods::stuck_pods;
use crate::model::change::undo::{Doubt, TargetRevision, Undo, doubts};
use crate::model::hold::plan::is_rollback_held;
use crate::model::kind::{Workload, strategy};
use crate::model::observation::Observation;
use crate::model::text::shell_command::{Word, command};
use crate::render::change as render;
use crate::render::ui::Ui;

/// Prints the reasons to doubt a rollback. Returns whether there are any.
pub(super) fn warn_of_doubts(
    observed: &Observation,
    undo: &Undo<'_>,
    word: &TargetRevision,
    now: Timestamp,
    ui: &mut Ui,
) -> bool {
    let doubts = doubts(observed, undo.target, word);
    let causes = causes_of_revision(observed, undo.target, now);
    let cause = causes.iter().find(|cause| !cause.is_transient);
    // A cause says more than that no pod is ready.
    let shown = doubts.iter().filter(|doubt| cause.is_none() || !matches!(doubt, Doubt::NotReady { .. }));
    ui.notes(shown.map(|doubt| render::doubt(undo.target, *doubt)));
    if let Some(cause) = cause {
        let (label, pods) = (undo.target.label(), cause.pods.join(", "));
        ui.note(&format!("warning: revision {label} has pods that cannot start: {pods}: {}", cause.summary));
    }
    cause.is_some() || !doubts.is_empty()
}

/// Warns of pods that block the rollback of a StatefulSet, with the commands that delete them.
pub(super) fn warn_of_stuck_pods(
    observed: &Observation,
    undo: &Undo<'_>,
    options: &ChangeOptions,
    ui: &mut Ui,
) {
    let after = Workload::of_json(undo.patch.after());
    let stuck = stuck_pods(observed, after.as_ref().unwrap_or(&observed.workload), Some(undo.target));
    let Some(first) = stuck.first() else { return };
    let names: Vec<_> = stuck.iter().map(|pod| pod.name.as_str()).collect();
    let (are, them, order) = match names.len() {
        1 => ("is", "it", ""),
        _ => ("are", "them", ", lowest ordinal first"),
    };
    if options.replace_stuck_pods {
        return ui.note(&format!(
            "note: {} {are} not ready; --replace-stuck-pods deletes {them} after the undo, because the StatefulSet \
             controller does not replace {them}",
            names.join(", ")
        ));
    }
    ui.note(&format!(
        "warning: {} {are} not ready: the StatefulSet controller waits for {them} and does not replace {them}",
        names.join(", ")
    ));
    let (target, place) = (observed.workload.command_target(), observed.workload.in_namespace());
    // By name: the controller gives the revision another number.
    let undo = [target, Word::name(&undo.target.name, "REVISION")];
    let undo = command("kubectl rollout2 undo {} --to-revision {} --replace-stuck-pods", undo);
    ui.note(&format!("hint: to delete {them}, now or after the undo: {undo}"));
    let delete = command("kubectl delete pod {}{}", [Word::name(&first.name, "POD"), place]);
    ui.note(&format!("hint: or by hand, after the undo{order}: {delete}"));
}

/// Prints that the rollback includes pods below the StatefulSet's partition, and how its hold ends.
pub(in crate::command) fn note_partition_rollback(undo: &Undo<'_>, ui: &mut Ui) {
    if let (Some(below), Some(after)) = (&undo.below, Workload::of_json(undo.patch.after())) {
        ui.note(&render::partition_rollback(below));
        note_rollback(&after, ui);
    }
}

/// Prints that a rollback by `step` is under way, and how it ends.
pub(super) fn note_rollback(workload: &Workload, ui: &mut Ui) {
    if is_rollback_held(workload) {
        ui.note(&render::rollback_hint(workload));
    }
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
pub(super) fn print_skipped(workload: &Workload, label: &str, options: &ChangeOptions, ui: &mut Ui) {
    match &options.output {
        Output::Text => {
            let line = format!("skipped rollback (current template already matches revision {label})");
            ui.line(&format!("{} {line}{}", workload.reference(), options.dry_run.suffix()));
        }
        // An empty patch: there is nothing to change.
        Output::Patch => ui.exact("[]\n"),
        Output::Name | Output::Yaml | Output::Json | Output::Template(_) => {
            print_as_read(workload, "", options, ui);
        }
    }
}
