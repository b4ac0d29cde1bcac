//! What a workload is found with: what holds it, and the plan that is there or would be.

use serde_json::Value;

use super::amount::Amount;
use super::document::Document;
use super::end::{End, Why};
use super::kind;
use super::numbers;
use super::pacing::{Pacing, Reach};
use super::plan::Plan;
use super::request::{CheckWish, Request};
use crate::error::{Error, ErrorKind, Result};
use crate::model::authorship::last_template_author;
use crate::model::hold::{Hold, Reason};
use crate::model::object::Object;
use crate::model::observed::Observed;
use crate::model::strategy;
use crate::model::workload::Workload;

/// What a workload is found with.
pub(super) struct Found {
    /// The hold as it will be ours, without our lease.
    pub(super) document: Document,
    /// What it was held by before.
    pub(super) origin: Origin,
    /// The update strategy that is to hold it, where another one is there.
    pub(super) set: Option<Value>,
}

impl Found {
    /// Whether there is a plan for this template, which has yet to end though it released everything: it, or
    /// the one in its place.
    pub(super) fn has_to_end(&self) -> bool {
        match self.origin {
            Origin::Plan | Origin::WayBack => true,
            Origin::Anew => self.set.is_none(),
            Origin::Held | Origin::Free { .. } => false,
        }
    }

    /// All that is known, with the workload as the first write would hold it; none where it is held
    /// already.
    pub(super) fn as_held(&self, observed: &Observed) -> Option<Observed> {
        let patch = self.document.patch(&observed.workload, Some(self.set.clone()?));
        let workload = Workload::of(Object::read(patch.after().clone()).ok()?)?;
        Some(Observed { workload, ..observed.clone() })
    }
}

/// What a workload was held by before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// By a plan that goes on.
    Plan,
    /// By a plan that is forgotten, for one that begins anew. A hold that is written again for it is one for
    /// another template.
    Anew,
    /// By a pause, in force.
    Held,
    /// By nothing any more: its plan failed, and everything goes back.
    WayBack,
    /// By nothing; `was` is whether there was a hold that somebody ended.
    Free { was: bool },
}

/// Finds what a workload is held by, and what of a plan there is or would be.
///
/// # Errors
/// How the command ends before it writes anything.
pub(super) fn find(request: &Request, observed: &Observed) -> Result<Found, End> {
    let workload = &observed.workload;
    check(request, workload).map_err(End::Error)?;
    if observed.pods.is_none() {
        return Err(End::Error(cannot_see(workload, "pods", "pods")));
    }
    // A controller that has seen it has made a revision of it.
    if observed.revisions.is_empty() && workload.is_observed() {
        return Err(End::Error(cannot_see(workload, "revisions", workload.kind().revision_type().plural())));
    }
    let hold = Hold::of(workload).map_err(End::Error)?;
    let left = left_of_a_way_back(workload);
    let was = hold.is_some() && left.is_none();
    let found = match hold.filter(|hold| hold.is_in_force(workload)) {
        None if let Some(note) = left.filter(|left| left.is_for(workload) && !request.new_plan) => {
            Ok(Found { document: note, origin: Origin::WayBack, set: None })
        }
        // A lease in a hold that somebody ended protects nothing: what runs loose is held at once.
        None => {
            let set = kind::holding(observed).map_err(End::Error)?;
            let hold = Hold::new(workload, Reason::Plan, &set);
            let document = begun(request, observed, hold);
            Ok(Found { document, origin: Origin::Free { was }, set: Some(set) })
        }
        Some(hold) if hold.reason() == Some(Reason::Pause) => {
            let document = begun(request, observed, hold.of_a_plan());
            Ok(Found { document, origin: Origin::Held, set: None })
        }
        Some(hold) => go_on_with(request, observed, hold),
    }?;
    let plan = &found.document.plan;
    if plan.reach == Some(Reach::All) {
        plan.pacing.batches.check_end().map_err(End::Error)?;
    }
    Ok(found)
}

/// What is left of a hold where all of it is the note of a way back, be it for a template that others have
/// changed since.
fn left_of_a_way_back(workload: &Workload) -> Option<Document> {
    let document = Document::of(workload).ok().flatten();
    document.filter(|document| document.plan.goes_back && !document.hold.is_in_force(workload))
}

/// What the words and the workload alone show.
fn check(request: &Request, workload: &Workload) -> Result<()> {
    kind::check(workload, request)?;
    numbers::check(request, workload)
}

/// A new plan in a hold.
fn begun(request: &Request, observed: &Observed, hold: Hold) -> Document {
    let pacing = request.given.over(Pacing::default());
    let plan = Plan::new(&observed.workload.template().digest(), outdated_revision(observed), pacing);
    let plan =
        Plan { reach: Some(request.reach.unwrap_or(Reach::Next)), beyond: is_beyond(request.reach), ..plan };
    Document { hold, plan, lease: None }
}

