//! The API server of `simcluster`, as a client sees it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that unwraps says what it expected")]

mod access;
mod deletions;
mod faults;
mod faulty_watches;
mod graceful;
mod kubectl;
mod kubectl_tasks;
mod other_writers;
mod parts;
mod reads;
mod recorded;
mod refusals;
mod socket;
mod support;
mod watch_ends;
mod watches;
mod wire;
mod writes;
