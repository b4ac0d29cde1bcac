//! The names of workloads, and the words and the colours for states and results, in every output.

use super::age::duration_text;
use super::line::Style;
use crate::model::follow::{Followed, FollowedTarget, NoRollback, Outcome, RolloutFailure};
use crate::model::kind::Workload;
use crate::model::kind::verdict::{Counts, RolloutState};
use crate::model::revision::Revision;
use crate::model::text::go_duration;
use crate::model::text::secret::without_secrets;
use crate::model::view::RolloutView;

/// What the name of a workload must distinguish in the output of a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameContext<'a> {
    /// Whether the output has several workloads.
    pub others: bool,
    /// Whether they may be in several namespaces.
    pub namespaces: bool,
    /// The context of the workload, if there are several.
    pub context: Option<&'a str>,
}

impl<'a> NameContext<'a> {
    /// Returns what the names of these workloads must distinguish.
    #[must_use]
    pub fn of<'w>(workloads: impl IntoIterator<Item = &'w Workload>) -> Self {
        let workloads: Vec<_> = workloads.into_iter().collect();
        let mut namespaces = workloads.iter().map(|workload| workload.object().namespace());
        let first = namespaces.next();
        let namespaces = namespaces.any(|other| Some(other) != first);
        Self { others: workloads.len() > 1, namespaces, context: None }
    }

    /// Returns what the name of a target must distinguish.
    pub(super) fn of_target(self, target: &'a FollowedTarget) -> Self {
        Self { context: target.context(), ..self }
    }

    /// Returns the name: `deployment/web`, or `deployment/web -n shop` for several namespaces, after the context.
    pub(super) fn name(self, workload: &Workload) -> String {
        let name = workload.target();
        let namespace = workload.object().namespace();
        self.in_context(if self.namespaces { format!("{name} -n {namespace}") } else { name })
    }

    /// Returns a text after the context, if there are several: `prod-eu: web-7c5d9`.
    pub(super) fn in_context(self, text: String) -> String {
        self.context.map(|context| format!("{context}: {text}")).unwrap_or(text)
    }
}

/// Returns kubectl's line with the name that it lacks. Its lines about StatefulSets have no name, and none has a namespace.
/// For several workloads the name goes before such a line.
pub(super) fn named_line(workload: &Workload, line: &str, names: NameContext<'_>) -> String {
    let quoted = format!("{:?}", workload.name());
    if names.namespaces || (names.others && !line.contains(&quoted)) {
        format!("{}: {line}", names.name(workload))
    } else {
        names.in_context(line.to_owned())
    }
}

/// Returns that a workload was deleted, in kubectl's words.
pub(super) fn gone(name: &str, is_recreated: bool) -> String {
    let again = if is_recreated { ", and created again" } else { "" };
    format!("object has been deleted{again}: {name}")
}

/// Returns the style of a state.
pub(super) fn state_style(state: RolloutState) -> Style {
    match state {
        RolloutState::Complete => Style::Good,
        RolloutState::Paused | RolloutState::Held => Style::Warning,
        RolloutState::Stuck | RolloutState::Failed => Style::Bad,
        RolloutState::Progressing | RolloutState::Unobserved => Style::Plain,
    }
}

/// Returns the counters of a rollout: `3/3 available`, and while pods are outdated `1/3 updated, 3/3 available`. Ready pods
/// stand in for available ones that nothing counts.
pub(super) fn progress(counts: Counts, available: Option<i64>) -> String {
    let wanted = counts.wanted;
    let available = match available {
        Some(available) => format!("{available}/{wanted} available"),
        None => format!("{}/{wanted} ready", counts.ready),
    };
    if counts.updated >= wanted {
        available
    } else {
        format!("{}/{wanted} updated, {available}", counts.updated)
    }
}

/// Returns what serves: `3/3 available on revision 1`. Ready pods stand in for available ones that nothing counts.
#[must_use]
pub fn serving_words(view: &RolloutView) -> String {
    let wanted = view.counts.wanted;
    let available = view.available.unwrap_or(view.counts.ready);
    if view.is_outage {
        return format!("outage: 0/{wanted} available");
    }
    let on = match view.ready.as_slice() {
        [] => String::new(),
        [(only, _)] => format!(" on revision {only}"),
        some => {
            let each = some.iter().map(|(revision, ready)| format!("{ready} on revision {revision}"));
            format!(" (ready: {})", each.collect::<Vec<_>>().join(", "))
        }
    };
    format!("{available}/{wanted} available{on}")
}

