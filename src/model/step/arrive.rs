//! Coming to a workload: whether there is something to do, whether it may be done, and the write that
//! makes the plan ours.

use std::time::Duration;

use super::document::Document;
use super::end::{End, Why};
use super::event::Event;
use super::kind;
use super::lease::{LASTS, Lease};
use super::pacing::{Pacing, Reach};
use super::phase::{Move, Purpose, Queue};
use super::plan::Plan;
use super::request::{CheckWish, Request};
use super::spot::Spot;
use super::stepper::Stepper;
use crate::error::{Error, ErrorKind, Result};
use crate::model::authorship::{last_author, last_template_author};
use crate::model::follow::Moment;
use crate::model::hold::{Hold, Reason};
use crate::model::observed::Observed;
use crate::model::strategy;
use crate::model::workload::Workload;

/// What a workload is found with.
pub(super) struct Found {
    /// The hold as it will be ours, without our lease.
    pub(super) document: Document,
    /// What it was held by before.
    pub(super) origin: Origin,
}

/// What a workload was held by before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// By a plan that goes on.
    Plan,
    /// By a pause, or by a plan for another template, in force.
    Held,
    /// By nothing; `was` is whether there was a hold that somebody ended.
    Free { was: bool },
}

/// All there is: the whole of a set, its own partition or not.
fn is_beyond(reach: Option<Reach>) -> bool {
    matches!(reach, Some(Reach::To(super::Amount::PerCent(100))))
}

/// Finds what a workload is held by, and what of a plan there is or would be.
///
/// # Errors
/// How the command ends before it writes anything.
pub(super) fn find(request: &Request, observed: &Observed) -> Result<Found, End> {
    let workload = &observed.workload;
    check(request, workload).map_err(End::Error)?;
    if observed.pods.is_none() {
        return Err(End::Error(cannot_see_pods(workload)));
    }
    let hold = Hold::of(workload).map_err(End::Error)?;
    let was = hold.is_some();
    match hold.filter(|hold| hold.is_in_force(workload)) {
        None => {
            let set = kind::holding(observed).map_err(End::Error)?;
            let hold = Hold::new(workload, Reason::Plan, &set);
            Ok(Found { document: begun(request, observed, hold), origin: Origin::Free { was } })
        }
        Some(hold) if hold.reason() == Some(Reason::Pause) => {
            Ok(Found { document: begun(request, observed, hold.of_a_plan()), origin: Origin::Held })
        }
        Some(hold) => go_on_with(request, observed, hold),
    }
}

/// What the words and the workload alone show.
fn check(request: &Request, workload: &Workload) -> Result<()> {
    kind::check(workload, request)?;
    let wanted = usize::try_from(workload.wanted()).unwrap_or_default();
    match request.given.max_unavailable {
        Some(amount) if wanted > 1 && amount.of(wanted) >= wanted => Err(Error::usage(format!(
            "--max-unavailable {amount} would let all {wanted} pods of {} be down at a time",
            workload.target()
        ))),
        _ => Ok(()),
    }
}

/// A new plan in a hold.
fn begun(request: &Request, observed: &Observed, hold: Hold) -> Document {
    let pacing = request.given.over(Pacing::default());
    let plan = Plan::new(&observed.workload.template().digest(), outdated_revision(observed), pacing);
    let plan =
        Plan { reach: Some(request.reach.unwrap_or(Reach::Next)), beyond: is_beyond(request.reach), ..plan };
    let lease = hold.member("lease").map(Lease::read);
    Document { hold, plan, lease }
}

