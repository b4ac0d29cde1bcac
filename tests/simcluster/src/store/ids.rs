//! Generated uids. They follow from a seed, so that a run can be repeated.

use crate::random::Dice;

/// A source of uids.
#[derive(Debug)]
pub(super) struct Ids(Dice);

impl Ids {
    pub(super) fn new(seed: u64) -> Self {
        Self(Dice::new(seed))
    }

    /// A uid in the form of a version 4 UUID.
    pub(super) fn uid(&mut self) -> String {
        let (high, low) = (self.0.number(), self.0.number());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff
        )
    }
}
