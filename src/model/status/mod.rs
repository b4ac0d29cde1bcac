//! The status of a rollout: its verdict, its history, and who changed the template.

pub mod history;
pub mod template_author;
pub mod verdict;
