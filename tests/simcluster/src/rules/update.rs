//! Changes of an object: PUT and PATCH, of the object or of its status.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Author, Part, create::check_kind, defaults, gates, generation, managed, types, validate};
use crate::{
    clock::stamp,
    object,
    patch::Format,
    refusal::Refusal,
    resource::Resource,
    store::{Key, Store},
};

/// Metadata that an update cannot change.
const FIXED_METADATA: [&str; 8] = [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "generateName",
];

impl Store {
    /// Replaces an object or its status, as a PUT does. A resourceVersion or uid in `wanted` is a precondition.
    pub fn update(
        &mut self,
        key: &Key,
        part: Part,
        mut wanted: Value,
        author: &Author,
    ) -> Result<Arc<Value>, Refusal> {
        let current = Arc::clone(self.find(key)?);
        check_identity(key, &current, &wanted)?;
        if part == Part::Object {
            object::drop_noise(&mut wanted);
            gates::drop_disabled(self, key.resource, Some(&current), &mut wanted);
            defaults::fill(key.resource, &mut wanted);
        }
        let mut after = combine(key.resource, part, &current, wanted);
        if part == Part::Object {
            generation::advance(key.resource, &current, &mut after);
        }
        if after == *current {
            return Ok(current);
        }
        validate::change(key.resource, part, &current, &after)?;
        if self.attributes_writes() {
            managed::note(
                &current,
                &mut after,
                author,
                part,
                &key.resource.api_version(),
                &stamp(self.now()),
            );
        }
        if author.dry_run {
            return Ok(Arc::new(after));
        }
        let stored = self.put(key, after);
        self.remove_if_released(key, &stored);
        Ok(stored)
    }

    /// Changes an object or its status by a function.
    pub fn edit(
        &mut self,
        key: &Key,
        part: Part,
        author: &Author,
        change: impl FnOnce(&mut Value),
    ) -> Result<Arc<Value>, Refusal> {
        let mut wanted = Value::clone(self.find(key)?);
        change(&mut wanted);
        self.update(key, part, wanted, author)
    }

    /// Patches an object or its status.
    pub fn patch(
        &mut self,
        key: &Key,
        part: Part,
        format: Format,
        patch: &Value,
        author: &Author,
    ) -> Result<Arc<Value>, Refusal> {
        let patched = format.apply(self.find(key)?, patch)?;
        check_kind(key.resource, &patched)?;
        if let Some(wrong) = types::wrong_type(&patched).filter(|_| !key.resource.is_custom()) {
            return Err(Refusal::unreadable_patch(&patch.to_string(), &wrong));
        }
        self.update(key, part, patched, author)
    }

    /// Removes an object that is being deleted and has lost its last finalizer.
    pub(super) fn remove_if_released(&mut self, key: &Key, stored: &Value) {
        let graceful = object::at(stored, &["metadata", "deletionGracePeriodSeconds"])
            .and_then(Value::as_i64)
            .unwrap_or(0)
            > 0;
        if object::is_terminating(stored) && !graceful && object::finalizers(stored).next().is_none() {
            self.remove(key);
        }
    }
}

fn check_identity(key: &Key, current: &Value, wanted: &Value) -> Result<(), Refusal> {
    let (asked, there) = (object::uid(wanted), object::uid(current));
    if !asked.is_empty() && asked != there {
        let why = format!("Precondition failed: UID in precondition: {asked}, UID in object meta: {there}");
        return Err(Refusal::conflict(key.resource, &key.name, &why));
    }
    let asked = object::text(wanted, &["metadata", "resourceVersion"]);
    if !asked.is_empty() && asked != object::text(current, &["metadata", "resourceVersion"]) {
        return Err(Refusal::modified(key.resource, &key.name));
    }
    Ok(())
}

/// Returns `current` with the changes that this part of `wanted` can make.
fn combine(resource: &Resource, part: Part, current: &Value, wanted: Value) -> Value {
    let mut after = match part {
        Part::Object => wanted,
        Part::Status => with_status_of(resource, current, &wanted),
    };
    let top = object::members(&mut after);
    if part == Part::Object && resource.has_status() {
        object::keep(top, current, "status");
    }
    top.insert("apiVersion".to_owned(), resource.api_version().into());
    top.insert("kind".to_owned(), resource.kind.into());
    let metadata = object::metadata(&mut after);
    let fixed = current.get("metadata").unwrap_or(&Value::Null);
    for member in FIXED_METADATA.into_iter().chain(["resourceVersion", "managedFields"]) {
        object::keep(metadata, fixed, member);
    }
    after
}

/// A status write may also change annotations and, except for Deployments, labels.
fn with_status_of(resource: &Resource, current: &Value, wanted: &Value) -> Value {
    let mut after = current.clone();
    object::keep(object::members(&mut after), wanted, "status");
    let nothing = json!({});
    let wanted = wanted.get("metadata").unwrap_or(&nothing);
    let metadata = object::metadata(&mut after);
    object::keep(metadata, wanted, "annotations");
    if resource.kind != "Deployment" {
        object::keep(metadata, wanted, "labels");
    }
    after
}
