//! Plays the shop's releases of three days on a stepped clock.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use simcluster::patch::Format;
use simcluster::rules::{Author, Part};
use simcluster::{Clock, Controllers, Finalization, Key, Resource, SimCluster};

use crate::shop::{self, Deed};

const MINUTE: Duration = Duration::from_secs(60);

/// Every object of a shop that has been open for three days, its last release some minutes ago.
pub(crate) fn of(namespace: &str) -> Value {
    let deeds = shop::deeds();
    let length: Duration = deeds.iter().map(|deed| deed.then * MINUTE).sum();
    let opening = Timestamp::now().checked_sub(length).unwrap_or_default();
    let cluster = SimCluster::builder()
        .clock(Clock::stepped(opening))
        .finalization(Finalization::ByControllers)
        .namespace(namespace)
        .nodes(3)
        .kruise()
        .build();
    let mut controllers = Controllers::new();
    for deed in deeds {
        deed.happen(&cluster, namespace);
        controllers.run_for(&cluster, deed.then * MINUTE);
    }
    let items: Vec<Value> =
        cluster.store(|store| store.all().map(|(_, value)| Value::clone(value)).collect());
    json!({ "items": items })
}

impl Deed {
    /// Does it; a deed that the server refuses is a slip in the story, and is left out of it.
    fn happen(&self, cluster: &SimCluster, namespace: &str) {
        let author = Author::new(self.by);
        let happened = cluster.store(|store| {
            let Some((resource, name)) = target(self.to) else { return false };
            let key = Key::new(resource, namespace, name);
            let done = if store.get(&key).is_some() {
                store.patch(&key, Part::Object, Format::Strategic, &self.what, &author)
            } else {
                store.create(resource, namespace, self.what.clone(), &author)
            };
            done.is_ok()
        });
        debug_assert!(happened, "{} did not happen", self.to);
    }
}

fn target(words: &str) -> Option<(&'static Resource, &str)> {
    let (singular, name) = words.split_once('/')?;
    let resource = simcluster::resource::ALL.into_iter().find(|resource| resource.singular == singular)?;
    Some((resource, name))
}
