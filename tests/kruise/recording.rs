//! The recordings: the objects of the cluster after each step.

use std::collections::BTreeMap;
use std::fs;

use harness::prelude::*;

/// The objects of the cluster after one step of a recording.
pub(crate) struct Step {
    /// `master-cs-inplace/03-image0-v2`.
    pub(crate) name: String,
    /// Whether nothing had changed for two seconds.
    pub(crate) settled: bool,
    /// The workload in its other API version, without metadata: `apiVersion`, `strategy`, `status`.
    pub(crate) other: Option<Value>,
    objects: BTreeMap<String, Value>,
}

impl Step {
    /// Returns every step of every recording.
    pub(crate) fn all() -> Vec<Self> {
        let mut files: Vec<_> =
            fs::read_dir(data().join("kruise")).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let scenario = |path: &std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let files =
            files.iter().filter(|path| scenario(path).contains('-') && path.extension().unwrap() == "jsonl");
        let steps: Vec<_> = files.flat_map(|path| Self::of(&scenario(path))).collect();
        assert_eq!(steps.len(), 247, "the number of recorded steps");
        steps
    }

    /// Returns every step of one recording, such as `master-cs-inplace`.
    pub(crate) fn of(scenario: &str) -> Vec<Self> {
        let text = fs::read_to_string(data().join("kruise").join(format!("{scenario}.jsonl"))).unwrap();
        let mut objects = BTreeMap::new();
        let step = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            for removed in line["removed"].as_array().unwrap() {
                objects.remove(removed.as_str().unwrap()).unwrap();
            }
            for object in line["changed"].as_array().unwrap() {
                let name = format!(
                    "{}/{}",
                    object["kind"].as_str().unwrap(),
                    object["metadata"]["name"].as_str().unwrap()
                );
                objects.insert(name, object.clone());
            }
            Self {
                name: format!("{scenario}/{}", line["step"].as_str().unwrap()),
                settled: line["settled"].as_bool().unwrap(),
                other: line.get("other").cloned(),
                objects: objects.clone(),
            }
        };
        text.lines().map(step).collect()
    }

    /// Returns the first step of a recording whose name begins with a number, such as `09`.
    pub(crate) fn numbered(scenario: &str, number: &str) -> Self {
        let name = format!("{scenario}/{number}-");
        Self::of(scenario).into_iter().find(|step| step.name.starts_with(&name)).unwrap()
    }

    /// Returns the workload.
    pub(crate) fn workload(&self) -> &Value {
        let is_kruise =
            |object: &&Value| object["apiVersion"].as_str().unwrap().starts_with("apps.kruise.io/");
        self.objects.values().find(is_kruise).unwrap()
    }

    /// Returns the step with the workload in its other API version, if that was recorded.
    pub(crate) fn in_other_version(&self) -> Option<Self> {
        let other = self.other.as_ref()?;
        let mut workload = self.workload().clone();
        workload["apiVersion"] = other["apiVersion"].clone();
        workload["spec"]["updateStrategy"] = other["strategy"].clone();
        workload["status"] = other["status"].clone();
        let mut objects = self.objects.clone();
        objects.insert(format!("{}/web", workload["kind"].as_str().unwrap()), workload);
        let name = format!("{} as {}", self.name, other["apiVersion"].as_str().unwrap());
        Some(Self { name, settled: self.settled, other: None, objects })
    }

    /// Returns the objects of a kind.
    pub(crate) fn objects(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects.values().filter(move |object| object["kind"] == kind)
    }

    /// Returns the objects of a kind, to change them.
    pub(crate) fn objects_mut(&mut self, kind: &str) -> impl Iterator<Item = &mut Value> {
        self.objects.values_mut().filter(move |object| object["kind"] == kind)
    }

    /// Returns the first object of a kind, to change it.
    pub(crate) fn object_mut(&mut self, kind: &str) -> &mut Value {
        self.objects_mut(kind).next().unwrap()
    }

    /// Replaces the objects of a kind by those of another step.
    pub(crate) fn replace(&mut self, kind: &str, other: &Self) {
        self.objects.retain(|_, object| object["kind"] != kind);
        let others = other.objects.iter().filter(|(_, object)| object["kind"] == kind);
        self.objects.extend(others.map(|(name, object)| (name.clone(), object.clone())));
    }

    /// Returns the target on a command line, such as `asts/web`.
    pub(crate) fn target(&self) -> &'static str {
        match self.workload()["kind"].as_str().unwrap() {
            "CloneSet" => "cloneset/web",
            "StatefulSet" => "asts/web",
            "DaemonSet" => "ads/web",
            other => panic!("{other}"),
        }
    }

    /// Runs a command on these objects.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        let items: Vec<_> = self.objects.values().collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
        Run::of(args).args(["--from", "-"]).stdin(list).run()
    }
}
