//! The oracle of the changes of `diff`, which the unit tests of the model have too.

use rollout2::model::diff::{Change, PathStep, element_keys};
use rollout2::model::revision::template::Template;

#[path = "../../../src/model/src/diff/tests/apply.rs"]
mod apply;

pub use apply::apply;
