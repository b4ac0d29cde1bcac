//! What a change of the template does to pods: words and JSON.

use serde_json::{Value, json};

use crate::model::change::effect::UpdatedPods;
use crate::model::diff::TemplatePath;
use crate::model::diff::pod_update::{PodUpdate, RESIZE_GATE, needs_only_resize};
use crate::model::kind::update_budget::PodUpdatePolicy;
use crate::model::text::plural::{first_of, plural};

/// The most paths in one line.
const MAX_PATHS: usize = 3;

/// Returns the sentence for a change between two templates; none for equal ones.
#[must_use]
pub fn words(update: &PodUpdate, policy: PodUpdatePolicy) -> Option<String> {
    Some(match update {
        PodUpdate::None => return None,
        PodUpdate::InPlace { restarted } => format!("pods are updated in place: {}", restarts(restarted)),
        PodUpdate::Recreate { .. } if policy == PodUpdatePolicy::Recreate => "pods are recreated".to_owned(),
        PodUpdate::Recreate { because } => format!("pods are recreated: {}", not_in_place(because)),
        PodUpdate::Refused { because } => format!("InPlaceOnly forbids it: {}", not_in_place(because)),
    })
}

/// Returns what happens to the pods of an effect: `restarts main`, `spec.x cannot change in place`. None where
/// the first line of the effect says it all.
#[must_use]
pub(super) fn details(update: &UpdatedPods) -> Option<String> {
    if update.refused && !update.because.is_empty() {
        return Some(format!("InPlaceOnly forbids it: {}", not_in_place(&update.because)));
    }
    let stay = (update.in_place > 0).then(|| restarts(&update.restarted));
    let stay = stay.map(|text| match update.recreated {
        0 => text,
        _ => format!("{} in place: {text}", plural(update.in_place, "pod")),
    });
    let because = (!update.because.is_empty()).then(|| not_in_place(&update.because));
    let parts: Vec<String> = stay.into_iter().chain(because).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns how the pods of a plan are updated: `pods are updated in place: restarts app`.
#[must_use]
pub(super) fn of_plan(update: &UpdatedPods, may_stay: bool) -> String {
    let details =
        details(update).filter(|_| may_stay).map(|details| format!(": {details}")).unwrap_or_default();
    match (update.in_place, update.recreated) {
        _ if update.refused => format!("pods keep their revision{details}"),
        (0, _) => format!("pods are recreated{details}"),
        (_, 0) => format!("pods are updated in place{details}"),
        (_, recreated) => format!("{} recreated{details}", plural(recreated, "pod")),
    }
}

/// Returns `{kind, containers, because}` for the outdated pods of a plan, which may run several revisions.
#[must_use]
pub(super) fn json_of_plan(update: &UpdatedPods) -> Value {
    let kind = match (update.in_place, update.recreated) {
        _ if update.refused => "refused",
        (0, 0) => "none",
        (_, 0) => "in-place",
        (0, _) => "recreate",
        _ => "mixed",
    };
    let because: Vec<String> = update.because.iter().map(ToString::to_string).collect();
    json!({"kind": kind, "containers": update.restarted, "because": because})
}

/// Returns `{kind, containers, because}`. The README documents the fields.
#[must_use]
pub fn json(update: &PodUpdate) -> Value {
    let because: Vec<String> = update.because().iter().map(ToString::to_string).collect();
    json!({"kind": update.word(), "containers": update.restarted(), "because": because})
}

fn restarts(containers: &[String]) -> String {
    if containers.is_empty() {
        "no container restarts".to_owned()
    } else {
        format!("restarts {}", containers.join(", "))
    }
}

fn not_in_place(paths: &[TemplatePath]) -> String {
    let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let names = first_of(&names, MAX_PATHS, ", ");
    match paths {
        [] => "their revision is not kept".to_owned(),
        _ if !needs_only_resize(paths) => format!("{names} cannot change in place"),
        [_] => format!("{names} changes in place only with the feature gate {RESIZE_GATE}"),
        _ => format!("{names} change in place only with the feature gate {RESIZE_GATE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::revision::template::Template;

    #[test]
    fn a_resize_is_in_place_with_a_feature_gate() {
        let template = |resources: Value, args: &str| {
            let container = json!({"name": "web", "image": "x:1", "args": [args], "resources": resources});
            Template::new(&json!({"spec": {"containers": [container]}}))
        };
        let old = template(json!({"limits": {"memory": "1Gi"}, "requests": {"cpu": "1"}}), "a");
        let one = template(json!({"limits": {"memory": "2Gi"}, "requests": {"cpu": "1"}}), "a");
        let both = template(json!({"limits": {"memory": "2Gi"}, "requests": {"cpu": "2"}}), "a");
        let more = template(json!({"limits": {"memory": "2Gi"}, "requests": {"cpu": "1"}}), "b");
        let (memory, cpu) =
            ("spec.containers[web].resources.limits.memory", "spec.containers[web].resources.requests.cpu");
        let gate = "in place only with the feature gate InPlaceWorkloadVerticalScaling";
        for (new, expected) in [
            (one, format!("{memory} changes {gate}")),
            (both, format!("{memory}, {cpu} change {gate}")),
            (more, format!("spec.containers[web].args, {memory} cannot change in place")),
        ] {
            for (policy, before) in [
                (PodUpdatePolicy::InPlaceIfPossible, "pods are recreated"),
                (PodUpdatePolicy::InPlaceOnly, "InPlaceOnly forbids it"),
            ] {
                let update = PodUpdate::between(&old, &new, policy);
                assert_eq!(words(&update, policy), Some(format!("{before}: {expected}")));
            }
        }
    }
}
