//! The hashes in names and labels.
//!
//! The hash of StatefulSets is that of Kubernetes. Those of Deployments and DaemonSets are hashes of Go structs,
//! which cannot be computed here; the simulated ones have the same form and are deterministic.

use serde_json::Value;

/// The letters of apimachinery's `SafeEncodeString`.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The value of `pod-template-hash`, and of a DaemonSet's `controller-revision-hash`.
pub(super) fn template_hash(template: &Value, collisions: Option<i64>) -> String {
    let mut bytes = template.to_string().into_bytes();
    bytes.extend(collisions.map(i64::to_le_bytes).iter().flatten()); // little endian
    safe_encoded(&fnv1a(&bytes).to_string())
}

/// Returns the last part of the name of a StatefulSet's revision: FNV-1 of the stored bytes and of the number of
/// collisions, which is always 0 here.
pub(super) fn revision_hash(data: &Value) -> String {
    let bytes = as_go_writes_it(data) + "0";
    let sum = bytes.bytes().fold(OFFSET, |sum, byte| sum.wrapping_mul(PRIME) ^ u32::from(byte));
    safe_encoded(&sum.to_string())
}

const OFFSET: u32 = 2_166_136_261;
const PRIME: u32 = 16_777_619;

/// FNV-1a.
pub(super) fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(OFFSET, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(PRIME))
}

/// Encodes text in an alphabet without vowels.
pub(super) fn safe_encoded(text: &str) -> String {
    text.bytes().map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()])).collect()
}

/// Compact JSON with sorted members and Go's escapes of `<`, `>`, `&` and the two line separators.
fn as_go_writes_it(data: &Value) -> String {
    data.to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
