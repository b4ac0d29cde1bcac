//! Tests of the follower with a simulated workload and a simulated clock.

mod causes;
mod goals;
mod laws;
mod limits;
mod play;
mod revisions;
mod rollback;
