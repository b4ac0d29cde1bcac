//! Stepping an update: releasing it batch by batch, at a pace and with checks that no controller knows.
//!
//! A [`Stepper`] is of the [follower](super::follow)'s form: it does no I/O and has no clock. It decides
//! on nothing but a fresh look: before a pod is released, a batch is done or has failed, everything is
//! read again, so that a missed event can delay it, and never mislead it. What cannot be seen of the
//! objects is in the [plan](Plan), which is in the cluster; so any process can go on where another one
//! died.

mod act;
mod amount;
mod arrive;
mod ask;
mod back;
mod batch;
mod below;
mod daemon_set;
mod document;
mod end;
mod event;
mod found;
mod health;
mod kind;
mod lease;
mod leave;
mod next;
mod note;
mod numbers;
mod overdue;
mod own;
mod pacing;
mod phase;
mod plan;
mod pursue;
mod release;
mod request;
mod scene;
mod show;
mod soak;
mod spot;
mod stateful_set;
mod stepper;
mod take;
mod tell;
mod view;
mod words;

#[cfg(test)]
mod tests;

pub use act::{Act, Checked, Removed, Seen, Wrote};
pub use amount::Amount;
pub use batch::{Batch, Place, PlaceState, Stage};
pub use below::{Below, goes_back};
pub use document::is_as_it_was;
pub use end::{Back, End, Failure, Why};
pub use event::{Beginning, Event};
pub use lease::{LASTS, Lease, RENEWED};
pub use note::is_on_the_way_back;
pub use pacing::{Batches, Check, OnFailure, Pacing, Reach};
pub use plan::{Begun, Plan};
pub use request::{CheckWish, Given, Identity, Request};
pub use show::foresee;
pub use stepper::{Output, Stepper};
pub use view::{Soaked, View};
