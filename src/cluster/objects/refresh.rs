//! Reads everything about one target again, independently of the watches.

use std::sync::Arc;

use super::facts::{Refresh, Wanted, narrow_query};
use super::outage::{Attempts, Outage};
use crate::cluster::connection::{ApiRequest, Cluster, Policy, RequestError};
use crate::error::Result;
use crate::model::api::object::Object;
use crate::model::api::resource_type::{POD, ResourceType};
use crate::model::kind::Workload;

/// What all reads of an observer share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) cluster: Arc<Cluster>,
    pub(super) wanted: Wanted,
    pub(super) outage: Arc<Outage>,
}

impl Shared {
    /// Gets a workload as it is now; none if it does not exist.
    pub(super) async fn get(&self, found: &Workload, policy: Policy) -> Result<Option<Object>, RequestError> {
        let (type_, namespace) = (found.kind().type_(), found.object().namespace());
        let path = self.cluster.served.object(type_, Some(namespace), found.name());
        Ok(self.cluster.object(&ApiRequest::get(&path), policy, type_, found.name()).await?.ok())
    }

    /// Reads everything about a workload that was found, and retries until it succeeds, or is refused
    /// for long.
    pub(super) async fn refresh(&self, found: &Workload) -> Result<Option<Refresh>> {
        let mut attempts = Attempts::new(found.kind().type_(), &self.outage);
        loop {
            let failure = match self.refresh_once(found, &mut attempts).await {
                Ok(refresh) => {
                    attempts.succeed();
                    return Ok(refresh);
                }
                Err(failure) => failure,
            };
            if let Err(failure) = attempts.fail(failure, false).await {
                attempts.give_up();
                return Err(self.cluster.explain(&failure));
            }
        }
    }

    /// Reads everything once; none when the workload does not exist.
    async fn refresh_once(
        &self,
        found: &Workload,
        attempts: &mut Attempts,
    ) -> Result<Option<Refresh>, RequestError> {
        let Some(workload) = self.read_workload(found).await? else { return Ok(None) };
        attempts.record_answer();
        // After the workload, so that they are not older than it.
        let owned = |type_| self.list(found, type_, move |object| self.wanted.facts(object, type_));
        let revisions = async {
            match found.kind().revisions().type_() {
                Some(store) => owned(store).await,
                None => Ok(None),
            }
        };
        let (revisions, pods) = tokio::try_join!(biased; revisions, owned(&POD))?;
        Ok(Some((workload, [revisions, pods])))
    }

    /// Reads a workload; none when it does not exist. When RBAC forbids to get it, lists it by its name.
    async fn read_workload(&self, found: &Workload) -> Result<Option<Workload>, RequestError> {
        let forbidden = match self.get(found, REFRESH_POLICY).await {
            Ok(object) => return Ok(object.and_then(Workload::of)),
            Err(failure) if failure.is_forbidden() => failure,
            Err(failure) => return Err(failure),
        };
        let is_it = |object: &Object| object.name() == found.name();
        let workload = |object| Some(object).filter(is_it).and_then(Workload::of);
        let (listed, _) = self.list(found, found.kind().type_(), workload).await?.ok_or(forbidden)?;
        Ok(listed.into_iter().next())
    }

    /// Lists the objects of a workload, and returns what `keep` makes of each and the resourceVersion of the list; none when
    /// RBAC forbids it.
    async fn list<T>(
        &self,
        found: &Workload,
        type_: &'static ResourceType,
        keep: impl Fn(Object) -> Option<T>,
    ) -> Result<Option<(Vec<T>, String)>, RequestError> {
        let query = narrow_query(type_, found.object().namespace(), &[found]);
        match query.read(REFRESH_POLICY, &self.cluster, keep).await {
            Ok(listed) => Ok(Some(listed)),
            Err(failure) if failure.is_forbidden() => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

/// How each request of a refresh is sent. If a server fails every third request, every refresh as a whole would fail without
/// more attempts.
const REFRESH_POLICY: Policy = Policy::Quiet { attempts: 3 };
