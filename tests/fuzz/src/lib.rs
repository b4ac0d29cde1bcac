//! The fuzz targets, each a function of bytes that panics at a defect.
//!
//! `tests/security` runs the same functions on `seeds/`, which contain the inputs that were found. `README.md` explains how
//! to search for more.

pub mod annotation;
pub mod diff;
pub mod events;
pub mod exec_credential;
pub mod kubeconfig;
pub mod list;
pub mod snapshot;
mod tree;
pub mod watch;
