//! A limit on the pods of a namespace, as the part of `ResourceQuota` that affects rollouts.

use crate::resource::PODS;
use crate::store::Store;

use super::count;

/// The limit on the pods of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The name of the quota, for the error.
    pub name: String,
    /// The maximum number of pods.
    pub pods: i64,
}

impl Quota {
    /// Returns how many pods can be created now.
    pub(super) fn room(&self, store: &Store, namespace: &str) -> i64 {
        (self.pods - used(store, namespace)).max(0)
    }

    /// Returns the API server's error for one more pod.
    pub(super) fn refusal(&self, store: &Store, namespace: &str, pod: &str) -> String {
        let used = used(store, namespace).max(self.pods);
        format!(
            "pods \"{pod}\" is forbidden: exceeded quota: {}, requested: pods=1, used: pods={used}, limited: pods={}",
            self.name, self.pods
        )
    }
}

fn used(store: &Store, namespace: &str) -> i64 {
    count::of(store.list(&PODS, Some(namespace)))
}
