//! The recorded traces of Deployments, state by state.

use serde_json::json;
use simcluster::{Controller, Key};

use crate::simulation::controllers::lab::{Lab, printed};

/// Changes the image of a Deployment at rest and returns its states until it is at rest again.
fn changed(lab: &mut Lab, web: &Key, image: &str) -> Vec<String> {
    let before = lab.revision();
    lab.image(web, image);
    lab.settle();
    lab.states(web, before, printed)
}

#[test]
fn roll_forward() {
    let mut lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.settle();
    assert_eq!(printed(&lab.get(&web)), "1 obs=1 rev=1 3/3/3/3/0 NewReplicaSetAvailable");
    assert_eq!(
        changed(&mut lab, &web, "app:2.0"),
        [
            "2 obs=1 rev=1 3/3/3/3/0 NewReplicaSetAvailable",
            "2 obs=1 rev=2 3/3/3/3/0 NewReplicaSetCreated",
            "2 obs=2 rev=2 3/-/3/3/0 NewReplicaSetCreated",
            "2 obs=2 rev=2 4/1/3/3/0 ReplicaSetUpdated",
            "2 obs=2 rev=2 4/1/4/4/0 ReplicaSetUpdated",
            "2 obs=2 rev=2 3/1/3/3/1 ReplicaSetUpdated",
            "2 obs=2 rev=2 4/2/3/3/1 ReplicaSetUpdated",
            "2 obs=2 rev=2 4/2/4/4/0 ReplicaSetUpdated",
            "2 obs=2 rev=2 3/2/3/3/1 ReplicaSetUpdated",
            "2 obs=2 rev=2 4/3/3/3/1 ReplicaSetUpdated",
            "2 obs=2 rev=2 4/3/4/4/0 ReplicaSetUpdated",
            "2 obs=2 rev=2 3/3/3/3/1 NewReplicaSetAvailable",
            "2 obs=2 rev=2 3/3/3/3/0 NewReplicaSetAvailable",
        ]
    );
}

/// A Deployment with a deadline of five seconds, stuck on an image that cannot be pulled.
fn stuck(lab: &mut Lab, replicas: i64) -> Key {
    let web = lab.deployment(replicas, &json!({ "progressDeadlineSeconds": 5 }));
    lab.settle();
    lab.image(&web, "app:2.0");
    lab.settle();
    lab.image(&web, "app:3.0-bad");
    lab.settle();
    web
}

#[test]
fn bad_image_and_undo() {
    let mut lab = Lab::new();
    let web = stuck(&mut lab, 3);
    assert_eq!(printed(&lab.get(&web)), "3 obs=3 rev=3 4/1/3/3/0 ProgressDeadlineExceeded");
    assert_eq!(
        changed(&mut lab, &web, "app:2.0"),
        [
            "4 obs=3 rev=3 4/1/3/3/0 ProgressDeadlineExceeded",
            "4 obs=3 rev=4 4/1/3/3/0 ProgressDeadlineExceeded",
            "4 obs=4 rev=4 4/3/3/3/0 ReplicaSetUpdated",
            "4 obs=4 rev=4 3/3/3/3/1 NewReplicaSetAvailable",
            "4 obs=4 rev=4 3/3/3/3/0 NewReplicaSetAvailable",
        ]
    );
}

/// With one replica, the status still has the exceeded deadline when the undo was observed.
#[test]
fn bad_image_and_undo_with_one_replica() {
    let mut lab = Lab::new();
    let web = stuck(&mut lab, 1);
    assert_eq!(
        changed(&mut lab, &web, "app:2.0"),
        [
            "4 obs=3 rev=3 2/1/1/1/0 ProgressDeadlineExceeded",
            "4 obs=3 rev=4 2/1/1/1/0 ProgressDeadlineExceeded",
            "4 obs=4 rev=4 2/1/1/1/0 ProgressDeadlineExceeded",
            "4 obs=4 rev=4 1/1/1/1/1 NewReplicaSetAvailable",
            "4 obs=4 rev=4 1/1/1/1/0 NewReplicaSetAvailable",
        ]
    );
}

/// After a resume, the condition `NewReplicaSetCreated` is never stored, because its write meets a conflict.
#[test]
fn pause_change_resume() {
    let mut lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.settle();
    let before = lab.revision();
    lab.patch(&web, &json!({ "spec": { "paused": true } }));
    lab.settle();
    lab.image(&web, "app:2.0");
    lab.settle();
    let paused = lab.states(&web, before, printed);
    assert_eq!(
        paused,
        [
            "2 obs=1 rev=1 3/3/3/3/0 NewReplicaSetAvailable",
            "2 obs=1 rev=1 3/3/3/3/0 DeploymentPaused",
            "2 obs=2 rev=1 3/3/3/3/0 DeploymentPaused",
            "3 obs=2 rev=1 3/3/3/3/0 DeploymentPaused",
            "3 obs=3 rev=1 3/-/3/3/0 DeploymentPaused",
        ],
        "{paused:#?}"
    );
    let before = lab.revision();
    lab.patch(&web, &json!({ "spec": { "paused": null } }));
    // The Deployment controller meets two conflicts; before its third try the new set has its first pod.
    for _ in 0..2 {
        lab.step(Controller::Deployment, &web);
    }
    let new = lab.newest_set();
    for _ in 0..2 {
        lab.step(Controller::ReplicaSet, &new);
    }
    lab.settle();
    let seen = lab.states(&web, before, printed);
    assert_eq!(
        seen[..5],
        [
            "4 obs=3 rev=1 3/-/3/3/0 DeploymentPaused",
            "4 obs=3 rev=1 3/-/3/3/0 DeploymentResumed",
            "4 obs=3 rev=2 3/-/3/3/0 DeploymentResumed",
            "4 obs=4 rev=2 4/1/3/3/0 ReplicaSetUpdated",
            "4 obs=4 rev=2 4/1/4/4/0 ReplicaSetUpdated",
        ],
        "{seen:#?}"
    );
    assert_eq!(seen.last().unwrap(), "4 obs=4 rev=2 3/3/3/3/0 NewReplicaSetAvailable");
}

/// `0 out of 2` while the old pods stop, then `0 of 2 available`, then done.
#[test]
fn recreate() {
    let mut lab = Lab::new();
    let web = lab.deployment(2, &json!({ "strategy": { "type": "Recreate" } }));
    lab.settle();
    assert_eq!(
        changed(&mut lab, &web, "app:2.0"),
        [
            "2 obs=1 rev=1 2/2/2/2/0 NewReplicaSetAvailable",
            "2 obs=2 rev=1 2/-/2/2/0 NewReplicaSetAvailable",
            "2 obs=2 rev=1 -/-/-/-/2 NewReplicaSetAvailable",
            "2 obs=2 rev=2 -/-/-/-/2 NewReplicaSetCreated",
            "2 obs=2 rev=2 -/-/-/-/0 NewReplicaSetCreated",
            "2 obs=2 rev=2 2/2/-/-/0 ReplicaSetUpdated",
            "2 obs=2 rev=2 2/2/2/2/0 NewReplicaSetAvailable",
        ]
    );
}
