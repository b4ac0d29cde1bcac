//! How many pods may be missing or too many during an update: each kind rounds per cents its own way.

use serde_json::Value;

use super::workload::Workload;

/// How many pods an update may cost or add at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How many of the wanted pods may be unavailable.
    pub unavailable: i64,
    /// How many pods there may be beyond those wanted.
    pub surge: i64,
}

/// `spec.strategy` of a Deployment, `spec.updateStrategy` of the other kinds: a number, or per cent
/// of the wanted pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    Pods(i64),
    PerCent(i64),
}

impl Budget {
    /// The budget of a workload's rolling update. A strategy that leaves a field out has the API's
    /// default for it.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        let wanted = workload.wanted().clamp(0, i64::from(i32::MAX));
        let amount =
            |pointer, default| workload.object().at(pointer).and_then(Amount::read).unwrap_or(default);
        match workload {
            Workload::Deployment(_) => deployment(
                amount("/spec/strategy/rollingUpdate/maxUnavailable", Amount::PerCent(25)),
                amount("/spec/strategy/rollingUpdate/maxSurge", Amount::PerCent(25)),
                wanted,
            ),
            Workload::DaemonSet(_) => Self {
                unavailable: amount("/spec/updateStrategy/rollingUpdate/maxUnavailable", Amount::Pods(1))
                    .rounded_up(wanted),
                surge: amount("/spec/updateStrategy/rollingUpdate/maxSurge", Amount::Pods(0))
                    .rounded_up(wanted),
            },
            Workload::StatefulSet(_) => Self {
                unavailable: amount("/spec/updateStrategy/rollingUpdate/maxUnavailable", Amount::Pods(1))
                    .rounded_down(wanted)
                    .max(1),
                surge: 0,
            },
        }
    }
}

/// How many of the wanted pods an update by itself always leaves available; none where it promises
/// nothing: `Recreate`, `OnDelete`, or a budget of all pods.
#[must_use]
pub fn floor(workload: &Workload) -> Option<i64> {
    let strategy = match workload {
        Workload::Deployment(_) => "/spec/strategy/type",
        Workload::DaemonSet(_) | Workload::StatefulSet(_) => "/spec/updateStrategy/type",
    };
    let is_rolling = workload.object().text(strategy).is_none_or(|type_| type_ == "RollingUpdate");
    let floor = workload.wanted().saturating_sub(Budget::of(workload).unavailable);
    (is_rolling && floor > 0).then_some(floor)
}

/// Surge up, unavailable down. The controller allows one to be unavailable rather than stand still
/// when both come to nothing.
fn deployment(unavailable: Amount, surge: Amount, wanted: i64) -> Budget {
    let surge = surge.rounded_up(wanted);
    let unavailable = unavailable.rounded_down(wanted).min(wanted);
    let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
    Budget { unavailable, surge }
}

impl Amount {
    fn read(value: &Value) -> Option<Self> {
        let whole = |number: i64| number.clamp(0, i64::from(i32::MAX));
        match value {
            Value::String(text) => {
                text.strip_suffix('%')?.parse().ok().map(|number| Self::PerCent(whole(number)))
            }
            value => value.as_i64().map(|number| Self::Pods(whole(number))),
        }
    }

    fn rounded_down(self, wanted: i64) -> i64 {
        match self {
            Self::Pods(pods) => pods,
            Self::PerCent(share) => share * wanted / 100,
        }
    }

    fn rounded_up(self, wanted: i64) -> i64 {
        match self {
            Self::Pods(pods) => pods,
            Self::PerCent(share) => (share * wanted + 99) / 100,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::Object;
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
        let budget = Budget::of(&workload(kind, wanted, &json!({"rollingUpdate": rolling_update})));
        (budget.unavailable, budget.surge)
    }

    #[test]
    fn an_update_keeps_to_its_floor_unless_it_promises_none() {
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
            assert_eq!(floor(&workload(kind, wanted, &strategy)), expected, "{kind} {wanted} {strategy}");
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

    /// Reference 7.6, cases 239: the controller's own table.
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
