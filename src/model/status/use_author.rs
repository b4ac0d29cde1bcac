//! The client that began a use of a revision.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::model::api::managed_fields::{Authorship, template_owners};
use crate::model::observation::Observation;
use crate::model::status::template_author::CONTROLLER_DELAY;
use crate::model::status::uses::{RevisionUse, UseStart};

/// How much the clocks of two API servers may differ.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(1);

/// Returns the client that began a use, with the time of its last write; none if no stamp fits or several do.
///
/// Managed fields store one time for each manager: that of its last write. So a stamp fits a new revision that was created
/// just after it, and a return that can have begun then. For the last use, a manager comes first that owns a
/// field in which the live template differs from the template before. Such a manager also fits a new revision if it wrote
/// again later.
#[must_use]
pub fn use_author(observed: &Observation, one: &RevisionUse<'_>) -> Option<Authorship> {
    let object = observed.workload.object();
    let fits = |author: &Authorship| fits(author.time, one);
    if one.end.is_none()
        && observed.revisions.is_current(one.revision)
        && let Some(before) = one.before
    {
        let changers = template_owners(object, Some(&before.template().without_hash_labels()));
        if let Some(changer) = changers.iter().filter(|author| fits(author)).max_by_key(|author| author.time)
        {
            return Some(changer.clone());
        }
        if !changers.is_empty() {
            let is_new = !one.is_return;
            return changers
                .into_iter()
                .max_by_key(|author| author.time)
                .filter(|author| is_new && before.created.is_none_or(|created| author.time >= created));
        }
    }
    let before = one.before.and_then(|before| before.created);
    let is_after = |author: &Authorship| before.is_none_or(|created| author.time > created);
    let mut authors = template_owners(object, None);
    authors.retain(|author| is_after(author) && fits(author));
    match authors.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// Whether a write can have begun a use. A write just before the next use began that one.
fn fits(time: Timestamp, one: &RevisionUse<'_>) -> bool {
    match one.start {
        UseStart::At(created) => {
            let delay = created.duration_since(time);
            -CLOCK_SKEW <= delay && delay <= CONTROLLER_DELAY
        }
        UseStart::Between { earliest, latest } => {
            let is_before = |latest: Timestamp| match one.end {
                None => time.duration_since(latest) <= CLOCK_SKEW,
                Some(_) => latest.duration_since(time) > CONTROLLER_DELAY,
            };
            time >= earliest && latest.is_none_or(is_before)
        }
    }
}
