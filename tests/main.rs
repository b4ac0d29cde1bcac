//! The tests of the program, one module for each subject: `cargo test --test all step::hints`.
//!
//! cargo runs test binaries one after another. One binary keeps all processors busy, and is linked once.

// The futures of whole commands nest deeper than the compiler's default limit.
#![recursion_limit = "256"]

mod architecture;
mod completion;
mod connection;
mod diff;
mod docs;
mod history;
mod kruise;
mod list;
#[cfg(unix)] // its scripts are for Unix; archives for Windows are packed there too
mod package;
mod pause;
mod preview;
mod scenarios;
mod security;
mod simulation;
mod status;
mod step;
mod step_proof;
mod strategies;
mod targets;
mod undo;
mod writes;
