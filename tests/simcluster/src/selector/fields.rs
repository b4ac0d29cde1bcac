//! Field selectors. Each resource supports other fields.

use serde_json::Value;

use crate::{object, refusal::Refusal, resource::Resource};

#[derive(Clone, Debug)]
pub(super) struct FieldRequirement {
    path: String,
    equal: bool,
    value: String,
}

impl FieldRequirement {
    pub(super) fn holds(&self, value: &Value) -> bool {
        let path: Vec<&str> = self.path.split('.').collect();
        let found = match object::at(value, &path) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Bool(truth)) => truth.to_string(),
            _ => String::new(),
        };
        (found == self.value) == self.equal
    }
}

pub(super) fn parse_fields(resource: &Resource, text: &str) -> Result<Vec<FieldRequirement>, Refusal> {
    text.split(',').filter(|part| !part.is_empty()).map(|part| parse_field(resource, part)).collect()
}

fn parse_field(resource: &Resource, part: &str) -> Result<FieldRequirement, Refusal> {
    let unreadable =
        || Refusal::bad_request(format!("invalid selector: '{part}'; can't understand '{part}'"));
    let (path, equal, value) = if let Some((path, value)) = part.split_once("!=") {
        (path, false, value)
    } else {
        let (path, value) = part.split_once('=').ok_or_else(unreadable)?;
        (path, true, value.strip_prefix('=').unwrap_or(value))
    };
    let known = path == "metadata.name"
        || path == "metadata.namespace" && resource.namespaced
        || resource.fields.contains(&path);
    if !known {
        return Err(Refusal::bad_request(format!("field label not supported: {path}")));
    }
    Ok(FieldRequirement { path: path.to_owned(), equal, value: value.to_owned() })
}
