//! SHA-256 digests: of a canonical template, and of the text of a check.

use std::fmt;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a text. That of a template is the digest of its canonical JSON.
///
/// Kubernetes' hash of a Deployment's or DaemonSet's template depends on the Go structs of the
/// controller and cannot be recomputed. The digest of a template is equal for equal templates, across kinds,
/// clusters and versions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// The hexadecimal digits of [`Digest::short`]: more than the six that a revision word needs.
const SHORT: usize = 10;

impl Digest {
    /// Returns the digest of a canonical value. `serde_json` sorts object keys, so equal values
    /// have equal bytes.
    #[must_use]
    pub fn of(canonical: &Value) -> Self {
        Self::of_text(&serde_json::to_string(canonical).unwrap_or_default()) // a value always has a text
    }

    /// Returns the digest of a text, as `sha256sum` prints it.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Returns all 64 hexadecimal digits, in lower case.
    #[must_use]
    pub fn hex(&self) -> String {
        use fmt::Write as _;
        self.0.iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// Returns the first digits, for the display.
    #[must_use]
    pub fn short(&self) -> String {
        let mut hex = self.hex();
        hex.truncate(SHORT);
        hex
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.short())
    }
}
