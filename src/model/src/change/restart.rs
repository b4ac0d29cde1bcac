//! `restart`: the same template under a new timestamp.

use k8s_openapi::jiff::Timestamp;

use crate::api::patch::{FieldPath, Patch};
use crate::diff::pod_update::UpdatedPods;
use crate::error::{Error, ErrorKind, Result};
use crate::kind::Workload;
use crate::kind::owners::refuse_driven;
use crate::kind::strategy;
use crate::kind::update_budget::PodUpdatePolicy;
use crate::revision::CHANGE_CAUSE;
use crate::revision::template::RESTARTED_AT;
use crate::text::shell_command::command;

/// Returns the patch that restarts a workload.
///
/// The patch does not test the template, because a restart applies to any template.
///
/// # Errors
/// If nothing would happen: the workload is paused, or its pods are updated in place and no container reads the
/// annotation.
pub fn restart(workload: &Workload, now: Timestamp, cause: Option<&str>) -> Result<Patch> {
    if workload.is_paused() {
        refuse_driven(workload, "approve")?;
        return Err(refused_while_paused(workload));
    }
    let mut patch = Patch::of(workload.object());
    patch.require_unchanged(strategy::hold_path(workload));
    let stamp = FieldPath::of(["spec", "template", "metadata", "annotations", RESTARTED_AT]);
    let last = stamp.value_in(workload.object().json()).and_then(|stamp| stamp.as_str());
    let text = stamp_after(last, now);
    patch.set(stamp, text.into());
    if let Some(cause) = cause {
        patch.set(FieldPath::annotation(CHANGE_CAUSE), cause.into());
    }
    let policy = workload.pod_update_policy();
    let of_a_pod = Workload::of_json(patch.after())
        .map(|after| UpdatedPods::of_one(&workload.template(), &after.template(), policy));
    match of_a_pod {
        Some(update) if update.restarts_nothing() => Err(restarts_nothing(workload)),
        _ => Ok(patch),
    }
}

/// Under an in-place policy an annotation is written into the pods, and no container restarts (seen with
/// OpenKruise 1.8 and 1.9). Another environment variable recreates the pods, unless the policy forbids it.
fn restarts_nothing(workload: &Workload) -> Error {
    let target = workload.target();
    let message =
        format!("{target} updates its pods in place, so the annotation of a restart restarts nothing");
    let error = Error::new(ErrorKind::Refused, message);
    if workload.pod_update_policy() == PodUpdatePolicy::InPlaceOnly {
        return error.hint(command(
            "delete its pods one after another: kubectl delete pod POD{}",
            [workload.in_namespace()],
        ));
    }
    error
        .hint(command("to recreate its pods: kubectl kruise rollout restart {}", [workload.command_target()]))
}

/// Returns the timestamp in kubectl's form: UTC, whole seconds. Further restarts in the same second
/// get growing fractions; kubectl fails there.
fn stamp_after(last: Option<&str>, now: Timestamp) -> String {
    let whole = Timestamp::from_second(now.as_second()).unwrap_or(now).to_string();
    let second = whole.trim_end_matches('Z');
    let last = last.filter(|last| last.starts_with(second)).and_then(|last| last.parse::<Timestamp>().ok());
    let Some(last) = last else { return whole };
    let fraction = now.subsec_nanosecond().max(last.subsec_nanosecond() + 1);
    format!("{second}.{fraction:09}Z")
}

fn refused_while_paused(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(ErrorKind::Refused, format!("{target} is paused; resume it first"))
        .hint(command("kubectl rollout2 resume {}", [workload.command_target()]))
}

/// Returns the command that replaces the pods of a workload.
#[must_use]
pub fn restart_command(workload: &Workload) -> String {
    command("kubectl rollout2 restart {}", [workload.command_target()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::Object;
    use serde_json::{Value, json};

    fn workload(kind: &str, spec: &Value) -> Workload {
        let object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": spec});
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    #[test]
    fn each_restart_in_one_second_has_another_timestamp() {
        let now: Timestamp = "2026-11-20T13:20:29.25Z".parse().unwrap();
        for (last, expected) in [
            (None, "2026-11-20T13:20:29Z"),
            (Some("2026-11-20T08:20:29-05:00"), "2026-11-20T13:20:29Z"),
            (Some("2026-11-20T13:20:29Z"), "2026-11-20T13:20:29.250000000Z"),
            (Some("2026-11-20T13:20:29.250000000Z"), "2026-11-20T13:20:29.250000001Z"),
            (Some("2026-11-20T13:20:28.250000000Z"), "2026-11-20T13:20:29Z"),
        ] {
            assert_eq!(stamp_after(last, now), expected, "{last:?}");
        }
    }

    #[test]
    fn restart_adds_the_annotation_and_does_not_test_the_template() {
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
        assert_eq!(error.to_string(), "deployment/w is paused; resume it first");
    }
}
