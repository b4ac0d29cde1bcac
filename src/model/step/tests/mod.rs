//! The stepper against a small cluster that plays a StatefulSet's controller, in a time that the test
//! turns.

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
