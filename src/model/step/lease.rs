//! Who steps a workload now. Two processes must never release pods at the same time, and one that
//! died must not stand in the way for long.
//!
//! Whoever steps writes a random identity into the hold, and another number every [`RENEWED`], with a
//! patch that tests what was there. Nobody compares clocks: another process takes over once it has
//! seen the same lease for [`LASTS`] by its own.

use std::time::Duration;

use serde_json::{Value, json};

/// How long a lease lasts that nobody renews.
pub const LASTS: Duration = Duration::from_secs(60);

/// How often it is renewed.
pub const RENEWED: Duration = Duration::from_secs(20);

/// Who steps a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// A random identity, one a process.
    pub holder: String,
    /// `ada@laptop`, for people.
    pub by: Option<String>,
    /// Since when, for people.
    pub since: Option<String>,
    /// Another number each time it is renewed.
    pub turn: u64,
}

impl Lease {
    /// Reads the member `lease` of a hold. What is not readable is still somebody's.
    #[must_use]
    pub fn read(member: &Value) -> Self {
        let text = |name| member.get(name).and_then(Value::as_str).map(str::to_owned);
        Self {
            holder: text("holder").unwrap_or_else(|| member.to_string()),
            by: text("by"),
            since: text("since"),
            turn: member.get("turn").and_then(Value::as_u64).unwrap_or_default(),
        }
    }

    /// The member `lease` of a hold.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut lease = json!({"holder": self.holder, "turn": self.turn});
        for (name, text) in [("by", &self.by), ("since", &self.since)] {
            if let Some(text) = text {
                lease[name] = text.as_str().into();
            }
        }
        lease
    }

    /// The same, renewed.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self { turn: self.turn.wrapping_add(1), ..self.clone() }
    }
}
