//! A hold without outdated pods: it holds the next change.

use serde_json::Value;

use super::lost_annotation::end_command;
use super::restored::left_words;
use crate::model::hold::plan::{Hold, HoldReason};
use crate::model::kind::Workload;
use crate::model::kind::strategy::written_partition;
use crate::model::text::shell_command::command;

/// Returns that a pause or a plan without outdated pods holds the next change, or which fields an ended plan left, and
/// the command that ends it. Of a plan that rolled back, returns what is not restored: `paused, which holds the next change until kubectl rollout2 resume deployment/web`. None for
/// a partition or `OnDelete` of the user, which are permanent settings.
#[must_use]
pub fn next_change_hold(workload: &Workload) -> Option<String> {
    let hold = Hold::in_force(workload);
    if let Some(hold) = hold.as_ref().filter(|hold| hold.is_rolling_back_to_live_template(workload)) {
        let own = match hold.original().and_then(written_partition) {
            Some(Value::String(share)) => format!("partition {share}"),
            Some(partition) => format!("partition {partition}"),
            None => "node selector".to_owned(),
        };
        let until = command("until kubectl rollout2 step {}", [workload.command_target()]);
        return Some(format!("rolled back, and its own {own} is not restored {until}"));
    }
    let reason = hold.map(|hold| hold.reason());
    if reason == Some(HoldReason::Plan) {
        let until =
            command("held by a plan of step, which holds the next change until {}", [end_command(workload)]);
        return Some(until);
    }
    let is_paused = reason.is_some() || workload.is_paused();
    let target = [workload.command_target()];
    if is_paused {
        return Some(command("paused, which holds the next change until kubectl rollout2 resume {}", target));
    }
    left_words(workload)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::hold::plan::HOLD_ANNOTATION;

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
