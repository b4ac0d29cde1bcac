//! Jobs: completion, the ends by which a Job fails, suspension, deletion after the end.

use serde_json::json;
use simcluster::resource::{JOBS, PODS};
use simcluster::{Key, object};

use crate::simulation::controllers::lab::Lab;

/// Returns the reason of the condition that ended the Job.
fn end(lab: &Lab, job: &Key) -> String {
    let job = lab.get(job);
    let ended = ["Complete", "Failed"].into_iter().filter(|kind| object::has_condition(&job, kind));
    let ended: Vec<_> = ended.map(|kind| (kind, object::condition(&job, kind).unwrap())).collect();
    assert!(ended.len() < 2, "{job}");
    ended.first().map(|(kind, why)| format!("{kind} {}", object::text(why, &["reason"]))).unwrap_or_default()
}

#[test]
fn a_job_ends_as_its_limits_say() {
    let on_failure = json!({"backoffLimit": 2, "template": {"spec": {"restartPolicy": "OnFailure"}}});
    let policy = json!({"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]});
    for (image, more, expected, succeeded, failed) in [
        ("app:1.0-done", json!({}), "Complete CompletionsReached", 1, 0),
        ("app:1.0-done", json!({"completions": 5, "parallelism": 2}), "Complete CompletionsReached", 5, 0),
        ("app:1.0-done", json!({"parallelism": 2}), "Complete CompletionsReached", 2, 0),
        ("app:1.0-crash", json!({"backoffLimit": 2}), "Failed BackoffLimitExceeded", 0, 3),
        ("app:1.0-crash", on_failure, "Failed BackoffLimitExceeded", 0, 0),
        ("app:1.0", json!({"activeDeadlineSeconds": 30}), "Failed DeadlineExceeded", 0, 0),
        ("app:1.0-crash", json!({"podFailurePolicy": policy}), "Failed PodFailurePolicy", 0, 1),
        ("app:1.0", json!({}), "", 0, 0),
    ] {
        let mut lab = Lab::new();
        let job = lab.editor().create_job(image, &more);
        lab.run_for(600);
        let status = lab.get(&job)["status"].clone();
        assert_eq!(end(&lab, &job), expected, "{image} {more} {status}");
        let counts = ["succeeded", "failed"].map(|name| status[name].as_i64().unwrap_or_default());
        assert_eq!(counts, [succeeded, failed], "{image} {more} {status}");
        assert_eq!(status["active"].is_null(), !expected.is_empty(), "{image} {more} {status}");
    }
}

/// The controller waits 10 s before it replaces the first failed pod, and twice as long after each further one.
#[test]
fn failed_pods_are_replaced_after_a_back_off() {
    let mut lab = Lab::new();
    let job = lab.editor().create_job("app:1.0-crash", &json!({}));
    for (seconds, pods) in [(5, 1), (10, 2), (20, 3), (40, 4)] {
        lab.run_for(seconds);
        let count = lab.cluster.store(|store| store.list(&PODS, None).count());
        assert_eq!(count, pods, "after {seconds} s more: {}", lab.get(&job)["status"]);
    }
}

#[test]
fn a_suspended_job_has_no_pods() {
    let mut lab = Lab::new();
    let job = lab.editor().create_job("app:1.0", &json!({"suspend": true}));
    let mut state = |is_suspended: bool| {
        lab.patch(&job, &json!({"spec": {"suspend": is_suspended}}));
        lab.run_for(10);
        let stored = lab.get(&job);
        let pods = lab.cluster.store(|store| store.list(&PODS, None).count());
        (pods, stored["status"]["startTime"].is_null(), object::has_condition(&stored, "Suspended"))
    };
    assert_eq!([true, false, true].map(&mut state), [(0, true, true), (1, false, false), (0, true, true)]);
}

#[test]
fn an_ended_job_is_deleted_with_its_pods() {
    let mut lab = Lab::new();
    lab.editor().create_job("app:1.0-done", &json!({"ttlSecondsAfterFinished": 30}));
    for (seconds, jobs) in [(10, 1), (60, 0)] {
        lab.run_for(seconds);
        let counts = [&JOBS, &PODS].map(|kind| lab.cluster.store(|store| store.list(kind, None).count()));
        assert_eq!(counts, [jobs; 2], "after {seconds} s more");
    }
}
