//! Generated names and uids. They follow from a seed, so that a run can be repeated.

/// A counter whose values are mixed by the `SplitMix64` finalizer.
#[derive(Debug)]
pub(super) struct Ids {
    state: u64,
}

impl Ids {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A uid in the form of a version 4 UUID.
    pub(super) fn uid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
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
        let mut number = self.next();
        (0..5)
            .map(|_| {
                let letter = ALPHABET[usize::try_from(number % 27).unwrap_or(0)];
                number /= 27;
                letter
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_well_formed_and_repeat_with_the_seed() {
        let (mut one, mut same) = (Ids::new(7), Ids::new(7));
        let uid = one.uid();
        assert_eq!(uid, same.uid());
        assert_ne!(uid, one.uid());
        let lengths: Vec<usize> = uid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert!(uid.split('-').nth(2).unwrap().starts_with('4'));
        assert_eq!(one.suffix().len(), 5);
    }
}
