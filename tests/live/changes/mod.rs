//! Writes: the requests, concurrent changes by other clients, and errors.

mod conflicts;
mod errors;
mod hold;
mod undo;

use harness::Output;
use serde_json::Value;
use simcluster::resource::{DAEMONSETS, DEPLOYMENTS, STATEFULSETS};
use simcluster::rules::{Author, Part};
use simcluster::store::Store;
use simcluster::{Key, SimCluster};

use crate::live::setup::TestServer;

pub(crate) fn web() -> Key {
    Key::new(&DEPLOYMENTS, "shop", "web")
}

pub(crate) fn db() -> Key {
    Key::new(&STATEFULSETS, "shop", "db")
}

pub(crate) fn agent() -> Key {
    Key::new(&DAEMONSETS, "shop", "agent")
}

pub(crate) fn object(cluster: &SimCluster, key: &Key) -> Value {
    cluster.store(|store| Value::clone(store.get(key).unwrap()))
}

/// Changes an object, and lets its controller observe the change.
fn edit(cluster: &SimCluster, key: &Key, change: impl Fn(&mut Value)) {
    cluster
        .store(|store| store.edit(key, Part::Object, &Author::new("test"), |value| change(value)).unwrap());
    observe(cluster, key);
}

/// Sets the observed generation of a workload, as its controller does. Otherwise `undo` waits for it for 10 seconds.
pub(crate) fn observe(cluster: &SimCluster, key: &Key) {
    cluster.store(|store| observe_in(store, key));
}

fn observe_in(store: &mut Store, key: &Key) {
    let observe =
        |value: &mut Value| value["status"]["observedGeneration"] = value["metadata"]["generation"].clone();
    store.edit(key, Part::Status, &Author::new("controller"), observe).map(drop).unwrap();
}

fn patches(server: &TestServer) -> Vec<simcluster::RecordedRequest> {
    let requests = server.cluster.requests();
    requests.into_iter().filter(|request| request.method == "PATCH").collect()
}

async fn run(server: &TestServer, args: &[&str]) -> Output {
    server.run(args).run_async().await
}

/// stderr without what every undo in the recorded shop prints: `kubectl apply` manages its workloads, a rollback
/// was the last change of `web` and `agent`, and the receipt.
pub(crate) fn messages(output: &Output) -> String {
    let is_usual = |line: &&str| {
        let usual = [
            "Warning: resource ",
            "warning: the next kubectl apply of the present manifest ",
            "to take this back: ",
        ];
        let rollback = [" was just rolled back (to ", " was replaced by an earlier one, "];
        usual.iter().any(|usual| line.starts_with(usual)) || rollback.iter().any(|said| line.contains(said))
    };
    output.stderr.split_inclusive('\n').filter(|line| !is_usual(line)).collect()
}
