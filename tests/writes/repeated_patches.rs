//! Patches that are sent again after a 409, and patches that are rebuilt after another client added an unrelated field.

use harness::prelude::*;

use crate::writes::{db, object, web};

fn conflict() -> FaultAction {
    FaultAction::Refuse(Refusal::conflict(&DEPLOYMENTS, "web", "the object has been modified"))
}

fn patches(cluster: &SimCluster) -> Vec<Value> {
    let requests = cluster.requests().into_iter().filter(|request| request.method == "PATCH");
    requests.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
}

#[tokio::test]
async fn three_conflicts_in_a_row_are_an_error_and_leave_the_object_unchanged() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), conflict()).times(3));
    let before = object(&server.sim, &web());
    let output = server.command(["undo", "deployment/web"]).run_async().await;
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1), "{}", output.stderr);
    assert!(output.stderr.contains("error: deployment \"web\" "), "{}", output.stderr);
    assert!(output.stderr.contains("nothing was written"), "{}", output.stderr);
    assert_eq!(object(&server.sim, &web()), before);
    assert_eq!(patches(&server.sim).len(), 3);
}

#[tokio::test]
async fn two_conflicts_in_a_row_are_retried_and_succeed() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), conflict()).times(2));
    server.command(["undo", "deployment/web"]).run_async().await.ends(0);
    let image = &object(&server.sim, &web())["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "shop/web:1.1");
    assert_eq!(patches(&server.sim).len(), 3);
}

/// A pause of a StatefulSet creates the map of annotations, because the workload had none. Another client creates
/// that map first, so the server refuses the patch although no field of the change differs.
#[tokio::test]
async fn a_patch_is_rebuilt_after_an_unrelated_annotation_was_added() {
    let server = Cluster::recorded("shop").served();
    let author = Author::new("colleague");
    let without = |db: &mut Value| drop(db["metadata"].as_object_mut().unwrap().remove("annotations"));
    server.sim.store(|store| store.edit(&db(), Part::Object, &author, without).unwrap());
    let annotate = FaultAction::write_before(|store| {
        let annotate = |db: &mut Value| db["metadata"]["annotations"]["pager"] = "bob".into();
        store.edit(&db(), Part::Object, &Author::new("colleague"), annotate).unwrap();
    });
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), annotate).once());
    server.command(["pause", "statefulset/db"]).run_async().await.ends(0);
    let after = object(&server.sim, &db());
    assert_eq!(after["metadata"]["annotations"]["pager"], "bob");
    assert_eq!(after["metadata"]["annotations"].as_object().unwrap().len(), 2, "{}", after["metadata"]);
    let [first, second] = patches(&server.sim).try_into().unwrap();
    assert_ne!(first, second);
}
