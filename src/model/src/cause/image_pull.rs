//! Images that are not pulled.
//!
//! containerd, CRI-O and Docker word the same failure differently, and the kubelet drops their error codes, so only this file
//! matches on their messages.

use std::ops::RangeInclusive;

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
    let message = container.waiting_message();
    let unpulled = |reason: &str, message: &str| {
        let image = pulled_image(message, container, context);
        let (id, what) = pull_failure(message, image)
            .unwrap_or_else(|| (CauseId::ImagePull, format!("cannot pull {image}")));
        Cause::new(id, format!("{reason}, {what}")).with_evidence(inner_message(message))
    };
    let image = || pulled_image(message, container, context);
    match container.waiting_reason() {
        "ErrImagePull" | "ImagePullBackOff" => {
            Some(unpulled("ImagePullBackOff", pull_message(container, pod, context)))
        }
        reason @ ("RegistryUnavailable" | "SignatureValidationFailed" | "ImageInspectError") => {
            Some(unpulled(reason, message))
        }
        "ErrImageNeverPull" => Some(
            Cause::new(
                CauseId::ImageNotFound,
                format!("ErrImageNeverPull, image {} is not on the node", image()),
            )
            .with_evidence(message),
        ),
        "InvalidImageName" => Some(
            Cause::new(CauseId::ImageNameInvalid, format!("InvalidImageName {}", image()))
                .with_evidence(message),
        ),
        _ => None,
    }
}

/// Returns the message of the failed pull. Older kubelets write it only to an event: `Failed to pull image
/// "...": ...`.
fn pull_message<'a>(container: &'a Container, pod: &Pod, context: &CauseContext<'a>) -> &'a str {
    let message = container.waiting_message();
    if pull_failure(message, &container.image).is_some() {
        return message;
    }
    let mut warnings = context.warnings(pod, &container.name);
    let failed = warnings.find(|warning| warning.message.starts_with("Failed to pull image"));
    failed.map_or(message, |warning| &warning.message)
}

/// Returns the image that a message about a container names: that of a volume (`spec.volumes[].image`), which the kubelet
/// pulls for the container that mounts it, or else the image of the container.
fn pulled_image<'a>(message: &str, container: &'a Container, context: &'a CauseContext<'_>) -> &'a str {
    let is_named = |image: &str| message.split_whitespace().any(|word| is_reference(word, image));
    let own = container.image.as_str();
    if is_named(own) {
        return own;
    }
    context.image_volumes().find(|image| is_named(image)).unwrap_or(own)
}

/// Whether a word is an image's reference, or its repository, perhaps with the registry that the image leaves out.
fn is_reference(word: &str, image: &str) -> bool {
    let word = bare(word);
    let is_it =
        |name: &str| word.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    !image.is_empty() && (is_it(image) || is_it(repository(image)))
}

/// Returns an image without its tag and its digest.
fn repository(image: &str) -> &str {
    let (name, _) = image.split_once('@').unwrap_or((image, ""));
    match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => name,
    }
}

/// Returns a word without the quotes and the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric())
}

/// What the message of a failed pull says.
struct PullFailure {
    id: CauseId,
    /// What is printed, with `IMAGE` in the place of the image.
    words: &'static str,
    /// Phrases of the messages, in lower case.
    phrases: &'static [&'static str],
    /// The HTTP codes of the registry or its token server.
    codes: &'static [RangeInclusive<u16>],
}

/// The causes of failed pulls. The order matters. A denied pull also contains "does not exist", and an unknown host contains
/// "not found".
const PULLS: [PullFailure; 6] = [
    PullFailure {
        id: CauseId::RegistryRateLimit,
        words: "the registry limits pulls of IMAGE",
        phrases: &["toomanyrequests", "too many requests"],
        codes: &[429..=429],
    },
    PullFailure {
        // A registry that hides its images returns the same error.
        id: CauseId::ImageUnauthorized,
        words: "not allowed to pull IMAGE",
        phrases: &[
            "pull access denied",
            "unauthorized",
            "authentication required",
            "authorization failed",
            "no basic auth credentials",
            "access to the resource is denied",
            "denied:",
        ],
        codes: &[401..=401, 403..=403],
    },
    PullFailure {
        id: CauseId::ImageSignatureInvalid,
        words: "image IMAGE is not signed as it must be",
        phrases: &["signature validation failed", "signaturevalidationfailed"],
        codes: &[],
    },
    PullFailure {
        id: CauseId::ImageNotFound,
        words: "no image IMAGE for the node's platform",
        phrases: &["no match for platform in manifest", "no image found in manifest list for architecture"],
        codes: &[],
    },
    PullFailure {
        id: CauseId::RegistryUnreachable,
        words: "cannot reach the registry of IMAGE",
        phrases: &[
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
            "unexpected media type", // the page of a proxy
        ],
        codes: &[408..=408, 500..=599],
    },
    PullFailure {
        id: CauseId::ImageNotFound,
        words: "no image IMAGE",
        phrases: &["manifest unknown", "name unknown", "not found"],
        codes: &[404..=404],
    },
];

