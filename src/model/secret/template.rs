//! The secrets that a template tells in so many words.

use serde_json::Value;

use super::looks_secret;

/// A value shorter than this occurs in other words by chance; masking it would tell more than it hides.
const SHORTEST: usize = 4;

/// The values of a template's environment variables whose names look secret.
#[must_use]
pub fn secrets_in(template: &Value) -> Vec<String> {
    let lists = ["/spec/initContainers", "/spec/containers"].into_iter();
    let containers = lists.filter_map(|list| template.pointer(list)?.as_array()).flatten();
    let variables = containers.filter_map(|container| container.get("env")?.as_array()).flatten();
    let value = |variable: &Value| {
        let text = |field: &str| variable.get(field).and_then(Value::as_str);
        let secret = looks_secret(text("name")?).then(|| text("value")).flatten()?;
        (secret.len() >= SHORTEST).then(|| secret.to_owned())
    };
    variables.filter_map(value).collect()
}
