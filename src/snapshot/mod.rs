//! A snapshot: objects recorded with `kubectl get ... -o yaml`, read instead of an API server.

pub mod document;
pub(crate) mod files;
pub(crate) mod json;
mod record;

use std::collections::{HashMap, HashSet};
use std::io::Read;

use k8s_openapi::jiff::Timestamp;

use self::document::{HOW_TO_RECORD, index, object_of, parsed};
use self::files::{files_in, text_at};
use self::record::Record;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{
    CONFIG_MAP, CONTROLLER_REVISION, EVENT, POD, REPLICA_SET, ResourceType, SECRET,
};
use crate::model::api::selector::Selector;
use crate::model::kind::{self, Kind};
use crate::world::InputPath;

/// The resources that are read from a snapshot besides workloads. Other objects may contain future times,
/// such as the expiry of a certificate.
static READ: [&ResourceType; 6] = [&REPLICA_SET, &CONTROLLER_REVISION, &POD, &EVENT, &CONFIG_MAP, &SECRET];

/// Objects recorded from a cluster.
#[derive(Debug)]
pub struct Snapshot {
    origin: String,
    records: Vec<Record>,
}

impl Snapshot {
    /// Reads a snapshot from a file, a directory of files, or standard input.
    ///
    /// # Errors
    /// When a file cannot be read, is neither JSON nor YAML, or contains no objects.
    pub fn read(path: &InputPath, stdin: &mut dyn Read) -> Result<Self> {
        let origin = path.to_string();
        let files = match path {
            InputPath::Path(directory) if directory.is_dir() => {
                files_in(directory, true)?.into_iter().map(InputPath::Path).collect()
            }
            file => vec![file.clone()],
        };
        let mut records = Vec::new();
        for file in files {
            records.extend(index(text_at(&file, stdin)?, &file.to_string())?);
        }
        records.retain(|record| !record.name().is_empty()); // a manifest can have a Job with `generateName`
        if records.is_empty() {
            return Err(
                Error::new(ErrorKind::File, format!("{origin} contains no objects")).hint(HOW_TO_RECORD)
            );
        }
        Ok(Self::of(origin, records))
    }

    /// Creates a snapshot with one record of each object: the newest, as two recordings in one directory have most objects
    /// in common.
    fn of(origin: String, records: Vec<Record>) -> Self {
        let mut newest = HashMap::<_, usize>::new();
        for (index, record) in records.iter().enumerate() {
            let newest = newest.entry(record.identity()).or_insert(index);
            if records[*newest].is_older_than(record) {
                *newest = index;
            }
        }
        let newest: HashSet<_> = newest.into_values().collect();
        let records = records.into_iter().enumerate().filter(|(index, _)| newest.contains(index));
        Self { origin, records: records.map(|(_, record)| record).collect() }
    }

