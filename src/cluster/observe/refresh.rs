//! Reads everything about one target, independently of the watches.

use tokio::time::Instant;

use super::outage::Attempts;
use super::wanted::{Listed, Refresh, Shared, narrow_query};
use crate::cluster::connection::{Policy, RequestError};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{POD, ResourceType};
use crate::model::kind::Workload;

/// Reads everything about a workload that was found, and retries until it succeeds, or is refused
/// for long.
pub(super) async fn refresh(shared: &Shared, found: &Workload) -> Refresh {
    let mut attempts = Attempts::new(found.kind().type_(), &shared.outage);
    loop {
        let begun = Instant::now();
        let failure = match refresh_once(shared, found, &mut attempts).await {
            Ok(refresh) => {
                attempts.succeed();
                return refresh;
            }
            Err(failure) => failure,
        };
        if let Err(failure) = attempts.fail(begun, failure, false).await {
            attempts.give_up();
            return Refresh::Unreadable(shared.cluster.explain(&failure));
        }
    }
}

/// How each request of a refresh is sent. If a server fails every third request, every refresh as a whole would fail without
/// more attempts.
const POLICY: Policy = Policy::Quiet { attempts: 3 };

async fn refresh_once(
    shared: &Shared,
    found: &Workload,
    attempts: &mut Attempts,
) -> Result<Refresh, RequestError> {
    let Some(workload) = read_workload(shared, found).await? else {
        return Ok(Refresh::Deleted);
    };
    attempts.record_answer();
    // After the workload, so that they are not older than it.
    let owned = async |type_| {
        let listed = list(shared, found, type_, |object| shared.wanted.keyed(object, type_)).await;
        listed.map(|listed| listed.map(Listed::of))
    };
    let (revisions, pods) = tokio::try_join!(biased; owned(found.kind().revisions().type_()), owned(&POD))?;
    Ok(Refresh::Read { workload, revisions, pods })
}

/// Reads a workload; none when it does not exist. When RBAC forbids to get it, lists it by its name.
async fn read_workload(shared: &Shared, found: &Workload) -> Result<Option<Workload>, RequestError> {
    let forbidden = match shared.get(found, POLICY).await {
        Ok(object) => return Ok(object.and_then(Workload::of)),
        Err(failure) if failure.is_forbidden() => failure,
        Err(failure) => return Err(failure),
    };
    let is_it = |object: &Object| object.name() == found.name();
    let workload = |object| Some(object).filter(is_it).and_then(Workload::of);
    let (listed, _) = list(shared, found, found.kind().type_(), workload).await?.ok_or(forbidden)?;
    Ok(listed.into_iter().next())
}

/// Lists the objects of a workload, and returns what `keep` makes of each and the resourceVersion of the list; none when RBAC
/// forbids it.
async fn list<T>(
    shared: &Shared,
    found: &Workload,
    type_: &'static ResourceType,
    keep: impl Fn(Object) -> Option<T>,
) -> Result<Option<(Vec<T>, String)>, RequestError> {
    let query = narrow_query(type_, found.object().namespace(), &[found]);
    match query.read(POLICY, &shared.cluster, keep).await {
        Ok(listed) => Ok(Some(listed)),
        Err(failure) if failure.is_forbidden() => Ok(None),
        Err(failure) => Err(failure),
    }
}
