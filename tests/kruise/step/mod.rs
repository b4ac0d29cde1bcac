//! `step` of the kinds of OpenKruise, on a simulated cluster.

mod batches;
mod in_place;
mod other_clients;
mod recordings;
mod refusals;
mod rollback;
mod setup;
