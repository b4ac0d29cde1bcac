//! A hold without outdated pods: it holds the next change.

use super::lost_annotation::end_command;
use crate::model::change::plan::{Hold, HoldReason};
use crate::model::text::shell_command::command;
use crate::model::workload::Workload;

/// Returns that a pause or a plan without outdated pods holds the next change, and the command that ends it: `paused,
/// which holds the next change until kubectl rollout2 resume deployment/web`. None for a partition or `OnDelete` of the
/// user, which are permanent settings.
#[must_use]
pub fn next_change_hold(workload: &Workload) -> Option<String> {
    let reason = Hold::in_force(workload).map(|hold| hold.reason());
    if reason == Some(HoldReason::Plan) {
        let until =
            command("held by a plan of step, which holds the next change until {}", [end_command(workload)]);
        return Some(until);
    }
    let is_paused = reason.is_some() || workload.is_paused();
    let target = [workload.command_target()];
    is_paused.then(|| command("paused, which holds the next change until kubectl rollout2 resume {}", target))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::change::plan::HOLD_ANNOTATION;

    fn words(kind: &str, spec: &Value) -> Option<String> {
        let version = if kind == "CloneSet" { "apps.kruise.io/v1alpha1" } else { "apps/v1" };
        let object = json!({
            "apiVersion": version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec,
        });
        next_change_hold(&Workload::of(Object::read(object).unwrap()).unwrap())
    }

    #[test]
    fn only_a_pause_and_a_plan_surprise() {
        let paused =
            "paused, which holds the next change until kubectl rollout2 resume deployment/web -n shop";
        assert_eq!(words("Deployment", &json!({"paused": true})).as_deref(), Some(paused));
        assert_eq!(words("Deployment", &json!({"paused": false})), None);
        assert!(words("CloneSet", &json!({"updateStrategy": {"paused": true}})).is_some());
        assert_eq!(words("CloneSet", &json!({"updateStrategy": {"partition": 2}})), None);
        assert_eq!(
            words("StatefulSet", &json!({"updateStrategy": {"rollingUpdate": {"partition": 2}}})),
            None
        );
        assert_eq!(words("DaemonSet", &json!({"updateStrategy": {"type": "OnDelete"}})), None);
    }

    #[test]
    fn a_hold_of_pause_and_one_of_step_have_their_commands() {
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
        for (reason, words) in [
            ("pause", "paused, which holds the next change until kubectl rollout2 resume statefulset/db"),
            (
                "plan",
                "held by a plan of step, which holds the next change until kubectl rollout2 resume \
                      statefulset/db --release-all",
            ),
        ] {
            let hold = json!({"reason": reason, "set": strategy, "strategy": {}}).to_string();
            let object = json!({"kind": "StatefulSet", "spec": {"updateStrategy": strategy},
                "metadata": {"name": "db", "annotations": {HOLD_ANNOTATION: hold}}});
            assert_eq!(next_change_hold(&Workload::of_json(&object).unwrap()).as_deref(), Some(words));
        }
    }
}
