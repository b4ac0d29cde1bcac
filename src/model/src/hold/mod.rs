//! `pause` and `resume`: hold outdated pods, and end a hold. The annotation is in [`plan`].

pub mod held;
pub mod mechanism;
mod pause;
pub mod plan;
mod read;
pub mod slot;
mod summary;

pub use pause::{
    HeldBy, Pause, Resume, end_command, end_lost_hold, held_by, lost_hold, pause, refuse_lost_annotation,
    resume, surplus_pods,
};
pub(crate) use pause::{end_pause, holding_fields};
pub use read::read;
pub(crate) use summary::NEXT_CHANGE_PAUSED;
pub use summary::{
    brief_hold, hold_json, hold_words, left_fields, left_words, next_change_hold, pause_words,
    restored_words, resume_and, resume_and_step_command, resume_command, step_command, step_command_with,
};

#[cfg(test)]
mod tests;
