//! The follower against a play: a small world whose truth the test sets, and a clock that it turns.

mod back;
mod causes;
mod goals;
mod laws;
mod limits;
mod play;
mod revisions;
