//! One object as the API server returned it, unknown fields included.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

/// A Kubernetes object as raw JSON.
///
/// Typed structs drop fields that their bindings do not know, and an undo through them would lose
/// the user's settings. So the JSON is kept and read field by field. A field of the wrong type
/// reads as absent; no content of the cluster causes a panic.
///
/// Clones share the JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object(Arc<Value>);

/// The controller of an object (`metadata.ownerReferences[controller=true]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controller<'a> {
    /// The kind of the owner, such as `ReplicaSet`.
    pub kind: &'a str,
    /// The API version of the owner, such as `apps/v1`.
    pub api_version: Option<&'a str>,
    /// The name of the owner.
    pub name: &'a str,
    /// The uid of the owner. A later object of the same name has another one.
    pub uid: &'a str,
}

impl Object {
    /// Creates an object from JSON.
    ///
    /// # Errors
    /// If `kind` or `metadata.name` is missing.
    pub fn read(value: Value) -> Result<Self, &'static str> {
        let object = Self::declared(value)?;
        if object.name().is_empty() { Err("has no metadata.name") } else { Ok(object) }
    }

    /// Creates an object from the JSON of a manifest, which can have `metadata.generateName` in place of a name.
    ///
    /// # Errors
    /// If `kind` is missing, or both are.
    pub fn declared(value: Value) -> Result<Self, &'static str> {
        let object = Self(Arc::new(value));
        if !object.0.is_object() {
            return Err("is not a JSON object");
        }
        if object.text("/kind").is_none_or(str::is_empty) {
            return Err("has no kind");
        }
        if object.name_or_prefix().is_empty() {
            return Err("has no metadata.name");
        }
        Ok(object)
    }

    /// Returns the JSON.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// Returns `kind`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.text("/kind").unwrap_or_default()
    }

    /// Returns `metadata.name`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("/metadata/name").unwrap_or_default()
    }

    /// Returns `metadata.name`, or `metadata.generateName` of an object that has none.
    #[must_use]
    pub fn name_or_prefix(&self) -> &str {
        let prefix = || self.text("/metadata/generateName").unwrap_or_default();
        if self.name().is_empty() { prefix() } else { self.name() }
    }

    /// Returns `metadata.namespace`; empty if there is none.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.text("/metadata/namespace").unwrap_or_default()
    }

    /// Returns `metadata.uid`; empty if there is none.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.text("/metadata/uid").unwrap_or_default()
    }

    /// Returns `metadata.resourceVersion`.
    #[must_use]
    pub fn resource_version(&self) -> Option<&str> {
        self.text("/metadata/resourceVersion")
    }

    /// Returns `metadata.resourceVersion` as a number. The versions of one resource are comparable (documented since
    /// Kubernetes 1.35). None for another format.
    #[must_use]
    pub fn version_number(&self) -> Option<u64> {
        self.resource_version()?.parse().ok()
    }

    /// Returns `metadata.generation`, which the API server increments with every change of the
    /// spec.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.int("/metadata/generation").unwrap_or_default()
    }

    /// Returns `metadata.creationTimestamp`.
    #[must_use]
    pub fn created(&self) -> Option<Timestamp> {
        self.time("/metadata/creationTimestamp")
    }

    /// Returns the value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.at("/metadata/labels")?.get(name)?.as_str()
    }

    /// Returns the value of an annotation.
    #[must_use]
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.at("/metadata/annotations")?.get(name)?.as_str()
    }

    /// Returns the controller of this object; there is at most one.
    #[must_use]
    pub fn controller(&self) -> Option<Controller<'_>> {
        let references = self.at("/metadata/ownerReferences")?.as_array()?;
        let controls =
            |reference: &&Value| reference.get("controller").and_then(Value::as_bool) == Some(true);
        let reference = references.iter().find(controls)?;
        let field = |name: &str| reference.get(name).and_then(Value::as_str).unwrap_or_default();
        let api_version = reference.get("apiVersion").and_then(Value::as_str);
        Some(Controller { kind: field("kind"), api_version, name: field("name"), uid: field("uid") })
    }

    /// Returns the value at a JSON pointer.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        value_at(&self.0, pointer)
    }

    /// Returns the string at a JSON pointer.
    #[must_use]
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.at(pointer)?.as_str()
    }

    /// Returns the integer at a JSON pointer.
    #[must_use]
    pub fn int(&self, pointer: &str) -> Option<i64> {
        self.at(pointer)?.as_i64()
    }

    /// Returns the RFC 3339 time at a JSON pointer.
    #[must_use]
    pub fn time(&self, pointer: &str) -> Option<Timestamp> {
        self.text(pointer)?.parse().ok()
    }

    /// Changes the value at a JSON pointer, if there is one.
    #[must_use]
    pub(super) fn changed_at(mut self, pointer: &str, change: impl FnOnce(&mut Value)) -> Self {
        if let Some(value) = Arc::make_mut(&mut self.0).pointer_mut(pointer) {
            change(value);
        }
        self
    }

    /// Returns an object with nothing but the type, the name, the namespace and the uid.
    #[must_use]
    pub fn identity(&self) -> Self {
        let [api_version, uid] = ["/apiVersion", "/metadata/uid"].map(|place| self.at(place));
        let metadata = json!({"name": self.name(), "namespace": self.namespace(), "uid": uid});
        Self(Arc::new(json!({"apiVersion": api_version, "kind": self.kind(), "metadata": metadata})))
    }

    /// Removes `metadata.managedFields`, which can be half of the object.
    #[must_use]
    pub fn without_managed_fields(mut self) -> Self {
        drop_managed_fields(Arc::make_mut(&mut self.0));
        self
    }
}

/// One entry of `status.conditions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// `True`, `False` or `Unknown`; empty if absent.
    pub status: String,
    /// The reason in CamelCase.
    pub reason: String,
    /// The message.
    pub message: String,
    /// `lastTransitionTime`: when the status changed last.
    pub since: Option<Timestamp>,
    /// `lastUpdateTime`: when the status or the reason changed last. Only Deployments have it.
    pub updated: Option<Timestamp>,
}

impl Condition {
    /// Reads the condition of a type, if the object has it.
    #[must_use]
    pub fn read(object: &Object, type_: &str) -> Option<Self> {
        let conditions = object.at("/status/conditions")?.as_array()?;
        let is_it = |condition: &&Value| condition.get("type").and_then(Value::as_str) == Some(type_);
        let condition = conditions.iter().find(is_it)?;
        let text = |field: &str| condition.get(field).and_then(Value::as_str).unwrap_or_default();
        Some(Self {
            status: text("status").to_owned(),
            reason: text("reason").to_owned(),
            message: text("message").to_owned(),
            since: text("lastTransitionTime").parse().ok(),
            updated: text("lastUpdateTime").parse().ok(),
        })
    }

    /// Whether the status is `True`.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }
}

/// Returns the value at a JSON pointer through objects without escapes, such as `/spec/template`.
///
/// `Value::pointer` replaces the escapes in a copy of every step, which took a tenth of the time of a long list.
#[must_use]
pub fn value_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer.split('/').skip(1).try_fold(value, |value, step| value.get(step))
}

/// Removes `metadata.managedFields` from an object.
pub fn drop_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}
