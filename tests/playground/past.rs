//! Simulates three days of changes in the demo shop on a stepped clock.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use simcluster::patch::Format;
use simcluster::rules::{Author, Part};
use simcluster::{Clock, Controllers, Finalization, Key, Resource, SimCluster};

use crate::shop::{self, ShopChange};

const MINUTE: Duration = Duration::from_secs(60);

/// Returns every object of the shop after three days of changes. The last change was a few minutes ago.
pub(crate) fn of(namespace: &str) -> Value {
    let changes = shop::changes();
    let length: Duration = changes.iter().map(|shop_change| shop_change.then * MINUTE).sum();
    let start = Timestamp::now().checked_sub(length).unwrap_or_default();
    let cluster = SimCluster::builder()
        .clock(Clock::stepped(start))
        .finalization(Finalization::ByControllers)
        .namespace(namespace)
        .nodes(3)
        .kruise()
        .build();
    let mut controllers = Controllers::new();
    for shop_change in changes {
        shop_change.apply(&cluster, namespace);
        controllers.run_for(&cluster, shop_change.then * MINUTE);
    }
    cluster.store(|store| store.snapshot())
}

impl ShopChange {
    /// Applies the change. In release builds a change that the server refuses is skipped.
    fn apply(&self, cluster: &SimCluster, namespace: &str) {
        let author = Author::new(self.by);
        let was_applied = cluster.store(|store| {
            let Some((resource, name)) = target(self.to) else { return false };
            let key = Key::new(resource, namespace, name);
            let result = if store.get(&key).is_some() {
                store.patch(&key, Part::Object, Format::Strategic, &self.what, &author)
            } else {
                store.create(resource, namespace, self.what.clone(), &author)
            };
            result.is_ok()
        });
        debug_assert!(was_applied, "a change of {} was refused", self.to);
    }
}

fn target(words: &str) -> Option<(&'static Resource, &str)> {
    let (singular, name) = words.split_once('/')?;
    let resource =
        simcluster::resource::ALL.iter().copied().find(|resource| resource.singular == singular)?;
    Some((resource, name))
}
