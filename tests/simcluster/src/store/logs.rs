//! The output of containers: of the present run and of the run before.

use std::collections::BTreeMap;

/// The output of one container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Lines of the present run; `None` before the first start.
    pub current: Option<Vec<String>>,
    /// Lines of the run before; `None` if there was none.
    pub previous: Option<Vec<String>>,
}

/// The output of all containers, by the pod's uid and the container's name.
#[derive(Debug, Default)]
pub struct Logs {
    outputs: BTreeMap<(String, String), Output>,
}

impl Logs {
    /// Returns the output of a container.
    pub fn of(&self, pod_uid: &str, container: &str) -> Option<&Output> {
        self.outputs.get(&(pod_uid.to_owned(), container.to_owned()))
    }

    /// Returns the output of a container for changes, empty if there is none yet.
    pub fn of_mut(&mut self, pod_uid: &str, container: &str) -> &mut Output {
        self.outputs.entry((pod_uid.to_owned(), container.to_owned())).or_default()
    }
}
