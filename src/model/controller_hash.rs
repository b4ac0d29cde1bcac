//! The StatefulSet controller's hash of a revision, exactly.

use serde_json::Value;

use super::go_json::go_json;

/// The alphabet of Kubernetes' `SafeEncodeString`: no vowels and no look-alikes, so that a hash
/// never spells a word.
const SAFE: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// FNV-1, 32 bits, over the stored `data` followed by the collision count in decimal; the sum in
/// decimal, in the safe alphabet.
///
/// The bytes are what the API server stores: compact JSON with sorted keys and Go's HTML escapes.
/// `serde_json` sorts keys too, so the hash comes out the same from any JSON the server serves.
#[must_use]
pub fn controller_hash(data: &Value, collisions: i64) -> String {
    let text = go_json(data);
    let count = collisions.to_string();
    let sum = text.bytes().chain(count.bytes()).fold(0x811c_9dc5_u32, |sum, byte| {
        sum.wrapping_mul(0x0100_0193) ^ u32::from(byte) // FNV-1: multiply, then xor; FNV-1a is the other way round
    });
    safe_encoded(&sum.to_string())
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
