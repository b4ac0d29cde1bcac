//! The simulated kubelet and recorded kubelets (`tests/data/node`) report the same states in the same scenario.
//!
//! Compared are phase, deletion, and of each container the state with its reason, the restarts and the readiness. A
//! state may last half as long again as the recorded one, or half as long, and `tolerance` more or less.

use std::collections::BTreeMap;

use harness::cluster::with;
use serde_json::{Value, json};
use simcluster::patch::Format;
use simcluster::resource::PODS;
use simcluster::{Controllers, KubeletTiming, object};

use crate::simulation::controllers::lab::Lab;

/// A change of a Deployment of two pods, and the pods to compare.
struct Scenario {
    recording: &'static str,
    /// The image of the compared pods: recorded, and simulated.
    images: [&'static str; 2],
    /// The pod template before the change, and after it.
    templates: [Value; 2],
    strategy: &'static str,
    /// The pods of the recording that are compared, by a part of their names.
    pods: &'static str,
    /// How many states every pod has at least.
    states: usize,
    /// In seconds.
    tolerance: f64,
}

impl Scenario {
    /// The scenario in which new pods with this recorded and this simulated image come.
    fn new(recording: &'static str, images: [&'static str; 2], states: usize) -> Self {
        let templates = [probed("app:1"), template(images[1], &json!({}))];
        let (strategy, pods) = ("RollingUpdate", "");
        Self { recording, images, templates, strategy, pods, states, tolerance: 1.5 }
    }

    /// The same scenario, with another template after the change.
    fn to(self, template: Value) -> Self {
        Self { templates: [self.templates[0].clone(), template], ..self }
    }

    /// The same scenario, with another template before the change.
    fn from(self, template: Value, strategy: &'static str) -> Self {
        Self { templates: [template, probed("app:2")], strategy, ..self }
    }

    fn simulated(&self) -> Vec<Vec<(f64, String)>> {
        let mut lab = Lab::with(Controllers::new().kubelet_timing(KubeletTiming::recorded()));
        let spec = json!({ "template": self.templates[0], "strategy": { "type": self.strategy } });
        let web = lab.deployment(2, &spec);
        lab.run_for(30);
        let revision = lab.revision();
        lab.patch(&web, &json!({ "spec": { "template": self.templates[1] } }));
        lab.run_for(110);
        let mut pods = BTreeMap::new();
        lab.cluster.store(|store| {
            let start = store.changes_after(0).unwrap().next().unwrap().at;
            for change in store.changes_after(revision).unwrap().filter(|change| change.key.resource == &PODS)
            {
                if let Some(pod) = &change.after {
                    record(&mut pods, change.at.duration_since(start).as_secs_f64(), pod, self.images[1]);
                }
            }
        });
        pods.into_values().map(since_deletion).collect()
    }

    fn recorded(&self) -> Vec<Vec<(f64, String)>> {
        let path = harness::data().join(format!("node/{}.jsonl", self.recording));
        let text = std::fs::read_to_string(path).unwrap();
        let (mut first, mut present, mut pods) = (Vec::<Value>::new(), BTreeMap::new(), BTreeMap::new());
        let mut is_changed = false;
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            is_changed |= line.get("mark").is_some()
                || (line["patch"] == "Deployment" && line["by"].get("spec").is_some());
            let kind = line.get("new").or(line.get("patch"));
            if kind.is_none_or(|kind| kind != "Pod") {
                continue;
            }
            let before = match object::text(&line, &["like"]) {
                "" => present.get(object::text(&line, &["name"])),
                name => first.iter().find(|pod| object::name(pod) == name),
            };
            let pod = before
                .map_or_else(|| line["by"].clone(), |pod| Format::Merge.apply(pod, &line["by"]).unwrap());
            if line.get("new").is_some() {
                first.push(pod.clone());
            }
            if is_changed && object::name(&pod).contains(self.pods) {
                record(&mut pods, line["t"].as_f64().unwrap(), &pod, self.images[0]);
            }
            present.insert(object::name(&pod).to_owned(), pod);
        }
        pods.into_values().map(since_deletion).collect()
    }
}

