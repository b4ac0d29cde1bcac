//! Stepping, told: a line for each event, JSON, and the plan before anything is written.

mod ended;
mod hints;
pub mod json;
pub mod lines;
pub mod plan;
pub(super) mod words;

use crate::model::step::{Failure, View};
use crate::model::workload::Workload;

/// What is known in the end.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The workload as it was seen last.
    pub workload: &'a Workload,
    /// The plan, as far as there is one.
    pub view: Option<&'a View>,
    /// Why the released pods go back, and to which revision, once that was written.
    pub way_back: Option<(&'a Failure, &'a str)>,
    /// Who we are, as our lease says it; none where nothing was to be stepped.
    pub holder: Option<&'a str>,
}

/// What is to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// For stdout, a line each.
    pub results: Vec<String>,
    /// For stderr, a line each.
    pub notes: Vec<String>,
}

impl Told {
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
