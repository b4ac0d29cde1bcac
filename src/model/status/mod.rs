//! The status of a rollout: its verdict, its history, when each revision was used, and who changed the template.

pub mod authors;
pub mod history;
pub mod rollout_facts;
pub mod stale_configuration;
pub mod uses;
