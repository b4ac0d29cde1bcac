//! Reads everything about one target, independently of the watches.

use tokio::time::{Instant, sleep};

use super::outage::ReaderId;
use super::poll::unusable_list;
use super::reflector::REFUSAL_GRACE;
use super::shared::Shared;
use super::update::{ParsedObject, StoredObject};
use super::watched_target::WatchedTarget;
use crate::cluster::connection::{ApiRequest, ApiResponse, Backoff, Policy, RequestError};
use crate::cluster::page::{Pages, label_query};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{POD, ResourceType};
use crate::model::follow::TargetEvent;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::Revisions;

/// Reads everything about a target, and retries until it succeeds. A refusal that lasts for [`REFUSAL_GRACE`] makes
/// the target unreadable.
pub(super) async fn refresh(shared: &Shared, watched: &WatchedTarget) -> TargetEvent {
    let reader = ReaderId::Refresh(watched.id);
    let mut refused_since = None;
    let mut tries = 0;
    loop {
        let begun = Instant::now();
        let failure = match refresh_once(shared, watched).await {
            Ok(event) => {
                shared.outage.record_success(reader);
                return event;
            }
            Err(failure) => failure,
        };
        refused_since = failure.is_refused().then(|| refused_since.unwrap_or(begun));
        if refused_since.is_some_and(|since| since.elapsed() >= REFUSAL_GRACE) {
            shared.outage.forget(reader);
            return TargetEvent::Unreadable(shared.connection.explain(failure));
        }
        shared.outage.record_failure(reader, watched.kind.type_().plural(), &failure);
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

async fn refresh_once(shared: &Shared, watched: &WatchedTarget) -> Result<TargetEvent, RequestError> {
    let Some(workload) = read_workload(shared, watched).await? else {
        return Ok(TargetEvent::Deleted);
    };
    let query =
        watched.selector.as_ref().map(|selector| label_query(&selector.to_query())).unwrap_or_default();
    // After the workload, so that they are not older than it.
    let revisions = list_objects(shared, watched, watched.kind.revisions().type_(), &query);
    let (revisions, pods) = tokio::try_join!(biased; revisions, list_objects(shared, watched, &POD, &query))?;
    let revisions = revisions.into_iter().flatten().filter_map(|parsed| match parsed {
        ParsedObject::Revision(revision) => Some(revision),
        _ => None,
    });
    let revisions = Revisions::among(&workload, revisions);
    let pods = pods.map(|pods| {
        let pods = pods.into_iter().filter_map(|parsed| match parsed {
            ParsedObject::Pod(pod) => Some(pod),
            _ => None,
        });
        pods.collect()
    });
    Ok(TargetEvent::Refreshed(Box::new(Observation { workload, revisions, pods, events: None })))
}

/// Reads the workload of a target; none when it does not exist. When RBAC forbids to get it, lists it by its name.
async fn read_workload(shared: &Shared, watched: &WatchedTarget) -> Result<Option<Workload>, RequestError> {
    let type_ = watched.kind.type_();
    let path = shared.connection.served.object(type_, Some(&watched.namespace), &watched.name);
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
    let listed = list_objects(shared, watched, type_, &watched.name_query()).await?.ok_or(forbidden)?;
    Ok(listed.into_iter().find_map(|parsed| match parsed {
        ParsedObject::Workload(workload) => Some(*workload),
        _ => None,
    }))
}

/// Lists the objects of a type that belong to a target; none when RBAC forbids it.
async fn list_objects(
    shared: &Shared,
    watched: &WatchedTarget,
    type_: &'static ResourceType,
    query: &str,
) -> Result<Option<Vec<ParsedObject>>, RequestError> {
    let namespace = watched.namespace.as_str();
    let collection = shared.connection.served.collection(type_, Some(namespace));
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
        let keep = |object| {
            let kept = StoredObject::of(object, type_, namespace, &shared.targets);
            kept.filter(|kept| kept.targets.contains(&watched.id)).map(|kept| kept.parsed)
        };
        pages.accept(&response, keep).map_err(unusable_list)?;
    }
    Ok(Some(pages.finish().0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_is_tried_three_times_with_growing_pauses() {
        let failure = || RequestError::ReadTimeout(Duration::ZERO);
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
