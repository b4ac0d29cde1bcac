//! The initial states of the tests, and helpers to inspect the result.

use harness::lab::{Lab, START};
use harness::{Ended, Run};
use serde_json::Value;
use simcluster::Key;
use simcluster::resource::PODS;

/// A StatefulSet `db` that was paused and then changed: nothing has moved yet.
pub(crate) async fn changed(replicas: i64, spec: &Value) -> (Lab, Key) {
    let lab = Lab::new();
    let db = lab.stateful_set(replicas, spec);
    lab.pass(120).await;
    let paused = lab.run("pause statefulset/db").await;
    assert_eq!(paused.exit, 0, "{}", paused.transcript);
    lab.hands().image(&db, "app:2.0");
    lab.pass(5).await;
    (lab, db)
}

/// How many pods there are with an image.
pub(crate) fn replicas_on(lab: &Lab, key: &Key, image: &str) -> usize {
    lab.cluster.store(|store| {
        let pods = store.list(&PODS, Some(&key.namespace)).map(|(_, pod)| Value::clone(pod));
        pods.filter(|pod| pod["spec"]["containers"][0]["image"] == image).count()
    })
}

/// The object.
pub(crate) fn object(lab: &Lab, key: &Key) -> Value {
    lab.cluster.store(|store| Value::clone(store.get(key).unwrap()))
}

/// Runs a command line with its own environment.
pub(crate) async fn run_of(lab: &Lab, words: &[&str], environment: &[(&str, &str)]) -> Ended {
    let client = kube::Client::new(lab.cluster.service(), "default");
    let run = Run::of(words).at(START.parse().unwrap());
    environment.iter().fold(run, |run, (name, value)| run.env(*name, *value)).run_through(client).await
}
