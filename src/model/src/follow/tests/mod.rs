//! Tests of the follower with a simulated workload and a simulated clock.

mod causes;
mod fixture;
mod goals;
mod limits;
mod properties;
mod revisions;
mod rollback;
mod rollback_of_all;
