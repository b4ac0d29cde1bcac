//! Creation of objects.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Author, Part, defaults, gates, generation, managed, types, validate};
use crate::{
    clock::stamp,
    object,
    refusal::Refusal,
    resource::{NAMESPACES, Resource},
    store::{Key, Store},
};

impl Store {
    /// Stores a new object in a namespace (empty for a cluster-scoped resource), as a POST does.
    pub fn create(
        &mut self,
        resource: &'static Resource,
        namespace: &str,
        mut value: Value,
        author: &Author,
    ) -> Result<Arc<Value>, Refusal> {
        self.check_new(resource, namespace, &value)?;
        let key = Key::new(resource, namespace, object::name(&value));
        object::drop_noise(&mut value);
        gates::drop_disabled(self, resource, None, &mut value);
        self.stamp_new(&key, &mut value);
        defaults::fill(resource, &mut value);
        begin_status(resource, &mut value);
        validate::new_object(resource, &value)?;
        if self.get(&key).is_some() {
            return Err(Refusal::already_exists(resource, &key.name));
        }
        let now = stamp(self.now());
        if self.attributes_writes() {
            managed::note(&json!({}), &mut value, author, Part::Object, &resource.api_version(), &now);
        }
        Ok(if author.dry_run { Arc::new(value) } else { self.put(&key, value) })
    }

    fn check_new(&self, resource: &'static Resource, namespace: &str, value: &Value) -> Result<(), Refusal> {
        check_kind(resource, value)?;
        if let Some(wrong) = types::wrong_type(value).filter(|_| !resource.is_custom()) {
            let (version, kind) = (resource.version, resource.kind);
            return Err(Refusal::bad_request(format!(
                "{kind} in version \"{version}\" cannot be handled as a {kind}: {wrong}"
            )));
        }
        if resource.namespaced {
            self.find(&Key::new(&NAMESPACES, "", namespace))?;
        }
        Ok(())
    }

    fn stamp_new(&mut self, key: &Key, value: &mut Value) {
        let (uid, now) = (self.new_uid(), stamp(self.now()));
        let top = object::members(value);
        top.insert("apiVersion".to_owned(), key.resource.api_version().into());
        top.insert("kind".to_owned(), key.resource.kind.into());
        let metadata = object::metadata(value);
        for server_owned in [
            "resourceVersion",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "managedFields",
            "selfLink",
        ] {
            metadata.remove(server_owned);
        }
        if !key.namespace.is_empty() {
            metadata.insert("namespace".to_owned(), key.namespace.as_str().into());
        }
        metadata.insert("uid".to_owned(), uid.into());
        metadata.insert("creationTimestamp".to_owned(), now.into());
        generation::begin(key.resource, value);
    }
}

/// Checks that the body has the kind of the URL.
pub(super) fn check_kind(resource: &Resource, value: &Value) -> Result<(), Refusal> {
    let (api_version, kind) = (object::text(value, &["apiVersion"]), object::text(value, &["kind"]));
    let fits = |given: &str, wanted: &str| given.is_empty() || given == wanted;
    if fits(api_version, &resource.api_version()) && fits(kind, resource.kind) {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "the API version in the data ({api_version}) does not match the expected API version ({}), or its kind ({kind}) is not {}",
        resource.api_version(),
        resource.kind
    )))
}

/// Sets the initial status. The server ignores the status of a created object.
fn begin_status(resource: &Resource, value: &mut Value) {
    let status = match resource.kind {
        "Pod" => json!({ "phase": "Pending" }),
        "Namespace" => json!({ "phase": "Active" }),
        "Node" => return,
        _ if resource.has_status() => json!({}),
        _ => return,
    };
    object::members(value).insert("status".to_owned(), status);
}
