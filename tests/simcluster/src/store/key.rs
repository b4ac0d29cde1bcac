//! What an object is stored under.

use serde_json::Value;

use crate::{object, resource::Resource};

/// Resource, namespace and name. Keys sort as a LIST answers: by namespace, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The row of the resource.
    pub resource: &'static Resource,
    /// Empty for cluster-wide resources.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Key {
    /// The key of `name` in `namespace`; a cluster-wide resource ignores the namespace.
    #[must_use]
    pub fn new(resource: &'static Resource, namespace: &str, name: &str) -> Self {
        let namespace = if resource.namespaced { namespace.to_owned() } else { String::new() };
        Self { resource, namespace, name: name.to_owned() }
    }

    /// The key an object asks for with its own metadata.
    #[must_use]
    pub fn of(resource: &'static Resource, value: &Value) -> Self {
        Self::new(resource, object::namespace(value), object::name(value))
    }
}
