//! `--image`: the image that the live template has to name.

use serde_json::Value;

use crate::api::container::declared_containers;
use crate::kind::Workload;

/// An image that the live template has to name, in one container or in any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedImage {
    /// The name of the container; none for any.
    container: Option<String>,
    image: String,
}

impl ExpectedImage {
    /// Parses `IMAGE` or `CONTAINER=IMAGE`.
    ///
    /// # Errors
    /// When the image has neither a tag nor a digest, so that it says nothing of a version.
    pub fn read(word: &str) -> Result<Self, &'static str> {
        let (container, image) = match word.split_once('=') {
            Some((container, image)) => (Some(container.to_owned()), image),
            None => (None, word),
        };
        let (name, tag, digest) = parts(image);
        if name.is_empty() || container.as_deref() == Some("") || tag.or(digest).is_none_or(str::is_empty) {
            return Err("use IMAGE:TAG or IMAGE@DIGEST, and before it CONTAINER= for one container");
        }
        Ok(Self { container, image: image.to_owned() })
    }

    /// Returns what the live template of a workload has in place of the image, as a sentence; none if it names the image.
    #[must_use]
    pub fn mismatch(&self, workload: &Workload) -> Option<String> {
        let template = workload.object().at("/spec/template").unwrap_or(&Value::Null);
        let is_it = |container: &&Value| {
            let name = container.get("name").and_then(Value::as_str);
            self.container.is_none() || name == self.container.as_deref()
        };
        let containers = declared_containers(template).filter(is_it);
        let images: Vec<&str> = containers.filter_map(|container| container.get("image")?.as_str()).collect();
        if images.iter().any(|image| is_same(&self.image, image)) {
            return None;
        }
        let expected = &self.image;
        Some(match (&self.container, images.as_slice()) {
            (Some(name), []) => format!("the live template has no container {name:?}"),
            (Some(name), _) => {
                format!("container {name} has the image {}, and not {expected}", images.join(", "))
            }
            (None, _) => format!("no container has the image {expected}, but {}", images.join(", ")),
        })
    }
}

/// Whether an image of a template is the expected one. A template can have a tag and a digest, of which one is enough.
fn is_same(expected: &str, image: &str) -> bool {
    let ((name, tag, digest), (other_name, other_tag, other_digest)) = (parts(expected), parts(image));
    name == other_name
        && tag.is_none_or(|tag| other_tag == Some(tag))
        && digest.is_none_or(|digest| other_digest == Some(digest))
}

/// Returns the name, the tag and the digest of an image. The registry before the last `/` may have a port.
fn parts(image: &str) -> (&str, Option<&str>, Option<&str>) {
    let (image, digest) =
        image.split_once('@').map_or((image, None), |(image, digest)| (image, Some(digest)));
    let start = image.rfind('/').map_or(0, |slash| slash + 1);
    match image.get(start..).and_then(|last| last.find(':')) {
        Some(colon) => (&image[..start + colon], Some(&image[start + colon + 1..]), digest),
        None => (image, None, digest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_image_is_named_by_its_tag_or_its_digest() {
        let pod = json!({"initContainers": [{"name": "init", "image": "tools:1"}],
            "containers": [{"name": "app", "image": "host:5000/shop/web:2.0@sha256:ab"}, {"name": "log", "image": "log"}]});
        let object =
            json!({"kind": "Deployment", "metadata": {"name": "w"}, "spec": {"template": {"spec": pod}}});
        let workload = Workload::of_json(&object).unwrap();
        for (word, mismatch) in [
            ("host:5000/shop/web:2.0", None),
            ("host:5000/shop/web@sha256:ab", None),
            ("app=host:5000/shop/web:2.0@sha256:ab", None),
            ("init=tools:1", None),
            (
                "app=host:5000/shop/web:2.1",
                Some(
                    "container app has the image host:5000/shop/web:2.0@sha256:ab, and not host:5000/shop/web:2.1",
                ),
            ),
            (
                "shop/web:2.0",
                Some(
                    "no container has the image shop/web:2.0, but tools:1, host:5000/shop/web:2.0@sha256:ab, log",
                ),
            ),
            ("web=shop/web:2.0", Some("the live template has no container \"web\"")),
            (
                "log:latest",
                Some(
                    "no container has the image log:latest, but tools:1, host:5000/shop/web:2.0@sha256:ab, log",
                ),
            ),
        ] {
            let found = ExpectedImage::read(word).unwrap().mismatch(&workload);
            assert_eq!(found.as_deref(), mismatch, "{word}");
        }
    }

    #[test]
    fn an_image_without_a_version_is_refused() {
        for word in ["web", "host:5000/web", "app=web", "=web:1", "app=", "", "web:", "web@", ":1"] {
            assert!(ExpectedImage::read(word).is_err(), "{word}");
        }
    }
}
