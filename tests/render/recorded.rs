//! The recorded clusters: what they stored and what kubectl printed for it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One recorded run of kubectl.
pub(crate) struct Run {
    /// The file, for messages.
    pub(crate) file: PathBuf,
    /// The namespace it looked at.
    pub(crate) namespace: String,
    /// `TYPE-NAME` and what was asked, from the file's name.
    pub(crate) name: String,
    /// What came out.
    pub(crate) stdout: String,
}

/// All runs whose file name contains `part`, with their namespaces.
pub(crate) fn runs(part: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    for namespace in ["shop", "broken", "quota", "many"] {
        for entry in fs::read_dir(data().join(namespace).join("kubectl")).expect("recorded runs") {
            let file = entry.expect("a recorded run").path();
            let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if name.contains(part) {
                let stdout = stdout(&fs::read_to_string(&file).expect("a readable run"));
                runs.push(Run { file, namespace: namespace.to_owned(), name, stdout });
            }
        }
    }
    runs
}

/// The run with this name.
pub(crate) fn run(namespace: &str, name: &str) -> Run {
    let mut runs = runs(name).into_iter();
    runs.find(|run| run.namespace == namespace && run.name == name).expect("a recorded run")
}

/// The kind in the name of a run.
pub(crate) fn kind(word: &str) -> &'static str {
    match word {
        "daemonset" => "DaemonSet",
        "statefulset" => "StatefulSet",
        _ => "Deployment",
    }
}

/// The stored objects of a kind in a namespace.
pub(crate) fn objects(namespace: &str, kind: &str) -> Vec<Value> {
    let file = fs::read_to_string(data().join(namespace).join("snapshot.json")).expect("a snapshot");
    let mut list: Value = serde_json::from_str(&file).expect("JSON");
    let items = list["items"].as_array_mut().expect("items").drain(..);
    items.filter(|object| object["kind"] == kind).collect()
}

/// The stored object of a kind and name.
pub(crate) fn object(namespace: &str, kind: &str, name: &str) -> Value {
    let mut objects = objects(namespace, kind).into_iter();
    objects.find(|object| object["metadata"]["name"] == name).expect("a recorded object")
}

/// What a workload owns, of a kind.
pub(crate) fn owned(owner: &Value, kind: &str) -> Vec<Value> {
    let namespace = owner["metadata"]["namespace"].as_str().expect("a namespace");
    let mut found = objects(namespace, kind);
    found.retain(|object| object["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]);
    found
}

/// The ReplicaSet of a Deployment's revision.
pub(crate) fn replica_set(deployment: &Value, number: &str) -> Value {
    let mut sets = owned(deployment, "ReplicaSet").into_iter();
    let annotation = "deployment.kubernetes.io/revision";
    sets.find(|set| set["metadata"]["annotations"][annotation] == number).expect("the revision")
}

/// The template in the ControllerRevision of a StatefulSet's or DaemonSet's revision.
pub(crate) fn stored_template(owner: &Value, number: &str) -> Value {
    let number: i64 = number.parse().expect("a number");
    let mut revisions = owned(owner, "ControllerRevision").into_iter();
    let mut revision = revisions.find(|revision| revision["revision"] == number).expect("the revision");
    revision["data"]["spec"]["template"].take()
}

/// The object as kubectl prints it.
pub(crate) fn without_managed_fields(mut object: Value) -> Value {
    object["metadata"].as_object_mut().expect("metadata").remove("managedFields");
    object
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// What is between the first line, the command, and stderr or the exit code.
fn stdout(recorded: &str) -> String {
    let (_, output) = recorded.split_once('\n').expect("a command");
    let end = ["--- stderr\n", "--- exit "].iter().filter_map(|mark| output.find(mark)).min();
    output[..end.expect("an exit code")].to_owned()
}
