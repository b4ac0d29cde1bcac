//! Tests of the follower with a simulated workload and a simulated clock.

mod causes;
mod goals;
mod limits;
mod play;
mod properties;
mod revisions;
mod rollback;
