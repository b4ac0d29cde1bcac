//! The last lines of containers, for the causes that are about them.

use std::collections::BTreeMap;

use super::seen::LogLines;
use crate::model::cause::Cause;

/// The last lines that were read of containers, by pod and container.
#[derive(Clone, Debug, Default)]
pub struct Logs(BTreeMap<(String, String), LogLines>);

impl Logs {
    /// Keeps the lines of a container in the place of those before.
    pub fn keep(&mut self, log: LogLines) {
        self.0.insert((log.pod.clone(), log.container.clone()), log);
    }

    /// The last lines of the container that a cause is about, if they were read.
    #[must_use]
    pub fn of(&self, cause: &Cause) -> Option<&LogLines> {
        let (container, mut pods) = (cause.container.as_ref()?, cause.pods.iter());
        pods.find_map(|pod| self.0.get(&(pod.clone(), container.clone())))
    }
}