/// Returns the state or the result of a target, and of its rollback: `failed: crash-loop for 30s; rolling back to revision 4:
/// progressing`.
pub(super) fn state_text(followed: Followed<'_>) -> (Style, String) {
    let state = followed.target.verdict().map(|verdict| verdict.state);
    let Some(outcome) = followed.outcome() else {
        return in_progress(state);
    };
    let Some(mut words) = outcome_words(outcome) else {
        let is_short_of_complete = *outcome == Outcome::Reached && state != Some(RolloutState::Complete);
        return if is_short_of_complete { (Style::Good, "reached".to_owned()) } else { in_progress(state) };
    };
    if let (None, Some(rollback)) = (followed.result(), followed.rollback) {
        let state = state.map(|state| format!(": {}", state.word())).unwrap_or_default();
        words += &format!("; rolling back to revision {}{state}", rollback.revision);
    }
    words.extend(rollback_words(followed).map(|rollback| format!("; {rollback}")));
    let ago = followed.result().and_then(|result| result.since_answer);
    words.extend(ago.map(|ago| format!(", known {} ago", duration_text(ago))));
    (Style::Bad, words)
}

/// Returns how a rollout ended; `None` if its state says so.
fn outcome_words(outcome: &Outcome) -> Option<String> {
    Some(match outcome {
        Outcome::Failed(failure) => format!("failed: {}", reason(failure)),
        Outcome::OtherTargetFailed(other) => format!("{other} failed"),
        Outcome::Deleted => "deleted".to_owned(),
        Outcome::Recreated => "deleted and created again".to_owned(),
        Outcome::TimedOut(limit) => format!("timed out after {}", go_duration::short(*limit)),
        Outcome::Unreadable(error) => format!("cannot be read: {}", without_secrets(&error.to_string())),
        Outcome::Reached | Outcome::Held | Outcome::Unfinished | Outcome::Interrupted(_) => return None,
    })
}

fn in_progress(state: Option<RolloutState>) -> (Style, String) {
    let (style, word) = state.map_or((Style::Dim, "reading"), |state| (state_style(state), state.word()));
    (style, word.to_owned())
}

/// Returns how the rollback of a failed target ended, with the new number of the revision: `rolled back to revision 1 (now 3)`.
/// `None` without an end.
pub(super) fn rollback_words(followed: Followed<'_>) -> Option<String> {
    let (revision, outcome) = match (followed.rolled_back(), followed.no_rollback()) {
        (Some(rolled_back), _) => rolled_back,
        (None, Some(NoRollback::Unknown(_))) => {
            return Some("it is unknown whether it was rolled back".to_owned());
        }
        (None, why) => return why.map(|_| "not rolled back".to_owned()),
    };
    let why = match outcome {
        Outcome::Reached => {
            let now = followed.target.observation().and_then(|observed| observed.revisions.current());
            let now = now.map(Revision::label).filter(|now| now != revision);
            let now = now.map(|now| format!(" (now {now})")).unwrap_or_default();
            return Some(format!("rolled back to revision {revision}{now}"));
        }
        Outcome::Held => "it is held".to_owned(),
        outcome => outcome_words(outcome).unwrap_or_else(|| "it continues in the cluster".to_owned()),
    };
    Some(format!("the rollback to revision {revision} is not complete: {why}"))
}

/// Returns why a rollout failed, in a few words.
pub(super) fn reason(failure: &RolloutFailure) -> String {
    match failure {
        RolloutFailure::ProgressDeadline(Some(seconds)) => format!("no progress for {seconds}s"),
        RolloutFailure::ProgressDeadline(None) => "progress deadline exceeded".to_owned(),
        RolloutFailure::Condition => "its controller has given up".to_owned(),
        RolloutFailure::Deadline(limit) => format!("no progress for {}", go_duration::short(*limit)),
        RolloutFailure::Cause { id, grace } => format!("{} for {}", id.name(), go_duration::short(*grace)),
        RolloutFailure::Replaced(_) => "replaced by another revision".to_owned(),
    }
}
