//! `pause` and `resume`: hold outdated pods, and end a hold. The annotation is in [`plan`].

mod lost_annotation;
mod pause;
pub mod plan;
mod summary;

pub use lost_annotation::{
    end_command, end_lost_hold, is_annotation_lost, lost_hold, refuse_lost_annotation,
};
pub use pause::{Pause, Resume, pause, resume, surplus_pods};
pub(in crate::model) use pause::{end_pause, holding_fields};
pub use summary::{
    HeldBy, brief_hold, held_by, hold_json, hold_words, left_fields, left_words, next_change_hold,
    restored_words, resume_and_step_command, step_command,
};

#[cfg(test)]
mod tests;
