//! Controllers come to the same result in every order of their tasks.

use std::time::Duration;

use serde_json::{Value, json};
use simcluster::resource::PODS;
use simcluster::{Controllers, Key, KubeletTiming, Order};

use crate::simulation::controllers::lab::{Lab, printed};

/// Updates all three kinds twice, with changes during a rollout, and returns the final state.
fn end_of_run(seed: u64) -> Vec<String> {
    let pace = KubeletTiming { spread: Duration::from_secs(2), ..KubeletTiming::default() };
    let mut lab = Lab::with(Controllers::in_order(Order::Seeded(seed)).kubelet_timing(pace));
    let web = lab.deployment(4, &json!({ "progressDeadlineSeconds": 60 }));
    let db = lab.stateful_set(2, &json!({}));
    let agent = lab.daemon_set(&json!({}));
    let some_time = |step: u64| Duration::from_millis((seed * 37 + step * 411) % 3000);
    for (step, image) in (0..).zip(["app:2.0", "app:3.0-bad", "app:2.0"]) {
        lab.controllers.run_for(&lab.cluster, some_time(step));
        for key in [&web, &db, &agent] {
            lab.image(key, image);
        }
        if step == 1 {
            lab.patch(&web, &json!({ "spec": { "replicas": 3 } }));
        }
    }
    lab.run_for(300);
    // A broken pod blocks its set until it is deleted, and there can be several in sequence.
    while let Some((name, _)) = lab.images().into_iter().find(|(_, image)| image.ends_with("bad")) {
        lab.delete(&Key::new(&PODS, "default", &name));
        lab.run_for(300);
    }
    let counts = |value: &Value, members: &[&str]| {
        members.iter().map(|member| value["status"][*member].to_string()).collect::<Vec<_>>().join("/")
    };
    let state = printed(&lab.get(&web));
    let images: Vec<String> = lab.images().into_iter().map(|(_, image)| image).collect();
    vec![
        state.split_once(" 3/").map(|(_, rest)| format!("3/{rest}")).unwrap_or(state),
        counts(&lab.get(&db), &["replicas", "readyReplicas", "updatedReplicas", "currentReplicas"]),
        counts(&lab.get(&agent), &["desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable"]),
        format!("{} pods, all on app:2.0: {}", images.len(), images.iter().all(|image| image == "app:2.0")),
    ]
}

#[test]
fn every_order_has_the_same_result() {
    let wanted = ["3/3/3/3/0 NewReplicaSetAvailable", "2/2/2/2", "3/3/3", "8 pods, all on app:2.0: true"];
    for seed in 0..15 {
        assert_eq!(end_of_run(seed), wanted, "seed {seed}");
    }
}
