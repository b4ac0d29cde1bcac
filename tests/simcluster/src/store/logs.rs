//! What containers have written: the running instance's lines and those of the one before it.

use std::collections::BTreeMap;

/// The output of one container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Lines of the current instance; none when it has not started.
    pub current: Option<Vec<String>>,
    /// Lines of the instance before; none when there was none.
    pub previous: Option<Vec<String>>,
}

/// The output of all containers, by the pod's uid and the container's name.
#[derive(Debug, Default)]
pub struct Logs {
    outputs: BTreeMap<(String, String), Output>,
}

impl Logs {
    /// What a container has written.
    #[must_use]
    pub fn of(&self, pod_uid: &str, container: &str) -> Option<&Output> {
        self.outputs.get(&(pod_uid.to_owned(), container.to_owned()))
    }

    /// The output of a container, to add to or to set; made empty when there is none.
    pub fn of_mut(&mut self, pod_uid: &str, container: &str) -> &mut Output {
        self.outputs.entry((pod_uid.to_owned(), container.to_owned())).or_default()
    }
}
