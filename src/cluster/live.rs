//! A live cluster, reached over the network.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::connection::{ApiRequest, ApiResponse, Connection, RequestError};
use super::notice::Listener;
use super::observe::{Observer, WatchedScope};
use super::served_versions::{Discovery, group_path, is_fixed, not_served, percent_encoded};
use super::write::{WriteFailure, WriteOptions};
use crate::cluster::access::Overrides;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::patch::Patch;
use crate::model::api::resource_type::{POD, ResourceType};
use crate::model::cause::container_logs::{LogRef, last_lines};
use crate::model::kind;
use crate::model::kind::Workload;
use crate::world::{Clock, World};

/// The limit of the bytes that are read of a log. The runtime stores lines in parts of up to 16 KiB, which count as lines.
const LOG_LIMIT_BYTES: usize = 1 << 20;

/// The limit for reading a log. The rollout has failed already when a log is read.
const LOG_TIMEOUT: Duration = Duration::from_secs(5);

/// A live cluster, reached over the network. Clones share the connection.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub(super) connection: Arc<Connection>,
}

impl Cluster {
    /// Chooses the API server and the credentials. It sends no request.
    ///
    /// # Errors
    /// A usage or file error when the kubeconfig and the flags do not select a server and a user.
    pub fn open(overrides: &Overrides, world: &World, listener: Listener) -> Result<Self> {
        Ok(Self { connection: Arc::new(Connection::open(overrides, world, listener)?) })
    }

    /// Creates a cluster that is reached through a client of the caller, in the same process. `seed` decides the random
    /// part of the pauses before retries.
    #[must_use]
    pub fn in_process(client: kube::Client, clock: Clock, seed: u64, listener: Listener) -> Self {
        Self { connection: Arc::new(Connection::in_process(client, clock, seed, listener)) }
    }

    /// Returns a kubeconfig with the server and the credential of this connection, for another program. It holds
    /// secrets.
    ///
    /// # Errors
    /// When no credential can be obtained.
    pub async fn kubeconfig(&self) -> Result<Value> {
        self.connection.kubeconfig().await
    }

