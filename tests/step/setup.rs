//! The initial states of the tests, and the state of their objects.

use harness::prelude::*;

/// Returns a cluster with a StatefulSet `db` that was paused and then changed. All its pods are outdated.
pub(crate) async fn changed(replicas: i64, spec: &Value) -> (Cluster, Key) {
    let cluster = Cluster::simulated().start();
    let db = cluster.stateful_set(replicas, spec);
    cluster.advance(120).await;
    cluster.run("pause statefulset/db").await.ends(0);
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(5).await;
    (cluster, db)
}

/// Returns how many pods have an image.
pub(crate) fn replicas_on(cluster: &Cluster, key: &Key, image: &str) -> usize {
    cluster.sim.store(|store| {
        let pods = store.list(&PODS, Some(&key.namespace)).map(|(_, pod)| Value::clone(pod));
        pods.filter(|pod| pod["spec"]["containers"][0]["image"] == image).count()
    })
}

/// Runs a command line with environment variables.
pub(crate) async fn run_of(cluster: &Cluster, args: &[&str], environment: &[(&str, &str)]) -> Output {
    let run = cluster.command(args);
    environment.iter().fold(run, |run, (name, value)| run.env(*name, *value)).run_async().await
}
