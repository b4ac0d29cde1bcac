//! A cluster that is asked over the network.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::json;
use tokio::time::Instant;

use super::connection::{Answer, Ask, Connection, Failure};
use super::listener::Listener;
use super::observe::{Breadth, Observer};
use super::page::{Pages, label_query, percent_encoded, warning_query};
use super::write::{WriteFailure, WriteOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::model::access::Overrides;
use crate::model::event::Event;
use crate::model::follow::LogPlace;
use crate::model::kind::Kind;
use crate::model::object::Object;
use crate::model::patch::Patch;
use crate::model::resource_type::{EVENT, NAMESPACE, POD, ResourceType};
use crate::model::selector::Selector;
use crate::model::workload::Workload;
use crate::world::{Clock, World};

/// More of a log than this is not read, however long its lines are.
const LONGEST_LOG: usize = 8 << 10;

/// Who waits for a log waits for a rollout that has failed already.
const LOG_PATIENCE: Duration = Duration::from_secs(5);

/// A cluster that is asked over the network.
/// Clones share one way there.
#[derive(Clone, Debug)]
pub struct Cluster {
    connection: Arc<Connection>,
}

impl Cluster {
    /// Decides where the cluster is and who we are; the first request is the first that is sent.
    ///
    /// # Errors
    /// When the kubeconfig and the flags do not make a whole.
    pub fn open(overrides: &Overrides, world: &World, listener: Listener) -> Result<Self> {
        Ok(Self { connection: Arc::new(Connection::open(overrides, world, listener)?) })
    }

    /// A cluster that is asked through a client that somebody else made: one in the same process.
    #[must_use]
    pub fn through(client: kube::Client, clock: Clock, listener: Listener) -> Self {
        Self { connection: Arc::new(Connection::through(client, clock, listener)) }
    }

    /// The namespace meant when none is named.
    #[must_use]
    pub fn default_namespace(&self) -> &str {
        self.connection.namespace().unwrap_or("default")
    }

    /// The server's time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.connection.now()
    }

    /// How many different warnings the server sent.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.connection.warnings()
    }

    /// One object, if it is there: one request.
    ///
    /// # Errors
    /// When the server cannot be asked or says no.
    pub async fn get(&self, type_: &ResourceType, namespace: &str, name: &str) -> Result<Option<Object>> {
        let path = format!("{}/{}", collection(type_, Some(namespace)), percent_encoded(name));
        let answer = self.connection.read(&path, is_not_found).await;
        let answer = answer.map_err(|failure| self.explain(type_, failure))?;
        if is_not_found(&answer) {
            return Ok(None);
        }
        let object = Object::read(answer.json());
        object.map(Some).map_err(|why| {
            Error::new(
                ErrorKind::Malformed,
                format!("what the server has for {} {name:?} {why}", type_.singular()),
            )
        })
    }

    /// Whether a namespace is there. Who may not look is told that it is.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn has_namespace(&self, name: &str) -> Result<bool> {
        let path = format!("{}/{}", collection(&NAMESPACE, None), percent_encoded(name));
        match self.connection.read(&path, is_not_found).await {
            Ok(answer) => Ok(!is_not_found(&answer)),
            Err(failure) if failure.is_forbidden() => Ok(true),
            Err(failure) => Err(self.connection.explain(failure)),
        }
    }

    /// The objects of a type in one namespace, or in all of them, with everything in them.
    ///
    /// # Errors
    /// When the server cannot be asked or says no.
    pub async fn list(
        &self,
        type_: &ResourceType,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Object>> {
        let (collection, query) = (collection(type_, namespace), label_query(&selector.to_query()));
        self.read_all(Pages::of(type_, &collection, &query).whole(), type_, |object| object).await
    }

    /// What `keep` makes of the objects of a type, read a page at a time. Of what is not a workload, nobody
    /// is told who wrote which field.
    ///
    /// # Errors
    /// When the server cannot be asked or says no.
    pub async fn list_as<T>(
        &self,
        type_: &ResourceType,
        namespace: Option<&str>,
        selector: &Selector,
        keep: impl Fn(Object) -> T,
    ) -> Result<Vec<T>> {
        let (collection, query) = (collection(type_, namespace), label_query(&selector.to_query()));
        self.read_all(Pages::of(type_, &collection, &query), type_, keep).await
    }

    /// The warnings in one namespace, or in all of them. The server picks them out of the events, of which
    /// most only tell what was done.
    ///
    /// # Errors
    /// When the server cannot be asked or says no.
    pub async fn list_warnings(&self, namespace: Option<&str>) -> Result<Vec<Event>> {
        let (collection, query) = (collection(&EVENT, namespace), warning_query());
        let pages = Pages::of(&EVENT, &collection, &query);
        let warnings = self.read_all(pages, &EVENT, |event| Event::read(&event)).await?;
        Ok(warnings.into_iter().flatten().collect())
    }

    async fn read_all<T>(
        &self,
        mut pages: Pages<'_, T>,
        type_: &ResourceType,
        keep: impl Fn(Object) -> T,
    ) -> Result<Vec<T>> {
        while let Some(path) = pages.next() {
            let answer = self.connection.read(&path, |answer| pages.may_begin_anew(answer)).await;
            let answer = answer.map_err(|failure| self.explain(type_, failure))?;
            if !pages.take(&answer, |object| Some(keep(object))) {
                return Err(no_list(type_));
            }
        }
        Ok(pages.kept)
    }

    /// Begins to watch workloads as they were found.
    #[must_use]
    pub fn observe(&self, found: &[Workload], breadth: Breadth) -> Observer {
        Observer::new(Arc::clone(&self.connection), found, breadth)
    }

    /// The last lines of a container, so many at most and bounded in length: what a person wants to see
    /// of a crash.
    ///
    /// # Errors
    /// When there are none, or they may not be read.
    pub async fn last_lines(&self, namespace: &str, place: &LogPlace, lines: usize) -> Result<Vec<String>> {
        let pod = format!("{}/{}", collection(&POD, Some(namespace)), percent_encoded(&place.pod));
        let (container, previous) = (percent_encoded(&place.container), place.previous);
        let path = format!(
            "{pod}/log?container={container}&previous={previous}&tailLines={lines}&limitBytes={LONGEST_LOG}"
        );
        let read = async {
            let stream = self.connection.stream(&path).await?;
            stream.all(LONGEST_LOG, Instant::now() + LOG_PATIENCE).await
        };
        let bytes = read.await.map_err(|failure| self.explain(&POD, failure))?;
        Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
    }

    /// Makes one change of one object: one request.
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
        let dry_run = if options.dry_run { "&dryRun=All" } else { "" };
        let address = format!(
            "{}/{}?fieldManager={}{dry_run}",
            collection(type_, Some(namespace)),
            percent_encoded(name),
            percent_encoded(options.field_manager)
        );
        let answer = self.connection.write(&Ask::json_patch(&address, patch.body())).await;
        let answer = answer.map_err(|failure| self.not_written(failure))?;
        Object::read(answer.json()).map_err(WriteFailure::of_no_object)
    }

    /// Deletes one object, if it is still the one with this uid: one request.
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
        let path = format!("{}/{}", collection(type_, Some(namespace)), percent_encoded(name));
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}});
        let answer = self.connection.write(&Ask::delete(&path, options.to_string())).await;
        answer.map(drop).map_err(|failure| self.not_written(failure))
    }

    /// Evicts one pod, if it is still the one with this uid: one request. PodDisruptionBudgets may
    /// refuse that.
    ///
    /// # Errors
    /// When it was not evicted, or when nobody knows.
    pub async fn evict(&self, namespace: &str, pod: &str, uid: &str) -> Result<(), WriteFailure> {
        let path = format!("{}/{}/eviction", collection(&POD, Some(namespace)), percent_encoded(pod));
        let eviction = json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace},
            "deleteOptions": {"preconditions": {"uid": uid}},
        });
        let answer = self.connection.write(&Ask::post(&path, eviction.to_string())).await;
        answer.map(drop).map_err(|failure| self.not_written(failure))
    }

    fn not_written(&self, failure: Failure) -> WriteFailure {
        WriteFailure::of(failure, |failure| self.connection.explain(failure))
    }

    /// What lies beside the workloads can be done without; the workloads themselves cannot.
    fn explain(&self, type_: &ResourceType, failure: Failure) -> Error {
        let is_withheld = failure.is_forbidden() && Kind::of(type_.title()).is_none();
        let error = self.connection.explain(failure);
        if !is_withheld {
            return error;
        }
        let withheld = Error::new(ErrorKind::Withheld, format!("{} may not be read", type_.plural()))
            .caused_by(error.sentence())
            .in_compat(error.compat_sentence());
        match error.next_step() {
            Some(hint) => withheld.hint(hint),
            None => withheld,
        }
    }
}

/// `/apis/apps/v1/namespaces/shop/deployments`. The versions that we know are all `v1`: no discovery.
pub(super) fn collection(type_: &ResourceType, namespace: Option<&str>) -> String {
    let group = if type_.group().is_empty() { "/api".to_owned() } else { format!("/apis/{}", type_.group()) };
    let within =
        namespace.map_or_else(String::new, |namespace| format!("/namespaces/{}", percent_encoded(namespace)));
    format!("{group}/v1{within}/{}", type_.plural())
}

pub(super) fn is_not_found(answer: &Answer) -> bool {
    answer.is_no("NotFound")
}

pub(super) fn no_list(type_: &ResourceType) -> Error {
    Error::new(ErrorKind::Malformed, format!("the server's list of {} is no list", type_.plural()))
}
