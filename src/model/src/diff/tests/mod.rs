//! Examples, and properties that hold for all templates.

mod apply;
mod hunks;
mod paths;
mod properties;
mod summary;

use serde_json::{Value, json};

use super::{Change, Diff, PathStep, SecretValues, element_keys};
use crate::revision::template::Template;

fn changes(from: &Template, to: &Template) -> Vec<Change> {
    Diff::between(from, to, SecretValues::Shown).changes
}

fn pod(spec: &Value) -> Template {
    Template::new(&json!({"metadata": {"labels": {"app": "web"}}, "spec": spec}))
}

/// A pod with one container that has these members.
fn web(members: &Value) -> Template {
    let mut web = members.clone();
    web["name"] = "web".into();
    pod(&json!({ "containers": [web] }))
}
