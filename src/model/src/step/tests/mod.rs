//! Tests of the stepper with a simulated StatefulSet, its controller, and a clock that the test advances.

mod acquire;
mod batches;
mod checks;
mod daemon_set;
mod external_changes;
mod failures;
mod fake_cluster;
mod fixture;
mod held_rollback;
mod lost_memory;
mod observation;
mod outages;
mod rollback;
mod scaled_up;
mod signals;
mod unavailable;
mod undo;
mod unrelated_pods;
