//! What goes with an object: what it owned, and what lived in a namespace.
//!
//! With [`Finalization::ByControllers`] only the finalizers are set here, and the garbage collector does the rest.

use std::sync::Arc;

use serde_json::Value;

use super::{Deletion, Propagation};
use crate::{
    object,
    resource::NAMESPACES,
    store::{Finalization, Key, Store},
};

/// The finalizer of an object that goes after what it owns.
pub(super) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object that first lets go of what it owns.
pub(super) const ORPHAN: &str = "orphan";

impl Store {
    /// The objects that name `uid` as an owner.
    #[must_use]
    pub fn owned_by(&self, uid: &str) -> Vec<Key> {
        self.all()
            .filter(|(_, value)| object::owner_uids(value).any(|owner| owner == uid))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Removes an object for good and, when the server stands in for controllers, what goes with it.
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

    /// Removes what lived in a namespace that is gone: there is no namespace controller, whoever finishes other
    /// deletions.
    fn empty_namespace(&mut self, name: &str) {
        let inhabitants: Vec<Key> =
            self.all().filter(|(key, _)| key.namespace == name).map(|(key, _)| key.clone()).collect();
        for key in inhabitants {
            self.take(&key);
        }
    }

    /// Does what a cascade's finalizer waits for, and takes the finalizer off.
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

    /// Takes items out of a list of an object's metadata, as the server itself and past all rules.
    fn strike_out(&mut self, key: &Key, list: &str, unwanted: impl Fn(&Value) -> bool) -> Option<Arc<Value>> {
        let mut value = Value::clone(self.get(key)?);
        if let Some(Value::Array(items)) = object::metadata(&mut value).get_mut(list) {
            items.retain(|item| !unwanted(item));
        }
        object::drop_noise(&mut value);
        Some(self.put(key, value))
    }

    fn dependents(&self, key: &Key, owner: &Value) -> Vec<Key> {
        // Only workloads own anything; nothing else is worth a search.
        if key.resource.subresources.contains(&"status") && key.resource.group == "apps" {
            self.owned_by(object::uid(owner))
        } else {
            Vec::new()
        }
    }

    /// Deletes a dependent, unless it is to be orphaned or somebody else owns it too.
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
