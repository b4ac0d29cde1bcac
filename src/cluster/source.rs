//! Reads objects from a live cluster, reached over the network, or from a snapshot.

use std::sync::Arc;

use http::StatusCode;
use k8s_openapi::jiff::Timestamp;

use super::access::Access;
pub use super::connection::Cluster;
use super::connection::{ApiRequest, ApiResponse, Policy, RequestError};
use super::list::ListQuery;
use super::notice::Listener;
use super::served_versions::{is_fixed, not_served, read_plurals};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{NAMESPACE, ResourceType};
use crate::model::kind;
use crate::snapshot::Snapshot;
use crate::world::World;

/// The source of a context that the command names.
#[derive(Debug)]
pub struct ContextSource {
    /// The name of the context.
    pub name: String,
    /// The flags that choose it, for printed commands.
    pub flags: Option<String>,
    /// The source, or why there is none.
    pub source: Result<Source>,
}

/// Adds to an error the context that it is from.
#[must_use]
pub fn in_context(name: &str, error: Error) -> Error {
    // A kubectl command would run in the current context.
    let hint = error.hint_text().filter(|hint| !hint.starts_with("kubectl "));
    Error::new(error.kind(), format!("context {name}")).hint_if(hint).caused_by(error)
}

/// A source of objects.
#[derive(Debug)]
pub enum Source {
    /// A recorded snapshot.
    Snapshot(Snapshot),
    /// An API server.
    Cluster(Arc<Cluster>),
}

impl Source {
    /// Opens a snapshot or a connection to a cluster. It sends no request. `listener` receives the notices of
    /// later requests.
    ///
    /// # Errors
    /// When the snapshot cannot be read, or no cluster is configured.
    pub fn open(access: &Access, world: &mut World, listener: Listener) -> Result<Self> {
        if let Some(path) = &access.snapshot {
            return Ok(Self::Snapshot(Snapshot::read(path, &mut world.stdin)?));
        }
        Ok(Self::Cluster(Arc::new(Cluster::open(access, world, listener)?)))
    }

