//! A limit on the pods of a namespace: the one thing of a `ResourceQuota` that a rollout meets.

use crate::resource::PODS;
use crate::store::Store;

use super::count;

/// How many pods a namespace may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Its name, for the refusal.
    pub name: String,
    /// The most pods.
    pub pods: i64,
}

impl Quota {
    /// How many pods may be added now.
    pub(super) fn room(&self, store: &Store, namespace: &str) -> i64 {
        (self.pods - used(store, namespace)).max(0)
    }

    /// What the API server says to one pod more.
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
