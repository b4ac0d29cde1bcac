//! Where objects come from: a snapshot or a cluster, just the same.

use k8s_openapi::jiff::Timestamp;

use super::listener::Listener;
use super::live::Cluster;
use super::snapshot::Snapshot;
use super::write::{WriteFailure, WriteOptions};
use crate::error::Result;
use crate::model::access::Access;
use crate::model::event::Event;
use crate::model::object::Object;
use crate::model::patch::Patch;
use crate::model::resource_type::{EVENT, ResourceType};
use crate::model::selector::Selector;
use crate::world::World;

/// Something that objects can be read from.
#[derive(Debug)]
pub enum Source {
    /// Recorded objects.
    Snapshot(Snapshot),
    /// An API server.
    Cluster(Box<Cluster>),
}

impl Source {
    /// Opens what was asked for. A cluster is not asked anything yet; `listener` hears of everything
    /// that happens on the way there.
    ///
    /// # Errors
    /// When a snapshot cannot be read, or nothing tells where the cluster is.
    pub fn open(access: &Access, world: &mut World, listener: Listener) -> Result<Self> {
        match &access.snapshot {
            Some(path) => Ok(Self::Snapshot(Snapshot::read(path, &mut world.stdin)?)),
            None => Ok(Self::Cluster(Box::new(Cluster::open(&access.overrides, world, listener)?))),
        }
    }

    /// The namespace meant when none is named.
    ///
    /// # Errors
    /// When nothing tells.
    pub fn default_namespace(&self) -> Result<String> {
        match self {
            Self::Snapshot(snapshot) => snapshot.default_namespace().map(str::to_owned),
            Self::Cluster(cluster) => Ok(cluster.default_namespace().to_owned()),
        }
    }

    /// Whether what is read from it changes.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::Snapshot(_))
    }

    /// The time by which ages are told.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match self {
            Self::Snapshot(snapshot) => snapshot.now(),
            Self::Cluster(cluster) => cluster.now(),
        }
    }

    /// How many different warnings the server sent.
    #[must_use]
    pub fn warnings(&self) -> usize {
        match self {
            Self::Snapshot(_) => 0,
            Self::Cluster(cluster) => cluster.warnings(),
        }
    }

    /// One object, if it is there.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn get(&self, type_: &ResourceType, namespace: &str, name: &str) -> Result<Option<Object>> {
        match self {
            Self::Snapshot(snapshot) => Ok(snapshot.get(type_, namespace, name)?.cloned()),
            Self::Cluster(cluster) => cluster.get(type_, namespace, name).await,
        }
    }

    /// Whether a namespace is there, as far as anybody can tell.
    ///
    /// # Errors
    /// When the cluster cannot be asked.
    pub async fn has_namespace(&self, name: &str) -> Result<bool> {
        match self {
            Self::Snapshot(_) => Ok(true),
            Self::Cluster(cluster) => cluster.has_namespace(name).await,
        }
    }

    /// The objects of a type in one namespace, or in all of them, with everything in them.
    ///
    /// # Errors
    /// When they cannot be read; of the kind `Withheld` when it is something that a command can do without.
    pub async fn list(
        &self,
        type_: &ResourceType,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Object>> {
        match self {
            Self::Snapshot(snapshot) => snapshot.list(type_, namespace, selector),
            Self::Cluster(cluster) => cluster.list(type_, namespace, selector).await,
        }
    }

    /// What `keep` makes of the objects of a type; who wrote which field is told of workloads alone. The
    /// objects themselves are dropped a page at a time: ten thousand pods as JSON would be hundreds of
    /// megabytes.
    ///
    /// # Errors
    /// As [`Source::list`].
    pub async fn list_as<T>(
        &self,
        type_: &ResourceType,
        namespace: Option<&str>,
        selector: &Selector,
        keep: impl Fn(Object) -> T,
    ) -> Result<Vec<T>> {
        match self {
            Self::Snapshot(snapshot) => {
                Ok(snapshot.list(type_, namespace, selector)?.into_iter().map(keep).collect())
            }
            Self::Cluster(cluster) => cluster.list_as(type_, namespace, selector, keep).await,
        }
    }

    /// The warnings in one namespace, or in all of them.
    ///
    /// # Errors
    /// As [`Source::list`].
    pub async fn list_warnings(&self, namespace: Option<&str>) -> Result<Vec<Event>> {
        match self {
            Self::Snapshot(snapshot) => {
                let events = snapshot.list(&EVENT, namespace, &Selector::default())?;
                Ok(events.iter().filter_map(Event::read).collect())
            }
            Self::Cluster(cluster) => cluster.list_warnings(namespace).await,
        }
    }

    /// Makes one change of one object, once: nothing is tried again.
    ///
    /// # Errors
    /// When it was not made, or when nobody knows.
    pub async fn patch(
        &self,
        type_: &ResourceType,
        namespace: &str,
        name: &str,
        patch: &Patch,
        options: WriteOptions<'_>,
    ) -> Result<Object, WriteFailure> {
        match self {
            Self::Snapshot(_) => Err(WriteFailure::of_a_snapshot()),
            Self::Cluster(cluster) => cluster.patch(type_, namespace, name, patch, options).await,
        }
    }

    /// Deletes one object, if it is still the one with this uid, once.
    ///
    /// # Errors
    /// When it was not deleted, or when nobody knows.
    pub async fn delete(
        &self,
        type_: &ResourceType,
        namespace: &str,
        name: &str,
        uid: &str,
    ) -> Result<(), WriteFailure> {
        match self {
            Self::Snapshot(_) => Err(WriteFailure::of_a_snapshot()),
            Self::Cluster(cluster) => cluster.delete(type_, namespace, name, uid).await,
        }
    }

    /// Evicts one pod, if it is still the one with this uid, once: PodDisruptionBudgets may refuse that.
    ///
    /// # Errors
    /// When it was not evicted, or when nobody knows.
    pub async fn evict(&self, namespace: &str, pod: &str, uid: &str) -> Result<(), WriteFailure> {
        match self {
            Self::Snapshot(_) => Err(WriteFailure::of_a_snapshot()),
            Self::Cluster(cluster) => cluster.evict(namespace, pod, uid).await,
        }
    }
}
