//! A Deployment that is held between two pods, as measured on a real control plane: with a `minReadySeconds` that no
//! pod reaches, the new set stays at `maxUnavailable + maxSurge` pods.

use serde_json::{Value, json};
use simcluster::resource::{PODS, REPLICASETS};
use simcluster::{Controller, Key, object};

use crate::simulation::controllers::lab::Lab;

/// A time that no pod reaches. The deadline must be larger, and this one means none.
const NEVER_AVAILABLE: i64 = 2_147_483_646;
const NO_DEADLINE: i64 = 2_147_483_647;

/// The strategy that stops at `surge + unavailable` new pods.
fn held_at(surge: i64, unavailable: i64) -> Value {
    json!({
        "minReadySeconds": NEVER_AVAILABLE, "progressDeadlineSeconds": NO_DEADLINE,
        "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": surge, "maxUnavailable": unavailable } },
    })
}

/// A Deployment of ten pods with its own `minReadySeconds`, held with `surge` and `unavailable` in the patch that
/// brings the new image.
fn held(lab: &mut Lab, surge: i64, unavailable: i64, image: &str) -> Key {
    let web = lab.deployment(10, &json!({ "minReadySeconds": 2 }));
    lab.settle();
    lab.patch(&web, &json!({ "spec": held_at(surge, unavailable) }));
    lab.image(&web, image);
    lab.settle();
    web
}

/// Each image with its pods and its ready pods, and the status of the condition `Available`:
/// `1.0 6/6, 2.0 5/5 True`.
fn summary(lab: &Lab, web: &Key) -> String {
    let sets: Vec<String> = lab.cluster.store(|store| {
        let mut sets: Vec<_> = store.list(&REPLICASETS, Some("default")).collect();
        sets.sort_by_key(|(_, set)| image(&set["spec"]["template"]));
        let count = |set: &Value, member: &str| set["status"][member].as_i64().unwrap_or(0);
        let sets = sets.into_iter().filter(|(_, set)| set["spec"]["replicas"] != 0).map(|(_, set)| {
            assert_eq!(set["spec"]["replicas"], set["status"]["replicas"], "at rest");
            let image = image(&set["spec"]["template"]);
            format!("{image} {}/{}", count(set, "readyReplicas"), count(set, "replicas"))
        });
        sets.collect()
    });
    let web = lab.get(web);
    let available = object::condition(&web, "Available");
    format!("{} {}", sets.join(", "), available.map_or("", |one| object::text(one, &["status"])))
}

fn image(template: &Value) -> String {
    let image = object::text(&template["spec"]["containers"][0], &["image"]);
    image.trim_start_matches("app:").to_owned()
}

/// Returns the minimum number of ready pods after a revision of the store.
fn fewest_ready(lab: &Lab, after: u64) -> usize {
    let mut ready = std::collections::BTreeMap::new();
    let is_ready = |pod: &Value| !object::is_terminating(pod) && object::has_condition(pod, "Ready");
    let mut fewest = usize::MAX;
    lab.cluster.store(|store| {
        for change in store.changes_after(0).unwrap().filter(|change| change.key.resource == &PODS) {
            ready.insert(change.key.name.clone(), change.after.as_deref().is_some_and(is_ready));
            if change.revision > after {
                fewest = fewest.min(ready.values().filter(|ready| **ready).count());
            }
        }
    });
    fewest
}

#[test]
fn surge_and_unavailable_set_the_number_of_new_pods() {
    for (surge, unavailable, expected) in [
        (0, 1, "1.0 9/9, 2.0 1/1 True"),
        (0, 3, "1.0 7/7, 2.0 3/3 True"),
        (1, 4, "1.0 6/6, 2.0 5/5 True"),
        (1, 0, "1.0 10/10, 2.0 1/1 True"),
        (10, 0, "1.0 10/10, 2.0 10/10 True"),
        (0, 10, "2.0 10/10 True"),
    ] {
        let mut lab = Lab::new();
        let web = held(&mut lab, surge, unavailable, "app:2.0");
        assert_eq!(summary(&lab, &web), expected, "surge {surge}, unavailable {unavailable}");
    }
}

#[test]
fn only_the_set_of_the_live_template_gets_the_min_ready_seconds() {
    let mut lab = Lab::new();
    held(&mut lab, 1, 4, "app:2.0");
    let mut seconds = lab.cluster.store(|store| {
        let sets = store.list(&REPLICASETS, Some("default"));
        sets.map(|(_, set)| set["spec"]["minReadySeconds"].as_i64()).collect::<Vec<_>>()
    });
    seconds.sort_unstable();
    assert_eq!(seconds, [Some(2), Some(NEVER_AVAILABLE)]);
}

