//! The settings of a new cluster: its clock, its users and its first objects.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    clock::Clock,
    cluster::{Shared, SimCluster},
    object,
    resource::{KruiseRelease, NAMESPACES, NODES, Resource},
    rules::Author,
    store::{Finalization, Key, Store},
    users::{User, Users},
};

/// The settings of a new cluster.
#[derive(Debug)]
pub struct Builder {
    clock: Clock,
    finalization: Finalization,
    history: usize,
    without_managed_fields: bool,
    max_unavailable_stateful_set: bool,
    kruise: Option<KruiseRelease>,
    seed: u64,
    objects: Vec<(&'static Resource, Value)>,
    namespaces: Vec<String>,
    nodes: usize,
    users: Users,
}

impl Default for Builder {
    fn default() -> Self {
        let mut users = Users::default();
        users.add(User::admin("admin"));
        Self {
            // Shortly after the fixtures were recorded, for plausible ages.
            clock: Clock::stepped(Timestamp::constant(1_795_183_200, 0)),
            finalization: Finalization::default(),
            history: 1000,
            without_managed_fields: false,
            max_unavailable_stateful_set: false,
            kruise: None,
            seed: 0,
            objects: Vec::new(),
            namespaces: vec!["default".to_owned()],
            nodes: 0,
            users,
        }
    }
}

impl Builder {
    /// Starts with the items of a recorded list. Their resourceVersions, uids and timestamps stay. It is an error if a
    /// kind is not served.
    pub fn snapshot(mut self, list: &Value) -> Result<Self, String> {
        for item in object::list(list, &["items"]) {
            let (api_version, kind) = (object::text(item, &["apiVersion"]), object::text(item, &["kind"]));
            let resource = Resource::of_kind(api_version, kind)
                .ok_or_else(|| format!("no resource is served for {api_version} {kind}"))?;
            self.objects.push((resource, item.clone()));
        }
        Ok(self)
    }

    /// Sets the clock. The default is a stepped clock that begins shortly after the fixtures were recorded.
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Sets what completes deletions.
    pub fn finalization(self, finalization: Finalization) -> Self {
        Self { finalization, ..self }
    }

    /// Sets how many changes the history has for watches.
    pub fn history(self, changes: usize) -> Self {
        Self { history: changes, ..self }
    }

    /// Keeps no `managedFields`, which are half the cost of a write, for tests with thousands of runs.
    pub fn without_managed_fields(self) -> Self {
        Self { without_managed_fields: true, ..self }
    }

    /// Enables the feature gate `MaxUnavailableStatefulSet`, which is disabled in 1.36: a `StatefulSet` can have
    /// `rollingUpdate.maxUnavailable`, and updates that many pods at a time.
    pub fn max_unavailable_stateful_set(self) -> Self {
        Self { max_unavailable_stateful_set: true, ..self }
    }

    /// Serves the kinds of `OpenKruise`, in `v1beta1`, and runs their controllers.
    pub fn kruise(self) -> Self {
        Self { kruise: Some(KruiseRelease::V1_9), ..self }
    }

    /// Serves the kinds of `OpenKruise` 1.8, which has no `v1beta1` of two of them, and runs their controllers.
    pub fn kruise_1_8(self) -> Self {
        Self { kruise: Some(KruiseRelease::V1_8), ..self }
    }

    /// Sets the seed of uids and generated names.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Adds a namespace. `default` and the namespaces of a snapshot always exist.
    pub fn namespace(mut self, name: &str) -> Self {
        self.namespaces.push(name.to_owned());
        self
    }

    /// Adds ready nodes: `node-0` and so on, in three zones.
    pub fn nodes(self, count: usize) -> Self {
        Self { nodes: count, ..self }
    }

    /// Adds a user.
    pub fn user(mut self, user: User) -> Self {
        self.users.add(user);
        self
    }

    /// Builds the cluster.
    pub fn build(self) -> SimCluster {
        let mut store = Store::new(self.clock, self.finalization, self.history, self.seed);
        if self.without_managed_fields {
            store.stop_attributing();
        }
        if self.max_unavailable_stateful_set {
            store.allow_max_unavailable_stateful_set();
        }
        if let Some(release) = self.kruise {
            store.serve_kruise(release);
        }
        let inhabited = self.objects.iter().map(|(_, value)| object::namespace(value).to_owned());
        let namespaces: Vec<String> =
            self.namespaces.into_iter().chain(inhabited).filter(|name| !name.is_empty()).collect();
        for (resource, value) in self.objects {
            store.restore(resource, value);
        }
        let author = Author::new("simcluster");
        for name in namespaces {
            if store.get(&Key::new(&NAMESPACES, "", &name)).is_none() {
                let made = store.create(&NAMESPACES, "", json!({ "metadata": { "name": name, "labels": { "kubernetes.io/metadata.name": name } } }), &author);
                debug_assert!(made.is_ok(), "{made:?}");
            }
        }
        for index in 0..self.nodes {
            let made = store.create(&NODES, "", node(index), &author);
            debug_assert!(made.is_ok(), "{made:?}");
        }
        SimCluster { shared: Arc::new(Shared::new(store, self.users)) }
    }
}

fn node(index: usize) -> Value {
    let name = format!("node-{index}");
    let zone = format!("z{}", index % 3);
    let capacity = json!({ "cpu": "64", "memory": "256Gi", "pods": "5000", "ephemeral-storage": "1Ti" });
    json!({
        "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "topology.kubernetes.io/zone": zone } },
        "spec": {},
        "status": {
            "capacity": capacity, "allocatable": capacity, "nodeInfo": { "kubeletVersion": "v1.36.2" },
            "conditions": [{ "type": "Ready", "status": "True", "reason": "KubeletReady" }],
        },
    })
}
