//! Stepping.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]

mod daemon_set;