    /// Returns the default namespace.
    ///
    /// # Errors
    /// When a snapshot contains several namespaces and none is `default`.
    pub fn default_namespace(&self) -> Result<String> {
        match self {
            Self::Snapshot(snapshot) => snapshot.default_namespace().map(str::to_owned),
            Self::Cluster(cluster) => Ok(cluster.namespace().unwrap_or("default").to_owned()),
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

    /// Reads the version of the API server: `v1.36.2`.
    ///
    /// # Errors
    /// When it cannot be read, as of a snapshot.
    pub async fn version(&self) -> Result<String> {
        let cluster = self.writable()?;
        let sent = cluster.send(&ApiRequest::get("/version"), Policy::Retried, &mut None, |_| false).await;
        let response = sent.map_err(|failure| cluster.explain(&failure))?;
        let version = response.json()["gitVersion"].as_str().map(str::to_owned);
        version.ok_or_else(|| Error::new(ErrorKind::Malformed, "the server's response has no version"))
    }

    /// Returns the number of distinct warnings that the server sent.
    #[must_use]
    pub fn warnings(&self) -> usize {
        match self {
            Self::Snapshot(_) => 0,
            Self::Cluster(cluster) => cluster.warnings(),
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
        let path = cluster.served.object(type_, Some(namespace), name);
        let object = cluster.object(&ApiRequest::get(&path), Policy::Retried, type_, name).await;
        Ok(object.map_err(|failure| cluster.explain_reading(type_, &failure))?.ok())
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
        let path = cluster.served.object(type_, namespace, name);
        let object = cluster.object(&ApiRequest::metadata(&path), Policy::Retried, type_, name).await;
        let not_found = match object.map_err(|failure| cluster.explain_reading(type_, &failure))? {
            Ok(object) => return Ok(Some(object)),
            Err(not_found) => not_found,
        };
        if not_found.json()["details"]["name"] == name {
            return Ok(None);
        }
        // The server answers so to a path that it does not serve, in a version of another Kubernetes.
        Err(Error::new(ErrorKind::NotFound, format!("the server does not know {}", type_.plural)))
    }

    /// Whether a namespace exists. Returns true for a snapshot, and when RBAC forbids reading it.
    ///
    /// # Errors
    /// When the cluster cannot be reached.
    pub async fn has_namespace(&self, name: &str) -> Result<bool> {
        let Self::Cluster(cluster) = self else { return Ok(true) };
        let path = cluster.served.object(&NAMESPACE, None, name);
        let request = ApiRequest::get(&path);
        match cluster.send(&request, Policy::Retried, &mut None, ApiResponse::is_not_found).await {
            Ok(response) => Ok(!response.is_not_found()),
            Err(failure) if failure.is_forbidden() => Ok(true),
            Err(failure) => Err(cluster.explain(&failure)),
        }
    }

    /// Lists objects, and returns what `keep` makes of each. Only one page is in memory: 10,000 pods as JSON take hundreds
    /// of megabytes.
    ///
    /// # Errors
    /// When the objects cannot be read; of the kind `NotReadable` when a command can continue without them.
    pub async fn list<T>(&self, query: &ListQuery, keep: impl Fn(Object) -> Option<T>) -> Result<Vec<T>> {
        let cluster = match self {
            Self::Snapshot(snapshot) => {
                let namespace = query.namespace.as_deref();
                let kept = snapshot.list_as(query.type_, namespace, &query.labels, keep)?;
                return Ok(kept.into_iter().flatten().collect());
            }
            Self::Cluster(cluster) => cluster,
        };
        cluster.check_served(query.type_).await?;
        let listed = query.read(Policy::Retried, cluster, keep).await;
        listed.map(|(kept, _)| kept).map_err(|failure| cluster.explain_reading(query.type_, &failure))
    }

    /// Returns the cluster for a write.
    ///
    /// # Errors
    /// For a snapshot, which cannot be changed.
    pub fn writable(&self) -> Result<&Arc<Cluster>> {
        match self {
            Self::Snapshot(_) => Err(Error::new(ErrorKind::Refused, "a snapshot cannot be changed")
                .hint("to see the change: add --dry-run=client")),
            Self::Cluster(cluster) => Ok(cluster),
        }
    }
}

impl Cluster {
    /// Checks that the server serves a type that is not Kubernetes' own. A command sends one request for all of them.
    ///
    /// # Errors
    /// When the server does not serve it, or cannot be asked.
    async fn check_served(&self, type_: &ResourceType) -> Result<()> {
        if is_fixed(type_) {
            return Ok(());
        }
        let path = format!("/apis/{}", type_.api_version()); // the resources in the preferred version
        let is_absent = |response: &ApiResponse| response.status == StatusCode::NOT_FOUND;
        let answer = async {
            match self.send(&ApiRequest::get(&path), Policy::Retried, &mut None, is_absent).await {
                Ok(response) if is_absent(&response) => Ok(None),
                Ok(response) => Ok(Some(read_plurals(&response.json()))),
                Err(failure) if failure.is_forbidden() => Ok(Some(Vec::new())),
                Err(failure) => Err(failure),
            }
        };
        // On the heap, because it is a large future.
        match self.served.has_group(Box::pin(answer)).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(not_served(type_)),
            Err(failure) => Err(self.explain_reading(type_, &failure)),
        }
    }

    /// Requests an object, or its metadata. Returns the response if it does not exist.
    ///
    /// # Errors
    /// Also when another object is the response, as that of a proxy may be: it shows nothing of this one.
    pub(super) async fn object(
        &self,
        request: &ApiRequest<'_>,
        policy: Policy,
        type_: &ResourceType,
        name: &str,
    ) -> Result<Result<Object, ApiResponse>, RequestError> {
        let response = self.send(request, policy, &mut None, ApiResponse::is_not_found).await?;
        if response.is_not_found() {
            return Ok(Err(response));
        }
        read_object(&response, name, &[type_.kind, "PartialObjectMetadata"]).map(Ok).map_err(|why| {
            let message = format!("the server's response for {} {name:?} {why}", type_.singular);
            RequestError::Unusable(Error::new(ErrorKind::Malformed, message))
        })
    }

    /// Explains a failure. A 403 for anything but a workload is of the kind `NotReadable`, since commands continue
    /// without those objects.
    pub(super) fn explain_reading(&self, type_: &ResourceType, failure: &RequestError) -> Error {
        if !is_fixed(type_) && failure.has_status(StatusCode::NOT_FOUND) {
            return not_served(type_);
        }
        let is_optional = failure.is_forbidden() && kind::of_type(type_).is_none();
        let error = self.explain(failure);
        if !is_optional {
            return error;
        }
        Error::new(ErrorKind::NotReadable, format!("cannot read {}", type_.plural))
            .hint_if(error.hint_text())
            .caused_by(error)
    }
}

/// Reads an object of this name and one of these kinds from a response.
///
/// # Errors
/// The rest of a sentence about the response: it has no object, or another one, as that of a proxy may be.
pub(super) fn read_object(
    response: &ApiResponse,
    name: &str,
    kinds: &[&str],
) -> Result<Object, &'static str> {
    let object = Object::read(response.json())?;
    let is_it = object.name() == name && kinds.contains(&object.kind());
    if is_it { Ok(object) } else { Err("is another object") }
}
