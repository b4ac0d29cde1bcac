//! `step` of the kinds of OpenKruise, on a simulated cluster.

mod batches;
mod held_rollback;
mod in_place;
mod other_clients;
mod recordings;
mod refusals;
mod rollback;
mod setup;