/// A plan that is there: it goes on, unless it is paused or is for something else.
fn go_on_with(request: &Request, observed: &Observed, hold: Hold) -> Result<Found, End> {
    let workload = &observed.workload;
    if hold.is_paused() {
        return Err(End::Stopped(Why::Paused));
    }
    let document = Document::of(workload).map_err(End::Error)?;
    match document {
        Some(document) if document.plan.template == workload.template().digest().hex() => {
            let plan = document.plan;
            check_again(request, &plan, workload).map_err(End::Error)?;
            let plan = Plan {
                pacing: request.given.over(plan.pacing),
                reach: Some(request.reach.or(plan.reach).unwrap_or(Reach::Next)),
                beyond: plan.beyond || is_beyond(request.reach),
                ..plan
            };
            Ok(Found { document: Document { plan, ..document }, origin: Origin::Plan })
        }
        Some(document) if request.new_plan => {
            let lease = document.lease;
            Ok(Found { document: Document { lease, ..begun(request, observed, hold) }, origin: Origin::Held })
        }
        _ => Err(End::Stopped(Why::Changed {
            manager: last_template_author(workload.object()).map(|author| author.manager),
            changes: vec!["the template is another one than the plan was made for".to_owned()],
        })),
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

/// The revision that most outdated pods run.
fn outdated_revision(observed: &Observed) -> Option<String> {
    let running = observed.revisions.running();
    let others =
        observed.revisions.iter().filter(|one| running.is_none_or(|running| running.name != one.name));
    let with_pods = others.map(|one| (observed.pods_of(one).filter(|pod| pod.is_active()).count(), one));
    let with_pods = with_pods.filter(|(pods, _)| *pods > 0);
    with_pods.max_by_key(|(pods, _)| *pods).map(|(_, revision)| revision.name.clone())
}

impl Stepper {
    /// What to do while the plan is not ours.
    pub(super) fn arrive(&self, queue: Option<&Queue>, now: Moment) -> Move {
        let Some(observed) = self.observed() else { return Move::Rest };
        let workload = &observed.workload;
        let Found { mut document, origin } = match find(&self.request, observed) {
            Ok(found) => found,
            Err(end) => return Move::End(end),
        };
        if let Some(lease) = self.lease_in_the_way(&document, queue, now) {
            return Move::Queue(lease);
        }
        if !kind::is_seen(observed) {
            return Move::Wait("the controller to see the change".to_owned());
        }
        let sight = self.sight(observed, &document, now);
        if let Err(error) = kind::check_sight(&sight) {
            return Move::End(End::Error(error));
        }
        let spots = sight.spots();
        if origin != Origin::Plan && !spots.iter().any(Spot::is_outdated) {
            return Move::End(End::NothingOutdated);
        }
        let went = spots.iter().filter(|spot| spot.is_new || spot.pod.is_none_or(|pod| pod.terminating));
        let went_without = match origin {
            Origin::Free { .. } => went.map(|spot| spot.name.clone()).collect(),
            Origin::Plan | Origin::Held => Vec::new(),
        };
        let mut told = Vec::new();
        let is_another = |lease: &Lease| lease.holder != self.identity.holder && self.request.take_over;
        if let Some(lease) = document.lease.take().filter(is_another) {
            told.push(Event::Leased { lease, patience: Duration::ZERO });
        }
        if origin == (Origin::Free { was: true }) {
            let author = last_author(workload.object(), &strategy::place(workload));
            told.push(Event::HoldEnded { manager: author.map(|author| author.manager) });
        }
        told.push(Event::Began { goes_on: origin == Origin::Plan, went_without });
        document.lease = Some(self.lease(now));
        if origin != Origin::Plan {
            let hold = document.hold.with("since", now.wall.to_string().into()).without("by");
            document.hold =
                self.identity.by.iter().fold(hold, |hold, by| hold.with("by", by.as_str().into()));
        }
        let set = match kind::holding(observed) {
            Ok(set) => (origin != Origin::Plan && !self.is_paused_by(workload)).then_some(set),
            Err(error) => return Move::End(End::Error(error)),
        };
        Move::write(Purpose::Take, document.patch(workload, set), told)
    }

    /// A pause holds as it is; anything else is held anew.
    fn is_paused_by(&self, workload: &Workload) -> bool {
        let hold = Hold::of(workload).ok().flatten();
        hold.is_some_and(|hold| hold.reason() == Some(Reason::Pause) && hold.is_in_force(workload))
    }

    /// The lease of another process, unless it is to be taken over or has run out: then nothing of it
    /// was seen for a whole minute by our own clock.
    fn lease_in_the_way(&self, document: &Document, queue: Option<&Queue>, now: Moment) -> Option<Lease> {
        let lease = document.lease.as_ref().filter(|lease| lease.holder != self.identity.holder)?;
        let ran_out = |queue: &Queue| queue.lease == *lease && now.elapsed >= queue.since + LASTS;
        (!self.request.take_over && !queue.is_some_and(ran_out)).then(|| lease.clone())
    }

    fn lease(&self, now: Moment) -> Lease {
        Lease {
            holder: self.identity.holder.clone(),
            by: self.identity.by.clone(),
            since: Some(now.wall.to_string()),
            turn: 1,
        }
    }
}

/// How many pods run the new revision, of how many.
pub(super) fn reached(spots: &[Spot<'_>]) -> End {
    End::Reached { updated: spots.iter().filter(|spot| spot.is_new).count(), of: spots.len() }
}

fn cannot_see_pods(workload: &Workload) -> Error {
    Error::new(
        ErrorKind::Refused,
        format!(
            "{} cannot be stepped without a look at its pods, which could not be read",
            workload.target()
        ),
    )
    .hint("ask for the right to list pods")
}
