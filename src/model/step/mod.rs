//! Stepping an update: releasing it batch by batch, at a pace and with checks that no controller knows.

mod act;
mod amount;
mod batch;
mod end;
mod event;
mod lease;
mod pacing;

pub use act::{Act, Checked, Removed, Seen, Wrote};
pub use amount::Amount;
pub use batch::{Batch, Place, PlaceState, Stage};
pub use end::{Back, End, Failure, Why};
pub use event::Event;
pub use lease::{LASTS, Lease, RENEWED};
pub use pacing::{Batches, Check, OnFailure, Pacing, Reach};
