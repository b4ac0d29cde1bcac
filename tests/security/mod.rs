//! Untrusted input: no text from the cluster controls a terminal, no secret is printed, and the inputs that fuzzing
//! found cause no panic.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]
#![expect(clippy::panic, reason = "a fuzz target reports a defect by a panic")]

mod any_json;
mod build_logs;
mod commands;
mod credentials;
mod escape_detector;
mod every_field;
mod forged;
#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a library of its own as well")]
mod fuzz;
mod other_sources;
mod printed_commands;
mod secret_values;
mod seeds;
mod setup;
