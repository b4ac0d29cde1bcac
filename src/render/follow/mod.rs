//! The output of followed rollouts as lines and as JSON.

mod end;
pub mod json;
pub mod lines;

pub(super) use end::way_back;

use super::ui::{DocumentFormat, Ui};

/// The output format of followed rollouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// kubectl's lines on stdout; causes and results on stderr, but for the causes of one evaluation on a terminal.
    Lines,
    /// A document for each change.
    Documents(DocumentFormat),
    /// A live frame, redrawn in place.
    Frames,
}

impl ReportFormat {
    /// Returns the text format: frames if the terminal can draw them, unless `wants_lines`.
    #[must_use]
    pub fn of_text(ui: &Ui, wants_lines: bool) -> Self {
        if ui.can_draw() && !wants_lines { Self::Frames } else { Self::Lines }
    }
}
