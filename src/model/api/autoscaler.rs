//! `HorizontalPodAutoscalers` whose metric counts surge pods.

use k8s_openapi::api::autoscaling::v2::{HorizontalPodAutoscaler, MetricTarget};
use serde::Deserialize as _;

use super::object::Object;

/// A `HorizontalPodAutoscaler` that divides a metric by `status.replicas` of its target, surge pods included
/// (kubernetes/kubernetes issue 138505).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurgeCountingAutoscaler {
    /// The name.
    pub name: String,
    /// The type of the metric: `External` or `Object`.
    pub metric: &'static str,
    target: (String, String),
}

impl SurgeCountingAutoscaler {
    /// Reads an autoscaler; none if no metric of it is `External` or `Object` with an `averageValue`.
    #[must_use]
    pub fn read(object: &Object) -> Option<Self> {
        let spec = HorizontalPodAutoscaler::deserialize(object.json()).ok()?.spec;
        let is_average = |target: &MetricTarget| target.average_value.is_some();
        let metric = spec.metrics.iter().flatten().find_map(|metric| {
            let external = metric.external.as_ref().filter(|metric| is_average(&metric.target));
            let object = metric.object.as_ref().filter(|metric| is_average(&metric.target));
            external.map(|_| "External").or(object.map(|_| "Object"))
        })?;
        let target = (spec.scale_target_ref.kind, spec.scale_target_ref.name);
        Some(Self { name: object.name().to_owned(), metric, target })
    }

    /// Whether it scales a workload.
    #[must_use]
    pub fn is_for(&self, workload: &Object) -> bool {
        self.target.0 == workload.kind() && self.target.1 == workload.name()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_a_metric_with_an_average_value_counts_surge_pods() {
        let read = |metrics: Value| {
            let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
            let object = json!({"kind": "HorizontalPodAutoscaler", "metadata": {"name": "queue"},
                "spec": {"scaleTargetRef": target, "metrics": metrics}});
            SurgeCountingAutoscaler::read(&Object::read(object).unwrap())
        };
        let average = json!({"type": "AverageValue", "averageValue": "30"});
        for (metrics, metric) in [
            (json!([{"type": "External", "external": {"target": average}}]), Some("External")),
            (json!([{"type": "Object", "object": {"target": average}}]), Some("Object")),
            (json!([{"type": "External", "external": {"target": {"type": "Value", "value": "30"}}}]), None),
            (json!([{"type": "Pods", "pods": {"target": average}}]), None),
            (json!([{"type": "Resource", "resource": {"name": "cpu", "target": average}}]), None),
            (json!([]), None),
        ] {
            let found = read(metrics.clone());
            assert_eq!(found.as_ref().map(|found| found.metric), metric, "{metrics}");
            let is_for = |kind: &str, name: &str| {
                let workload = Object::read(json!({"kind": kind, "metadata": {"name": name}})).unwrap();
                found.as_ref().is_some_and(|found| found.is_for(&workload))
            };
            assert_eq!(is_for("Deployment", "web"), metric.is_some());
            assert!(!is_for("Deployment", "shop") && !is_for("StatefulSet", "web"));
        }
    }
}
