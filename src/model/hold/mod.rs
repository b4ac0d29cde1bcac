//! The memory of a hold of ours: the annotation `kubectl-rollout2/held`.
//!
//! `pause` and `step` hold a StatefulSet by its partition and a DaemonSet by `OnDelete`, and write
//! down, in the same patch, what was there before. One JSON object keeps it all:
//!
//! | member | is |
//! |---|---|
//! | `reason` | `pause`, or `plan` for a `step` that is under way |
//! | `strategy` | the update strategy as it was, raw; absent when there was none |
//! | `set` | the update strategy that holds, as it was written |
//! | `since`, `by` | when and who, for people |
//! | `paused` | `true` when somebody paused a plan |
//! | `plan`, `lease` | the plan's own, see `step` |
//!
//! Members that this version does not know are kept: a newer one may have written them.

mod pause;
mod resume;
mod story;

pub(super) use pause::holding_of;
pub use pause::{Holding, Pause, pause};
pub use resume::{Resume, resume};
pub use story::{Story, step_command};

use serde_json::{Map, Value};

use super::go_json::go_json;
use super::patch::{Patch, Place};
use super::strategy;
use super::workload::Workload;
use crate::error::{Error, ErrorKind, Result};

/// Where the memory is kept.
pub const HELD: &str = "kubectl-rollout2/held";

/// What is remembered of a hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold(Map<String, Value>);

/// Why a workload is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Somebody paused it.
    Pause,
    /// It is being stepped.
    Plan,
}

impl Hold {
    /// The hold on a workload, if there is one.
    ///
    /// # Errors
    /// When the annotation is there and is not what we write: whatever held it, nobody knows what
    /// was before.
    pub fn of(workload: &Workload) -> Result<Option<Self>> {
        let Some(text) = workload.object().annotation(HELD) else { return Ok(None) };
        match serde_json::from_str(text) {
            Ok(Value::Object(members)) => {
                let hold = Self(members);
                hold.reason().map_or_else(|| Err(unreadable(workload)), |_| Ok(Some(hold)))
            }
            _ => Err(unreadable(workload)),
        }
    }

    /// A new hold: what is there now is remembered, and what holds is noted.
    #[must_use]
    pub fn new(workload: &Workload, reason: Reason, set: &Value) -> Self {
        let mut hold = Self(Map::new()).with("reason", reason.word().into()).with("set", set.clone());
        if let Some(strategy) = strategy::strategy(workload) {
            hold = hold.with("strategy", strategy.clone());
        }
        hold
    }

    /// The same with a member more, or another one in its place.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// The same without a member.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// The same hold as that of a plan.
    #[must_use]
    pub fn of_a_plan(self) -> Self {
        self.with("reason", Reason::Plan.word().into()).without("paused")
    }

    /// A member, raw.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Why it is held; none for a word that only another version knows.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        [Reason::Pause, Reason::Plan].into_iter().find(|reason| self.text("reason") == Some(reason.word()))
    }

    /// The strategy as it was before.
    #[must_use]
    pub fn original(&self) -> Option<&Value> {
        self.member("strategy").filter(|strategy| !strategy.is_null())
    }

    /// Who wrote it, if it says.
    #[must_use]
    pub fn by(&self) -> Option<&str> {
        self.text("by")
    }

    /// Since when, if it says.
    #[must_use]
    pub fn since(&self) -> Option<&str> {
        self.text("since")
    }

    /// Whether nothing is released any more: a pause, or a plan that somebody paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.reason() == Some(Reason::Pause) || self.member("paused") == Some(&Value::Bool(true))
    }

    /// The hold of a workload that is in force, if there is one that can be read.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Self::of(workload).ok()?.filter(|hold| hold.is_in_force(workload))
    }

    /// Whether the strategy is still the one that holds. It is not once somebody applied a manifest
    /// that names `updateStrategy`: then this is a memory without its effect.
    ///
    /// Only what holds is compared: a server may add defaults of its own to the rest.
    #[must_use]
    pub fn is_in_force(&self, workload: &Workload) -> bool {
        let Some(set) = self.member("set") else { return false };
        match workload {
            Workload::Deployment(_) => false,
            Workload::DaemonSet(_) => strategy::is_on_delete(workload) == strategy::says_on_delete(set),
            Workload::StatefulSet(_) => {
                strategy::is_on_delete(workload) == strategy::says_on_delete(set)
                    && strategy::partition(workload) == strategy::partition_in(set)
            }
        }
    }

    /// Puts back what was there before, and forgets the hold. Where somebody else's strategy is
    /// there by now, that one stays.
    pub fn end(&self, workload: &Workload, patch: &mut Patch) {
        let place = strategy::place(workload);
        if self.is_in_force(workload) {
            patch.set_or_remove(place, self.original().cloned());
        } else {
            patch.rely_on(place);
        }
        patch.remove(Place::annotation(HELD));
    }

    /// The annotation's value.
    #[must_use]
    pub fn annotation(&self) -> String {
        go_json(&Value::Object(self.0.clone()))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.member(name)?.as_str()
    }
}

impl Reason {
    fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Plan => "plan",
        }
    }
}

/// What a process that steps changes of its plan all the time: its lease, and how far it is.
const GOES_ON: [&str; 2] = ["lease", "set"];
const GOES_ON_IN_PLAN: [&str; 3] = ["batch", "done", "reach"];

/// Whether two states of a workload have the same plan for the same template, however far it is in each.
/// Whoever wants to stop it is not in conflict with the process that steps it.
#[must_use]
pub fn is_same_plan(one: &Workload, other: &Workload) -> bool {
    let plan = |workload: &Workload| {
        let mut hold = Hold::of(workload).ok()??;
        (hold.reason() == Some(Reason::Plan)).then_some(())?;
        for member in GOES_ON {
            hold = hold.without(member);
        }
        let mut plan = hold.member("plan")?.as_object()?.clone();
        plan.retain(|member, _| !GOES_ON_IN_PLAN.contains(&member.as_str()));
        Some((workload.template().digest(), hold.with("plan", plan.into())))
    };
    plan(one).is_some_and(|one| plan(other) == Some(one))
}

fn unreadable(workload: &Workload) -> Error {
    Error::new(
        ErrorKind::Malformed,
        format!("the annotation {HELD} of {} is not readable", workload.target()),
    )
    .hint(format!(
        "put its update strategy right, then: kubectl annotate {} {HELD}-",
        workload.command_target()
    ))
}

#[cfg(test)]
mod tests;
