mod evidence;

use super::*;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::observation::fixture::{self, pod, revision, template};
use crate::status::verdict;
use serde_json::json;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn verdict_of(state: RolloutState) -> Verdict {
    Verdict { state, line: "w".to_owned() }
}

#[test]
fn a_cause_is_fatal_if_no_later_event_ends_it() {
    let fatal = CauseId::ALL.into_iter().filter(|id| id.row().severity == CauseSeverity::Fatal);
    let names: Vec<_> = fatal.map(CauseId::name).collect();
    assert_eq!(
        names.join(" "),
        "image-not-found image-unauthorized image-signature-invalid image-name-invalid missing-configmap \
         missing-secret missing-key config-error command-not-found post-start-hook out-of-memory init-crash \
         crash-loop liveness-probe startup-probe missing-claim quota-exceeded admission-refused surge-deadlock"
    );
}

#[test]
fn only_a_lasting_cause_that_needs_a_fix_makes_a_rollout_stuck() {
    use RolloutState::{Complete, Failed, Held, Paused, Progressing, Stuck, Unobserved};
    let cause = |id, since| Cause { since, ..Cause::new(id, "") };
    let quota = |since| cause(CauseId::QuotaExceeded, since);
    let passing = quota(Some(at(0))).passing_if(true);
    for (state, cause, expected) in [
        (Progressing, quota(Some(at(70))), Stuck),
        (Progressing, quota(Some(at(71))), Progressing),
        (Progressing, quota(None), Progressing),
        (Progressing, passing, Progressing),
        (Progressing, cause(CauseId::Partition, Some(at(0))), Progressing),
        (Complete, quota(Some(at(0))), Complete),
        (Paused, quota(Some(at(0))), Paused),
        (Held, quota(Some(at(0))), Held),
        (Unobserved, quota(Some(at(0))), Unobserved),
        (Failed, quota(Some(at(0))), Failed),
    ] {
        assert_eq!(stuck_if(verdict_of(state), [&cause], at(100)), verdict_of(expected), "{cause:?}");
    }
}

/// A Deployment with one pod whose container has this status.
fn observation(container: &Value, ready_since: Option<i64>) -> Observation {
    let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "w", "uid": "u"}, "spec": {"template": template("x:1"), "minReadySeconds": 90},
        "status": {"replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1}});
    let mut pod = pod("Deployment", "p", "r1", ready_since.is_some());
    pod["spec"] = json!({"nodeName": "n"});
    pod["metadata"]["creationTimestamp"] = json!(at(0));
    pod["status"]["conditions"][0]["lastTransitionTime"] = json!(at(ready_since.unwrap_or_default()));
    pod["status"]["phase"] = "Running".into();
    pod["status"]["containerStatuses"] = json!([container]);
    fixture::observation(&workload, [revision("r1", 1, &template("x:1"))], [pod])
}

/// The kubelet restarts at once after the first crash, and then waits for 10, 20, ... 300 s.
#[test]
fn a_crash_loop_stays_stuck() {
    let ran =
        |start, end| json!({"terminated": {"exitCode": 1, "startedAt": at(start), "finishedAt": at(end)}});
    let is_stuck = |container: &Value, ready_since, now| {
        let (observed, allowed) = (observation(container, ready_since), AllowedRestarts::default());
        let causes = causes_of(&observed, verdict(&observed).state, allowed, now);
        stuck_if(verdict_of(RolloutState::Progressing), &causes, now).state == RolloutState::Stuck
    };
    for (run, is_ready) in [(0, false), (1, true), (8, false), (25, true), (45, false), (45, true)] {
        let (mut start, mut last, mut stuck_since) = (5, json!({}), None);
        for (restarts, back_off) in [0, 10, 20, 40, 80, 160, 300, 300].into_iter().enumerate() {
            let end = start + run;
            for now in start..end + back_off {
                let container = if now < end {
                    let state = json!({"running": {"startedAt": at(start)}});
                    json!({"restartCount": restarts, "ready": is_ready, "state": state, "lastState": last})
                } else {
                    let state = json!({"waiting": {"reason": "CrashLoopBackOff"}});
                    json!({"restartCount": restarts, "state": state, "lastState": ran(start, end)})
                };
                let ready_since = (is_ready && now < end).then_some(start);
                let is_stuck = is_stuck(&container, ready_since, at(now));
                if is_stuck {
                    stuck_since.get_or_insert(now);
                }
                assert_eq!(is_stuck, stuck_since.is_some(), "{run} s, {restarts} restarts, at {now}");
            }
            (start, last) = (end + back_off, ran(start, end));
        }
        let first_crash = 5 + run;
        assert_eq!(stuck_since, Some(first_crash + run + 30), "the second run and 30 s later");
    }
}

/// A program logs a key line by line, and of a long line only the beginning is shown.
#[test]
fn each_line_of_a_secret_is_masked_before_lines_are_cut() {
    let mut observed = observation(&json!({}), None);
    let mut workload = observed.workload.object().json().clone();
    workload["spec"]["template"]["spec"]["containers"][0]["env"] = json!([
        {"name": "TLS_KEY", "value": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\nAb9x\n-----END KEY-----\n"},
        {"name": "API_TOKEN", "value": "0123456789abcdef"},
        {"name": "SECRETS_YAML", "value": "server:\n  level: info\ntoken-of-one-line-0\n"},
    ]);
    observed.replace_workload(Workload::of_json(&workload).unwrap());
    let long = "x".repeat(1_020);
    for (line, shown) in [
        ("MIIEvQIBADANBgkqh", "***".to_owned()),
        ("  Ab9x ready", "  *** ready".to_owned()),
        ("server: level: info", "server: level: info".to_owned()),
        ("read token-of-one-line-0", "read ***".to_owned()),
        (format!("{long}0123456789abcdef").as_str(), format!("{long}***")),
    ] {
        assert_eq!(last_lines_without_secrets(Some(&observed), &[line.to_owned()]), [shown]);
    }
}

#[test]
fn a_crash_after_no_more_restarts_than_are_allowed_needs_no_fix() {
    let pod = Pod::read(&Object::read(json!({"kind": "Pod", "metadata": {"name": "p"}})).unwrap());
    for (kind, allowed, id, restarts, may_pass) in [
        ("Deployment", None, CauseId::CrashLoop, 1, true),
        ("Deployment", None, CauseId::CrashLoop, 2, false),
        ("Deployment", Some(0), CauseId::CrashLoop, 0, true),
        ("Deployment", Some(0), CauseId::CrashLoop, 1, false),
        ("Deployment", Some(3), CauseId::OutOfMemory, 3, true),
        ("Deployment", Some(3), CauseId::OutOfMemory, 4, false),
        ("Deployment", Some(3), CauseId::MissingSecret, 1, false),
        ("Job", None, CauseId::CrashLoop, 5, true), // its controller counts them against `backoffLimit`
        ("Job", None, CauseId::MissingSecret, 0, false),
    ] {
        let workload = Workload::of_json(&json!({"kind": kind, "metadata": {"name": "w"}})).unwrap();
        let observed = Observation::of_alone(workload);
        let allowed = AllowedRestarts(allowed);
        let context = CauseContext::new(&observed, None, allowed, Timestamp::UNIX_EPOCH);
        let container = Container { restarts, ..Container::default() };
        let cause = Cause::new(id, "crashed");
        let found = vec![PodProblem { pod: &pod, container: Some(&container), cause }];
        let causes = by_cause(found, &context);
        assert_eq!(
            causes[0].severity == CauseSeverity::MayPass,
            may_pass,
            "{kind} {allowed:?} {id:?} {restarts}"
        );
    }
}
