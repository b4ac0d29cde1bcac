//! `pause` and `resume`: hold outdated pods, and end a hold. The annotation is in [`plan`](super::plan).

mod lost_annotation;
mod pause;
mod resume;
mod summary;

pub use lost_annotation::{check_not_lost, end_command, end_lost_hold, is_annotation_lost, lost_hold};
pub(in crate::model) use pause::hold_method;
pub use pause::{HoldMethod, Pause, pause};
pub use resume::{Resume, resume};
pub use summary::{HoldSummary, step_command};

#[cfg(test)]
mod tests;