    /// Returns the server's time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.connection.now()
    }

    /// Starts to watch workloads, from the state in which they were found.
    #[must_use]
    pub fn observe(&self, found: &[Workload]) -> Observer {
        Observer::of_found(Arc::clone(&self.connection), found)
    }

    /// Starts to watch the workloads of a scope.
    #[must_use]
    pub fn observe_scope(&self, scope: WatchedScope) -> Observer {
        Observer::of_scope(Arc::clone(&self.connection), scope)
    }

    /// Returns the last `lines` lines of a container's log as [`last_lines`] shortens them. The API server cuts the log
    /// from the first of these lines on, so it is asked for more than is returned.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn log_tail(&self, namespace: &str, place: &LogRef, lines: usize) -> Result<Vec<String>> {
        let pod = self.connection.served.object(&POD, Some(namespace), &place.pod);
        let (container, previous) = (percent_encoded(&place.container), place.previous);
        let path = format!(
            "{pod}/log?container={container}&previous={previous}&tailLines={lines}&limitBytes={LOG_LIMIT_BYTES}"
        );
        let read = async {
            let stream = self.connection.stream(&path).await?;
            stream.read_to_limit(LOG_LIMIT_BYTES, Instant::now() + LOG_TIMEOUT).await
        };
        let bytes = read.await.map_err(|failure| self.explain(&POD, failure))?;
        let text = String::from_utf8_lossy(&bytes);
        if is_missing_log(&text) {
            return Ok(Vec::new());
        }
        Ok(last_lines(&text))
    }

    /// Patches one object with one request.
    ///
    /// # Errors
    /// When the patch was not applied, or the outcome is unknown.
    pub async fn patch(
        &self,
        type_: &ResourceType,
        namespace: &str,
        name: &str,
        patch: &Patch,
        options: WriteOptions<'_>,
    ) -> Result<Object, WriteFailure> {
        let dry_run = if options.dry_run { "&dryRun=All" } else { "" };
        let object = self.connection.served.object(type_, Some(namespace), name);
        let url = format!("{object}?fieldManager={}{dry_run}", percent_encoded(options.field_manager));
        let response = self.connection.write(&ApiRequest::json_patch(&url, patch.body())).await;
        let response = response.map_err(|failure| self.write_failure(failure))?;
        Object::read(response.json()).map_err(WriteFailure::without_object)
    }

    /// Deletes one object with one request, on the precondition that it has this uid.
    ///
    /// # Errors
    /// When the object was not deleted, or the outcome is unknown.
    pub async fn delete(
        &self,
        type_: &ResourceType,
        namespace: &str,
        name: &str,
        uid: &str,
    ) -> Result<(), WriteFailure> {
        let path = self.connection.served.object(type_, Some(namespace), name);
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}});
        let response = self.connection.write(&ApiRequest::delete(&path, options.to_string())).await;
        response.map(drop).map_err(|failure| self.write_failure(failure))
    }

    /// Evicts one pod with one request, on the precondition that it has this uid. A PodDisruptionBudget may
    /// refuse it.
    ///
    /// # Errors
    /// When the pod was not evicted, or the outcome is unknown.
    pub async fn evict(&self, namespace: &str, pod: &str, uid: &str) -> Result<(), WriteFailure> {
        let path = self.connection.served.object(&POD, Some(namespace), pod) + "/eviction";
        let eviction = json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace},
            "deleteOptions": {"preconditions": {"uid": uid}},
        });
        let response = self.connection.write(&ApiRequest::post(&path, eviction.to_string())).await;
        response.map(drop).map_err(|failure| self.write_failure(failure))
    }

    /// Checks that the server serves a type that is not Kubernetes' own. Sends at most one request for each command.
    ///
    /// # Errors
    /// When the server does not serve it, or cannot be asked.
    pub(super) async fn check_served(&self, type_: &ResourceType) -> Result<()> {
        if is_fixed(type_) {
            return Ok(());
        }
        let path = group_path(type_);
        let is_absent = |response: &ApiResponse| response.status == StatusCode::NOT_FOUND;
        let answer = async {
            match self.connection.read(&path, is_absent).await {
                Ok(response) if is_absent(&response) => Ok(Discovery::NoGroup),
                Ok(response) => Ok(Discovery::read(&response.json())),
                Err(failure) if failure.is_forbidden() => Ok(Discovery::Forbidden),
                Err(failure) => Err(failure),
            }
        };
        // On the heap, because it is a large future.
        match self.connection.served.has_group(Box::pin(answer)).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(not_served(type_)),
            Err(failure) => Err(self.explain(type_, failure)),
        }
    }

    fn write_failure(&self, failure: RequestError) -> WriteFailure {
        WriteFailure::of(failure, |failure| self.connection.explain(failure))
    }

    /// Explains a failure. A 403 for anything but a workload is of the kind `NotReadable`, since commands continue
    /// without those objects.
    pub(super) fn explain(&self, type_: &ResourceType, failure: RequestError) -> Error {
        if !is_fixed(type_) && failure.has_status(StatusCode::NOT_FOUND) {
            return not_served(type_);
        }
        let is_optional = failure.is_forbidden() && kind::of_type(type_).is_none();
        let error = self.connection.explain(failure);
        if !is_optional {
            return error;
        }
        let unreadable = Error::new(ErrorKind::NotReadable, format!("cannot read {}", type_.plural()))
            .caused_by(error.clone());
        match error.next_step() {
            Some(hint) => unreadable.hint(hint),
            None => unreadable,
        }
    }
}

/// Whether the text is a kubelet's message that the log is missing. The kubelet sends it with status 200 instead of the
/// log when the container was removed meanwhile (`pkg/kubelet/kuberuntime`, seen with 1.36).
fn is_missing_log(text: &str) -> bool {
    let answers = ["unable to retrieve container logs for ", "failed to try resolving symlinks in path "];
    text.lines().count() == 1 && answers.iter().any(|answer| text.starts_with(answer))
}
