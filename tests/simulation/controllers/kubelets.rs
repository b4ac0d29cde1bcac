//! The simulated kubelets.

use std::time::Duration;

use serde_json::{Value, json};
use simcluster::resource::{EVENTS, PODS};
use simcluster::rules::{Author, Part};
use simcluster::{Behaviour, Controllers, Key, KubeletTiming, object};

use crate::simulation::controllers::lab::Lab;

/// Returns a lab with one pod of an image after some time.
fn running(image: &str, seconds: u64) -> (Lab, Value) {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    lab.image(&web, image);
    lab.run_for(seconds);
    let pod =
        lab.cluster.store(|store| store.list(&PODS, None).map(|(_, pod)| Value::clone(pod)).next().unwrap());
    (lab, pod)
}

fn container(pod: &Value) -> &Value {
    &pod["status"]["containerStatuses"][0]
}

fn waits_for(pod: &Value) -> &str {
    object::text(container(pod), &["state", "waiting", "reason"])
}

fn events(lab: &Lab, pod: &Value) -> Vec<String> {
    lab.cluster.store(|store| {
        let all = store.list(&EVENTS, None);
        let mine = all.filter(|(_, event)| event["involvedObject"]["uid"] == pod["metadata"]["uid"]);
        mine.map(|(_, event)| {
            format!("{} {}", object::text(event, &["type"]), object::text(event, &["reason"]))
        })
        .collect()
    })
}

fn log(lab: &Lab, pod: &Value, previous: bool) -> Vec<String> {
    lab.cluster.store(|store| {
        let output = store.logs().of(object::uid(pod), "app").cloned().unwrap_or_default();
        (if previous { output.previous } else { output.current }).unwrap_or_default()
    })
}

#[test]
fn the_tag_decides_the_state_of_a_pod() {
    for (image, phase, reason, restarts) in [
        ("app:1.0", "Running", "", 0),
        ("app:1.0-bad", "Pending", "ImagePullBackOff", 0),
        ("app:1.0-config", "Pending", "CreateContainerConfigError", 0),
        ("app:1.0-crash", "Running", "", 4),
        ("app:1.0-oom", "Running", "", 4),
        ("app:1.0-notready", "Running", "", 0),
    ] {
        let (_, pod) = running(image, 13);
        assert_eq!(object::text(&pod, &["status", "phase"]), phase, "{image}");
        assert_eq!(waits_for(&pod), reason, "{image}");
        assert_eq!(container(&pod)["restartCount"], restarts, "{image}");
        assert_eq!(container(&pod)["ready"], image == "app:1.0", "{image}");
    }
}

#[test]
fn a_slow_pod_is_ready_after_six_seconds() {
    assert_eq!(container(&running("app:1.0-slow", 5).1)["ready"], false);
    assert_eq!(container(&running("app:1.0-slow", 7).1)["ready"], true);
}

#[test]
fn a_crash_leaves_its_exit_code_events_and_log() {
    let (lab, pod) = running("app:1.0-crash", 10);
    assert_eq!(container(&pod)["lastState"]["terminated"]["exitCode"], 1);
    assert!(events(&lab, &pod).contains(&"Warning BackOff".to_owned()));
    assert_eq!(log(&lab, &pod, false).last().unwrap(), "app: panic: DB_URL is not set");
    let (_, pod) = running("app:1.0-oom", 10);
    let ended = &container(&pod)["lastState"]["terminated"];
    assert_eq!((&ended["exitCode"], &ended["reason"]), (&json!(137), &json!("OOMKilled")));
}

/// A kubelet has often removed the run before one that has ended, and answers with 200.
#[test]
fn the_log_of_the_previous_run_can_be_read_until_the_present_one_ends() {
    let (lab, pod) = running("app:1.0-crash", 10);
    assert!(container(&pod)["state"]["terminated"].is_object(), "{pod}");
    let [line] = &log(&lab, &pod, true)[..] else { panic!("{pod}") };
    assert!(line.starts_with("unable to retrieve container logs for containerd://"), "{line}");
    let (lab, pod) = running("app:1.0-crashlate", 20);
    assert!(container(&pod)["state"]["running"].is_object(), "{pod}");
    assert_eq!(log(&lab, &pod, true).last().unwrap(), "app: panic: DB_URL is not set");
}

#[test]
fn an_event_arrives_late_with_the_time_of_its_occurrence() {
    let event_delay = Duration::from_secs(5);
    let timing = KubeletTiming { event_delay, ..KubeletTiming::default() };
    let mut lab = Lab::with(Controllers::new().kubelet_timing(timing));
    let web = lab.deployment(1, &json!({}));
    lab.image(&web, "app:1.0-config");
    lab.run_for(20);
    lab.cluster.store(|store| {
        let mut changes = store.changes_after(0).unwrap();
        let failed = |value: &Value| {
            value["status"]["containerStatuses"][0]["state"]["waiting"]["message"].is_string()
        };
        let state = changes.find(|change| change.after.as_deref().is_some_and(failed)).unwrap();
        let about = |value: &Value| object::text(value, &["reason"]) == "Failed";
        let event = changes.find(|change| change.after.as_deref().is_some_and(about)).unwrap();
        assert_eq!(event.at.duration_since(state.at).unsigned_abs(), event_delay);
        assert_eq!(event.after.as_ref().unwrap()["lastTimestamp"], simcluster::clock::stamp(state.at));
    });
}

