//! The API server of `simcluster`, as a client sees it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that unwraps says what it expected")]

mod client;
mod lost_connections;
mod reads;
mod recorded;
mod writes;
