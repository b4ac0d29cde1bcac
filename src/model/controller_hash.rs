//! The StatefulSet controller's hash of a revision, exactly.

use serde_json::Value;

use super::go_json::go_json;

/// The alphabet of Kubernetes' `SafeEncodeString`: no vowels and no look-alikes, so that a hash
/// never spells a word.
const SAFE: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The hash as far as it follows from the stored data; what is missing is the collision count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHash(u32);

impl DataHash {
    /// Begins with the stored `data`.
    ///
    /// The bytes are what the API server stores: compact JSON with sorted keys and Go's HTML escapes.
    /// `serde_json` sorts keys too, so the hash comes out the same from any JSON the server serves.
    #[must_use]
    pub fn of(data: &Value) -> Self {
        Self(fnv(0x811c_9dc5, &go_json(data)))
    }

    /// The whole hash: FNV-1, 32 bits, over the data followed by the collision count in decimal; the sum
    /// in decimal, in the safe alphabet.
    #[must_use]
    pub fn with(self, collisions: i64) -> String {
        safe_encoded(&fnv(self.0, &collisions.to_string()).to_string())
    }
}

/// The hash of a revision with this data, made after so many collisions.
#[must_use]
pub fn controller_hash(data: &Value, collisions: i64) -> String {
    DataHash::of(data).with(collisions)
}

/// FNV-1: multiply, then xor; FNV-1a is the other way round.
fn fnv(sum: u32, text: &str) -> u32 {
    text.bytes().fold(sum, |sum, byte| sum.wrapping_mul(0x0100_0193) ^ u32::from(byte))
}

fn safe_encoded(text: &str) -> String {
    text.bytes().map(|byte| char::from(SAFE[usize::from(byte) % SAFE.len()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_become_the_letters_kubernetes_uses() {
        assert_eq!(safe_encoded("0123456789"), "456789bcdf");
    }
}
