//! A recent rollout: what it changed, what became of it, and its JSON.

use serde_json::{Value, json};

use crate::model::kind::verdict::RolloutState;
use crate::model::status::uses::{UseEnd, UseStart};
use crate::model::text::secret::without_secrets;
use crate::model::view::RolloutView;
use crate::model::view::recent::{RecentRollout, UseNow};
use crate::render::history::change_words;
use crate::render::json::{cause_json, workload_json};
use crate::render::line::Style;
use crate::render::list::cause_text;
use crate::render::state_words::state_style;

/// Returns what a rollout changed: `back to revision 4: image checkout:2.1`.
pub(super) fn changes(rollout: &RecentRollout) -> String {
    let changes = change_words(rollout.changes.as_deref(), &rollout.images, rollout.is_first);
    let back = match rollout.was {
        _ if !rollout.is_return => return changes,
        Some(was) => format!("back to revision {was}"),
        None => "back to an earlier revision".to_owned(),
    };
    if rollout.changes.is_some() { format!("{back}: {changes}") } else { back }
}

/// Returns what became of a rollout: `current, 3/3 pods`, `undone`, `stuck: app: CrashLoopBackOff`.
pub(super) fn now_words(now: &UseNow) -> String {
    let view = match now {
        UseNow::Ended(_) => return state(now).to_owned(),
        UseNow::InUse { view, .. } => view,
    };
    let cause = Some(cause_text(view)).filter(|cause| !cause.is_empty());
    let with = |words: String, cause: Option<String>| match cause {
        Some(cause) => format!("{words}: {cause}"),
        None => words,
    };
    let word = state(now).to_owned();
    match view.state() {
        RolloutState::Stuck | RolloutState::Failed => with(word, cause),
        RolloutState::Unobserved => word,
        RolloutState::Complete => {
            let held = Some(view.held_pods()).filter(|held| *held > 0);
            format!(
                "{word}, {}{}",
                pods_words(view),
                held.map(|held| format!(", {held} held")).unwrap_or_default()
            )
        }
        RolloutState::Progressing | RolloutState::Paused | RolloutState::Held => {
            with(format!("{word}, {}", pods_words(view)), cause.filter(|_| view.needs_a_fix))
        }
    }
}

/// Returns the style of what became of a rollout.
pub(super) fn now_style(now: &UseNow) -> Style {
    match now {
        UseNow::Ended(_) => Style::Plain,
        UseNow::InUse { view, .. } => state_style(view.state()),
    }
}

/// Returns the counters of `list`: `3/3 available`, and while pods are outdated `1/3 updated, 3/3 available`.
fn pods_words(view: &RolloutView) -> String {
    let wanted = view.counts.wanted;
    let available = format!("{}/{wanted} available", view.available.unwrap_or(view.counts.ready));
    if view.counts.updated >= wanted {
        return available;
    }
    format!("{}/{wanted} updated, {available}", view.counts.updated)
}

/// Returns the name of what became of a rollout.
fn state(now: &UseNow) -> &'static str {
    match now {
        UseNow::Ended(UseEnd::Undone) => "undone",
        UseNow::Ended(UseEnd::Replaced) => "replaced",
        UseNow::InUse { view, .. } if view.state() == RolloutState::Complete => "current",
        UseNow::InUse { view, .. } => view.state().word(),
    }
}

/// Returns a rollout as JSON.
pub(super) fn json(rollout: &RecentRollout) -> Value {
    let (time, earliest) = match rollout.start {
        UseStart::At(time) => (Some(time), None),
        UseStart::Between { earliest, .. } => (None, Some(earliest)),
    };
    let (pods, causes) = match &rollout.now {
        UseNow::Ended(_) => (None, Vec::new()),
        UseNow::InUse { view, pods } => {
            let pods = pods.map(
                |count| json!({"ready": count.ready, "total": count.total, "wanted": view.counts.wanted}),
            );
            (pods, view.causes.iter().map(cause_json).collect())
        }
    };
    json!({
        "time": time.map(|time| time.to_string()),
        "earliest": earliest.map(|time| time.to_string()),
        "workload": workload_json(&rollout.workload),
        "revision": rollout.revision,
        "was": rollout.was,
        "name": rollout.name,
        "return": rollout.is_return,
        "changes": rollout.changes,
        "images": rollout.images,
        "changeCause": rollout.cause.as_deref().map(without_secrets),
        "by": rollout.by,
        "state": state(&rollout.now),
        "pods": pods,
        "causes": causes,
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;
    use crate::model::cause::{Cause, CauseId};
    use crate::model::kind::Workload;
    use crate::model::kind::verdict::Verdict;
    use crate::model::observation::Observation;

    #[test]
    fn only_a_cause_that_needs_a_fix_is_beside_the_pods() {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "w"}, "spec": {"replicas": 3}});
        let observed = Observation::of_alone(Workload::of_json(&workload).unwrap());
        for (is_transient, expected) in [
            (true, "progressing, 0/3 updated, 0/3 available"),
            (false, "progressing, 0/3 updated, 0/3 available: why"),
        ] {
            let causes = vec![Cause {
                summary: "why".to_owned(),
                is_transient,
                ..Cause::sample(CauseId::QuotaExceeded)
            }];
            let verdict = Verdict { state: RolloutState::Progressing, line: String::new() };
            let view = RolloutView::with(&observed, verdict, causes, Timestamp::UNIX_EPOCH);
            assert_eq!(now_words(&UseNow::InUse { view: Box::new(view), pods: None }), expected);
        }
    }
}
