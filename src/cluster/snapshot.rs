//! A snapshot: objects recorded with `kubectl get ... -o yaml`, read instead of an API server.

use std::io::Read;
use std::path::Path;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::budget::{ALL_OBJECTS, MemoryBudget};
use super::files::{files_in, objects_of, objects_on, objects_within};
use crate::cluster::access::SnapshotPath;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{CONTROLLER_REVISION, EVENT, POD, REPLICA_SET, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::workload::KindSpec;

/// The command that records a whole snapshot.
const HOW_TO_RECORD: &str =
    "record one with: kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml > snapshot.yaml";

/// The resources that are read from a snapshot besides workloads. Other objects may contain future times,
/// such as the expiry of a certificate.
static READ: [&ResourceType; 4] = [&REPLICA_SET, &CONTROLLER_REVISION, &POD, &EVENT];

/// Objects recorded from a cluster.
#[derive(Debug)]
pub struct Snapshot {
    origin: String,
    objects: Vec<Object>,
}

impl Snapshot {
    /// Reads a snapshot from a file, a directory of files, or standard input.
    ///
    /// # Errors
    /// When a file cannot be read, is neither JSON nor YAML, or contains no objects.
    pub fn read(path: &SnapshotPath, stdin: &mut dyn Read) -> Result<Self> {
        let (origin, objects) = match path {
            SnapshotPath::Stdin => ("standard input".to_owned(), objects_on(stdin)?),
            SnapshotPath::Path(path) if path.is_dir() => (path.display().to_string(), objects_of_all(path)?),
            SnapshotPath::Path(path) => (path.display().to_string(), objects_of(path)?),
        };
        if objects.is_empty() {
            return Err(
                Error::new(ErrorKind::File, format!("{origin} contains no objects")).hint(HOW_TO_RECORD)
            );
        }
        Ok(Self { origin, objects })
    }

    /// Returns the approximate time of the snapshot: its newest stamp.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let is_read = |object: &&Object| {
            let mut types = KindSpec::all().map(KindSpec::type_).chain(READ);
            types.any(|type_| is_a(object, type_))
        };
        let read = self.objects.iter().filter(is_read);
        read.filter_map(newest_stamp).max().unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Returns the default namespace: the only one in the snapshot, or `default`.
    ///
    /// # Errors
    /// When there are several namespaces and none is `default`.
    pub fn default_namespace(&self) -> Result<&str> {
        let mut namespaces: Vec<&str> =
            self.objects.iter().map(Object::namespace).filter(|namespace| !namespace.is_empty()).collect();
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
    /// When the snapshot has no object of the type.
    pub fn get(&self, type_: &ResourceType, namespace: &str, name: &str) -> Result<Option<&Object>> {
        let is_named = |object: &&&Object| object.name() == name && object.namespace() == namespace;
        Ok(self.all_of(type_)?.iter().find(is_named).copied())
    }

    /// Returns the object with this name, in this namespace or else in any. A manifest may set no namespace.
    ///
    /// # Errors
    /// When there is none, and when several namespaces have one.
    pub fn only_named(&self, type_: &ResourceType, name: &str, namespace: &str) -> Result<&Object> {
        let named = |object: &&Object| is_a(object, type_) && object.name() == name;
        let named: Vec<_> = self.objects.iter().filter(named).collect();
        let is_there = |object: &&&Object| object.namespace() == namespace;
        let target = format!("{}/{name}", type_.typed());
        match (named.iter().find(is_there), named.as_slice()) {
            (Some(object), _) | (None, [object]) => Ok(object),
            (None, []) => Err(Error::new(ErrorKind::NotFound, format!("{} has no {target}", self.origin))),
            (None, [..]) => {
                let message = format!("{} has {target} in several namespaces", self.origin);
                Err(Error::usage(message).hint("choose one with --with-namespace"))
            }
        }
    }

    /// Lists the objects of a type in one namespace, or in all.
    ///
    /// # Errors
    /// When the snapshot has no object of the type: either none existed, or the type was not recorded.
    pub fn list(
        &self,
        type_: &ResourceType,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Object>> {
        let in_namespace =
            |object: &&Object| namespace.is_none_or(|namespace| object.namespace() == namespace);
        let matching =
            self.all_of(type_)?.into_iter().filter(in_namespace).filter(|object| selector.matches(object));
        Ok(matching.cloned().collect())
    }

    fn all_of(&self, type_: &ResourceType) -> Result<Vec<&Object>> {
        let objects: Vec<_> = self.objects.iter().filter(|object| is_a(object, type_)).collect();
        if objects.is_empty() {
            let message = format!("{} has no {}", self.origin, type_.plural());
            return Err(Error::new(ErrorKind::NotReadable, message).hint(HOW_TO_RECORD));
        }
        Ok(objects)
    }
}

/// Compares kind and group, and ignores the version. `apps.kruise.io` has kinds with the same names.
fn is_a(object: &Object, type_: &ResourceType) -> bool {
    let version = object.text("/apiVersion").unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    object.kind() == type_.title() && group == type_.group()
}

fn objects_of_all(directory: &Path) -> Result<Vec<Object>> {
    let files = files_in(directory, false)?;
    if files.is_empty() {
        let message = format!("{} contains no .json, .yaml or .yml file", directory.display());
        return Err(Error::new(ErrorKind::File, message));
    }
    let mut budget = MemoryBudget::new(ALL_OBJECTS);
    let objects = files.iter().map(|file| objects_within(file, &mut budget)).collect::<Result<Vec<_>>>()?;
    Ok(objects.into_iter().flatten().collect())
}

/// Returns the newest time that the server or a controller wrote into an object. It ignores annotations
/// and specs, which users write, and `deletionTimestamp`, which is in the future by the grace period.
fn newest_stamp(object: &Object) -> Option<Timestamp> {
    let managed = object.at("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
    let managed = managed.filter_map(|entry| entry.get("time")?.as_str()?.parse().ok());
    let own = ["/metadata/creationTimestamp", "/lastTimestamp", "/eventTime", "/series/lastObservedTime"];
    let own = own.into_iter().filter_map(|pointer| object.time(pointer));
    managed.chain(own).chain(object.at("/status").and_then(newest_within)).max()
}

fn newest_within(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) if text.len() >= 20 && text.as_bytes().get(10) == Some(&b'T') => {
            text.parse().ok()
        }
        Value::Array(items) => items.iter().filter_map(newest_within).max(),
        Value::Object(members) => members.values().filter_map(newest_within).max(),
        _ => None,
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
        let objects = [pod, certificate].map(|object| Object::read(object).unwrap()).into();
        let snapshot = Snapshot { origin: "x".to_owned(), objects };
        assert_eq!(snapshot.now().to_string(), "2026-11-20T13:00:01Z");
    }
}
