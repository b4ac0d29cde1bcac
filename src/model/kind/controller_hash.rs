//! The StatefulSet controller's hash of a revision.

use serde_json::Value;

use crate::model::text::go_json::go_json;

/// The alphabet of Kubernetes' `SafeEncodeString`, without vowels, so that a hash never spells a
/// word.
const SAFE: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The hash over the stored data, before the collision count is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHash(u32);

impl DataHash {
    /// Starts with the stored `data`.
    ///
    /// The API server stores compact JSON with sorted keys and Go's HTML escapes. `serde_json`
    /// sorts keys too, so every JSON of the API server gives the same hash.
    #[must_use]
    pub fn of(data: &Value) -> Self {
        Self(fnv(0x811c_9dc5, &go_json(data)))
    }

    /// Returns the whole hash: 32-bit FNV-1 over the data and the decimal collision count. Its
    /// decimal form is encoded in the safe alphabet.
    #[must_use]
    pub fn with(self, collisions: i64) -> String {
        safe_encoded(&fnv(self.0, &collisions.to_string()).to_string())
    }
}

/// Returns the hash of a revision with this data and collision count.
#[must_use]
pub fn controller_hash(data: &Value, collisions: i64) -> String {
    DataHash::of(data).with(collisions)
}

/// FNV-1 multiplies before it XORs; FNV-1a does the reverse.
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
