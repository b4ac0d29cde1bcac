//! The validation that a client of workloads can fail.

use serde_json::{Value, json};

use super::{Part, fixed::forbidden_change, types::INTEGERS};
use crate::{
    object,
    refusal::{Cause, Refusal},
    resource::Resource,
    selector,
};

/// Validates a new object.
pub(super) fn new_object(resource: &Resource, value: &Value) -> Result<(), Refusal> {
    refuse(resource, value, &wrong_object(resource, value))
}

/// Validates a change of an object.
pub(super) fn change(resource: &Resource, part: Part, before: &Value, after: &Value) -> Result<(), Refusal> {
    if part == Part::Status {
        return Ok(());
    }
    let mut causes = wrong_object(resource, after);
    causes.extend(forbidden_change(resource, before, after));
    refuse(resource, after, &causes)
}

fn refuse(resource: &Resource, value: &Value, causes: &[Cause]) -> Result<(), Refusal> {
    if causes.is_empty() { Ok(()) } else { Err(Refusal::invalid(resource, object::name(value), causes)) }
}

fn wrong_object(resource: &Resource, value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    match resource.own_kind() {
        "Pod" => causes.extend(wrong_pod_spec("spec", &value["spec"])),
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" => {
            causes.extend(negative_numbers(resource, value));
            causes.extend(wrong_selector(value));
            causes.extend(wrong_pod_spec("spec.template.spec", &value["spec"]["template"]["spec"]));
            causes.extend(wrong_strategy(resource, &value["spec"]));
        }
        "Job" => causes.extend(wrong_job(&value["spec"]["template"]["spec"])),
        _ => {}
    }
    causes
}

fn wrong_job(spec: &Value) -> Vec<Cause> {
    let mut causes = wrong_pod_spec("spec.template.spec", spec);
    if !["OnFailure", "Never"].contains(&object::text(spec, &["restartPolicy"])) {
        let policy = &spec["restartPolicy"];
        let message = "supported values: \"OnFailure\", \"Never\"";
        causes.push(Cause::invalid("spec.template.spec.restartPolicy", policy, message));
    }
    causes
}

fn negative_numbers(resource: &Resource, value: &Value) -> Vec<Cause> {
    INTEGERS
        .into_iter()
        // A negative limit of a StatefulSet means that all revisions are kept.
        .filter(|path| !(resource.own_kind() == "StatefulSet" && path.contains(&"revisionHistoryLimit")))
        .filter_map(|path| Some((path, object::at(value, path)?)))
        .filter(|(_, number)| number.as_i64().is_some_and(|number| number < 0))
        .map(|(path, number)| Cause::invalid(path.join("."), number, "must be greater than or equal to 0"))
        .collect()
}

fn wrong_selector(value: &Value) -> Option<Cause> {
    let labels =
        object::at(value, &["spec", "template", "metadata", "labels"]).cloned().unwrap_or_else(|| json!({}));
    match object::at(value, &["spec", "selector"]) {
        None => Some(Cause::required("spec.selector", "")),
        Some(wanted) if !selector::matches_labels(wanted, &labels) => Some(Cause::invalid(
            "spec.template.metadata.labels",
            &labels,
            "`selector` does not match template `labels`",
        )),
        Some(_) => None,
    }
}

fn wrong_pod_spec(path: &str, spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let containers = object::list(spec, &["containers"]);
    if containers.is_empty() {
        causes.push(Cause::required(format!("{path}.containers"), ""));
    }
    for (index, container) in containers.iter().enumerate() {
        let path = format!("{path}.containers[{index}]");
        for member in ["name", "image"] {
            if object::text(container, &[member]).is_empty() {
                causes.push(Cause::required(format!("{path}.{member}"), ""));
            }
        }
    }
    causes
}

fn wrong_strategy(resource: &Resource, spec: &Value) -> Option<Cause> {
    let is_zero = |value: &Value| *value == 0 || *value == "0%" || value.is_null();
    match resource.own_kind() {
        "Deployment" => {
            let (strategy, path) = (&spec["strategy"], "spec.strategy.rollingUpdate");
            let rolling = &strategy["rollingUpdate"];
            if strategy["type"] == "Recreate" && !rolling.is_null() {
                return Some(Cause::forbidden(
                    path,
                    "may not be specified when strategy `type` is 'Recreate'",
                ));
            }
            let number = |name: &str| spec[name].as_i64().unwrap_or_default();
            if !spec["progressDeadlineSeconds"].is_null()
                && number("progressDeadlineSeconds") <= number("minReadySeconds")
            {
                return Some(Cause::invalid(
                    "spec.progressDeadlineSeconds",
                    &spec["progressDeadlineSeconds"],
                    "must be greater than minReadySeconds",
                ));
            }
            let stuck = strategy["type"] == "RollingUpdate"
                && is_zero(&rolling["maxSurge"])
                && is_zero(&rolling["maxUnavailable"]);
            stuck.then(|| {
                Cause::invalid(
                    format!("{path}.maxUnavailable"),
                    &rolling["maxUnavailable"],
                    "may not be 0 when `maxSurge` is 0",
                )
            })
        }
        "DaemonSet" if spec["updateStrategy"]["type"] == "RollingUpdate" => {
            let (rolling, path) =
                (&spec["updateStrategy"]["rollingUpdate"], "spec.updateStrategy.rollingUpdate");
            match (is_zero(&rolling["maxSurge"]), is_zero(&rolling["maxUnavailable"])) {
                (false, false) => Some(Cause::invalid(
                    format!("{path}.maxSurge"),
                    &rolling["maxSurge"],
                    "may not be set when maxUnavailable is non-zero",
                )),
                (true, true) => Some(Cause::invalid(
                    format!("{path}.maxUnavailable"),
                    &rolling["maxUnavailable"],
                    "cannot be 0 when maxSurge is 0",
                )),
                _ => None,
            }
        }
        _ => None,
    }
}
