//! `step`, seen by whoever types it: the whole program against an API server and controllers in the same
//! process, in a time that only moves when everybody waits.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]

mod anew;
mod below;
mod checks;
mod daemon_set;
mod deployment;
mod drawn;
mod facts;
mod held;
mod hints;
mod left;
mod many;
mod races;
mod said;
mod signals;
mod told;
mod words;
