//! Trust: no text from the cluster controls a terminal, no secret is printed, and inputs that fuzzing found
//! stay fixed.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]
#![expect(clippy::panic, reason = "what is fuzzed says what is wrong by a panic")]

mod build_logs;
mod commands;
mod credentials;
mod everywhere;
mod files;
mod forged;
#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a library of its own as well")]
mod fuzz;
mod ground;
mod hostile;
mod pasted;
mod places;
mod secret_corners;
mod seeds;
mod values;
mod wire;
