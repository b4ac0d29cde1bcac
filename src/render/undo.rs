//! What `undo` prints: the preview of a rollback, the reasons to doubt it, what it leaves to do, and what `--failed` leaves out.

use k8s_openapi::jiff::Timestamp;

use super::age::age;
use super::change::{
    names_of, on_lost_nodes, stuck_pod_words, stuck_pods as pods_block, stuck_pods_are_deleted,
};
use super::columns::aligned;
use super::diff;
use super::history::last_changed;
use super::hold::restored;
use super::line::Line;
use super::pods::{self, MAX_NAMES};
use super::state_words::serving_words;
use crate::model::cause::causes_of_revision;
use crate::model::change;
use crate::model::change::undo::{Doubt, TargetRevision, Undo, UndoOptions};
use crate::model::diff::{Diff, SecretValues};
use crate::model::hold::plan::{is_rollback_held, lower_partition_by_hand};
use crate::model::hold::{HeldBy, resume_command, step_command};
use crate::model::kind::{Workload, strategy};
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::status::uses::template_author;
use crate::model::text::plural::{first_of, plural};
use crate::model::text::shell_command::{Word, command};
use crate::model::view::RolloutView;

/// Returns the preview of a rollback, with the client that made the present template.
#[must_use]
pub fn preview(
    title: &str,
    observed: &Observation,
    undo: &Undo,
    secrets: SecretValues,
    now: Timestamp,
) -> Vec<Line> {
    let from = observed
        .revisions
        .current()
        .map_or_else(|| "live".to_owned(), |running| format!("revision {}", running.label()));
    let to = format!("revision {}", undo.to.label());
    let changes = Diff::between(&observed.workload.template(), &undo.to.template(), secrets);
    let mut lines = vec![diff::title(title, &from, &to)];
    // Afterwards the stamp is that of the rollback, and the incident's author is in the terminal only.
    lines.extend(
        template_author(observed).map(|author| Line::of(format!("  {}", last_changed(&author, now)))),
    );
    if changes.is_empty() {
        lines.push(Line::of("  ").joined_with(diff::no_differences(&changes.reordered)));
    } else {
        lines.extend(diff::rows(&changes.rows()));
    }
    lines.extend(pods::effect_lines(&undo.effect));
    if undo.ends_hold.as_ref().is_some_and(|hold| hold.is_in_force(&observed.workload)) {
        lines.push(Line::of("  releases the hold and restores the update strategy"));
    }
    lines
}

/// The rollback of a workload in one of several contexts.
#[derive(Debug)]
pub struct ContextRollback<'a> {
    /// The name of the context.
    pub context: &'a str,
    /// The workload.
    pub observed: &'a Observation,
    /// The revision to roll back to.
    pub target: &'a Revision,
    /// The letter of its template, if the workload is in more than one context.
    pub letter: Option<String>,
}

/// Returns the rollbacks of several contexts as a table: from which revision to which one, and its template.
pub fn side_by_side<'a>(rollbacks: impl Iterator<Item = ContextRollback<'a>>) -> Vec<Line> {
    let header = ["CONTEXT", "WORKLOAD", "REVISION", "TEMPLATE", "IMAGE"].map(Line::of).to_vec();
    let row = |one: ContextRollback<'_>| {
        let current = one.observed.revisions.current();
        let from = current.map_or_else(|| "live".to_owned(), Revision::label);
        vec![
            Line::of(one.context),
            Line::of(one.observed.workload.target()),
            Line::of(format!("{from} -> {}", one.target.label())),
            Line::of(one.letter.unwrap_or_default()),
            Line::of(one.target.images().join(", ")),
        ]
    };
    let rows: Vec<_> = rollbacks.map(row).collect();
    if rows.is_empty() { Vec::new() } else { aligned(std::iter::once(header).chain(rows).collect()) }
}

/// Returns the reasons to doubt a rollback; `None` if there are none.
#[must_use]
pub fn doubts(
    observed: &Observation,
    undo: &Undo,
    word: &TargetRevision,
    now: Timestamp,
) -> Option<Vec<String>> {
    let doubts = change::undo::doubts(observed, &undo.to, word);
    let causes = causes_of_revision(observed, &undo.to, now);
    let cause = causes.iter().find(|cause| cause.needs_a_fix());
    // A cause says more than that no pod is ready.
    let shown = doubts.iter().filter(|doubt| cause.is_none() || !matches!(doubt, Doubt::NotReady { .. }));
    let cause = cause.map(|cause| {
        let (label, pods) = (undo.to.label(), cause.pods.join(", "));
        format!("warning: revision {label} has pods that cannot start: {pods}: {}", cause.summary())
    });
    let is_doubtful = cause.is_some() || !doubts.is_empty();
    let lines = shown.map(|doubt| doubt_words(&undo.to, *doubt)).chain(cause).collect();
    is_doubtful.then_some(lines)
}

