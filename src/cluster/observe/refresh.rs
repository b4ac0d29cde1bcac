//! Reads everything about one target, independently of the watches.

use tokio::time::{Instant, sleep};

use super::collection::Refresh;
use super::outage::ReaderId;
use super::reflector::{REFUSAL_GRACE, unusable_list};
use super::wanted::{Shared, name_query};
use crate::cluster::connection::{ApiRequest, ApiResponse, Backoff, Policy, RequestError};
use crate::cluster::page::{Pages, label_query};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{POD, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::follow::TargetId;
use crate::model::kind::Workload;

/// Reads everything about a workload that was found, and retries until it succeeds. A refusal that lasts for
/// [`REFUSAL_GRACE`] makes the target unreadable.
pub(super) async fn refresh(shared: &Shared, target: TargetId, found: &Workload) -> Refresh {
    let reader = ReaderId::Refresh(target);
    let mut refused_since = None;
    let mut tries = 0;
    loop {
        let begun = Instant::now();
        let failure = match refresh_once(shared, found).await {
            Ok(event) => {
                shared.outage.record_success(reader);
                return event;
            }
            Err(failure) => failure,
        };
        refused_since = failure.is_refused().then(|| refused_since.unwrap_or(begun));
        if refused_since.is_some_and(|since| since.elapsed() >= REFUSAL_GRACE) {
            shared.outage.forget(reader);
            return Refresh::Unreadable(shared.connection.explain(failure));
        }
        shared.outage.record_failure(reader, found.kind().type_().plural(), &failure);
        sleep(shared.connection.backoff.after(tries, &failure)).await;
        tries += 1;
    }
}

/// How often one request of a refresh is tried before the refresh starts again.
const ATTEMPTS: u32 = 3;

/// The attempts of one request. If a server fails every third request, every refresh as a whole would fail.
#[derive(Default)]
struct Attempts(u32);

impl Attempts {
    /// Waits before the next attempt; an error if there is none.
    async fn pause(&mut self, failure: RequestError, backoff: &Backoff) -> Result<(), RequestError> {
        if self.0 + 1 >= ATTEMPTS {
            return Err(failure);
        }
        sleep(backoff.after(self.0, &failure)).await;
        self.0 += 1;
        Ok(())
    }
}

async fn refresh_once(shared: &Shared, found: &Workload) -> Result<Refresh, RequestError> {
    let Some(workload) = read_workload(shared, found).await? else {
        return Ok(Refresh::Deleted);
    };
    let selector = Selector::of_workload(found.object()).ok();
    let query = selector.map(|selector| label_query(&selector.to_query())).unwrap_or_default();
    let revision = found.kind().revisions().type_();
    // After the workload, so that they are not older than it.
    let revisions = list(shared, found, revision, &query, |one| shared.wanted.stored(one, revision));
    let pods = list(shared, found, &POD, &query, |pod| shared.wanted.stored(pod, &POD));
    let (revisions, pods) = tokio::try_join!(biased; revisions, pods)?;
    Ok(Refresh::Read { workload, revisions: revisions.unwrap_or_default(), pods })
}

/// Reads a workload; none when it does not exist. When RBAC forbids to get it, lists it by its name.
async fn read_workload(shared: &Shared, found: &Workload) -> Result<Option<Workload>, RequestError> {
    let type_ = found.kind().type_();
    let path = shared.connection.served.object(type_, Some(found.object().namespace()), found.name());
    let mut attempts = Attempts::default();
    let forbidden = loop {
        let request = ApiRequest::get(&path);
        match shared.connection.send(&request, Policy::Quiet, &mut None, ApiResponse::is_not_found).await {
            Ok(response) if response.is_not_found() => return Ok(None),
            Ok(response) => return Ok(Object::read(response.json()).ok().and_then(Workload::of)),
            Err(failure) if failure.is_forbidden() => break failure,
            Err(failure) => attempts.pause(failure, &shared.connection.backoff).await?,
        }
    };
    let is_it = |object: &Object| object.name() == found.name();
    let workload = |object| Some(object).filter(is_it).and_then(Workload::of);
    let listed = list(shared, found, type_, &name_query(found), workload).await?.ok_or(forbidden)?;
    Ok(listed.into_iter().next())
}

/// Lists objects in the namespace of a workload, and returns what `keep` makes of each; none when RBAC forbids it.
async fn list<T>(
    shared: &Shared,
    found: &Workload,
    type_: &'static ResourceType,
    query: &str,
    keep: impl Fn(Object) -> Option<T>,
) -> Result<Option<Vec<T>>, RequestError> {
    let collection = shared.connection.served.collection(type_, Some(found.object().namespace()));
    let mut pages = Pages::of(type_, &collection, query, &shared.connection.memory);
    let mut deadline = None;
    while let Some(path) = pages.next() {
        let is_expired = |response: &ApiResponse| pages.is_expired_page(response);
        let mut attempts = Attempts::default();
        let response = loop {
            let request = ApiRequest::get(&path);
            match shared.connection.send(&request, Policy::Quiet, &mut deadline, is_expired).await {
                Ok(response) => break response,
                Err(failure) if failure.is_forbidden() => return Ok(None),
                Err(failure) => attempts.pause(failure, &shared.connection.backoff).await?,
            }
        };
        pages.accept(&response, &keep).map_err(unusable_list)?;
    }
    Ok(Some(pages.finish().0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cluster::connection::NoResponse;
    use crate::error::{Error, ErrorKind};

    #[tokio::test(start_paused = true)]
    async fn a_request_is_tried_three_times_with_growing_pauses() {
        let lost = NoResponse::after_sending("lost", Error::new(ErrorKind::Unreachable, "lost")).transient();
        let failure = || RequestError::NoResponse(lost.clone());
        let (mut attempts, backoff) = (Attempts::default(), Backoff::random());
        let begun = Instant::now();
        assert!(attempts.pause(failure(), &backoff).await.is_ok());
        let first = begun.elapsed();
        assert!(attempts.pause(failure(), &backoff).await.is_ok());
        let second = begun.elapsed().saturating_sub(first);
        assert!(first <= Duration::from_millis(400) && second >= Duration::from_millis(400));
        assert!(attempts.pause(failure(), &backoff).await.is_err());
    }
}
