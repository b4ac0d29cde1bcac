//! The status of a rollout: its verdict, its history, when each revision was used, and who changed the template.

pub mod history;
pub mod stale_configuration;
pub mod template_author;
pub mod use_author;
pub mod uses;
pub mod verdict;