/// Returns the warning about a doubtful target of a rollback.
fn doubt_words(target: &Revision, doubt: Doubt<'_>) -> String {
    let label = target.label();
    match doubt {
        Doubt::Unproven => {
            format!("warning: no pod of revision {label} runs, so nothing proves that it works")
        }
        Doubt::NotReady { pods: count } => {
            format!("warning: no pod of revision {label} is ready ({})", plural(count, "pod"))
        }
        Doubt::ReplacedByEarlier { current, was, is_undo } => {
            let current = current.label();
            if is_undo {
                let was = was.map(|was| format!(", was {was}")).unwrap_or_default();
                format!(
                    "warning: revision {label} was just rolled back (to {current}{was}); this brings it back"
                )
            } else {
                let was = was.map(|was| format!(" (was {was})")).unwrap_or_default();
                format!("warning: revision {label} was replaced by an earlier one, revision {current}{was}")
            }
        }
        Doubt::NotStable { stable } => {
            let stable = stable.label();
            format!("warning: the stable revision is {stable}, not {label}; --to {stable} rolls back to it")
        }
    }
}

/// Returns the warning of pods that block the rollback of a StatefulSet to a revision, with the commands that delete them.
/// `after` is the workload as the rollback makes it, or as it is if the rollback is stored already.
#[must_use]
pub fn stuck_pods(
    observed: &Observation,
    after: &Workload,
    to: &Revision,
    are_replaced: bool,
) -> Vec<String> {
    let stuck = change::stuck_pods::stuck_pods(observed, after, Some(to));
    let Some(first) = stuck.first() else { return Vec::new() };
    if are_replaced {
        let is_stored = after.template_digest() == observed.workload.template_digest();
        return stuck_pods_are_deleted(&stuck, if is_stored { "" } else { " after the undo" });
    }
    let [_, them, order] = stuck_pod_words(stuck.len());
    let (target, place) = (observed.workload.command_target(), observed.workload.in_namespace());
    // By name: the controller gives the revision another number.
    let undo = [target, Word::name(&to.name, "REVISION")];
    let undo = command("kubectl rollout2 undo {} --to {} --replace-stuck-pods", undo);
    let delete = command("kubectl delete pod {}{}", [Word::name(&first.name, "POD"), place]);
    let warning = format!("warning: {}", pods_block(&names_of(&stuck), stuck.len()));
    let hints = [
        format!("hint: to delete {them}, now or after the undo: {undo}"),
        format!("hint: or by hand, after the undo{order}: {delete}"),
    ];
    std::iter::once(warning).chain(on_lost_nodes(&stuck)).chain(hints).collect()
}

/// Returns which fields the rollback of a workload restores with the end of a hold, or that a plan holds the workload during
/// the rollback, and how its hold ends.
#[must_use]
pub fn hold_effect(workload: &Workload, undo: &Undo) -> Vec<String> {
    if undo.ends_hold.is_some() {
        return restored(workload, undo.patch.after()).into_iter().collect();
    }
    if undo.stays_held.is_none() {
        return Vec::new();
    }
    let after = &undo.after;
    let target = after.target();
    let held = format!(
        "note: the plan holds {target} until every pod is rolled back; then the original strategy is restored"
    );
    std::iter::once(held).chain(rollback_under_way(after)).collect()
}

/// Returns how a rollback by `step` that is under way ends.
#[must_use]
pub fn rollback_under_way(workload: &Workload) -> Option<String> {
    let hint =
        || command("hint: to finish the rollback and restore the strategy: {}", [step_command(workload)]);
    is_rollback_held(workload).then(hint)
}

/// Returns a note if the rollback replaces no pod, because the update strategy holds all pods.
#[must_use]
pub fn no_pod_replaced(after: &Workload) -> Option<String> {
    let reason = if strategy::is_on_delete(after) {
        "updateStrategy OnDelete: each pod is rolled back when it is deleted".to_owned()
    } else {
        let partition = strategy::partition(after);
        let holds_all = partition > 0 && partition >= after.wanted();
        holds_all.then(|| {
            format!("{} keeps all of them on their revision", strategy::partition_words(partition))
        })?
    };
    Some(format!("note: no pod of {} is replaced: {reason}", after.target()))
}

