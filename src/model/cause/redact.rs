//! Secrets that a component's words may repeat.

use super::{Cause, CauseId};
use crate::model::observed::Observed;
use crate::model::secret::{MASK, secrets_in, without_secrets};

/// Masks what looks secret where a container or component repeats it: a program that fails likes to
/// print what it was given.
pub(super) fn mask_secrets(causes: &mut [Cause], observed: &Observed) {
    if causes.is_empty() {
        return; // the templates of a long history are not read for nothing
    }
    let secrets = secrets(observed);
    for cause in causes {
        // The name of what is missing may be the value of a `SECRET_NAME`, and is no secret.
        let known = if names_objects(cause.id) { &[] } else { secrets.as_slice() };
        cause.summary = without(known, &cause.summary);
        cause.evidence = cause.evidence.take().map(|evidence| without(&secrets, &evidence));
    }
}

/// Whether the summary of a cause is made of the names of objects and keys.
fn names_objects(id: CauseId) -> bool {
    id.is_hold()
        || matches!(
            id,
            CauseId::MissingConfigMap | CauseId::MissingSecret | CauseId::MissingKey | CauseId::MissingClaim
        )
}

/// The last lines of a container without what looks secret in them, by its shape or in what was seen
/// of the workload.
#[must_use]
pub fn without_secrets_of(observed: Option<&Observed>, lines: &[String]) -> Vec<String> {
    let secrets = observed.map(secrets).unwrap_or_default();
    lines.iter().map(|line| without(&secrets, line)).collect()
}

/// A text without these secrets, and without what has the shape of one.
fn without(secrets: &[String], text: &str) -> String {
    let known = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK));
    without_secrets(&known)
}

/// The values of environment variables with secret-looking names, in every revision and in the live
/// template: one that is refused never becomes a revision, and the refusal may quote it.
fn secrets(observed: &Observed) -> Vec<String> {
    let live = observed.workload.object().at("/spec/template").map(secrets_in).unwrap_or_default();
    let revisions = observed.revisions.iter().flat_map(|revision| revision.secrets.iter().cloned());
    let mut secrets: Vec<_> = revisions.chain(live).collect();
    // The longest first: one may be a part of another.
    secrets.sort_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
    secrets.dedup();
    secrets
}
