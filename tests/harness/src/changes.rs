//! The oracle of the changes of `diff`, which the unit tests of the model have too.

use rollout2::model::diff::{Change, PathStep, element_keys};
use rollout2::model::revision::template::Template;
use serde_json::Value;

#[path = "../../../src/model/src/diff/tests/apply.rs"]
mod oracle;

/// Returns FROM with the changes applied.
pub fn apply(from: &Value, changes: &[Change]) -> Value {
    oracle::apply(from, changes)
}
