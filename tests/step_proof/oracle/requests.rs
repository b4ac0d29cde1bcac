//! Every write carries its tests: the uid, the template, the strategy and the annotation come before
//! the first change, and a deletion names the uid.

use serde_json::Value;
use simcluster::Verb;

use crate::step_proof::timeline::{Asked, Timeline};

/// The paths that a write must test. If a map on the path is absent, its absence must be tested.
const TESTED: [&str; 3] = ["/metadata/uid", "/spec/template", "/metadata/annotations/kubectl-rollout2~1held"];

/// The paths of the fields that a plan replaces.
fn replaced(kind: &str) -> &'static [&'static str] {
    if kind == "Deployment" {
        &["/spec/paused", "/spec/minReadySeconds", "/spec/progressDeadlineSeconds", "/spec/strategy"]
    } else {
        &["/spec/updateStrategy"]
    }
}

pub(super) fn wrong(timeline: &Timeline) -> Vec<String> {
    let checked = timeline.asked.iter().filter_map(|asked| check(asked).err());
    checked.collect()
}

fn check(asked: &Asked) -> Result<(), String> {
    let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    let who = format!("process {}", asked.process);
    match (asked.verb, asked.kind) {
        (Verb::Patch, "StatefulSet" | "DaemonSet" | "CloneSet" | "Deployment") => {
            let operations = body.as_array().ok_or_else(|| format!("{who}: no JSON patch: {body}"))?;
            let tests: Vec<&Value> = operations.iter().take_while(|one| one["op"] == "test").collect();
            for place in TESTED.iter().chain(replaced(asked.kind)) {
                let is_tested = tests.iter().any(|test| {
                    let path = test["path"].as_str().unwrap_or_default();
                    path == *place || test["value"].is_null() && place.starts_with(&format!("{path}/"))
                });
                if !is_tested {
                    return Err(format!("{who}: {place} is not tested: {body}"));
                }
            }
            Ok(())
        }
        (Verb::Delete, "Pod") if body["preconditions"]["uid"].is_string() => Ok(()),
        (Verb::Create, "Pod") if body["deleteOptions"]["preconditions"]["uid"].is_string() => Ok(()),
        (verb, kind) => Err(format!("{who}: a write that is none of ours: {verb:?} {kind} {body}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(verb: Verb, kind: &'static str, body: &Value) -> Result<(), String> {
        check(&Asked { process: 0, verb, kind, body: body.to_string(), has_failed: false })
    }

    #[test]
    fn a_write_without_its_tests_is_found() {
        let test = |path: &str| json!({"op": "test", "path": path, "value": 1});
        let write = json!({"op": "replace", "path": "/spec/updateStrategy", "value": {}});
        for kind in ["StatefulSet", "DaemonSet", "CloneSet", "Deployment"] {
            let paths = TESTED.iter().chain(replaced(kind));
            let all: Vec<Value> = paths.map(|path| test(path)).chain([write.clone()]).collect();
            assert_eq!(checked(Verb::Patch, kind, &all.clone().into()), Ok(()));
            for left_out in 0..all.len() - 1 {
                let mut some = all.clone();
                some.remove(left_out);
                assert!(checked(Verb::Patch, kind, &some.into()).is_err());
            }
            let mut late = all.clone();
            late.rotate_right(1);
            assert!(checked(Verb::Patch, kind, &late.into()).is_err());
            let mut bare = all;
            bare[2] = json!({"op": "test", "path": "/metadata/annotations", "value": null});
            assert_eq!(checked(Verb::Patch, kind, &bare.into()), Ok(()));
        }
    }

    #[test]
    fn a_deletion_without_a_uid_and_any_other_write_are_found() {
        assert_eq!(checked(Verb::Delete, "Pod", &json!({"preconditions": {"uid": "u"}})), Ok(()));
        assert!(checked(Verb::Delete, "Pod", &json!({})).is_err());
        assert!(checked(Verb::Delete, "StatefulSet", &json!({"preconditions": {"uid": "u"}})).is_err());
        assert!(checked(Verb::Update, "StatefulSet", &json!({})).is_err());
    }
}
