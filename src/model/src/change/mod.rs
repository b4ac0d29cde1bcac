//! What each verb that writes changes, and what it tells before.

pub mod effect;
pub mod last_applied;
pub mod other_objects;
pub mod preview;
pub mod quotas;
pub mod restart;
pub mod stuck_pods;
pub mod undo;
pub mod write_result;
