//! The mechanism of each workload.

use super::Mechanism;
use super::budget::Budget;
use super::counts::CountedPods;
use super::deletions::Deletions;
use super::hold_budget::is_held;
use super::ordinals::Ordinals;
use crate::kind::fields::HoldFields;
use crate::kind::{MechanismName, Workload, strategy};

impl Workload {
    /// Returns how it is held and released.
    ///
    /// # Errors
    /// Why it cannot be held by fields, as a fragment.
    pub(crate) fn mechanism(&self) -> Result<&'static dyn Mechanism, &'static str> {
        Ok(match self.kind().mechanism()? {
            MechanismName::Partition if strategy::partition_counts_pods(self) => &CountedPods,
            MechanismName::Partition => &Ordinals,
            MechanismName::Deletions => &Deletions,
            MechanismName::Budget => &Budget,
        })
    }

    /// Returns the members of `spec` that a hold replaces; none for a kind that cannot be held.
    #[must_use]
    pub fn hold_fields(&self) -> &'static [&'static str] {
        self.mechanism().map(Mechanism::fields).unwrap_or_default()
    }

    /// Returns the fields that a hold replaces, with their present values.
    #[must_use]
    pub fn replaceable_fields(&self) -> HoldFields {
        HoldFields::of(self.object().json(), self.hold_fields())
    }

    /// Whether a plan holds it by `minReadySeconds`, as only that of a Deployment does.
    ///
    /// No updated pod counts as available then. The controller never completes the rollout, keeps surge pods, and cannot be
    /// held for another template.
    #[must_use]
    pub fn hold_blocks_availability(&self) -> bool {
        self.kind().mechanism() == Ok(MechanismName::Budget)
    }

    /// Whether its fields can only be those of a plan, whatever its annotation says.
    #[must_use]
    pub fn has_fields_of_plan(&self) -> bool {
        self.hold_blocks_availability() && is_held(self)
    }
}