#[test]
fn a_closed_readiness_gate_keeps_a_pod_unready() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    let gates = json!([{ "conditionType": "example.com/lb" }]);
    lab.patch(&web, &json!({ "spec": { "template": { "spec": { "readinessGates": gates } } } }));
    lab.run_for(60);
    let pods: Vec<Value> =
        lab.cluster.store(|store| store.list(&PODS, None).map(|(_, pod)| Value::clone(pod)).collect());
    let pod = pods.iter().find(|pod| !pod["spec"]["readinessGates"].is_null()).unwrap();
    let condition = |pod: &Value, kind: &str| {
        object::list(pod, &["status", "conditions"]).iter().find(|one| one["type"] == kind).unwrap().clone()
    };
    assert_eq!(container(pod)["ready"], true);
    assert_eq!(condition(pod, "ContainersReady")["status"], "True");
    assert_eq!(condition(pod, "Ready")["reason"], "ReadinessGatesNotReady");
    let missing = "corresponding condition of pod readiness gate \"example.com/lb\" does not exist.";
    assert_eq!(condition(pod, "Ready")["message"], missing);
    let key = Key::of(&PODS, pod);
    for (status, is_ready) in [("False", "False"), ("True", "True")] {
        lab.cluster.store(|store| {
            let set = |pod: &mut Value| {
                let conditions = pod["status"]["conditions"].as_array_mut().unwrap();
                conditions.retain(|one| one["type"] != "example.com/lb");
                conditions.push(json!({ "type": "example.com/lb", "status": status }));
            };
            store.edit(&key, Part::Status, &Author::new("balancer"), set).map(drop).unwrap();
        });
        lab.settle();
        assert_eq!(condition(&lab.get(&key), "Ready")["status"], is_ready);
    }
}

#[test]
fn a_running_pod_has_scheduled_and_started_events() {
    let (lab, pod) = running("app:1.0", 10);
    assert_eq!(events(&lab, &pod), ["Normal Scheduled", "Normal Started"]);
    assert_eq!(log(&lab, &pod, false).last().unwrap(), "app: listening on :8080");
}

#[test]
fn a_test_can_make_a_pod_fail_and_recover() {
    let (mut lab, pod) = running("app:1.0", 10);
    let key = Key::of(&PODS, &pod);
    lab.set_behaviour(&key, Some(Behaviour::NotReady));
    lab.settle();
    assert_eq!(container(&lab.get(&key))["ready"], false);
    lab.set_behaviour(&key, Some(Behaviour::Crash));
    lab.run_for(10);
    assert_eq!(container(&lab.get(&key))["state"]["terminated"]["exitCode"], 1);
    lab.set_behaviour(&key, None);
    lab.settle();
    assert_eq!(container(&lab.get(&key))["ready"], true);
}

#[test]
fn a_deleted_pod_terminates_and_its_successor_has_another_uid() {
    let mut lab = Lab::new();
    lab.stateful_set(1, &json!({}));
    lab.settle();
    let key = Key::new(&PODS, "default", "db-0");
    let uid = object::uid(&lab.get(&key)).to_owned();
    lab.delete(&key, &json!({}));
    lab.controllers.run_for(&lab.cluster, Duration::from_millis(200));
    assert!(object::is_terminating(&lab.get(&key)));
    lab.settle();
    assert_ne!(object::uid(&lab.get(&key)), uid);
    assert_eq!(container(&lab.get(&key))["ready"], true);
}

#[test]
fn an_unschedulable_pod_stays_pending_with_a_message() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    lab.patch(&web, &json!({ "spec": { "template": { "spec": { "nodeSelector": { "gpu": "yes" } } } } }));
    lab.settle();
    let pod =
        lab.cluster.store(|store| store.list(&PODS, None).map(|(_, pod)| Value::clone(pod)).next().unwrap());
    assert_eq!(pod["status"]["conditions"][0]["reason"], "Unschedulable");
    assert_eq!(events(&lab, &pod), ["Warning FailedScheduling"]);
}

/// The fields that decide a soak: restarts, start of the container, readiness.
#[test]
fn killed_containers_are_restarted() {
    let mut lab = Lab::new();
    lab.stateful_set(1, &json!({}));
    lab.settle();
    let pod = Key::new(&PODS, "default", "db-0");
    let before = lab.get(&pod);
    let patch = lab.cluster.store(|store| simcluster::controller::restart_patch(&before, store.now()));
    let revision = lab.revision();
    lab.patch(&pod, &patch);
    lab.settle();
    let states = lab.states(&pod, revision, |pod| {
        let container = &pod["status"]["containerStatuses"][0];
        format!("{} {}", container["restartCount"], container["ready"])
    });
    assert_eq!(states, ["0 true", "1 false", "1 true"]);
    let started = |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["running"].clone();
    assert_ne!(started(&lab.get(&pod)), started(&before));
}
