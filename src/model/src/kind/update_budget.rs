//! How a controller updates pods: in place or not, and how many of them it may make unavailable or add. Each kind rounds
//! percentages differently.

use serde_json::Value;

/// How many pods an update may make unavailable or add at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateBudget {
    /// The unavailable pods, of the wanted ones.
    pub unavailable: i64,
    /// The pods beyond the wanted ones.
    pub surge: i64,
}

/// How a controller may update a pod to another template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodUpdatePolicy {
    /// Each outdated pod is replaced by another pod.
    Recreate,
    /// A pod keeps its name and node where only its images or its metadata change, and is replaced otherwise.
    InPlaceIfPossible,
    /// As `InPlaceIfPossible`, but the API server refuses every other change of the template.
    InPlaceOnly,
}

/// A limit of a strategy: a number of pods, or a percentage of the wanted pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntOrPercent {
    Int(i64),
    Percent(i64),
}

impl IntOrPercent {
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let whole = |number: i64| number.clamp(0, i64::from(i32::MAX));
        match value {
            Value::String(text) => {
                text.strip_suffix('%')?.parse().ok().map(|number| Self::Percent(whole(number)))
            }
            value => value.as_i64().map(|number| Self::Int(whole(number))),
        }
    }

    pub(crate) fn rounded_down(self, wanted: i64) -> i64 {
        match self {
            Self::Int(pods) => pods,
            Self::Percent(share) => share * wanted / 100,
        }
    }

    pub(crate) fn rounded_up(self, wanted: i64) -> i64 {
        match self {
            Self::Int(pods) => pods,
            Self::Percent(share) => (share * wanted + 99) / 100,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::Object;
    use crate::kind::Workload;
    use crate::kind::strategy::min_available;
    use serde_json::json;

    fn workload(kind: &str, wanted: i64, strategy: &Value) -> Workload {
        let field = if kind == "Deployment" { "strategy" } else { "updateStrategy" };
        let object = json!({
            "kind": kind, "metadata": {"name": "x"},
            "spec": {"replicas": wanted, field: strategy},
            "status": {"desiredNumberScheduled": wanted},
        });
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    fn budget(kind: &str, wanted: i64, rolling_update: &Value) -> (i64, i64) {
        let budget = workload(kind, wanted, &json!({"rollingUpdate": rolling_update})).update_budget();
        (budget.unavailable, budget.surge)
    }

    #[test]
    fn min_available_follows_from_the_strategy() {
        let rolling = |unavailable: &str| json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": unavailable}});
        for (kind, wanted, strategy, expected) in [
            ("Deployment", 10, rolling("25%"), Some(8)),
            ("Deployment", 10, json!(null), Some(8)),
            ("Deployment", 10, rolling("100%"), None),
            ("Deployment", 1, json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}), None),
            ("Deployment", 10, json!({"type": "Recreate"}), None),
            ("DaemonSet", 25, rolling("10%"), Some(22)),
            ("StatefulSet", 25, rolling("10%"), Some(23)),
            ("StatefulSet", 5, json!({"type": "OnDelete"}), None),
            ("StatefulSet", 1, json!(null), None),
        ] {
            assert_eq!(
                min_available(&workload(kind, wanted, &strategy)),
                expected,
                "{kind} {wanted} {strategy}"
            );
        }
    }

    #[test]
    fn deployments_round_surge_up_and_unavailable_down() {
        for (wanted, unavailable, surge, expected) in [
            (10, json!("25%"), json!("25%"), (2, 3)),
            (3, json!("25%"), json!("25%"), (0, 1)),
            (3, json!(0), json!("1%"), (0, 1)),
            (3, json!("1%"), json!(0), (1, 0)),
            (0, json!("25%"), json!("25%"), (1, 0)),
            (2, json!(5), json!(1), (2, 1)),
        ] {
            let rolling_update = json!({"maxUnavailable": unavailable, "maxSurge": surge});
            assert_eq!(budget("Deployment", wanted, &rolling_update), expected, "{rolling_update}");
        }
        assert_eq!(budget("Deployment", 10, &json!(null)), (2, 3));
    }

    #[test]
    fn daemon_sets_round_both_up() {
        assert_eq!(budget("DaemonSet", 25, &json!({"maxUnavailable": "10%", "maxSurge": 0})), (3, 0));
        assert_eq!(budget("DaemonSet", 25, &json!({"maxUnavailable": 0, "maxSurge": "1%"})), (0, 1));
        assert_eq!(budget("DaemonSet", 3, &json!(null)), (1, 0));
    }

    /// The test table of the controller.
    #[test]
    fn stateful_sets_round_down_to_at_least_one() {
        for (amount, wanted, expected) in [
            (json!(null), 10, 1),
            (json!(3), 10, 3),
            (json!(3), 0, 3),
            (json!(0), 1, 1),
            (json!("10%"), 25, 2),
            (json!("100%"), 5, 5),
            (json!("50%"), 5, 2),
            (json!("10%"), 5, 1),
            (json!("1%"), 0, 1),
            (json!("0%"), 1, 1),
        ] {
            assert_eq!(
                budget("StatefulSet", wanted, &json!({"maxUnavailable": amount})).0,
                expected,
                "{amount}"
            );
        }
    }
}
