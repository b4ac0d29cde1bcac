//! The recorded shop as a cluster in this process, and programs in kubectl's place.

use std::fs;
use std::path::{Path, PathBuf};

use harness::prelude::*;

use harness::files::directory;

/// Returns the recorded objects of the shop.
pub(crate) fn shop() -> Value {
    harness::snapshot("shop")
}

/// Returns a recorded workload as the API server would print it after a change.
pub(crate) fn changed(kind: &str, name: &str, change: impl FnOnce(&mut Value)) -> Value {
    let shop = shop();
    let items = shop["items"].as_array().unwrap();
    let mut object =
        items.iter().find(|item| item["kind"] == kind && item["metadata"]["name"] == name).unwrap().clone();
    object["metadata"].as_object_mut().unwrap().remove("managedFields");
    change(&mut object);
    object
}

/// Returns a cluster with the shop.
pub(crate) fn cluster() -> SimCluster {
    SimCluster::builder().snapshot(&shop()).unwrap().build()
}

/// As [`cluster`], with one more user.
pub(crate) fn cluster_with(user: User) -> SimCluster {
    SimCluster::builder().snapshot(&shop()).unwrap().user(user).build()
}

/// A directory of one test.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(directory())
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.file(name), text).unwrap();
        self.file(name)
    }

    /// Writes a program that runs `script` in this directory, after it wrote its arguments to `args`.
    pub(crate) fn program(&self, script: &str) -> PathBuf {
        let text = format!(
            "cd '{}'\nfor word; do printf '%s\\n' \"$word\"; done >> args\necho >> args\n{script}",
            self.0.display()
        );
        let path = self.file("kubectl");
        harness::write_script(&path, &text);
        path
    }

    /// Writes a program that prints these objects, in the form of kubectl.
    pub(crate) fn printing(&self, objects: &[Value]) -> PathBuf {
        self.write("objects.json", &list(objects));
        self.program("cat objects.json")
    }

    /// Returns the arguments of each run of the program.
    pub(crate) fn args(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.file("args")).unwrap_or_default();
        text.trim_end().split("\n\n").map(|run| run.lines().map(str::to_owned).collect()).collect()
    }
}

/// Returns objects as kubectl prints them: one, or a List of several.
pub(crate) fn list(objects: &[Value]) -> String {
    match objects {
        [object] => object.to_string(),
        objects => serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string(),
    }
}

/// A path of a manifest. The programs in kubectl's place do not read it.
pub(crate) const MANIFEST: &str = "Cargo.toml";

/// A command line with a program in kubectl's place.
pub(crate) fn preview_with(program: &Path, args: &[&str]) -> Run {
    Run::of(["preview"].iter().chain(args)).env("KUBECTL", program).env("PATH", "/usr/bin:/bin")
}

/// Runs it against a cluster in this process.
pub(crate) async fn run_on(cluster: &SimCluster, run: Run) -> Output {
    run.in_process(cluster.service(), "shop").run_async().await
}
