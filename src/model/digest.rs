//! The digest of a template: our own name for what a revision runs.

use std::fmt;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// SHA-256 over a canonical template.
///
/// Kubernetes' own hash of a Deployment's or DaemonSet's template depends on the Go structs of the
/// controller that made it and cannot be recomputed; this one is equal wherever the templates are
/// equal, across kinds, clusters and versions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// How many hexadecimal digits [`Digest::short`] shows: more than the six that must name a revision,
/// so that what is copied from a screen names one.
const SHORT: usize = 10;

impl Digest {
    /// The digest of a value that is already canonical. `serde_json` keeps object keys sorted, so
    /// equal values have equal bytes.
    #[must_use]
    pub fn of(canonical: &Value) -> Self {
        Self::of_text(&canonical.to_string())
    }

    /// The digest of a text, which is what `sha256sum` makes of the same bytes.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// All 64 hexadecimal digits, lower case.
    #[must_use]
    pub fn hex(&self) -> String {
        use fmt::Write as _;
        self.0.iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// The first digits, as much as a person compares.
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
