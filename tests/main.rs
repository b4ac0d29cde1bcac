//! The tests of the program, one module for each subject: `cargo test --test all step::hints`.
//!
//! cargo runs test binaries one after another. One binary keeps all processors busy, and is linked once.

// The futures of whole commands nest deeper than the compiler's default limit.
#![recursion_limit = "256"]

mod architecture;
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
mod simulated_api; // not in the package of simcluster, whose profile would optimise these tests
mod simulated_controllers;
mod status;
mod step;
mod step_proof;
mod trust;
mod undo;
mod view;
