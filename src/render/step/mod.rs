//! Output of `step`: a line for each report, JSON, and the plan before anything is written.

mod hints;
pub mod json;
pub mod lines;
mod outcome;
pub mod plan;
pub(super) mod words;

use crate::model::engine::Now;
use crate::model::hold::plan::BatchFailure;
use crate::model::kind::Workload;
use crate::model::step::{PlanView, Stepper};

/// The state at the end of a command.
#[derive(Clone, Debug)]
pub struct Closing<'a> {
    /// The workload as last observed.
    pub workload: &'a Workload,
    /// The plan, if there is one.
    pub view: Option<PlanView>,
    /// The failure that caused the rollback, and the label of its revision, once the rollback is stored.
    pub rollback: Option<(BatchFailure, &'a str)>,
    /// The holder that this process writes in the lock; none if it did not step.
    pub holder: Option<&'a str>,
    /// The pods whose deletion got no response.
    pub unanswered: Vec<String>,
    /// The present time.
    pub now: Now,
}

impl<'a> Closing<'a> {
    /// Returns the state after a command.
    #[must_use]
    pub fn of(stepper: &'a Stepper, now: Now) -> Self {
        Self {
            workload: stepper.workload(),
            view: stepper.view(now),
            rollback: stepper.rollback(),
            holder: Some(stepper.holder()),
            unanswered: stepper.unanswered(),
            now,
        }
    }

    /// Returns the state of a command that wrote nothing.
    #[must_use]
    pub fn before(workload: &'a Workload, now: Now) -> Self {
        Self { workload, view: None, rollback: None, holder: None, unanswered: Vec::new(), now }
    }
}

/// Lines to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Lines for stdout.
    pub results: Vec<String>,
    /// Lines for stderr.
    pub notes: Vec<String>,
}

impl Printed {
    fn result(line: impl Into<String>) -> Self {
        Self { results: vec![line.into()], notes: Vec::new() }
    }

    fn note(line: impl Into<String>) -> Self {
        Self { results: Vec::new(), notes: vec![line.into()] }
    }

    fn and_note(mut self, line: impl Into<String>) -> Self {
        self.notes.push(line.into());
        self
    }
}
