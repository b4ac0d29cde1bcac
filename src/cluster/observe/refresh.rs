//! Reads everything about one target, independently of the watches.

use tokio::time::sleep;

use super::poll::unusable_list;
use super::shared::Shared;
use super::update::{ParsedObject, StoredObject};
use super::watched_target::WatchedTarget;
use crate::cluster::connection::{ApiResponse, RequestError, ResponseLimits, backoff_after};
use crate::cluster::page::{Pages, label_query};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{POD, ResourceType};
use crate::model::follow::TargetEvent;
use crate::model::revision::Revisions;
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;

/// Reads everything about a target, and retries until it succeeds.
pub(super) async fn refresh(shared: &Shared, watched: &WatchedTarget) -> TargetEvent {
    let mut tries = 0;
    loop {
        match refresh_once(shared, watched).await {
            Ok(event) => return event,
            Err(failure) => sleep(backoff_after(tries, &failure)).await,
        }
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
    async fn pause(&mut self, failure: RequestError) -> Result<(), RequestError> {
        if self.0 + 1 >= ATTEMPTS || failure.is_forbidden() {
            return Err(failure);
        }
        sleep(backoff_after(self.0, &failure)).await;
        self.0 += 1;
        Ok(())
    }
}

async fn refresh_once(shared: &Shared, watched: &WatchedTarget) -> Result<TargetEvent, RequestError> {
    let type_ = watched.kind.type_();
    let path = shared.connection.served.object(type_, Some(&watched.namespace), &watched.name);
    let mut attempts = Attempts::default();
    let response = loop {
        match shared.connection.read_once(&path, ApiResponse::is_not_found).await {
            Ok(response) => break response,
            Err(failure) => attempts.pause(failure).await?,
        }
    };
    if response.is_not_found() {
        return Ok(TargetEvent::Deleted);
    }
    let Some(workload) = Object::read(response.json()).ok().and_then(Workload::of) else {
        return Ok(TargetEvent::Deleted);
    };
    // After the workload, so that they are not older than it.
    let revisions = list_objects(shared, watched, watched.kind.revisions.type_());
    let (revisions, pods) = tokio::try_join!(biased; revisions, list_objects(shared, watched, &POD))?;
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

/// Lists the objects of a type that belong to a target; none when RBAC forbids it.
async fn list_objects(
    shared: &Shared,
    watched: &WatchedTarget,
    type_: &'static ResourceType,
) -> Result<Option<Vec<ParsedObject>>, RequestError> {
    let query =
        watched.selector.as_ref().map(|selector| label_query(&selector.to_query())).unwrap_or_default();
    let namespace = watched.namespace.as_str();
    let collection = shared.connection.served.collection(type_, Some(namespace));
    let mut pages = Pages::of(type_, &collection, &query);
    let mut limits = ResponseLimits::of_list();
    while let Some(path) = pages.next() {
        let is_expired = |response: &ApiResponse| pages.is_expired_page(response);
        let mut attempts = Attempts::default();
        let response = loop {
            match shared.connection.read_once_within(&mut limits, &path, is_expired).await {
                Ok(response) => break response,
                Err(failure) if failure.is_forbidden() => return Ok(None),
                Err(failure) => attempts.pause(failure).await?,
            }
        };
        let keep = |object| {
            let kept = StoredObject::of(object, type_, namespace, &shared.targets);
            kept.filter(|kept| kept.targets.contains(&watched.id)).map(|kept| kept.parsed)
        };
        pages.accept(&response, keep).map_err(unusable_list)?;
    }
    Ok(Some(pages.kept))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_is_tried_three_times_with_growing_pauses() {
        let failure = || RequestError::ReadTimeout(Duration::ZERO);
        let mut attempts = Attempts::default();
        let begun = Instant::now();
        assert!(attempts.pause(failure()).await.is_ok());
        let first = begun.elapsed();
        assert!(attempts.pause(failure()).await.is_ok());
        let second = begun.elapsed().saturating_sub(first);
        assert!(first <= Duration::from_millis(400) && second >= Duration::from_millis(400));
        assert!(attempts.pause(failure()).await.is_err());
    }
}
