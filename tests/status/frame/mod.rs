//! The live display in a terminal emulator: frames at several sizes, and redraws.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod emulator;
mod frames;
mod objects;
mod sequences;
