//! `step` as a user sees it: the complete program against an API server and controllers in the same process, on a
//! clock that advances when every task waits.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod arguments;
mod check_recipes;
mod checks;
mod daemon_set;
mod deployment;
mod evictions;
mod hints;
mod hold_summary;
mod interrupted;
mod live_display;
mod many_batches;
mod messages;
mod new_plan;
mod output;
mod races;
mod setup;
mod signals;
mod undone;
mod unknown_strategy;
