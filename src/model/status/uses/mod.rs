//! The uses of the revisions of a workload with the clients that began them, and the last change of its template.

mod dated;

use self::dated::dated_uses;
pub(crate) use self::dated::skips_numbers;
pub use self::dated::{RevisionUse, UseEnd, UseStart};

use std::collections::HashMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use self::dated::{CONTROLLER_DELAY, changers_in};
use crate::api::managed_fields::{Authorship, last_template_author, template_changers, template_owners};
use crate::observation::Observation;
use crate::revision::Revision;

/// How much the clocks of two API servers may differ.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(1);

/// Returns the uses of the kept revisions with their authors, oldest first. A return with an author began at the author's
/// write.
///
/// Managed fields keep only the last write of each manager. It is matched to the revision that was created just after it, or
/// to a return that can have begun then. If it matches several, the use in which the manager owns a changed field has it.
#[must_use]
pub fn uses(observed: &Observation) -> Vec<RevisionUse<'_>> {
    let mut uses = dated_uses(observed);
    let mut stamps = Stamps::of(observed, &uses);
    let authors: Vec<_> = (0..uses.len()).map(|index| stamps.author_of(index, &uses)).collect();
    let mut next = None; // the latest time at which the use after it can have begun
    for (one, author) in uses.iter_mut().zip(&authors).rev() {
        next = match (&mut one.start, author) {
            (UseStart::At(time), _) => Some(*time),
            (start @ UseStart::Between { .. }, Some(author)) => {
                *start = UseStart::At(author.time);
                Some(author.time)
            }
            (UseStart::Between { latest, .. }, None) => {
                *latest = [*latest, next].into_iter().flatten().min();
                *latest
            }
        };
    }
    let mut before = None; // the earliest time at which the use before it can have begun
    for one in &mut uses {
        if let UseStart::Between { earliest, .. } = &mut one.start {
            *earliest = (*earliest).max(before.unwrap_or(*earliest));
        }
        before = Some(one.start.earliest());
    }
    for (one, author) in uses.iter_mut().zip(authors) {
        one.by = author.map(|author| author.manager);
    }
    uses
}

/// How well a stamp fits a use, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// Whether the manager owns a field that the use changed.
    owns_change: bool,
    /// Whether the stamp is not after the creation of the revision, which only clocks that differ explain.
    is_before: bool,
}

/// The stamps of the managers that own fields of a template, and the use that each one began.
struct Stamps<'a> {
    changers: Changers<'a>,
    all: Vec<(Authorship, Option<(usize, Fit)>)>,
}

impl<'a> Stamps<'a> {
    fn of(observed: &'a Observation, uses: &[RevisionUse<'a>]) -> Self {
        let pending = pending_changers(observed, uses);
        let mut changers = Changers { observed, of_pairs: HashMap::new() };
        let owners = template_owners(observed.workload.object()).into_iter();
        let owners = owners.filter(|author| !pending.contains(author));
        let all = owners.map(|author| (author.clone(), began(&mut changers, &author, uses))).collect();
        Self { changers, all }
    }

    /// Returns the client that began a use. A manager comes first that owns a field that the use changed. Such a manager also
    /// began the last use if that is a new revision, and it wrote again later.
    fn author_of(&mut self, index: usize, uses: &[RevisionUse<'a>]) -> Option<Authorship> {
        let one = uses.get(index)?;
        let of_use = self.all.iter().filter_map(|(author, began)| Some((author, (*began)?)));
        let of_use: Vec<_> = of_use.filter(|(_, (use_index, _))| *use_index == index).collect();
        let changers = of_use.iter().filter(|(_, (_, fit))| fit.owns_change).map(|(author, _)| *author);
        if let Some(changer) = changers.max_by_key(|author| author.time) {
            return Some(changer.clone());
        }
        if let (None, true, Some(before)) =
            (one.end, self.changers.observed.revisions.is_current(one.revision), one.before)
        {
            let changers = self.changers.of(one);
            if !changers.is_empty() {
                let last = changers.iter().max_by_key(|author| author.time);
                let is_later =
                    |author: &Authorship| before.created.is_none_or(|created| author.time >= created);
                return last.filter(|author| !one.is_return && is_later(author)).cloned();
            }
        }
        match of_use.as_slice() {
            [(only, _)] => Some(Authorship::clone(only)),
            _ => None,
        }
    }
}

/// Returns the use that a write began, with how well it fits; none if it fits none, or several equally.
fn began<'a>(
    changers: &mut Changers<'a>,
    author: &Authorship,
    uses: &[RevisionUse<'a>],
) -> Option<(usize, Fit)> {
    let fits = uses.iter().enumerate().filter_map(|(index, one)| {
        let is_before = can_begin(author.time, one)?;
        let owns_change = changers.of(one).contains(author);
        let created = one.before.and_then(|before| before.created);
        let follows = is_before && created.is_none_or(|created| author.time > created);
        (owns_change || follows).then_some((index, Fit { owns_change, is_before }))
    });
    let fits: Vec<_> = fits.collect();
    let best = fits.iter().map(|(_, fit)| *fit).max()?;
    let mut best_uses = fits.iter().rev().filter(|(_, fit)| *fit == best);
    let (last, is_only) = (*best_uses.next()?, best_uses.next().is_none());
    // Of several that match equally, the manager's last write began the latest.
    (is_only || best.owns_change).then_some(last)
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

/// The clients that own what differs between two revisions, computed once for each pair, of which there may be many uses.
struct Changers<'a> {
    observed: &'a Observation,
    of_pairs: HashMap<[&'a str; 2], Vec<Authorship>>,
}

impl<'a> Changers<'a> {
    fn of(&mut self, one: &RevisionUse<'a>) -> &[Authorship] {
        let Some(before) = one.before else { return &[] };
        let pair = [before, one.revision].map(|revision| revision.name.as_str());
        self.of_pairs.entry(pair).or_insert_with(|| changers_in(self.observed, one))
    }
}

/// Whether a write can have begun a use, and was not after the creation of its revision; none if it cannot. A write just
/// before the next use began the next use.
fn can_begin(time: Timestamp, one: &RevisionUse<'_>) -> Option<bool> {
    match one.start {
        UseStart::At(created) => {
            let delay = created.duration_since(time);
            (-CLOCK_SKEW <= delay && delay <= CONTROLLER_DELAY).then_some(!delay.is_negative())
        }
        UseStart::Between { earliest, latest } => {
            let is_before = |latest: Timestamp| match one.end {
                None => time.duration_since(latest) <= CLOCK_SKEW,
                Some(_) => latest.duration_since(time) > CONTROLLER_DELAY,
            };
            (time >= earliest && latest.is_none_or(is_before)).then_some(true)
        }
    }
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
