//! Masks secrets that a message of a container or component may repeat.

use super::{Cause, CauseId};
use crate::model::observation::Observation;
use crate::model::revision::template::secrets_in;
use crate::model::text::secret::{MASK, without_secrets};

/// Masks the values of secret-looking variables in the causes. A failing program often prints its configuration.
pub(super) fn mask_secrets(causes: &mut [Cause], observed: &Observation) {
    if causes.is_empty() {
        return; // without causes, there is no need to read the templates of a long history
    }
    let secrets = secrets(observed);
    for cause in causes {
        // The name of a missing object may be the value of a variable such as `SECRET_NAME`. It is no secret.
        let known = if names_objects(cause.id) { &[] } else { secrets.as_slice() };
        cause.summary = without(known, &cause.summary);
        cause.evidence = cause.evidence.take().map(|evidence| without(&secrets, &evidence));
    }
}

/// Whether the summary of a cause consists of the names of objects and keys.
fn names_objects(id: CauseId) -> bool {
    id.is_hold()
        || matches!(
            id,
            CauseId::MissingConfigMap | CauseId::MissingSecret | CauseId::MissingKey | CauseId::MissingClaim
        )
}

/// Masks the secrets in a container's last lines: values with the form of a secret, and the secret values in the
/// workload's templates.
#[must_use]
pub fn without_secrets_of(observed: Option<&Observation>, lines: &[String]) -> Vec<String> {
    let secrets = observed.map(secrets).unwrap_or_default();
    lines.iter().map(|line| without(&secrets, line)).collect()
}

/// Masks these secrets in a text, and every value with the form of a secret.
fn without(secrets: &[String], text: &str) -> String {
    let known = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK));
    without_secrets(&known)
}

/// Returns the values of environment variables with secret-looking names, in every revision and in the live
/// template. A template that admission rejects never becomes a revision, but the error may quote it.
fn secrets(observed: &Observation) -> Vec<String> {
    let live = observed.workload.object().at("/spec/template").map(secrets_in).unwrap_or_default();
    let revisions = observed.revisions.iter().flat_map(|revision| revision.secrets.iter().cloned());
    let mut secrets: Vec<_> = revisions.chain(live).collect();
    // Longest first, because one secret may be a part of another.
    secrets.sort_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
    secrets.dedup();
    secrets
}