    /// Returns the approximate time of the snapshot: its newest stamp.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let is_read = |record: &&Record| {
            let mut types = kind::all().map(Kind::type_).chain(READ);
            types.any(|type_| record.is_a(type_))
        };
        let read = self.records.iter().filter(is_read);
        read.filter_map(Record::newest_stamp).max().unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Returns the default namespace: the only one in the snapshot, or `default`.
    ///
    /// # Errors
    /// When there are several namespaces and none is `default`.
    pub fn default_namespace(&self) -> Result<&str> {
        let mut namespaces: Vec<&str> =
            self.records.iter().map(Record::namespace).filter(|namespace| !namespace.is_empty()).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        match namespaces.as_slice() {
            [only] => Ok(only),
            several if several.is_empty() || several.contains(&"default") => Ok("default"),
            several => Err(Error::usage(format!(
                "{} contains several namespaces: {}",
                self.origin,
                several.join(", ")
            ))
            .hint("choose one with -n NAMESPACE, or read all of them with -A")),
        }
    }

    /// Returns one object, if it exists.
    ///
    /// # Errors
    /// When the snapshot has no object of the type, or the object cannot be parsed.
    pub fn get(&self, type_: &ResourceType, namespace: &str, name: &str) -> Result<Option<Object>> {
        let mut records = self.all_of(type_)?.into_iter();
        let found = records.find(|record| record.name() == name && record.namespace() == namespace);
        found.map(|record| object_of(record, &self.origin)).transpose()
    }

    /// Lists the objects of a type in one namespace, or in all, and returns what `keep` makes of each. Only one object
    /// is in memory at a time.
    ///
    /// # Errors
    /// When the snapshot has no object of the type: either none existed, or the type was not recorded. When an object
    /// cannot be parsed, or all of them are too large.
    pub fn list_as<T>(
        &self,
        type_: &ResourceType,
        namespace: Option<&str>,
        selector: &Selector,
        keep: impl Fn(Object) -> T,
    ) -> Result<Vec<T>> {
        let in_namespace =
            |record: &&Record| namespace.is_none_or(|namespace| record.namespace() == namespace);
        let matching =
            self.all_of(type_)?.into_iter().filter(in_namespace).filter(|record| record.matches(selector));
        parsed(matching, &self.origin, keep)
    }

    fn all_of(&self, type_: &ResourceType) -> Result<Vec<&Record>> {
        let records: Vec<_> = self.records.iter().filter(|record| record.is_a(type_)).collect();
        if records.is_empty() {
            let message = format!("{} has no {}", self.origin, type_.plural);
            return Err(Error::new(ErrorKind::NotReadable, message).hint(HOW_TO_RECORD));
        }
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn now_is_the_newest_stamp_of_the_known_resources() {
        let pod = json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "p", "creationTimestamp": "2026-11-20T13:00:00Z", "deletionTimestamp": "2026-11-20T15:00:00Z"},
            "status": {"startTime": "2026-11-20T13:00:01Z", "message": "2027-01-01 is no stamp"},
        });
        let certificate = json!({
            "kind": "Certificate", "apiVersion": "cert-manager.io/v1", "metadata": {"name": "c"},
            "status": {"notAfter": "2036-11-20T13:00:00Z"},
        });
        let text = json!([pod, certificate]).to_string();
        let snapshot = Snapshot::of("x".to_owned(), index(text, "x").unwrap());
        assert_eq!(snapshot.now().to_string(), "2026-11-20T13:00:01Z");
    }

    /// Each object of two recordings in one directory counted twice.
    #[test]
    fn the_newest_record_of_an_object_counts() {
        let object = |kind: &str, name: &str, version: &str, spec: i64| {
            json!({"kind": kind, "apiVersion": "apps/v1", "spec": spec,
                "metadata": {"name": name, "namespace": "n", "resourceVersion": version}})
        };
        let objects = json!([
            object("ReplicaSet", "newer-first", "10", 1),
            object("ReplicaSet", "newer-last", "9", 2),
            object("ReplicaSet", "unknown", "", 3),
            object("ReplicaSet", "newer-first", "9", 4),
            object("ReplicaSet", "newer-last", "10", 5),
            object("ReplicaSet", "unknown", "10", 6),
            object("Deployment", "unknown", "11", 7),
        ]);
        let snapshot = Snapshot::of("x".to_owned(), index(objects.to_string(), "x").unwrap());
        let specs =
            snapshot.list_as(&REPLICA_SET, None, &Selector::default(), |object| object.int("/spec")).unwrap();
        assert_eq!(specs, [Some(1), Some(5), Some(6)]);
    }

    #[test]
    fn an_object_is_parsed_when_it_is_asked_for() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200)); // more levels than the parser reads
        let object = |kind: &str, label: &str, spec: &str| {
            format!(
                r#"{{"kind": "{kind}", "apiVersion": "apps/v1", "spec": {spec},
                    "metadata": {{"name": "{label}", "namespace": "n", "labels": {{"app": "{label}"}}}}}}"#
            )
        };
        let text = [
            object("Deployment", "a", "1"),
            object("ReplicaSet", "a", &deep),
            object("ReplicaSet", "b", "2"),
        ];
        let snapshot = Snapshot::of("x".to_owned(), index(text.join("\n"), "x").unwrap());
        let specs = |type_: &ResourceType, labels: &str| {
            let selector = Selector::parse(labels).unwrap();
            snapshot.list_as(type_, Some("n"), &selector, |object| object.int("/spec"))
        };
        let deployments = kind::all().map(Kind::type_).find(|type_| type_.kind == "Deployment");
        assert_eq!(specs(deployments.unwrap(), "").unwrap(), [Some(1)]);
        assert_eq!(specs(&REPLICA_SET, "app=b").unwrap(), [Some(2)]);
        let error = specs(&REPLICA_SET, "app=a").unwrap_err();
        assert_eq!(error.to_string(), "cannot parse x as JSON: it is nested too deeply");
    }
}
