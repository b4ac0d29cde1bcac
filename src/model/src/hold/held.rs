//! What the annotation `kubectl-rollout2/held` says of a workload, parsed once, when the workload is read ([`read`](super::read)).
//! The schema of the annotation is in [`plan`](super::plan).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::plan::schema::{Lock, Plan};
use crate::error::{Error, Result};
use crate::kind::fields::HoldFields;

/// What the annotation says of a workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// Nothing: there is no annotation, or the kind is not held by fields.
    Free,
    /// `pause` holds it.
    Paused(Arc<Hold>),
    /// A plan of `step` holds it.
    Plan(Arc<Hold>),
    /// It is not held by the hold that the annotation stores: another client wrote the fields that held, or the patch of a
    /// rollback restored them.
    Ended(Arc<Hold>),
    /// Its fields are those of a plan, and the annotation is gone. Copies of it may be left on revisions.
    Lost,
    /// The annotation is not readable, so that the original fields are unknown.
    Unreadable(Error),
}

impl Held {
    /// Returns the hold that the annotation stores, whether or not it is in force.
    #[must_use]
    pub fn stored(&self) -> Option<&Hold> {
        match self {
            Self::Paused(hold) | Self::Plan(hold) | Self::Ended(hold) => Some(hold),
            Self::Free | Self::Lost | Self::Unreadable(_) => None,
        }
    }

    /// Returns the hold if it is in force.
    #[must_use]
    pub fn in_force(&self) -> Option<&Hold> {
        match self {
            Self::Paused(hold) | Self::Plan(hold) => Some(hold),
            Self::Free | Self::Ended(_) | Self::Lost | Self::Unreadable(_) => None,
        }
    }

    /// Whether a hold of `pause` or `step` is in force, or the annotation of one is gone.
    #[must_use]
    pub fn holds(&self) -> bool {
        matches!(self, Self::Paused(_) | Self::Plan(_) | Self::Lost)
    }

    /// Returns the plan in force.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.in_force()?.plan.as_ref()
    }

    /// Returns the hold that the annotation stores.
    ///
    /// # Errors
    /// When the annotation is not readable.
    pub fn readable(&self) -> Result<Option<&Hold>> {
        match self {
            Self::Unreadable(error) => Err(error.clone()),
            _ => Ok(self.stored()),
        }
    }

    /// Whether the fields are those of a plan, and the annotation is gone.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        *self == Self::Lost
    }
}

/// The version of the schema. An annotation of another version is not readable.
pub(crate) const VERSION: u32 = 1;

/// The content of the annotation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    pub(crate) version: u32,
    /// The original fields; for a Deployment four members, one of which is `strategy`.
    #[serde(skip_deserializing, skip_serializing_if = "HoldFields::are_absent")]
    pub strategy: HoldFields,
    /// The fields that hold; none during a rollback that holds nothing.
    #[serde(skip_deserializing, skip_serializing_if = "HoldFields::are_absent")]
    pub set: HoldFields,
    /// When the pause or the plan began, for display. Of several copies of a lost hold, the latest is restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The user who wrote it, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether its plan is paused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// The plan; none for a hold of `pause`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The lock of the process that steps the workload.
    #[serde(default, deserialize_with = "Lock::read", skip_serializing_if = "Option::is_none")]
    pub lock: Option<Lock>,
}

impl Hold {
    /// Returns the same hold with another plan.
    #[must_use]
    pub fn with_plan(self, plan: Plan) -> Self {
        Self { plan: Some(plan), ..self }
    }

    /// Sets the user who wrote it and the time, for display.
    #[must_use]
    pub fn written_by(mut self, by: Option<&str>, since: &str) -> Self {
        (self.by, self.since) = (by.map(str::to_owned), Some(since.to_owned()));
        self
    }

    /// Whether a plan of `step` holds the workload; otherwise `pause` does.
    #[must_use]
    pub fn has_plan(&self) -> bool {
        self.plan.is_some()
    }

    /// Whether its plan is rolling back.
    #[must_use]
    pub fn is_rolling_back(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.rolling_back)
    }

    /// Whether no more pods are released: during a pause, or when a plan is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        !self.has_plan() || self.paused
    }
}

/// The member with the plan.
pub(crate) const PLAN: &str = "plan";

/// The member with the kubectl command that ends the hold, for people without this program.
pub(crate) const END_BY_HAND: &str = "endByHand";
