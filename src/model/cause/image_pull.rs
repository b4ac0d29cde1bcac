//! Images that are not pulled.
//!
//! containerd, CRI-O and Docker word the same failure differently, and the kubelet drops their error codes, so only this file
//! matches on their messages.

use super::context::CauseContext;
use super::{Cause, CauseId};
use crate::api::container::Container;
use crate::api::pod::Pod;

/// Returns the problem of a container whose image is not pulled (`pkg/kubelet/images/types.go`). The kubelet
/// alternates between `ErrImagePull` and `ImagePullBackOff`, so both are one problem.
pub(super) fn find_image_problem(
    container: &Container,
    pod: &Pod,
    context: &CauseContext<'_>,
) -> Option<Cause> {
    let (image, message) = (&container.image, container.waiting_message());
    match container.waiting_reason() {
        "ErrImagePull" | "ImagePullBackOff" => {
            Some(unpulled(image, "ImagePullBackOff", pull_message(container, pod, context)))
        }
        reason @ ("RegistryUnavailable" | "SignatureValidationFailed" | "ImageInspectError") => {
            Some(unpulled(image, reason, message))
        }
        "ErrImageNeverPull" => Some(
            Cause::new(
                CauseId::ImageNotFound,
                format!("ErrImageNeverPull, image {image} is not on the node"),
            )
            .with_evidence(message),
        ),
        "InvalidImageName" => Some(
            Cause::new(CauseId::ImageNameInvalid, format!("InvalidImageName {image}")).with_evidence(message),
        ),
        _ => None,
    }
}

fn unpulled(image: &str, reason: &str, message: &str) -> Cause {
    let (id, what) =
        pull_failure(message, image).unwrap_or_else(|| (CauseId::ImagePull, format!("cannot pull {image}")));
    Cause::new(id, format!("{reason}, {what}")).with_evidence(inner_message(message))
}

/// Returns the message of the failed pull. Older kubelets write it only to an event: `Failed to pull image
/// "...": ...`.
fn pull_message<'a>(container: &'a Container, pod: &Pod, context: &CauseContext<'a>) -> &'a str {
    let message = container.waiting_message();
    if pull_failure(message, "").is_some() {
        return message;
    }
    let mut warnings = context.warnings(pod, &container.name);
    let failed = warnings.find(|warning| warning.message.starts_with("Failed to pull image"));
    failed.map_or(message, |warning| &warning.message)
}

/// The causes of failed pulls, with their words and with phrases of the messages. The order matters. A denied pull also
/// contains "does not exist", and an unknown host contains "not found".
const PULLS: [(CauseId, &str, &[&str]); 6] = [
    (
        CauseId::RegistryRateLimit,
        "the registry limits pulls of IMAGE",
        &["toomanyrequests", "too many requests"],
    ),
    (
        // A registry that hides its images returns the same error.
        CauseId::ImageUnauthorized,
        "not allowed to pull IMAGE",
        &[
            "pull access denied",
            "unauthorized",
            "authentication required",
            "authorization failed",
            "no basic auth credentials",
            "access to the resource is denied",
            "403 forbidden",
            "denied:",
        ],
    ),
    (
        CauseId::ImageSignatureInvalid,
        "image IMAGE is not signed as it must be",
        &["signature validation failed", "signaturevalidationfailed"],
    ),
    (
        CauseId::ImageNotFound,
        "no image IMAGE for the node's platform",
        &["no match for platform in manifest", "no image found in manifest list for architecture"],
    ),
    (
        CauseId::RegistryUnreachable,
        "cannot reach the registry of IMAGE",
        &[
            "dial tcp",
            "no such host",
            "i/o timeout",
            "connection refused",
            "connection reset",
            "no route to host",
            "handshake timeout",
            "deadline exceeded",
            "name resolution",
            "x509:",
            "registry is unavailable",
            "500 internal server error",
            "502 bad gateway",
            "503 service unavailable",
            "504 gateway timeout",
        ],
    ),
    (CauseId::ImageNotFound, "no image IMAGE", &["manifest unknown", "name unknown", "not found", "404 "]),
];

/// Returns the cause of a failed pull and its words; none if the message says nothing known.
fn pull_failure(message: &str, image: &str) -> Option<(CauseId, String)> {
    let message = message.to_lowercase();
    let mut known =
        PULLS.iter().filter(|(.., phrases)| phrases.iter().any(|phrase| message.contains(phrase)));
    known.next().map(|(id, words, _)| (*id, words.replace("IMAGE", image)))
}

