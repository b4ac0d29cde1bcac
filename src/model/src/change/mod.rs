//! The patches of the writing verbs, and the effects and warnings that they print before the write.

pub mod contexts;
pub mod effect;
pub mod last_applied;
pub mod other_objects;
pub mod preview;
pub mod quotas;
pub mod restart;
pub mod stuck_pods;
pub mod undo;
pub mod written;
