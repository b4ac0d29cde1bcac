//! Trust: nothing that a cluster says is obeyed by a terminal, nothing secret is told, and what fuzzing
//! found stays found.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]
#![expect(clippy::panic, reason = "what is fuzzed says what is wrong by a panic")]

mod commands;
mod credentials;
mod everywhere;
mod files;
#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a library of its own as well")]
mod fuzz;
mod ground;
mod hostile;
mod places;
mod seeds;
mod values;
mod wire;
