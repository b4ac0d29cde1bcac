//! Reads objects from a snapshot or a live cluster.

use k8s_openapi::jiff::Timestamp;

use super::connection::{ApiRequest, ApiResponse, Policy};
use super::list_query::ListQuery;
use super::live::Cluster;
use super::notice::Listener;
use super::page::Pages;
use crate::cluster::access::Access;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{NAMESPACE, ResourceType};
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
            Self::Cluster(cluster) => Ok(cluster.connection.namespace().unwrap_or("default").to_owned()),
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
            Self::Cluster(cluster) => cluster.connection.warnings(),
        }
    }

    /// Reads one object with one request; none if it does not exist.
    ///
    /// # Errors
    /// When the object cannot be read.
    pub async fn get(&self, type_: &ResourceType, namespace: &str, name: &str) -> Result<Option<Object>> {
        let cluster = match self {
            Self::Snapshot(snapshot) => return snapshot.get(type_, namespace, name),
            Self::Cluster(cluster) => cluster,
        };
        cluster.check_served(type_).await?;
        let path = cluster.connection.served.object(type_, Some(namespace), name);
        let response = cluster.connection.read(&path, ApiResponse::is_not_found).await;
        let response = response.map_err(|failure| cluster.explain(type_, failure))?;
        if response.is_not_found() {
            return Ok(None);
        }
        Object::read(response.json()).map(Some).map_err(|why| unusable_object(type_, name, why))
    }

    /// Reads the metadata of one object; none if it does not exist. No value of a Secret or ConfigMap is requested of a
    /// cluster.
    ///
    /// # Errors
    /// When the object cannot be read.
    pub async fn metadata(
        &self,
        type_: &ResourceType,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Object>> {
        let cluster = match self {
            Self::Snapshot(snapshot) => return snapshot.get(type_, namespace, name),
            Self::Cluster(cluster) => cluster,
        };
        let namespace = Some(namespace).filter(|_| type_.is_namespaced());
        let path = cluster.connection.served.object(type_, namespace, name);
        let request = ApiRequest::metadata(&path);
        let response =
            cluster.connection.send(&request, Policy::Retried, &mut None, ApiResponse::is_not_found).await;
        let response = response.map_err(|failure| cluster.explain(type_, failure))?;
        if !response.is_not_found() {
            return Object::read(response.json()).map(Some).map_err(|why| unusable_object(type_, name, why));
        }
        if response.json()["details"]["name"] == name {
            return Ok(None);
        }
        // The server answers so to a path that it does not serve, in a version of another Kubernetes.
        Err(Error::new(ErrorKind::NotFound, format!("the server does not know {}", type_.plural())))
    }

    /// Whether a namespace exists. Returns true for a snapshot, and when RBAC forbids reading it.
    ///
    /// # Errors
    /// When the cluster cannot be reached.
    pub async fn has_namespace(&self, name: &str) -> Result<bool> {
        let Self::Cluster(cluster) = self else { return Ok(true) };
        let path = cluster.connection.served.object(&NAMESPACE, None, name);
        match cluster.connection.read(&path, ApiResponse::is_not_found).await {
            Ok(response) => Ok(!response.is_not_found()),
            Err(failure) if failure.is_forbidden() => Ok(true),
            Err(failure) => Err(cluster.connection.explain(failure)),
        }
    }

    /// Lists objects, and returns what `keep` makes of each. Only one page is in memory: 10,000 pods as JSON take hundreds of
    /// megabytes.
    ///
    /// # Errors
    /// When the objects cannot be read; of the kind `NotReadable` when a command can continue without them.
    pub async fn list<T>(&self, query: &ListQuery<'_>, keep: impl Fn(Object) -> Option<T>) -> Result<Vec<T>> {
        let type_ = query.type_;
        let cluster = match self {
            Self::Snapshot(snapshot) => {
                let kept = snapshot.list_as(type_, query.namespace, &query.selector, keep)?;
                return Ok(kept.into_iter().flatten().collect());
            }
            Self::Cluster(cluster) => cluster,
        };
        cluster.check_served(type_).await?;
        let collection = cluster.connection.served.collection(type_, query.namespace);
        let pages = Pages::of(type_, &collection, query.selectors(), query.form, &cluster.connection);
        let listed = pages.read(Policy::Retried, keep).await;
        listed.map(|(kept, _)| kept).map_err(|failure| cluster.explain(type_, failure))
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

fn unusable_object(type_: &ResourceType, name: &str, why: &str) -> Error {
    let message = format!("the server's response for {} {name:?} {why}", type_.singular());
    Error::new(ErrorKind::Malformed, message)
}
