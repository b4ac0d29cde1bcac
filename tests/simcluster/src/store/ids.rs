//! Generated names and uids. They follow from a seed, so that a run can be repeated.

use crate::random::Dice;

/// A source of names and uids.
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

    /// Returns the five characters after a `generateName`, from the alphabet of apimachinery's `rand.String`.
    pub(super) fn suffix(&mut self) -> String {
        const ALPHABET: [char; 27] = [
            'b', 'c', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'q', 'r', 's', 't', 'v', 'w', 'x',
            'z', '2', '4', '5', '6', '7', '8', '9',
        ];
        let mut number = self.0.number();
        (0..5)
            .map(|_| {
                let letter = ALPHABET[usize::try_from(number % 27).unwrap_or(0)];
                number /= 27;
                letter
            })
            .collect()
    }
}
