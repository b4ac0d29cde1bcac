//! One object as the API served it, unknown fields included.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

/// A Kubernetes object as raw JSON.
///
/// Typed structs would drop the fields their bindings do not know, and an undo through them would
/// lose the user's settings; so the JSON is kept and read field by field. A field of the wrong type
/// reads as absent: what the cluster holds is never a reason to panic.
///
/// Clones are the same JSON: what is followed is known in several places, and none of them changes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Object(Arc<Value>);

/// The controller that an object belongs to (`metadata.ownerReferences[controller=true]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controller<'a> {
    /// The owner's kind, such as `ReplicaSet`.
    pub kind: &'a str,
    /// The owner's name.
    pub name: &'a str,
    /// The owner's uid, which tells it from a namesake that came later.
    pub uid: &'a str,
}

impl Object {
    /// Takes a JSON value for an object.
    ///
    /// # Errors
    /// Says what is missing: every object needs a `kind` and a `metadata.name`.
    pub fn read(value: Value) -> Result<Self, &'static str> {
        let object = Self(Arc::new(value));
        if !object.0.is_object() {
            return Err("is not a JSON object");
        }
        if object.text("/kind").is_none_or(str::is_empty) {
            return Err("has no kind");
        }
        if object.name().is_empty() {
            return Err("has no metadata.name");
        }
        Ok(object)
    }

    /// The JSON itself.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// `kind`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.text("/kind").unwrap_or_default()
    }

    /// `metadata.name`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("/metadata/name").unwrap_or_default()
    }

    /// `metadata.namespace`, empty when there is none.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.text("/metadata/namespace").unwrap_or_default()
    }

    /// `metadata.uid`, empty when there is none.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.text("/metadata/uid").unwrap_or_default()
    }

    /// `metadata.generation`, which the server raises with every change of the spec.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.int("/metadata/generation").unwrap_or_default()
    }

    /// `metadata.creationTimestamp`.
    #[must_use]
    pub fn created(&self) -> Option<Timestamp> {
        self.time("/metadata/creationTimestamp")
    }

    /// The value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.0.pointer("/metadata/labels")?.get(name)?.as_str()
    }

    /// The value of an annotation.
    #[must_use]
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.0.pointer("/metadata/annotations")?.get(name)?.as_str()
    }

    /// The controller of this object, of which there is at most one.
    #[must_use]
    pub fn controller(&self) -> Option<Controller<'_>> {
        let references = self.0.pointer("/metadata/ownerReferences")?.as_array()?;
        let controls =
            |reference: &&Value| reference.get("controller").and_then(Value::as_bool) == Some(true);
        let reference = references.iter().find(controls)?;
        let field = |name: &str| reference.get(name).and_then(Value::as_str).unwrap_or_default();
        Some(Controller { kind: field("kind"), name: field("name"), uid: field("uid") })
    }

    /// Whether `owner` is the controller of this object, by uid: names come back, uids do not.
    #[must_use]
    pub fn is_controlled_by(&self, owner: &Self) -> bool {
        !owner.uid().is_empty() && self.controller().is_some_and(|controller| controller.uid == owner.uid())
    }

    /// The value at a JSON pointer.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.0.pointer(pointer)
    }

    /// The text at a JSON pointer.
    #[must_use]
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.at(pointer)?.as_str()
    }

    /// The integer at a JSON pointer.
    #[must_use]
    pub fn int(&self, pointer: &str) -> Option<i64> {
        self.at(pointer)?.as_i64()
    }

    /// The RFC 3339 time at a JSON pointer.
    #[must_use]
    pub fn time(&self, pointer: &str) -> Option<Timestamp> {
        self.text(pointer)?.parse().ok()
    }

    /// This object without `metadata.managedFields`, as kubectl prints it.
    #[must_use]
    pub fn without_managed_fields(&self) -> Value {
        let mut json = Value::clone(&self.0);
        drop_managed_fields(&mut json);
        json
    }

    /// The same object, but for `metadata.managedFields`, which can be half of it.
    #[must_use]
    pub fn unmanaged(mut self) -> Self {
        drop_managed_fields(Arc::make_mut(&mut self.0));
        self
    }
}

/// Removes `metadata.managedFields` from an object.
pub fn drop_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}
