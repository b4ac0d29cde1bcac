//! `status` that follows rollouts, against an API server and controllers in the same process, with a simulated clock.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod allowed_restarts;
mod creation;
mod github_actions;
mod heartbeat;
mod images;
mod jobs;
mod late_events;
mod limits_and_stability;
mod live_display;
mod missed_events;
mod output;
mod permissions;
mod recordings;
mod refused_reads;
mod schedules;
mod share_of_pods;
mod sockets;
mod traces;
mod undo_all_on_failure;
mod undo_on_failure;
