//! Images that cannot be pulled.

use super::CauseId;
use super::context::{CauseContext, Problem};
use super::runtime_messages::{PullFailure, inner_message, pull_failure};
use crate::model::api::container::Container;
use crate::model::api::pod::Pod;

/// Returns the problem of a container whose image is not pulled (`pkg/kubelet/images/types.go`). The kubelet
/// alternates between `ErrImagePull` and `ImagePullBackOff`, so both are one problem.
pub(super) fn find_problem(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    let (image, message) = (&container.image, container.waiting_message());
    match container.waiting_for() {
        "ErrImagePull" | "ImagePullBackOff" => {
            Some(unpulled(image, "ImagePullBackOff", pull_message(container, pod, context)))
        }
        reason @ ("RegistryUnavailable" | "SignatureValidationFailed" | "ImageInspectError") => {
            Some(unpulled(image, reason, message))
        }
        "ErrImageNeverPull" => Some(Problem::new(
            CauseId::ImageNotFound,
            format!("ErrImageNeverPull, image {image} is not on the node"),
            message,
        )),
        "InvalidImageName" => {
            Some(Problem::new(CauseId::ImageNameInvalid, format!("InvalidImageName {image}"), message))
        }
        _ => None,
    }
}

fn unpulled(image: &str, reason: &str, message: &str) -> Problem {
    let (id, what) = match pull_failure(message) {
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
    Problem::new(id, format!("{reason}, {what}"), inner_message(message))
}

/// Returns the message of the failed pull. Older kubelets write it only to an event: `Failed to pull image
/// "...": ...`.
fn pull_message<'a>(container: &'a Container, pod: &Pod, context: &CauseContext<'a>) -> &'a str {
    let message = container.waiting_message();
    if pull_failure(message) != PullFailure::Other {
        return message;
    }
    let mut warnings = context.warnings(pod, &container.name);
    let failed = warnings.find(|warning| warning.message.starts_with("Failed to pull image"));
    failed.map_or(message, |warning| &warning.message)
}
