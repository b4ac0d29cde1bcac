//! The source of objects: a snapshot or a live cluster, behind one interface.

use k8s_openapi::jiff::Timestamp;

use super::list_query::ListQuery;
use super::live::Cluster;
use super::notice::Listener;
use crate::cluster::access::Access;
use crate::error::Result;
use crate::model::api::object::Object;
use crate::model::api::resource_type::ResourceType;
use crate::snapshot::Snapshot;
use crate::world::World;

/// A source of objects.
#[derive(Debug)]
pub enum Source {
    /// A recorded snapshot.
    Snapshot(Snapshot),
    /// An API server.
    Cluster(Box<Cluster>),
}

impl Source {
    /// Opens a snapshot or a connection to a cluster. It sends no request. `listener` receives the notices of
    /// later requests.
    ///
    /// # Errors
    /// When the snapshot cannot be read, or no cluster is configured.
    pub fn open(access: &Access, world: &mut World, listener: Listener) -> Result<Self> {
        match &access.snapshot {
            Some(path) => Ok(Self::Snapshot(Snapshot::read(path, &mut world.stdin)?)),
            None => Ok(Self::Cluster(Box::new(Cluster::open(&access.overrides, world, listener)?))),
        }
    }

    /// Returns the default namespace.
    ///
    /// # Errors
    /// When a snapshot contains several namespaces and none is `default`.
    pub fn default_namespace(&self) -> Result<String> {
        match self {
            Self::Snapshot(snapshot) => snapshot.default_namespace().map(str::to_owned),
            Self::Cluster(cluster) => Ok(cluster.default_namespace().to_owned()),
        }
    }

    /// Whether this is a live cluster, whose objects change.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::Snapshot(_))
    }

    /// Returns the time that ages are relative to: the server's, or the newest stamp of a snapshot.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match self {
            Self::Snapshot(snapshot) => snapshot.now(),
            Self::Cluster(cluster) => cluster.now(),
        }
    }

    /// Returns the number of distinct warnings that the server sent.
    #[must_use]
    pub fn warnings(&self) -> usize {
        match self {
            Self::Snapshot(_) => 0,
            Self::Cluster(cluster) => cluster.warnings(),
        }
    }

    /// Reads one object; none if it does not exist.
    ///
    /// # Errors
    /// When the object cannot be read.
    pub async fn get(&self, type_: &ResourceType, namespace: &str, name: &str) -> Result<Option<Object>> {
        match self {
            Self::Snapshot(snapshot) => snapshot.get(type_, namespace, name),
            Self::Cluster(cluster) => cluster.get(type_, namespace, name).await,
        }
    }

    /// Whether a namespace exists. Returns true for a snapshot, and when RBAC forbids reading it.
    ///
    /// # Errors
    /// When the cluster cannot be reached.
    pub async fn has_namespace(&self, name: &str) -> Result<bool> {
        match self {
            Self::Snapshot(_) => Ok(true),
            Self::Cluster(cluster) => cluster.has_namespace(name).await,
        }
    }

    /// Lists objects, and returns what `keep` makes of each. Only one page is in memory: 10,000 pods as JSON take hundreds of
    /// megabytes.
    ///
    /// # Errors
    /// When the objects cannot be read; of the kind `NotReadable` when a command can continue without them.
    pub async fn list<T>(&self, query: &ListQuery<'_>, keep: impl Fn(Object) -> Option<T>) -> Result<Vec<T>> {
        match self {
            Self::Snapshot(snapshot) => {
                let kept = snapshot.list_as(query.type_, query.namespace, &query.selector, keep)?;
                Ok(kept.into_iter().flatten().collect())
            }
            Self::Cluster(cluster) => cluster.list(query, keep).await,
        }
    }

    /// Reads the metadata of one object; none if it does not exist. No value is requested of a cluster.
    ///
    /// # Errors
    /// When the object cannot be read.
    pub async fn metadata(
        &self,
        type_: &ResourceType,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Object>> {
        match self {
            Self::Snapshot(snapshot) => snapshot.get(type_, namespace, name),
            Self::Cluster(cluster) => cluster.metadata(type_, namespace, name).await,
        }
    }

    /// Returns the cluster for a write; none for a snapshot, which cannot be changed.
    #[must_use]
    pub fn writable(&self) -> Option<&Cluster> {
        match self {
            Self::Snapshot(_) => None,
            Self::Cluster(cluster) => Some(cluster),
        }
    }
}
