//! The tests of the program, one module for each subject: `cargo test --test all step::hints`.
//!
//! They are one binary because the test harness runs binaries one after another. So all processors are busy until the
//! last test, and the crates below are linked once.

// The futures of whole commands nest deeper than the compiler's default limit.
#![recursion_limit = "256"]

mod arrows;
mod completion;
mod diff;
mod follow;
mod history;
mod kruise;
mod list;
mod live;
#[cfg(unix)] // its scripts are for Unix; archives for Windows are packed there too
mod package;
mod papers;
mod preview;
mod render;
mod scenarios;
mod simulated_api; // here, because in their own package the tests of simcluster would be optimised as it is
mod simulated_controllers;
mod status;
mod step;
mod step_proof;
mod trust;
mod undo;
mod view;
