//! Examples, and properties that hold for all templates.

mod changes;
mod hunks;
mod properties;
mod summary;

use serde_json::{Value, json};

use crate::model::revision::template::Template;

fn pod(spec: &Value) -> Template {
    Template::new(&json!({"metadata": {"labels": {"app": "web"}}, "spec": spec}))
}

/// A pod with one container that has these members.
fn web(members: &Value) -> Template {
    let mut web = members.clone();
    web["name"] = "web".into();
    pod(&json!({ "containers": [web] }))
}
