//! The key under which an object is stored.

use serde_json::Value;

use crate::{object, resource::Resource};

/// Resource, namespace and name. Keys sort as a LIST answers: by namespace, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The row of the resource.
    pub resource: &'static Resource,
    /// Empty for cluster-scoped resources.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Key {
    /// Returns the key of `name` in `namespace`; a cluster-scoped resource ignores the namespace.
    pub fn new(resource: &'static Resource, namespace: &str, name: &str) -> Self {
        let namespace = if resource.namespaced { namespace.to_owned() } else { String::new() };
        Self { resource, namespace, name: name.to_owned() }
    }

    /// Returns the key that follows from an object's metadata.
    pub fn of(resource: &'static Resource, value: &Value) -> Self {
        Self::new(resource, object::namespace(value), object::name(value))
    }
}
