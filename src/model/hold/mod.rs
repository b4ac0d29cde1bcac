//! `pause` and `resume`: hold outdated pods, and end a hold. The annotation is in [`plan`].

mod lost_annotation;
mod next_change;
mod own_pause;
mod pause;
pub mod plan;
mod restored;
mod resume;
mod summary;

pub use lost_annotation::{
    end_command, end_lost_hold, is_annotation_lost, lost_hold, refuse_lost_annotation,
};
pub use next_change::next_change_hold;
pub(in crate::model) use own_pause::end_pause;
pub use pause::{HoldMethod, Pause, pause};
pub(in crate::model) use pause::{hold_method, holding_partition};
pub use restored::{left_fields, left_words, restored_words};
pub use resume::{Resume, resume};
pub use summary::{HoldSummary, brief_hold, hold_words, resume_and_step_command, step_command};

#[cfg(test)]
mod tests;
