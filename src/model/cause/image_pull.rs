//! Images that cannot be pulled.

use super::CauseId;
use super::runtime_words::{PullFailure, brief, pull_failure};
use super::sight::{Sight, Trouble};
use crate::model::container::Container;
use crate::model::pod::Pod;

/// The kubelet's words (`pkg/kubelet/images/types.go`). It goes to and fro between the first two, so
/// they are told as one.
pub(super) fn of(container: &Container, pod: &Pod, sight: &Sight<'_>) -> Option<Trouble> {
    let (image, message) = (&container.image, container.waiting_message());
    match container.waiting_for() {
        "ErrImagePull" | "ImagePullBackOff" => {
            Some(unpulled(image, "ImagePullBackOff", words(container, pod, sight)))
        }
        reason @ ("RegistryUnavailable" | "SignatureValidationFailed" | "ImageInspectError") => {
            Some(unpulled(image, reason, message))
        }
        "ErrImageNeverPull" => Some(Trouble::new(
            CauseId::ImageNotFound,
            format!("ErrImageNeverPull, image {image} is not on the node"),
            message,
        )),
        "InvalidImageName" => {
            Some(Trouble::new(CauseId::ImageNameInvalid, format!("InvalidImageName {image}"), message))
        }
        _ => None,
    }
}

fn unpulled(image: &str, reason: &str, words: &str) -> Trouble {
    let (id, what) = match pull_failure(words) {
        PullFailure::NotFound => (CauseId::ImageNotFound, format!("no image {image}")),
        PullFailure::NoPlatform => {
            (CauseId::ImageNotFound, format!("no image {image} for the node's platform"))
        }
        PullFailure::Unauthorized => (CauseId::ImageUnauthorized, format!("not allowed to pull {image}")),
        PullFailure::Signature => {
            (CauseId::ImageSignatureInvalid, format!("image {image} is not signed as it must be"))
        }
        PullFailure::RateLimit => {
            (CauseId::RegistryRateLimit, format!("the registry limits pulls of {image}"))
        }
        PullFailure::Unreachable => {
            (CauseId::RegistryUnreachable, format!("cannot reach the registry of {image}"))
        }
        PullFailure::Other => (CauseId::ImagePull, format!("cannot pull {image}")),
    };
    Trouble::new(id, format!("{reason}, {what}"), brief(words))
}

/// Older kubelets say why in an event only: `Failed to pull image "...": ...`.
fn words<'a>(container: &'a Container, pod: &Pod, sight: &Sight<'a>) -> &'a str {
    let message = container.waiting_message();
    if pull_failure(message) != PullFailure::Other {
        return message;
    }
    let mut warnings = sight.warnings(pod, &container.name);
    let told = warnings.find(|warning| warning.message.starts_with("Failed to pull image"));
    told.map_or(message, |warning| &warning.message)
}
