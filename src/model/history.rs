//! A workload's history: its revisions, what each one changed, and what it is to the rollout.

use k8s_openapi::jiff::Timestamp;

use super::authorship::{Authorship, last_template_author};
use super::diff::{Diff, Secrets};
use super::observed::{Observed, PodCount, Role};
use super::revision::{Revision, Seal};
use super::template::Template;

/// The history of one workload.
#[derive(Debug)]
pub struct History<'a> {
    /// What it is the history of.
    pub observed: &'a Observed,
    /// Who changed the template last.
    pub author: Option<Authorship>,
    /// One entry a revision, ascending.
    pub entries: Vec<Entry<'a>>,
    /// The time by which ages are told.
    pub now: Timestamp,
}

/// One revision in a history.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The revision.
    pub revision: &'a Revision,
    /// Its pods; none when the pods could not be read.
    pub pods: Option<PodCount>,
    /// What it is to the rollout.
    pub role: Option<Role>,
    /// Whether its stored data is what its hash says.
    pub seal: Seal,
    /// The images of its containers, init containers first.
    pub images: Vec<String>,
    /// What it changed, secrets masked; none for the first, which has nothing before it.
    pub diff: Option<Diff>,
}

impl<'a> History<'a> {
    /// The history that follows from what was seen.
    #[must_use]
    pub fn of(observed: &'a Observed, now: Timestamp) -> Self {
        let (role, count) = (observed.roles(), observed.counts());
        let mut before: Option<Template> = None;
        let entries = observed.revisions.iter().map(|revision| {
            let template = revision.template();
            let images = template.images().into_iter().map(str::to_owned).collect();
            let diff = before.as_ref().map(|before| Diff::between(before, &template, Secrets::Masked));
            before = Some(template);
            Entry {
                revision,
                pods: count(revision),
                role: role(revision),
                seal: observed.workload.seal(revision),
                images,
                diff,
            }
        });
        let entries = entries.collect();
        Self { observed, author: last_template_author(observed.workload.object()), entries, now }
    }
}