/// Returns the message without the prefixes that the kubelet and gRPC add.
pub(super) fn inner_message(message: &str) -> &str {
    let mut rest = message;
    for layer in ["ErrImagePull: ", " desc = "] {
        rest = rest.rsplit_once(layer).map_or(rest, |(_, inner)| inner);
    }
    if let Some((_, inner)) =
        rest.strip_prefix("Failed to pull image ").and_then(|rest| rest.split_once("\": "))
    {
        rest = inner;
    }
    rest.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every message is copied from a component's source or from a user's report.
    #[test]
    fn pull_failures_of_every_runtime_are_recognized() {
        for (message, failure) in [
            // containerd
            (
                r#"failed to pull and unpack image "docker.io/library/nginx:nope": failed to resolve reference "docker.io/library/nginx:nope": docker.io/library/nginx:nope: not found"#,
                Some((CauseId::ImageNotFound, "no image x")),
            ),
            (
                r#"failed to pull and unpack image "docker.io/library/kubefleet-dashboard:latest": failed to resolve reference "docker.io/library/kubefleet-dashboard:latest": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed"#,
                Some((CauseId::ImageUnauthorized, "not allowed to pull x")),
            ),
            (
                r#"failed to pull and unpack image "registry.k8s.io/pause:3.9": failed to resolve reference "registry.k8s.io/pause:3.9": failed to do request: Head "https://registry.k8s.io/v2/pause/manifests/3.9": dial tcp 34.96.108.209:443: connect: connection timed out"#,
                Some((CauseId::RegistryUnreachable, "cannot reach the registry of x")),
            ),
            (
                "failed to pull and unpack image: no match for platform in manifest: not found",
                Some((CauseId::ImageNotFound, "no image x for the node's platform")),
            ),
            (
                "failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/nginx/manifests/1: 429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit.",
                Some((CauseId::RegistryRateLimit, "the registry limits pulls of x")),
            ),
            // CRI-O, with the messages of containers/image
            (
                "Error reading manifest latest in registry.mydomain/image: manifest unknown: manifest unknown",
                Some((CauseId::ImageNotFound, "no image x")),
            ),
            (
                "Error reading manifest latest in docker.io/crio/busybox: errors:\ndenied: requested access to the resource is denied\nunauthorized: authentication required\n",
                Some((CauseId::ImageUnauthorized, "not allowed to pull x")),
            ),
            (
                r#"error pinging docker registry k8s.gcr.io: Get "https://k8s.gcr.io/v2/": dial tcp: lookup k8s.gcr.io: device or resource busy"#,
                Some((CauseId::RegistryUnreachable, "cannot reach the registry of x")),
            ),
            // Docker, through cri-dockerd
            (
                "Error response from daemon: pull access denied for rmeuser-auth, repository does not exist or may require 'docker login'",
                Some((CauseId::ImageUnauthorized, "not allowed to pull x")),
            ),
            // the kubelet's own codes (pkg/kubelet/images)
            (
                "image pull failed for x because the registry is unavailable: down for maintenance",
                Some((CauseId::RegistryUnreachable, "cannot reach the registry of x")),
            ),
            (
                "image pull failed for x because the signature validation failed: no signature exists",
                Some((CauseId::ImageSignatureInvalid, "image x is not signed as it must be")),
            ),
            ("layer is corrupt", None),
        ] {
            let failure = failure.map(|(id, words)| (id, words.to_owned()));
            assert_eq!(pull_failure(message, "x"), failure, "{message}");
        }
    }

    #[test]
    fn the_layers_above_the_message_are_left_out() {
        for (message, inner) in [
            (
                r#"Back-off pulling image "a:1": ErrImagePull: rpc error: code = NotFound desc = a:1: not found"#,
                "a:1: not found",
            ),
            (
                r#"Failed to pull image "a:1": rpc error: code = Unknown desc = dial tcp: i/o timeout"#,
                "dial tcp: i/o timeout",
            ),
            (r#"Failed to pull image "a:1": a:1: not found"#, "a:1: not found"),
            ("plain", "plain"),
        ] {
            assert_eq!(inner_message(message), inner);
        }
    }
}