/// Returns the cause of a failed pull and its words; none if the message says nothing known. The name of an image or a host
/// can contain any phrase, so names say nothing.
fn pull_failure(message: &str, image: &str) -> Option<(CauseId, String)> {
    let words: Vec<String> =
        message.split_whitespace().filter(|word| !is_name(word, image)).map(str::to_lowercase).collect();
    let (text, codes) = (words.join(" "), http_codes(&words));
    let is_said = |known: &&PullFailure| {
        let has_code = codes.iter().any(|code| known.codes.iter().any(|range| range.contains(code)));
        has_code || known.phrases.iter().any(|phrase| text.contains(phrase))
    };
    PULLS.iter().find(is_said).map(|known| (known.id, known.words.replace("IMAGE", image)))
}

/// Whether a word is the name of an image or a host, an address, or a single word in quotes.
fn is_name(word: &str, image: &str) -> bool {
    let name = bare(word);
    let is_path = name.contains('/') && name != "i/o";
    let is_quoted = word.starts_with('"') && word.trim_end_matches([':', ',', '.']).ends_with('"');
    is_path || name.contains('.') || is_quoted || is_reference(word, image)
}

/// How many words the runtimes write between `status` and its code: `unexpected status from HEAD request to URL: 503`.
const WORDS_BEFORE_CODE: usize = 5;

/// Returns the numbers that follow a word such as `status`, `StatusCode:` or `HTTP`.
fn http_codes(words: &[String]) -> Vec<u16> {
    let announces = |word: &String| word.contains("status") || word == "http";
    let code = |(at, word): (usize, &String)| {
        let before = words.get(at.saturating_sub(WORDS_BEFORE_CODE)..at)?;
        bare(word).parse().ok().filter(|_| before.iter().any(announces))
    };
    words.iter().enumerate().filter_map(code).collect()
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

    /// Names of images and hosts decide nothing, and HTTP codes decide by their number.
    #[test]
    fn a_pull_failure_is_read_from_the_words_of_a_component() {
        use CauseId::{ImageNotFound, ImageUnauthorized, RegistryRateLimit, RegistryUnreachable};
        for (message, expected) in [
            (
                r#"failed to pull and unpack image "docker.io/acme/access-denied:1.2": failed to resolve reference "docker.io/acme/access-denied:1.2": docker.io/acme/access-denied:1.2: not found"#,
                Some(ImageNotFound),
            ),
            (
                r#"failed to do request: Head "https://ghcr.io/v2/acme/unauthorized-page/manifests/2": dial tcp: lookup ghcr.io: i/o timeout"#,
                Some(RegistryUnreachable),
            ),
            (
                "initializing source docker://unauthorized.example.com:5000/denied:9: pinging container registry unauthorized.example.com:5000: Get \"https://unauthorized.example.com:5000/v2/\": dial tcp 10.0.0.1:5000: connect: connection refused",
                Some(RegistryUnreachable),
            ),
            (r#"Back-off pulling image "unauthorized""#, None),
            (r#"failed to pull and unpack image "docker.io/acme/404:1": layer is corrupt"#, None),
            (
                r#"failed to resolve reference "r/a:1": unexpected media type text/html for sha256:0123: not found"#,
                Some(RegistryUnreachable),
            ),
            (
                "failed to resolve reference: unexpected status from HEAD request to https://r/v2/a/manifests/1: 503 Service Temporarily Unavailable",
                Some(RegistryUnreachable),
            ),
            (
                "pinging container registry r: received unexpected HTTP status: 504 Gateway Time-out",
                Some(RegistryUnreachable),
            ),
            (r#"reading manifest 1 in r/a: StatusCode: 404, "<!DOCTYPE html><html>"#, Some(ImageNotFound)),
            (
                "unexpected status from GET request to https://r/token: 401 Unauthorized",
                Some(ImageUnauthorized),
            ),
            ("error parsing HTTP 403 response body: invalid character '<'", Some(ImageUnauthorized)),
            ("invalid status code from registry 429", Some(RegistryRateLimit)),
            ("short read: expected 404 bytes but got 503", None),
            (
                r#"errors: [{"code":"DENIED","message":"requested access to the resource is denied"}]"#,
                Some(ImageUnauthorized),
            ),
        ] {
            assert_eq!(pull_failure(message, "x").map(|(id, _)| id), expected, "{message}");
        }
    }
}
