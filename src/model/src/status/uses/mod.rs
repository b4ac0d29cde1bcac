//! The uses of the revisions of a workload with the clients that began them, and the last change of its template.

mod dated;
mod undone;

pub(crate) use self::dated::skips_numbers;
use self::dated::{CONTROLLER_DELAY, dated_uses};
pub use self::dated::{RevisionUse, UseEnd, UseStart};
pub use self::undone::{UNDONE, Undone};

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::api::managed_fields::{Authorship, last_template_author, template_changers, template_owners};
use crate::observation::Observation;
use crate::revision::Revision;

/// How much the clocks of two API servers may differ.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(1);

/// Returns the uses of the kept revisions with their authors, oldest first. A return without a stamp of its own began at the
/// author's write.
///
/// Managed fields keep only the last write of each manager. So a stamp is that of one use: the manager owns what the use
/// changed, or it is the only owner of a template that wrote just before. The last `undo` stored who made the change that it
/// took back.
#[must_use]
pub fn uses(observed: &Observation) -> Vec<RevisionUse<'_>> {
    let mut uses = dated_uses(observed);
    let pending = pending_changers(observed, &uses);
    let mut owners = template_owners(observed.workload.object());
    owners.retain(|author| !pending.contains(author));
    let mut next = None; // the start of the numbered use after it
    for one in uses.iter_mut().rev() {
        if let (UseStart::Between { latest, .. }, Some(next)) = (&mut one.start, next) {
            *latest = Some(latest.map_or(next, |latest| latest.min(next)));
        }
        if let Some(author) = author(observed, one, &owners) {
            owners.retain(|owner| *owner != author);
            if matches!(one.start, UseStart::Between { .. }) {
                one.start = UseStart::At(author.time);
            }
            one.by = Some(author.manager);
        }
        next = match one.start {
            _ if one.number.is_none() => next,
            UseStart::At(time) => Some(time),
            UseStart::Between { latest, .. } => latest,
        };
    }
    let mut before = None; // the earliest time at which the use before it can have begun
    for one in &mut uses {
        if let UseStart::Between { earliest, .. } = &mut one.start {
            *earliest = (*earliest).max(before.unwrap_or(*earliest));
        }
        before = Some(one.start.earliest());
    }
    if let Some(undone) = Undone::of(&observed.workload) {
        undone.date(&mut uses);
    }
    uses
}

/// Returns the client that began a use, of the owners of a template whose stamp is not that of a later use.
fn author(observed: &Observation, one: &RevisionUse<'_>, owners: &[Authorship]) -> Option<Authorship> {
    let is_last = one.end.is_none() && observed.revisions.is_current(one.revision);
    let fits = |author: &&Authorship| match one.start {
        UseStart::At(start) => {
            let delay = start.duration_since(author.time);
            -CLOCK_SKEW <= delay && delay <= CONTROLLER_DELAY
        }
        UseStart::Between { earliest, latest } => {
            author.time >= earliest
                && match (latest, one.end) {
                    (Some(latest), None) => author.time.duration_since(latest) <= CLOCK_SKEW,
                    // A write just before the next use began that one.
                    (Some(latest), Some(_)) => latest.duration_since(author.time) > CONTROLLER_DELAY,
                    (None, end) => end.is_none(),
                }
        }
    };
    let fitting: Vec<_> = owners.iter().filter(fits).collect();
    let UseStart::At(start) = one.start else {
        return newest(changers(observed, one).into_iter().filter(|changer| fitting.contains(&changer)));
    };
    if fitting.is_empty() && !is_last {
        return None;
    }
    let changers = changers(observed, one);
    let fits = |changer: &&Authorship| fitting.contains(changer);
    if let Some(changer) = newest(changers.iter().filter(fits).cloned()) {
        return Some(changer);
    }
    let since = one.before.and_then(|before| before.created);
    if !changers.is_empty() {
        // The manager wrote again later, or long before the controller did.
        let is_since = |author: &Authorship| since.is_none_or(|since| author.time >= since);
        return newest(changers.into_iter()).filter(|author| is_last && is_since(author));
    }
    match fitting.as_slice() {
        [only] if only.time <= start && since.is_none_or(|since| only.time > since) => Some((*only).clone()),
        _ => None,
    }
}

fn newest(authors: impl Iterator<Item = Authorship>) -> Option<Authorship> {
    authors.max_by_key(|author| author.time)
}

/// Returns the clients that own what a use changed.
fn changers(observed: &Observation, one: &RevisionUse<'_>) -> Vec<Authorship> {
    let Some(before) = one.before else { return Vec::new() };
    let [before, after] = [before, one.revision].map(|revision| revision.template().without_hash_labels());
    template_changers(observed.workload.object(), &before, &after)
}

/// Returns the clients that own what differs between the last use and a live template that no revision stores yet, as of a
/// paused Deployment. They began no use.
fn pending_changers(observed: &Observation, uses: &[RevisionUse<'_>]) -> Vec<Authorship> {
    let object = observed.workload.object();
    let (None, Some(last), Some(live)) =
        (observed.revisions.current(), uses.last(), object.at("/spec/template"))
    else {
        return Vec::new();
    };
    template_changers(object, &last.revision.template().without_hash_labels(), live)
}

/// The last change of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateChange {
    /// When it was.
    pub start: UseStart,
    /// The field manager that made it; none if it is not known.
    pub by: Option<String>,
}

impl TemplateChange {
    /// Returns the field manager that made it, with the time; none if it is not known.
    #[must_use]
    pub fn author(&self) -> Option<Authorship> {
        Some(Authorship { manager: self.by.clone()?, time: self.start.latest() })
    }
}

/// Returns the last change of the template of a workload; none if no stamp shows it.
///
/// A template without a revision, as of a paused Deployment, changed when an owner of a field that differs from the newest
/// revision wrote last. A client that only removes fields owns none of them: then it is the last owner of the template that
/// wrote after that revision came into use.
#[must_use]
pub fn last_change(observed: &Observation) -> Option<TemplateChange> {
    last_change_of(observed, &uses(observed))
}

/// Returns the last change of the template of a workload with these [`uses`]; none if no stamp shows it.
pub(crate) fn last_change_of(observed: &Observation, uses: &[RevisionUse<'_>]) -> Option<TemplateChange> {
    if observed.revisions.current().is_some() {
        let last = uses.last()?;
        return Some(TemplateChange { start: last.start, by: last.by.clone() });
    }
    let changer = pending_changers(observed, uses).into_iter().max_by_key(|author| author.time);
    let last = uses.last().map(|last| last.start.earliest());
    let is_later = |author: &Authorship| last.is_none_or(|last| author.time > last);
    let author = changer.or_else(|| last_template_author(observed.workload.object()).filter(is_later))?;
    Some(TemplateChange { start: UseStart::At(author.time), by: Some(author.manager) })
}

/// Returns the client that changed the template last; none if it is not known.
#[must_use]
pub fn template_author(observed: &Observation) -> Option<Authorship> {
    last_change(observed)?.author()
}

/// Returns when the last use of a revision began; none if no stamp shows it.
#[must_use]
pub fn start_of_last_use(observed: &Observation, revision: &Revision) -> Option<UseStart> {
    let uses = uses(observed);
    Some(uses.iter().rev().find(|used| used.revision.name == revision.name)?.start)
}

/// Whether the template can have changed at or after a time. False if no stamp shows when it changed.
#[must_use]
pub fn may_have_changed_since(observed: &Observation, since: Timestamp) -> bool {
    last_change(observed).is_some_and(|change| change.start.may_be_since(since))
}

#[cfg(test)]
mod tests;
