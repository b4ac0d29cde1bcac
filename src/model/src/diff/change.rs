//! One change between two templates.

use serde_json::Value;

use super::path::{PathStep, TemplatePath, key_values};

/// One change between two templates: a value that was added, removed or replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The path of the value.
    pub path: TemplatePath,
    /// The value before; `None` if it was added.
    pub from: Option<Value>,
    /// The value after; `None` if it was removed.
    pub to: Option<Value>,
}

/// The lists that contain containers.
pub(super) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

impl Change {
    /// Returns the name of the container that the change is in, init containers included.
    #[must_use]
    pub fn container(&self) -> Option<String> {
        self.split().0.map(|(_, name)| name)
    }

    /// Returns the path below the container: `image`, `env[MODE].value`. Outside of containers it
    /// is the whole path, such as `spec.nodeSelector.disk`. Empty if the container itself was added
    /// or removed.
    #[must_use]
    pub fn field(&self) -> String {
        TemplatePath::from(self.split().1).to_string()
    }

    /// Splits the path into the container's list and name, and the steps below. Outside of
    /// containers all steps are returned.
    pub(super) fn split(&self) -> (Option<(&str, String)>, &[PathStep]) {
        match self.path.steps() {
            [PathStep::Member(spec), PathStep::Member(list), PathStep::Element(key), below @ ..]
                if spec == "spec" && CONTAINERS.contains(&list.as_str()) =>
            {
                (Some((list, key_values(key).join("/"))), below)
            }
            steps => (None, steps),
        }
    }
}
