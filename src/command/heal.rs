//! `--replace-stuck-pods`: deletes the pods that a StatefulSet waits for and will never replace.
//!
//! Patch and deletion must not race: a pod that is deleted before the controller has seen the change
//! comes back on the broken revision. So the change is waited for first, and everything is looked at
//! again before each deletion (design rule 14).

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::gather::observe;
use super::remove::remove;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::follow::PodPlace;
use crate::model::object::Object;
use crate::model::observed::Observed;
use crate::model::revision::Revision;
use crate::model::stuck::stuck;
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// How long the controller may take to see the change. One that works needs less than a second.
const UNSEEN: Duration = Duration::from_secs(30);
/// How long one pod may take to be gone, made again and ready.
const ONE_POD: Duration = Duration::from_secs(300);
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Deletes the stuck pods of a workload, the lowest first, and waits for each until it is ready
/// again. `written` is the workload as our change left it; nothing is done once it is another.
///
/// # Errors
/// When the controller does not see the change, when somebody changes the template meanwhile, when a
/// pod cannot be deleted or does not become ready in time.
pub(super) async fn heal(written: &Object, source: &Source, screen: &mut Screen<'_>) -> Result<()> {
    let mut observed = seen_by_its_controller(written, source, screen).await?;
    while let Some(pod) = next(&observed) {
        let PodPlace { name, uid } = &pod;
        screen.note(&format!("deleting {name}, which is not ready and not on the new revision"));
        let namespace = observed.workload.object().namespace();
        // Where somebody else was faster, or the answer was lost, what is true is seen below.
        if let Some(why) = remove(&pod, namespace, false, source).await.refusal() {
            return Err(Error::new(ErrorKind::Refused, format!("{name} is stuck and was not deleted"))
                .caused_by(why)
                .hint(format!("kubectl delete pod {name} -n {namespace}")));
        }
        observed = made_again(name, uid, written, source, screen).await?;
    }
    Ok(())
}

fn next(observed: &Observed) -> Option<PodPlace> {
    let pod = stuck(observed, &observed.workload, update_revision(observed)).into_iter().next()?;
    Some(PodPlace { name: pod.name.clone(), uid: pod.uid.clone() })
}

/// The revision that the controller updates to, by its own word.
fn update_revision(observed: &Observed) -> Option<&Revision> {
    let name = observed.workload.object().text("/status/updateRevision")?;
    observed.revisions.iter().find(|revision| revision.name == name)
}

/// Looks until the controller has seen our change and names the revision with its template.
async fn seen_by_its_controller(
    written: &Object,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Observed> {
    let begun = Instant::now();
    loop {
        let observed = look(written, source, screen).await?;
        let live = observed.workload.template().digest();
        let names_it = update_revision(&observed).is_some_and(|revision| revision.digest == live);
        if observed.workload.is_observed() && names_it {
            return Ok(observed);
        }
        if begun.elapsed() >= UNSEEN {
            return Err(Error::new(
                ErrorKind::Unreachable,
                format!(
                    "the controller has not seen the change of {} for {UNSEEN:?}; no pod was deleted",
                    observed.workload.target()
                ),
            ));
        }
        sleep(LOOK_AGAIN).await;
    }
}

/// Waits until the pod that takes another's place is ready.
async fn made_again(
    name: &str,
    uid: &str,
    written: &Object,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Observed> {
    let begun = Instant::now();
    loop {
        let observed = look(written, source, screen).await?;
        let is_new = |pod: &&crate::model::pod::Pod| pod.name == name && pod.uid != uid && pod.ready;
        if observed.own_pods().any(|pod| is_new(&pod)) {
            return Ok(observed);
        }
        // One that is stuck below it keeps it from being made: that one is next, not this one.
        let others = stuck(&observed, &observed.workload, update_revision(&observed));
        if others.first().is_some_and(|pod| pod.uid != uid && pod.name != name) {
            return Ok(observed);
        }
        if begun.elapsed() >= ONE_POD {
            return Err(Error::new(
                ErrorKind::Unreachable,
                format!("{name} was deleted, and the pod in its place is not ready after {ONE_POD:?}"),
            )
            .hint(format!("kubectl rollout2 status {}", observed.workload.command_target())));
        }
        sleep(LOOK_AGAIN).await;
    }
}

/// Sees the workload as it is now, and stops when it is not what we wrote any more.
async fn look(written: &Object, source: &Source, screen: &mut Screen<'_>) -> Result<Observed> {
    let type_ = &crate::model::resource_type::STATEFUL_SET;
    let now = source.get(type_, written.namespace(), written.name()).await?;
    let now = now.filter(|now| now.uid() == written.uid());
    let is_ours = now.as_ref().is_some_and(|now| now.at("/spec/template") == written.at("/spec/template"));
    match now.and_then(Workload::of) {
        Some(workload) if is_ours => observe(workload, source, screen).await,
        _ => Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "statefulset {:?} was changed or deleted meanwhile; no further pod is deleted",
                written.name()
            ),
        )),
    }
}