/// A plan that is there: it goes on, unless it is paused or is for something else.
fn go_on_with(request: &Request, observed: &Observed, hold: Hold) -> Result<Found, End> {
    let workload = &observed.workload;
    if hold.is_paused() {
        return Err(End::Stopped(Why::Paused));
    }
    let document = Document::of(workload).map_err(End::Error)?;
    match document {
        Some(document) if document.is_for(workload) && !request.new_plan => {
            let plan = document.plan;
            if !plan.goes_back {
                check_again(request, &plan, workload).map_err(End::Error)?;
            }
            let plan = Plan {
                pacing: request.given.over(plan.pacing),
                reach: Some(request.reach.or(plan.reach).unwrap_or(Reach::Next)),
                beyond: plan.beyond || is_beyond(request.reach),
                ..plan
            };
            Ok(Found { document: Document { plan, ..document }, origin: Origin::Plan, set: None })
        }
        Some(document) if request.new_plan => anew(request, observed, hold, document),
        _ => Err(End::Stopped(another_template(workload))),
    }
}

/// A new plan in the place of another one. What that one released stays so: where the template is still the
/// same, the strategy that holds is left as it is.
fn anew(request: &Request, observed: &Observed, hold: Hold, other: Document) -> Result<Found, End> {
    let workload = &observed.workload;
    let is_for_the_same = other.is_for(workload);
    let set = if is_for_the_same { None } else { Some(kind::holding(observed).map_err(End::Error)?) };
    let Document { plan, hold, .. } = begun(request, observed, hold);
    let own = hold.original().map_or(0, strategy::partition_of);
    let was_beyond = is_for_the_same && other.plan.beyond && strategy::partition(workload) < own;
    // What ran before that plan did is still what to go back to.
    let from = other.plan.from.filter(|from| is_outdated(observed, from)).or(plan.from);
    let plan = Plan { from, beyond: plan.beyond || was_beyond, ..plan };
    Ok(Found { document: Document { hold, plan, lease: other.lease }, origin: Origin::Anew, set })
}

/// Whether a revision is kept, and is not the live one.
fn is_outdated(observed: &Observed, name: &str) -> bool {
    let running = observed.revisions.running();
    observed.revisions.iter().any(|one| one.name == name)
        && running.is_none_or(|running| running.name != name)
}

/// Somebody changed the template under a plan.
fn another_template(workload: &Workload) -> Why {
    Why::Changed {
        manager: last_template_author(workload.object()).map(|author| author.manager),
        changes: vec!["the template is another one than the plan was made for".to_owned()],
    }
}

/// Only the digest of a check is kept, so it has to be said again.
fn check_again(request: &Request, plan: &Plan, workload: &Workload) -> Result<()> {
    let Some(kept) = &plan.pacing.check else { return Ok(()) };
    let target = workload.target();
    let message = match &request.given.check {
        Some(CheckWish::Skip) => return Ok(()),
        Some(CheckWish::Run(digest)) if *digest == kept.digest => return Ok(()),
        Some(CheckWish::Run(_)) => format!("the plan of {target} was begun with another --check"),
        None => format!("the plan of {target} has a --check, and only its digest is kept"),
    };
    Err(Error::usage(message).hint("give the same --check again, or --no-check"))
}

/// The revision to go back to: what a StatefulSet's controller calls the current one, as long as the live one
/// is another; else the one that most outdated pods run. Where an update broke and another one is to mend
/// it, most of them may run the one that broke.
fn outdated_revision(observed: &Observed) -> Option<String> {
    let is_kept = |name: &&str| is_outdated(observed, name);
    if let Some(current) = observed.workload.recorded_stable_revision().filter(is_kept) {
        return Some(current.to_owned());
    }
    let others = observed.revisions.iter().filter(|one| is_outdated(observed, &one.name));
    let with_pods = others.map(|one| (observed.pods_of(one).filter(|pod| pod.is_active()).count(), one));
    let with_pods = with_pods.filter(|(pods, _)| *pods > 0);
    with_pods.max_by_key(|(pods, _)| *pods).map(|(_, revision)| revision.name.clone())
}

/// The whole of a set: its own partition or not.
fn is_beyond(reach: Option<Reach>) -> bool {
    matches!(reach, Some(Reach::To(Amount::PerCent(100))))
}

fn cannot_see(workload: &Workload, what: &str, plural: &str) -> Error {
    Error::new(
        ErrorKind::Refused,
        format!(
            "{} cannot be stepped without a look at its {what}, which could not be read",
            workload.target()
        ),
    )
    .hint(format!("ask for the right to list {plural}"))
}
