//! `pause` and `resume`: hold outdated pods, and end a hold. The annotation is in [`plan`](super::plan).

mod lost_annotation;
mod next_change;
mod own_pause;
mod pause;
mod resume;
mod summary;

pub use lost_annotation::{
    end_command, end_lost_hold, is_annotation_lost, lost_hold, refuse_lost_annotation,
};
pub use next_change::next_change_hold;
pub(in crate::model::change) use own_pause::end_pause;
pub use pause::{HoldMethod, Pause, pause};
pub(in crate::model) use pause::{hold_method, holding_partition};
pub use resume::{Resume, resume};
pub use summary::{HoldSummary, hold_words, resume_and_step_command, step_command};

#[cfg(test)]
mod tests;
