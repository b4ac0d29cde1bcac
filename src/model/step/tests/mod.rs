//! The stepper against a small cluster that plays a StatefulSet's controller, in a time that the test
//! turns.

mod amnesia;
mod arriving;
mod back;
mod below;
mod by_hand;
mod elsewhere;
mod others;
mod play;
mod server;
mod sight;
mod trouble;
mod walking;
mod world;
