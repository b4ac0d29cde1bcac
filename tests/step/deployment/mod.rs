//! `step` of Deployments: it raises the update budget while no updated pod counts as available.

mod batches;
mod half_ended;
mod held;
mod other_clients;
mod owners;
mod refusals;
mod setup;
