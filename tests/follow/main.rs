//! Following rollouts: the whole program against an API server and controllers in the same process, in a
//! time that only moves when everybody waits.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]

mod broken;
mod drawn;
mod forms;
mod never_lost;
mod rights;
mod schedules;
mod sockets;
mod traces;
mod undone;
mod waiting;
