//! What is to be seen of one workload.

use std::sync::Arc;

use crate::cluster::source::Source;
use crate::command::can_do_without;
use crate::error::{Error, Result};
use crate::model::event::Events;
use crate::model::kind::Kind;
use crate::model::object::Object;
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::resource_type::POD;
use crate::model::revision::{Revision, Revisions};
use crate::model::selector::Selector;
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// Sees a workload's revisions, and leaves its pods alone.
///
/// # Errors
/// When the revisions cannot be read.
pub async fn observe_revisions(workload: Workload, source: &Source) -> Result<Observed> {
    let selector = Selector::of_workload(workload.object())?;
    let namespace = Some(workload.object().namespace());
    let owned = list_revisions(&workload, source, namespace, &selector).await;
    let owned = owned.map_err(|error| without_revisions(&workload, error))?;
    let revisions = Revisions::among(&workload, owned);
    Ok(Observed { workload, revisions, pods: None, events: None })
}

/// A workload's revisions with everything that is kept in them, who wrote which field included.
///
/// # Errors
/// When they cannot be read.
pub async fn whole_revisions(workload: &Workload, source: &Source) -> Result<Revisions> {
    let selector = Selector::of_workload(workload.object())?;
    let namespace = Some(workload.object().namespace());
    let owned = source.list(workload.kind().revision_type(), namespace, &selector).await;
    Ok(Revisions::of(workload, owned.map_err(|error| without_revisions(workload, error))?))
}

/// Sees a workload's revisions and pods.
///
/// # Errors
/// When they cannot be read; pods that may not be read are said once and done without.
pub async fn observe(workload: Workload, source: &Source, screen: &mut Screen<'_>) -> Result<Observed> {
    let mut observed = observe_revisions(workload, source).await?;
    let object = observed.workload.object();
    let pods = list_pods(source, object.namespace(), &Selector::of_workload(object)?).await;
    observed.pods = unless_withheld(pods, "none are counted", screen)?;
    Ok(observed)
}

/// Sees what there is to see of one workload's rollout. Its verdict follows from the workload alone,
/// so everything else is done without where it cannot be read, which is said once.
///
/// # Errors
/// When something else goes wrong than that it may not be read.
pub(super) async fn glimpse(
    workload: Workload,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Observed> {
    let selector = Selector::of_workload(workload.object())?;
    let namespace = workload.object().namespace();
    let owned = list_revisions(&workload, source, Some(namespace), &selector).await;
    let owned = unless_withheld(owned, "rollouts are told from counters alone", screen)?;
    let pods = list_pods(source, namespace, &selector).await;
    let pods = unless_withheld(pods, "pods in trouble are not told", screen)?;
    let revisions = Revisions::among(&workload, owned.unwrap_or_default());
    Ok(Observed { workload, revisions, pods, events: None })
}

/// The warnings in one namespace, or in all of them; none when they may not be read, which is said once.
pub(super) async fn warnings(
    namespace: Option<&str>,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Option<Events>> {
    let events = source.list_warnings(namespace).await;
    Ok(unless_withheld(events, "some causes are not told", screen)?.map(Events::of))
}

async fn list_revisions(
    workload: &Workload,
    source: &Source,
    namespace: Option<&str>,
    selector: &Selector,
) -> Result<Vec<Arc<Revision>>> {
    let kind = workload.kind();
    let keep = |object: Object| Arc::new(Workload::revision(kind, &object));
    source.list_as(kind.revision_type(), namespace, selector, keep).await
}

async fn list_pods(source: &Source, namespace: &str, selector: &Selector) -> Result<Vec<Pod>> {
    source.list_as(&POD, Some(namespace), selector, |pod| Pod::read(&pod)).await
}

/// What was read, or a note that it could not be and what follows from that.
pub(super) fn unless_withheld<T>(
    listed: Result<Vec<T>>,
    consequence: &str,
    screen: &mut Screen<'_>,
) -> Result<Option<Vec<T>>> {
    match listed {
        Ok(objects) => Ok(Some(objects)),
        Err(error) if can_do_without(&error) => {
            screen.note_once(&format!("note: {}, so {consequence}", error.sentence()));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A history without its revisions is none: kubectl says so in the words of the kind.
fn without_revisions(workload: &Workload, error: Error) -> Error {
    let name = workload.name();
    let what = match workload.kind() {
        Kind::Deployment => format!("failed to retrieve replica sets from deployment {name}"),
        kind => format!("unable to find history controlled by {} {name}", kind.type_().title()),
    };
    let compat = error.compat_sentence();
    match compat.strip_prefix("Error from server (Forbidden): ") {
        Some(why) => error.in_compat(format!("{what}: {why}")),
        None => error,
    }
}
