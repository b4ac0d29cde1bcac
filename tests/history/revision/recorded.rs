//! The recorded clusters: their stored objects and the output of kubectl.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One recorded output of kubectl.
pub(crate) struct RecordedOutput {
    /// The path of the file.
    pub(crate) file: PathBuf,
    /// The namespace of the command.
    pub(crate) namespace: String,
    /// The type, the name and the arguments, from the name of the file.
    pub(crate) name: String,
    /// Standard output.
    pub(crate) stdout: String,
}

/// Returns all recorded outputs whose file name contains `part`.
pub(crate) fn runs(part: &str) -> Vec<RecordedOutput> {
    let mut runs = Vec::new();
    for namespace in ["shop", "broken", "quota", "many"] {
        for entry in fs::read_dir(data().join(namespace).join("kubectl")).expect("recorded runs") {
            let file = entry.expect("a recorded run").path();
            let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if name.contains(part) {
                let stdout = stdout(&fs::read_to_string(&file).expect("a readable run"));
                runs.push(RecordedOutput { file, namespace: namespace.to_owned(), name, stdout });
            }
        }
    }
    runs
}

/// Returns the recorded output with this name.
pub(crate) fn run(namespace: &str, name: &str) -> RecordedOutput {
    let mut runs = runs(name).into_iter();
    runs.find(|run| run.namespace == namespace && run.name == name).expect("a recorded run")
}

/// Returns the kind of a type name.
pub(crate) fn kind(word: &str) -> &'static str {
    match word {
        "daemonset" => "DaemonSet",
        "statefulset" => "StatefulSet",
        _ => "Deployment",
    }
}

/// Returns the stored objects of a kind in a namespace.
pub(crate) fn objects(namespace: &str, kind: &str) -> Vec<Value> {
    let mut list = harness::snapshot(namespace);
    let items = list["items"].as_array_mut().expect("items").drain(..);
    items.filter(|object| object["kind"] == kind).collect()
}

/// Returns the stored object of a kind and name.
pub(crate) fn object(namespace: &str, kind: &str, name: &str) -> Value {
    let mut objects = objects(namespace, kind).into_iter();
    objects.find(|object| object["metadata"]["name"] == name).expect("a recorded object")
}

/// Returns the objects of a kind that a workload owns.
pub(crate) fn owned(owner: &Value, kind: &str) -> Vec<Value> {
    let namespace = owner["metadata"]["namespace"].as_str().expect("a namespace");
    let mut found = objects(namespace, kind);
    found.retain(|object| object["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]);
    found
}

/// Returns the ReplicaSet of a revision of a Deployment.
pub(crate) fn replica_set(deployment: &Value, number: &str) -> Value {
    let mut sets = owned(deployment, "ReplicaSet").into_iter();
    let annotation = "deployment.kubernetes.io/revision";
    sets.find(|set| set["metadata"]["annotations"][annotation] == number).expect("the revision")
}

/// Returns the template in the ControllerRevision of a revision.
pub(crate) fn stored_template(owner: &Value, number: &str) -> Value {
    let number: i64 = number.parse().expect("a number");
    let mut revisions = owned(owner, "ControllerRevision").into_iter();
    let mut revision = revisions.find(|revision| revision["revision"] == number).expect("the revision");
    revision["data"]["spec"]["template"].take()
}

/// Returns the object without managed fields, as kubectl prints it.
pub(crate) fn without_managed_fields(mut object: Value) -> Value {
    object["metadata"].as_object_mut().expect("metadata").remove("managedFields");
    object
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Returns the text between the command in the first line and stderr or the exit code.
fn stdout(recorded: &str) -> String {
    let (_, output) = recorded.split_once('\n').expect("a command");
    let end = ["--- stderr\n", "--- exit "].iter().filter_map(|mark| output.find(mark)).min();
    output[..end.expect("an exit code")].to_owned()
}
