//! `maxSurge` and `maxUnavailable` of a Deployment.

use serde_json::Value;

use crate::controller::amount::{Rounding, resolve};
use crate::controller::count;

/// Returns the maximum number of surplus pods.
pub(super) fn max_surge(deployment: &Value) -> i64 {
    if deployment["spec"]["strategy"]["type"] != "RollingUpdate" {
        return 0;
    }
    let surge = &deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"];
    resolve(surge, count::wanted(deployment), Rounding::Up)
}

/// Returns the maximum number of unavailable pods; 1 if both limits are zero.
pub(super) fn max_unavailable(deployment: &Value) -> i64 {
    let wanted = count::wanted(deployment);
    if deployment["spec"]["strategy"]["type"] != "RollingUpdate" || wanted == 0 {
        return 0;
    }
    let unavailable = &deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"];
    let unavailable = resolve(unavailable, wanted, Rounding::Down);
    if unavailable == 0 && max_surge(deployment) == 0 { 1 } else { unavailable.min(wanted) }
}

/// Returns the size of the new set if the other sets have `others` pods.
pub(super) fn size_of_new(deployment: &Value, size: i64, others: i64) -> i64 {
    let wanted = count::wanted(deployment);
    if deployment["spec"]["strategy"]["type"] != "RollingUpdate" {
        return wanted;
    }
    let room = wanted + max_surge(deployment) - others - size;
    if room <= 0 { size } else { size + room.min(wanted - size) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rolling(replicas: i64, surge: &str, unavailable: &str) -> Value {
        let rolling = json!({ "maxSurge": surge, "maxUnavailable": unavailable });
        json!({ "spec": { "replicas": replicas, "strategy": { "type": "RollingUpdate", "rollingUpdate": rolling } } })
    }

    #[test]
    fn a_rollout_can_always_progress() {
        assert_eq!(max_unavailable(&rolling(3, "0%", "25%")), 1);
        assert_eq!(max_unavailable(&rolling(0, "0%", "25%")), 0);
    }
}