/// Returns the warning of pods that a partition keeps from the rollback, with the command that replaces them. The controller
/// counts the pods that run the target already, so that none of the failed revision need be left to replace. `None` where the
/// partition keeps pods by their ordinals, and where it keeps all of them, which [`no_pod_replaced`] says.
#[must_use]
pub fn kept_pods(observed: &Observation, undo: &Undo) -> Option<String> {
    let after = &undo.after;
    let Some(HeldBy::Partition(partition)) = undo.effect.held_by else { return None };
    let kept = undo.effect.held.len();
    if kept == 0 || !strategy::partition_counts_pods(after) || partition >= after.wanted() {
        return None;
    }
    let (do_not, them) = if kept == 1 { ("does not", "it") } else { ("do not", "them") };
    // The controller chooses which ones it keeps, and creates kept pods of the revision that it records.
    let is_recorded = after.recorded_stable_revision().is_none_or(|recorded| recorded == undo.to.name);
    let are_all = undo.effect.replaced.as_ref().is_some_and(Vec::is_empty);
    let (names, replace) = if is_recorded && are_all && kept <= MAX_NAMES {
        let pods = observed.own_pods().filter(|pod| pod.is_active() && !after.runs(pod, &undo.to));
        let pods = Word::names(pods.map(|pod| pod.name.as_str()), "POD");
        (format!(": {pods}"), command("kubectl delete pod {}{}", [pods, after.in_namespace()]))
    } else {
        (String::new(), lower_partition_by_hand(after, 0))
    };
    let (target, kept, label) = (after.target(), plural(kept, "pod"), undo.to.label());
    Some(format!(
        "warning: partition {partition} of {target} keeps {kept} that {do_not} run revision {label}{names}; to replace {them}: \
         {replace}"
    ))
}

/// Returns that flags have no effect, because the template already is that of the target, and how to resume.
#[must_use]
pub fn ignored_flags(workload: &Workload, options: &UndoOptions) -> Vec<String> {
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
    let resume = || command("hint: {}", [resume_command(workload)]);
    note.into_iter().chain(stays_paused.then(resume)).collect()
}

/// Returns the note that failed workloads are not rolled back because of `--since`.
#[must_use]
pub fn changed_before(workloads: &[Workload]) -> Option<String> {
    let names: Vec<_> = workloads.iter().map(Workload::target).collect();
    let count = plural(names.len(), "failed workload");
    let names = first_of(&names, MAX_NAMES, ", ");
    (!workloads.is_empty()).then(|| format!("note: skipped {count} without a change since then: {names}"))
}

/// Returns a note for each rollout that `--failed` leaves out because it may still end well, with the command that rolls it
/// back too; the last note counts those beyond the limit of names.
#[must_use]
pub fn still_progressing(views: &[RolloutView], now: Timestamp) -> Vec<String> {
    let mut notes: Vec<_> = views.iter().take(MAX_NAMES).map(|view| left_out_note(view, now)).collect();
    if let Some(more) = views.len().checked_sub(MAX_NAMES).filter(|more| *more > 0) {
        notes.push(format!("note: not rolled back: {more} more that are still progressing"));
    }
    notes
}

/// Returns what `--failed` left out, as the last line of all.
#[must_use]
pub fn left_out(workloads: &[Workload]) -> Option<String> {
    let names: Vec<_> = workloads.iter().map(Workload::target).collect();
    (!names.is_empty()).then(|| {
        format!("note: not rolled back, because still progressing: {}", first_of(&names, MAX_NAMES, ", "))
    })
}

fn left_out_note(view: &RolloutView, now: Timestamp) -> String {
    let name = view.workload.target();
    let lasting = view.since.map(|since| format!(" for {}", age(since, now))).unwrap_or_default();
    let cause = view.causes.iter().find(|cause| cause.needs_a_fix());
    let cause = cause.map(|cause| format!("; not stuck yet: {}", cause.summary())).unwrap_or_default();
    let too = view.rollback.as_ref().map(|back| format!("; to roll it back too: {back}")).unwrap_or_default();
    format!("note: not rolled back: {name}, still progressing{lasting}, {}{cause}{too}", serving_words(view))
}