/// Without a deadline, the controller writes no condition `Progressing`, so the rollout never exceeds it.
#[test]
fn the_deadline_of_a_held_rollout_never_passes() {
    let mut lab = Lab::new();
    let web = held(&mut lab, 1, 4, "app:2.0-crash");
    lab.run_for(7200);
    let conditions = lab.get(&web)["status"]["conditions"].clone();
    let types: Vec<_> = conditions.as_array().into_iter().flatten().map(|one| one["type"].clone()).collect();
    assert_eq!(types, ["Available"]);
}

#[test]
fn scaling_keeps_the_proportion() {
    let mut lab = Lab::new();
    let web = held(&mut lab, 1, 4, "app:2.0");
    lab.patch(&web, &json!({ "spec": { "replicas": 20 } }));
    lab.settle();
    assert_eq!(summary(&lab, &web), "1.0 11/11, 2.0 10/10 False");
    lab.patch(&web, &json!({ "spec": { "replicas": 10 } }));
    lab.settle();
    assert_eq!(summary(&lab, &web), "1.0 6/6, 2.0 5/5 True");
}

/// A number of pods does not change when the Deployment is scaled, so scaling down releases more. A percentage follows.
#[test]
fn a_share_of_unavailable_pods_survives_scaling_down() {
    for (unavailable, expected) in
        [(json!(9), "1.0 1/1, 2.0 10/10 True"), (json!("45%"), "1.0 6/6, 2.0 5/5 True")]
    {
        let mut lab = Lab::new();
        let web = lab.deployment(20, &json!({}));
        lab.settle();
        let mut spec = held_at(1, 0);
        spec["strategy"]["rollingUpdate"]["maxUnavailable"] = unavailable.clone();
        lab.patch(&web, &json!({ "spec": spec }));
        lab.image(&web, "app:2.0");
        lab.settle();
        assert_eq!(summary(&lab, &web), "1.0 11/11, 2.0 10/10 True", "{unavailable}");
        lab.patch(&web, &json!({ "spec": { "replicas": 10 } }));
        lab.settle();
        assert_eq!(summary(&lab, &web), expected, "{unavailable}");
    }
}

#[test]
fn of_another_image_as_many_come_and_those_of_the_one_between_go_first() {
    let mut lab = Lab::new();
    let web = held(&mut lab, 1, 4, "app:2.0");
    let before = lab.revision();
    lab.image(&web, "app:3.0");
    lab.settle();
    assert_eq!(summary(&lab, &web), "1.0 6/6, 3.0 5/5 True");
    assert_eq!(fewest_ready(&lab, before), 6);
}

#[test]
fn an_image_that_crashes_takes_no_old_pod_with_it() {
    let mut lab = Lab::new();
    let web = held(&mut lab, 1, 4, "app:2.0");
    lab.image(&web, "app:3.0-crash");
    lab.settle();
    assert_eq!(summary(&lab, &web), "1.0 6/6, 3.0-crash 0/5 True");
}

#[test]
fn template_and_strategy_in_one_patch_go_back() {
    let mut lab = Lab::new();
    let web = held(&mut lab, 1, 4, "app:2.0");
    let before = lab.revision();
    let own =
        json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": "25%", "maxUnavailable": "25%" } });
    let containers = json!([{ "name": "app", "image": "app:1.0" }]);
    lab.patch(
        &web,
        &json!({ "spec": {
            "minReadySeconds": 2, "progressDeadlineSeconds": 600, "strategy": own,
            "template": { "spec": { "containers": containers } },
        } }),
    );
    lab.settle();
    assert_eq!(summary(&lab, &web), "1.0 10/10 True");
    assert!(fewest_ready(&lab, before) >= 6, "{}", fewest_ready(&lab, before));
}

/// The serving set gets the `minReadySeconds`, so its pods count as unavailable, although all serve. The Deployment
/// controller first meets a conflict. Usually the ReplicaSet controller counts the set before the next sync.
/// Otherwise the Deployment controller still sees the set as available, and deletes pods.
#[test]
fn an_undo_by_another_client_makes_ready_pods_unavailable() {
    for (counts_first, expected) in [(true, "1.0 7/7, 2.0 3/3 False"), (false, "1.0 10/10 False")] {
        let mut lab = Lab::new();
        let web = held(&mut lab, 0, 3, "app:2.0");
        assert_eq!(summary(&lab, &web), "1.0 7/7, 2.0 3/3 True");
        let sets: Vec<Key> =
            lab.cluster.store(|store| store.list(&REPLICASETS, None).map(|(key, _)| key.clone()).collect());
        lab.image(&web, "app:1.0");
        if counts_first {
            lab.step(Controller::Deployment, &web);
            for set in &sets {
                lab.step(Controller::ReplicaSet, set);
            }
        }
        lab.settle();
        assert_eq!(summary(&lab, &web), expected);
    }
}
