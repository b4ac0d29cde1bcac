//! How many pods a controller replaces at a time.

use crate::model::kind::Workload;
use crate::model::kind::strategy;
use crate::model::kind::update_budget::UpdateBudget;

/// How many pods a controller replaces at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdatePace {
    /// `Recreate`: all outdated pods stop before the first updated one starts.
    AllAtOnce,
    /// As many as the update budget allows.
    Budget(UpdateBudget),
}

impl UpdatePace {
    /// Returns the pace of a strategy; none for one that is not known to this version.
    pub(super) fn of(after: &Workload) -> Option<Self> {
        if strategy::is_rolling(after) {
            return Some(Self::Budget(after.update_budget()));
        }
        strategy::is_recreate(after).then_some(Self::AllAtOnce)
    }
}
