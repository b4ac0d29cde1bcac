//! Tests of the stepper with a simulated StatefulSet, its controller, and a clock that the test advances.

mod acquire;
mod batches;
mod below_partition;
mod external_changes;
mod failures;
mod forgotten_timers;
mod observation;
mod outages;
mod play;
mod rollback;
mod undo;
mod unrelated_pods;
mod world;
