//! A recent rollout: what it changed, what became of it, and its JSON.

use serde_json::{Value, json};

use crate::model::kind::verdict::RolloutState;
use crate::model::status::uses::{UseEnd, UseStart};
use crate::model::view::RolloutView;
use crate::model::view::history::RecentRollout;
use crate::render::history::{cause, change_words};
use crate::render::json::{cause_json, workload_json};
use crate::render::line::Line;
use crate::render::list;
use crate::render::state_words::{progress, state_style};

/// Returns what a rollout changed: `back to revision 4: image checkout:2.1`.
pub(super) fn changes(rollout: &RecentRollout<'_>) -> String {
    let summary = rollout.changes();
    let changes = change_words(summary.as_deref(), &rollout.images(), rollout.is_first());
    let back = match rollout.used.was {
        _ if !rollout.used.is_return => return changes,
        Some(was) => format!("back to revision {was}"),
        None => "back to an earlier revision".to_owned(),
    };
    if summary.is_some() { format!("{back}: {changes}") } else { back }
}

/// Returns what became of a rollout: `current, 3/3 pods`, `undone`, `stuck: app: CrashLoopBackOff`.
pub(super) fn now(rollout: &RecentRollout<'_>) -> Line {
    match &rollout.view {
        None => Line::of(state(rollout)),
        Some(view) => Line::styled(state_style(view.state()), in_use(view, state(rollout))),
    }
}

fn in_use(view: &RolloutView, word: &str) -> String {
    match view.state() {
        RolloutState::Unobserved => word.to_owned(),
        _ if view.needs_a_fix => format!("{word}: {}", list::cause(view).text()),
        _ => format!("{word}, {}", progress(view.counts, view.available)),
    }
}

/// Returns the name of what became of a rollout.
fn state(rollout: &RecentRollout<'_>) -> &'static str {
    match (&rollout.view, rollout.used.end) {
        (Some(view), _) if view.state() == RolloutState::Complete => "current",
        (Some(view), _) => view.state().word(),
        (None, Some(UseEnd::Undone)) => "undone",
        (None, _) => "replaced",
    }
}

/// Returns a rollout as JSON.
pub(super) fn json(rollout: &RecentRollout<'_>) -> Value {
    let (used, revision) = (&rollout.used, rollout.used.revision);
    let (time, earliest) = match used.start {
        UseStart::At(time) => (Some(time), None),
        UseStart::Between { earliest, .. } => (None, Some(earliest)),
    };
    let pods = rollout.view.as_ref().zip(rollout.observed.pod_count(revision)).map(
        |(view, count)| json!({"ready": count.ready, "total": count.total, "wanted": view.counts.wanted}),
    );
    let causes = rollout.view.iter().flat_map(|view| &view.causes).map(cause_json);
    json!({
        "time": time.map(|time| time.to_string()),
        "earliest": earliest.map(|time| time.to_string()),
        "workload": workload_json(&rollout.observed.workload),
        "revision": used.number,
        "was": used.was,
        "name": revision.name,
        "return": used.is_return,
        "changes": rollout.changes(),
        "images": rollout.images(),
        "changeCause": cause(revision),
        "by": used.by,
        "state": state(rollout),
        "pods": pods,
        "causes": causes.collect::<Vec<_>>(),
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
    fn only_a_cause_that_needs_a_fix_is_in_the_place_of_the_pods() {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "w"}, "spec": {"replicas": 3}});
        let observed = Observation::of_alone(Workload::of_json(&workload).unwrap());
        for (is_transient, expected) in
            [(true, "progressing, 0/3 updated, 0/3 available"), (false, "progressing: why")]
        {
            let causes = vec![Cause {
                summary: "why".to_owned(),
                is_transient,
                ..Cause::sample(CauseId::QuotaExceeded)
            }];
            let verdict = Verdict { state: RolloutState::Progressing, line: String::new() };
            let view = RolloutView::with(&observed, verdict, causes, Timestamp::UNIX_EPOCH);
            assert_eq!(in_use(&view, view.state().word()), expected);
        }
    }
}
