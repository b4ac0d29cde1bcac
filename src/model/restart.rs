//! Restarting: the same template once more, under a new stamp.

use k8s_openapi::jiff::Timestamp;

use super::effect::Effect;
use super::observed::Observed;
use super::patch::{Patch, Place};
use super::revision::CHANGE_CAUSE;
use super::strategy;
use super::workload::Workload;
use crate::error::{Error, ErrorKind, Result};

/// The annotation of the template whose change makes a new revision of it.
pub const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// What to write to restart a workload.
///
/// The template itself is not relied on: whatever it is by then, its pods are to be restarted.
///
/// # Errors
/// When it is paused: nothing would happen until it is resumed.
pub fn restart(workload: &Workload, now: Timestamp, cause: Option<&str>) -> Result<Patch> {
    if workload.is_paused() {
        return Err(refused_while_paused(workload));
    }
    let mut patch = Patch::of(workload.object());
    match workload {
        Workload::Deployment(_) => patch.rely_on(Place::of(["spec", "paused"])),
        Workload::DaemonSet(_) | Workload::StatefulSet(_) => patch.rely_on(strategy::place(workload)),
    }
    let stamp = Place::of(["spec", "template", "metadata", "annotations", RESTARTED_AT]);
    let last = stamp.of_value(workload.object().json()).and_then(|stamp| stamp.as_str());
    let text = stamp_after(last, now);
    patch.set(stamp, text.into());
    if let Some(cause) = cause {
        patch.set(Place::annotation(CHANGE_CAUSE), cause.into());
    }
    Ok(patch)
}

/// What a restart will do to the pods: all of them run an outdated template then.
#[must_use]
pub fn effect(observed: &Observed, patch: &Patch) -> Effect {
    Effect::of(observed, None, patch.after())
}

/// kubectl's form, in UTC: whole seconds. When that is the stamp already, because the last restart
/// was in this very second, the fraction tells them apart, where kubectl fails.
fn stamp_after(last: Option<&str>, now: Timestamp) -> String {
    let whole = Timestamp::from_second(now.as_second()).unwrap_or(now).to_string();
    if last != Some(whole.as_str()) {
        return whole;
    }
    let fraction = now.subsec_nanosecond().max(1);
    format!("{}.{fraction:09}Z", whole.trim_end_matches('Z'))
}

fn refused_while_paused(workload: &Workload) -> Error {
    let target = workload.target();
    let compat = format!(
        "error: {} {:?} can't restart paused deployment (run rollout resume first)",
        workload.kind().type_().resource(),
        workload.name()
    );
    Error::new(
        ErrorKind::Refused,
        format!("{target} is paused, and nothing would happen until it is resumed"),
    )
    .hint(format!("kubectl rollout2 resume {}", workload.command_target()))
    .in_compat(compat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::Object;
    use serde_json::{Value, json};

    fn workload(kind: &str, spec: &Value) -> Workload {
        let object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": spec});
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    #[test]
    fn a_second_restart_in_one_second_has_a_stamp_of_its_own() {
        let now: Timestamp = "2026-11-20T13:20:29.25Z".parse().unwrap();
        for (last, expected) in [
            (None, "2026-11-20T13:20:29Z"),
            (Some("2026-11-20T08:20:29-05:00"), "2026-11-20T13:20:29Z"),
            (Some("2026-11-20T13:20:29Z"), "2026-11-20T13:20:29.250000000Z"),
            (Some("2026-11-20T13:20:29.250000000Z"), "2026-11-20T13:20:29Z"),
        ] {
            assert_eq!(stamp_after(last, now), expected, "{last:?}");
        }
    }

    #[test]
    fn the_stamp_goes_where_no_annotation_was_and_the_template_is_not_relied_on() {
        let patch =
            restart(&workload("DaemonSet", &json!({"template": {"spec": {}}})), Timestamp::UNIX_EPOCH, None)
                .unwrap();
        let paths: Vec<_> =
            patch.operations().iter().map(|op| format!("{} {}", op["op"], op["path"])).collect();
        assert_eq!(
            paths,
            [
                r#""test" "/metadata/uid""#,
                r#""test" "/spec/updateStrategy""#,
                r#""test" "/spec/template/metadata""#,
                r#""add" "/spec/template/metadata""#
            ]
        );
        assert_eq!(patch.after()["spec"]["template"]["spec"], json!({}));
    }

    #[test]
    fn a_paused_deployment_is_refused() {
        let paused = workload("Deployment", &json!({"paused": true, "template": {}}));
        let error = restart(&paused, Timestamp::UNIX_EPOCH, None).unwrap_err();
        assert_eq!(
            error.compat_sentence(),
            "error: deployments.apps \"w\" can't restart paused deployment (run rollout resume first)"
        );
    }
}