/// The states from the deletion of a pod on, or all if it is not deleted.
fn since_deletion(mut states: Vec<(f64, String)>) -> Vec<(f64, String)> {
    let deleted = states.iter().position(|(_, state)| state.contains(" deleted "));
    states.split_off(deleted.unwrap_or(0))
}

/// Adds the state of a pod to the states of that pod, if the pod runs an image and the state differs.
fn record(pods: &mut BTreeMap<String, Vec<(f64, String)>>, at: f64, pod: &Value, image: &str) {
    let containers = object::list(pod, &["spec", "containers"]).iter();
    let inits = object::list(pod, &["spec", "initContainers"]).iter();
    if !containers.chain(inits).any(|container| container["image"] == image) {
        return;
    }
    let states = pods.entry(object::uid(pod).to_owned()).or_default();
    let state = state(pod);
    if states.last().is_none_or(|(_, last)| *last != state) {
        states.push((at, state));
    }
}

/// `Running app running 1 ready; log terminated:Error 2`.
fn state(pod: &Value) -> String {
    let status = &pod["status"];
    let statuses = ["initContainerStatuses", "containerStatuses"].map(|list| object::list(status, &[list]));
    let containers: Vec<String> = statuses
        .concat()
        .iter()
        .map(|one| {
            let (state, facts) = one["state"].as_object().unwrap().iter().next().unwrap();
            let ready = if one["ready"] == true { " ready" } else { "" };
            let reason = object::text(facts, &["reason"]);
            format!("{} {state}:{reason} {}{ready}", object::text(one, &["name"]), one["restartCount"])
        })
        .collect();
    let deleted = if object::is_terminating(pod) { " deleted" } else { "" };
    format!("{}{deleted} {}", object::text(status, &["phase"]), containers.join("; "))
}

fn template(image: &str, more: &Value) -> Value {
    let container = with(json!({ "name": "app", "image": image }), more);
    json!({
        "metadata": { "labels": { "app": "web" } },
        "spec": { "containers": [container], "terminationGracePeriodSeconds": 5 },
    })
}

/// A template whose container has the readiness probe of the recordings.
fn probed(image: &str) -> Value {
    template(image, &json!({ "readinessProbe": probe() }))
}

fn probe() -> Value {
    json!({ "httpGet": { "path": "/healthz", "port": 8080 }, "periodSeconds": 2 })
}

/// Asserts that every simulated pod has the states of every recorded one.
fn assert_same(scenario: &Scenario) {
    let (recorded, simulated) = (scenario.recorded(), scenario.simulated());
    assert!(!recorded.is_empty() && !simulated.is_empty(), "{}", scenario.recording);
    for recorded in &recorded {
        for simulated in &simulated {
            let both = format!("{}\nrecorded {recorded:#?}\nsimulated {simulated:#?}", scenario.recording);
            let states = recorded.len().min(simulated.len());
            assert!(states >= scenario.states, "{states} states of {both}");
            for (index, (one, other)) in recorded.iter().zip(simulated).enumerate() {
                assert_eq!(one.1, other.1, "{both}");
                let lasts = |of: &[(f64, String)]| of.get(index + 1).map(|next| next.0 - of[index].0);
                let (Some(expected), Some(found)) = (lasts(recorded), lasts(simulated)) else { continue };
                let difference = (expected - found).abs();
                assert!(difference <= scenario.tolerance + expected / 2.0, "{} of {both}", one.1);
            }
        }
    }
}

#[test]
fn a_pod_starts_as_recorded() {
    let scenario = Scenario::new("good", ["app:2", "app:2"], 4);
    assert_same(&scenario.to(probed("app:2")));
}

