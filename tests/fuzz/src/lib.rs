//! What is fuzzed, each as a function of bytes that panics when something is wrong.
//!
//! `cargo test` of the program runs the same functions over `seeds/`, so that what was found once stays
//! found. See `README.md` for how to search for more.

pub mod annotation;
pub mod diff;
pub mod events;
pub mod exec_credential;
pub mod kubeconfig;
pub mod list;
pub mod snapshot;
mod tree;
pub mod watch;
