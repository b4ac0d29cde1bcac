//! Everything about one target, read again beside the watches.

use tokio::time::sleep;

use super::Link;
use super::fact::{Kept, Thing};
use super::interest::Interest;
use super::poll::no_list;
use crate::cluster::connection::{Failure, pause_after};
use crate::cluster::live::{collection, is_not_found};
use crate::cluster::page::{Pages, label_query, percent_encoded};
use crate::model::follow::News;
use crate::model::object::Object;
use crate::model::observed::Observed;
use crate::model::resource_type::{POD, ResourceType};
use crate::model::revision::Revisions;
use crate::model::workload::Workload;

/// Reads everything about a target, however often it takes.
pub(super) async fn again(link: &Link, interest: &Interest) -> News {
    let mut tries = 0;
    loop {
        match once(link, interest).await {
            Ok(news) => return news,
            Err(failure) => sleep(pause_after(tries, &failure)).await,
        }
        tries += 1;
    }
}

async fn once(link: &Link, interest: &Interest) -> Result<News, Failure> {
    let type_ = interest.kind.type_();
    let path =
        format!("{}/{}", collection(type_, Some(&interest.namespace)), percent_encoded(&interest.name));
    let answer = link.connection.attempt(&path, is_not_found).await?;
    if is_not_found(&answer) {
        return Ok(News::Gone);
    }
    let Some(workload) = Object::read(answer.json()).ok().and_then(Workload::of) else {
        return Ok(News::Gone);
    };
    let revisions = all(link, interest, interest.kind.revision_type()).await?;
    let pods = all(link, interest, &POD).await?;
    let revisions = revisions.into_iter().flatten().filter_map(|thing| match thing {
        Thing::Revision(revision) => Some(revision),
        _ => None,
    });
    let revisions = Revisions::among(&workload, revisions);
    let pods = pods.map(|pods| {
        let pods = pods.into_iter().filter_map(|thing| match thing {
            Thing::Pod(pod) => Some(*pod),
            _ => None,
        });
        pods.collect()
    });
    Ok(News::Look(Box::new(Observed { workload, revisions, pods, events: None })))
}

/// All objects of a type that concern a target; none when they may not be read.
async fn all(
    link: &Link,
    interest: &Interest,
    type_: &'static ResourceType,
) -> Result<Option<Vec<Thing>>, Failure> {
    let query =
        interest.selector.as_ref().map(|selector| label_query(&selector.to_query())).unwrap_or_default();
    let namespace = interest.namespace.as_str();
    let collection = collection(type_, Some(namespace));
    let mut pages = Pages::of(type_, &collection, &query);
    while let Some(path) = pages.next() {
        let answer = match link.connection.attempt(&path, |answer| pages.may_begin_anew(answer)).await {
            Err(failure) if failure.is_forbidden() => return Ok(None),
            answer => answer?,
        };
        let keep = |object| {
            let kept = Kept::of(object, type_, namespace, std::slice::from_ref(interest));
            kept.map(|kept| kept.thing)
        };
        if !pages.take(&answer, keep) {
            return Err(no_list());
        }
    }
    Ok(Some(pages.kept))
}
