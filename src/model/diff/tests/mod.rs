//! Examples a reader can agree with, and laws that hold for all templates.

mod changes;
mod hunks;
mod laws;
mod words;

use serde_json::{Value, json};

use crate::model::template::Template;

fn pod(spec: &Value) -> Template {
    Template::new(&json!({"metadata": {"labels": {"app": "web"}}, "spec": spec}))
}

/// A pod of one container with these members.
fn web(members: &Value) -> Template {
    let mut web = members.clone();
    web["name"] = "web".into();
    pod(&json!({ "containers": [web] }))
}
