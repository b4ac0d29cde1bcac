//! A plan as it stands in the workload, and the patches that change it.

use std::sync::Arc;

use serde_json::Value;

use super::lease::Lease;
use super::plan::Plan;
use crate::error::{Error, ErrorKind, Result};
use crate::model::hold::{HELD, Hold};
use crate::model::object::Object;
use crate::model::patch::{Patch, Place};
use crate::model::strategy;
use crate::model::workload::Workload;

/// A hold that is a plan's, whether or not it is in force.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    pub(super) hold: Hold,
    pub(super) plan: Plan,
    pub(super) lease: Option<Lease>,
}

/// The plan of a workload, read again only when it changed.
#[derive(Debug, Default)]
pub(super) struct Reading {
    text: Option<String>,
    document: Option<Arc<Document>>,
}

impl Reading {
    /// Takes note of the workload as it is now.
    pub(super) fn update(&mut self, workload: &Workload) {
        let text = workload.object().annotation(HELD);
        if self.text.as_deref() != text {
            self.text = text.map(str::to_owned);
            self.document = Document::of(workload).ok().flatten().map(Arc::new);
        }
    }

    /// The plan, if there is one that can be read.
    pub(super) fn document(&self) -> Option<Arc<Document>> {
        self.document.clone()
    }
}

impl Plan {
    /// The plan that holds a workload, if one does that can be read.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Self::of(&Hold::in_force(workload)?).ok()?
    }
}

impl Document {
    /// The plan of a workload, if it has one.
    ///
    /// # Errors
    /// When the hold or the plan in it is not what we write.
    pub(super) fn of(workload: &Workload) -> Result<Option<Self>> {
        let Some(hold) = Hold::of(workload)? else { return Ok(None) };
        let Some(plan) = Plan::of(&hold).map_err(|why| unreadable(workload, &why))? else { return Ok(None) };
        let lease = hold.member("lease").map(Lease::read);
        Ok(Some(Self { hold, plan, lease }))
    }

    /// Whether what it releases is the template of the workload.
    pub(super) fn is_for(&self, workload: &Workload) -> bool {
        self.plan.template == workload.template().digest().hex()
    }

    /// The patch that makes it the workload's, with another update strategy where one is given. It is made
    /// on exactly what was read: the template, the strategy and the hold are tested in every write.
    pub(super) fn patch(&self, workload: &Workload, set: Option<Value>) -> Patch {
        let mut patch = relying(workload);
        let hold = set.iter().fold(self.memory(), |hold, set| hold.with("set", set.clone()));
        if let Some(set) = set {
            patch.set(strategy::place(workload), set);
        }
        patch.set(Place::annotation(HELD), hold.annotation().into());
        patch
    }

    /// The hold with the plan and the lease in it.
    pub(super) fn memory(&self) -> Hold {
        let hold = self.hold.clone().with("plan", self.plan.json());
        match &self.lease {
            Some(lease) => hold.with("lease", lease.json()),
            None => hold.without("lease"),
        }
    }

    /// The same with a lease that is renewed, as every change of ours does.
    pub(super) fn renewed(&self) -> Self {
        Self { lease: self.lease.as_ref().map(Lease::renewed), ..self.clone() }
    }

    /// The patch that ends the plan: the strategy is again what it was before.
    pub(super) fn ending(&self, workload: &Workload) -> Patch {
        let mut patch = relying(workload);
        self.hold.end(workload, &mut patch);
        patch
    }
}

/// Whether all that a decision rests on is as it was when that was made: the object itself, its template,
/// its update strategy, and the hold with the lease and the pause flag. A deletion cannot test it as a
/// patch does, so it is read again right before each.
#[must_use]
pub fn is_as_it_was(decided_on: &Workload, now: &Object) -> bool {
    relying(decided_on).broken_by(now).next().is_none()
}

/// A patch that changes nothing yet, of a workload as it is.
pub(super) fn relying(workload: &Workload) -> Patch {
    let mut patch = Patch::of(workload.object());
    let places = [Place::of(["spec", "template"]), strategy::place(workload), Place::annotation(HELD)];
    for place in places {
        patch.rely_on(place);
    }
    patch
}

fn unreadable(workload: &Workload, why: &str) -> Error {
    Error::new(
        ErrorKind::Malformed,
        format!("the plan in the annotation {HELD} of {} is not readable", workload.target()),
    )
    .caused_by(why)
    .hint(format!("kubectl rollout2 resume {} --release-all", workload.command_target()))
}