#[test]
fn a_pod_that_is_never_ready_has_the_recorded_states() {
    assert_same(&Scenario::new("notready", ["app:3-notready", "app:3-notready"], 3));
}

#[test]
fn a_crash_loop_has_the_recorded_states_and_back_off() {
    assert_same(&Scenario::new("crash", ["app:3-crash", "app:3-crash"], 12));
}

/// A kubelet reported the first end of the other pod with `Error`, and each later one with `OOMKilled`.
#[test]
fn a_lack_of_memory_has_the_recorded_states_and_back_off() {
    assert_same(&Scenario { pods: "h4lg4", ..Scenario::new("oom", ["app:3-oom", "app:3-oom"], 12) });
}

/// The probe of the other container makes the recorded kubelet report the first back-off earlier.
#[test]
fn one_of_two_containers_crashes_as_recorded() {
    let mut both = probed("app:2");
    let crashing = json!({ "name": "log", "image": "app:3-crash" });
    both["spec"]["containers"].as_array_mut().unwrap().push(crashing);
    let scenario = Scenario::new("two", ["app:3-crash", "app:3-crash"], 12).to(both);
    assert_same(&Scenario { tolerance: 10.0, ..scenario });
}

#[test]
fn a_missing_image_has_the_recorded_reasons() {
    assert_same(&Scenario::new("i404", ["10.99.0.1:5000/app:9", "app:9-bad"], 7));
}

#[test]
fn a_missing_config_map_has_the_recorded_reason() {
    assert_same(&Scenario::new("nocm", ["app:2", "app:2-config"], 3));
}

#[test]
fn the_pull_of_an_image_takes_time_as_recorded() {
    assert_same(&Scenario::new("pulling", ["10.99.0.1:5000/slow/app:1", "app:1-slowpull"], 2));
}

#[test]
fn an_init_container_that_never_ends_has_the_recorded_states() {
    let mut waits = template("app:2", &json!({}));
    waits["spec"]["initContainers"] = json!([{ "name": "wait", "image": "app:2-notready" }]);
    let scenario = Scenario::new("inithang", ["app:2", "app:2"], 3).to(waits);
    assert_same(&Scenario { tolerance: 3.0, ..scenario });
}

#[test]
fn a_pod_terminates_as_recorded() {
    assert_same(&Scenario::new("good", ["app:1", "app:1"], 2).to(probed("app:2")));
}

#[test]
fn a_pod_that_takes_long_to_stop_terminates_as_recorded() {
    let mut slow = probed("app:1-slowstop");
    slow["spec"]["terminationGracePeriodSeconds"] = 40.into();
    assert_same(&Scenario::new("slow", ["app:1-slow", "app:1-slowstop"], 2).from(slow, "RollingUpdate"));
}

#[test]
fn a_process_that_ignores_sigterm_is_killed_as_recorded() {
    let mut stubborn = probed("app:1-nosigterm");
    stubborn["spec"]["terminationGracePeriodSeconds"] = 15.into();
    assert_same(
        &Scenario::new("stubborn", ["app:1-stubborn", "app:1-nosigterm"], 2).from(stubborn, "Recreate"),
    );
}

#[test]
fn a_pre_stop_hook_delays_the_end_as_recorded() {
    let hook = json!({ "exec": { "command": ["sleep", "18"] } });
    let mut hooked =
        template("app:1", &json!({ "readinessProbe": probe(), "lifecycle": { "preStop": hook } }));
    hooked["spec"]["terminationGracePeriodSeconds"] = 30.into();
    assert_same(&Scenario::new("prestop", ["app:1", "app:1"], 2).from(hooked, "Recreate"));
}

/// The comparison notices a container that runs for too long.
#[test]
#[should_panic(expected = "recorded")]
fn another_time_of_a_state_is_noticed() {
    assert_same(&Scenario::new("crash", ["app:3-crash", "app:3-crashlate"], 5));
}
