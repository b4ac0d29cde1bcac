//! What all verbs that write have in common: preconditions, changes by other clients, killed processes, errors,
//! obstacles, and `--wait`.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod conflicts;
mod contexts;
mod errors;
mod interleavings;
mod killed_processes;
mod preflight;
mod signals;
mod wait;

use harness::prelude::*;
use simcluster::store::Store;

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
pub(crate) fn edit(cluster: &SimCluster, key: &Key, change: impl Fn(&mut Value)) {
    cluster
        .store(|store| store.edit(key, Part::Object, &Author::new("test"), |value| change(value)).unwrap());
    observe(cluster, key);
}

/// Returns a fault that lets another client change an object just before the request arrives.
pub(crate) fn external_change(key: Key, change: impl Fn(&mut Value) + Send + Sync + 'static) -> FaultAction {
    FaultAction::write_before(move |store| {
        store.edit(&key, Part::Object, &Author::new("colleague"), |value| change(value)).unwrap();
    })
}

/// Sets the observed generation of a workload, as its controller does. Otherwise `undo` waits for it for 10 seconds.
pub(crate) fn observe(cluster: &SimCluster, key: &Key) {
    cluster.store(|store| observe_in(store, key));
}

pub(crate) fn observe_in(store: &mut Store, key: &Key) {
    let observe =
        |value: &mut Value| value["status"]["observedGeneration"] = value["metadata"]["generation"].clone();
    store.edit(key, Part::Status, &Author::new("controller"), observe).map(drop).unwrap();
}

pub(crate) fn patches(server: &Cluster) -> Vec<simcluster::RecordedRequest> {
    let requests = server.sim.requests();
    requests.into_iter().filter(|request| request.method == "PATCH").collect()
}

pub(crate) async fn run(server: &Cluster, args: &[&str]) -> Output {
    server.command(args).run_async().await
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
