//! Removal of the dependents of an object, and of the objects in a namespace.
//!
//! With [`Finalization::ByControllers`], only the finalizers are set here. The garbage collector does the rest.

use std::sync::Arc;

use serde_json::Value;

use super::{Deletion, Propagation};
use crate::{
    object,
    resource::NAMESPACES,
    store::{Finalization, Key, Store},
};

/// The finalizer of foreground deletion: the object is removed after its dependents.
pub(super) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of orphaning deletion: the dependents lose their owner reference first.
pub(super) const ORPHAN: &str = "orphan";

impl Store {
    /// Returns the objects with an owner reference to `uid`.
    #[must_use]
    pub fn owned_by(&self, uid: &str) -> Vec<Key> {
        self.all()
            .filter(|(_, value)| object::owner_uids(value).any(|owner| owner == uid))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Removes an object and, with [`Finalization::ByServer`], its dependents.
    pub(super) fn remove(&mut self, key: &Key) -> Option<Arc<Value>> {
        let gone = self.take(key)?;
        if key.resource == &NAMESPACES {
            self.empty_namespace(&key.name);
        } else if self.finalization() == Finalization::ByServer {
            for dependent in self.dependents(key, &gone) {
                self.let_go_of(&dependent, object::uid(&gone), Propagation::Background);
            }
        }
        Some(gone)
    }

    /// Removes the objects of a namespace that was removed. There is no namespace controller.
    fn empty_namespace(&mut self, name: &str) {
        let inhabitants: Vec<Key> =
            self.all().filter(|(key, _)| key.namespace == name).map(|(key, _)| key.clone()).collect();
        for key in inhabitants {
            self.take(&key);
        }
    }

    /// Handles the dependents for which a finalizer waits, and removes the finalizer.
    pub(super) fn finish_cascade(&mut self, key: &Key, owner: &Value, propagation: Propagation) {
        for dependent in self.dependents(key, owner) {
            self.let_go_of(&dependent, object::uid(owner), propagation);
        }
        let released =
            self.strike_out(key, "finalizers", |finalizer| finalizer == FOREGROUND || finalizer == ORPHAN);
        if let Some(released) = released {
            self.remove_if_released(key, &released);
        }
    }

    /// Removes items from a list in an object's metadata. No rule applies.
    fn strike_out(&mut self, key: &Key, list: &str, unwanted: impl Fn(&Value) -> bool) -> Option<Arc<Value>> {
        let mut value = Value::clone(self.get(key)?);
        if let Some(Value::Array(items)) = object::metadata(&mut value).get_mut(list) {
            items.retain(|item| !unwanted(item));
        }
        object::drop_noise(&mut value);
        Some(self.put(key, value))
    }

    fn dependents(&self, key: &Key, owner: &Value) -> Vec<Key> {
        // Only workloads own objects; a search for other kinds would be wasted.
        if key.resource.subresources.contains(&"status") && key.resource.group == "apps" {
            self.owned_by(object::uid(owner))
        } else {
            Vec::new()
        }
    }

    /// Deletes a dependent, unless it is orphaned or has another owner too.
    fn let_go_of(&mut self, dependent: &Key, owner_uid: &str, propagation: Propagation) {
        let Some(value) = self.get(dependent) else {
            return;
        };
        let others = object::owner_uids(value)
            .any(|uid| uid != owner_uid && self.all().any(|(_, other)| object::uid(other) == uid));
        if propagation == Propagation::Orphan || others {
            self.strike_out(dependent, "ownerReferences", |owner| owner["uid"] == owner_uid);
        } else {
            let current = Arc::clone(value);
            self.begin_deletion(dependent, current, &Deletion { propagation, ..Deletion::default() });
        }
    }
}
