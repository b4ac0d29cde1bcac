//! Garbage collection of dependents, and its order.

use serde_json::json;
use simcluster::resource::{DEPLOYMENTS, PODS, REPLICASETS};
use simcluster::{Key, object};

use crate::simulation::controllers::lab::Lab;

fn there(lab: &Lab) -> (usize, usize, usize) {
    lab.cluster.store(|store| {
        let count = |resource| store.list(resource, Some("default")).count();
        (count(&DEPLOYMENTS), count(&REPLICASETS), count(&PODS))
    })
}

fn rolled(lab: &mut Lab) -> Key {
    let web = lab.deployment(2, &json!({}));
    lab.settle();
    lab.image(&web, "app:2.0");
    lab.settle();
    assert_eq!(there(lab), (1, 2, 2));
    web
}

#[test]
fn in_the_foreground_the_owner_goes_last() {
    let mut lab = Lab::new();
    let web = rolled(&mut lab);
    let before = lab.revision();
    lab.delete(&web, &json!({ "propagationPolicy": "Foreground" }));
    assert!(object::is_terminating(&lab.get(&web)));
    lab.settle();
    assert_eq!(there(&lab), (0, 0, 0));
    let gone: Vec<&str> = lab.cluster.store(|store| {
        let changes = store.changes_after(before).unwrap();
        changes.filter(|change| change.after.is_none()).map(|change| change.key.resource.kind).collect()
    });
    assert_eq!(gone, ["ReplicaSet", "Pod", "Pod", "ReplicaSet", "Deployment"]);
}

#[test]
fn orphans_stay_and_can_be_adopted() {
    let mut lab = Lab::new();
    let web = rolled(&mut lab);
    lab.delete(&web, &json!({ "propagationPolicy": "Orphan" }));
    lab.settle();
    assert_eq!(there(&lab), (0, 2, 2));
    let web = lab.deployment(2, &json!({}));
    lab.image(&web, "app:2.0");
    lab.settle();
    assert_eq!(there(&lab), (1, 2, 2), "the sets are its own again");
    let deployment = lab.get(&web);
    assert_eq!(
        object::text(&deployment, &["metadata", "annotations", "deployment.kubernetes.io/revision"]),
        "2"
    );
}
