//! How many restarts of a container are no crash loop (`--allow-restarts`).

use crate::model::api::container::{Container, ContainerState};

/// The restarts that need no fix by default. The first crash may have waited for a dependency.
const DEFAULT: i64 = 1;

/// How many restarts of a container are no crash loop; none if no option says so.
///
/// The counter of the container decides (`restartCount`). It begins with the pod, so with the rollout that created the pod.
/// An update in place keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllowedRestarts(pub Option<u32>);

impl AllowedRestarts {
    /// Returns how many restarts need no fix.
    pub(super) fn limit(self) -> i64 {
        self.0.map_or(DEFAULT, i64::from)
    }

    /// Whether a container runs after no more restarts than an option allows. It then is in no crash loop, however short
    /// its present run is.
    pub(super) fn allows(self, container: &Container) -> bool {
        let runs = matches!(container.state, ContainerState::Running { .. });
        runs && self.0.is_some() && container.restarts <= self.limit()
    }
}
