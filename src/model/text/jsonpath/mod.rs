//! JSONPath in kubectl's dialect: the templates of `-o jsonpath` and the columns of `-o custom-columns`.
//!
//! It follows `client-go/util/jsonpath` of Kubernetes 1.36, which is older than RFC 9535 and differs from it:
//! text outside of braces, `{range}` and `{end}`, literals, a template without `$`, unions of paths, escaped dots in
//! keys, negative indices, and errors for an index out of bounds. The crates for RFC 9535 (`serde_json_path`,
//! `jsonpath-rust`) have none of these, so this is a separate evaluator. A missing field is no error, as with
//! kubectl's default `--allow-missing-template-keys`.
//!
//! It differs from kubectl in three ways. The members of an object are visited in the order of their names, while Go
//! has no order. `[*]` and `..` do not split a string into bytes. A template with `{range}` works for each of several
//! objects; kubectl's state is broken after the first.

mod evaluate;
mod parse;
mod path_node;

pub use self::path_node::{FoundValue, Numbers, go_text};

use serde_json::Value;

use self::evaluate::PathEvaluation;
use self::path_node::PathNode;
use crate::model::text::go_json::go_json;

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    template: String,
    nodes: Vec<PathNode>,
}

impl JsonPath {
    /// Parses a template such as `{.metadata.name}`.
    ///
    /// # Errors
    /// kubectl's message.
    pub fn parse(template: &str) -> Result<Self, String> {
        Ok(Self { template: template.to_owned(), nodes: parse::parse(template)? })
    }

    /// Returns the template.
    #[must_use]
    pub fn template(&self) -> &str {
        &self.template
    }

    /// Returns what each part of the template finds in a document.
    ///
    /// # Errors
    /// kubectl's message, such as that of an index out of bounds.
    pub fn find<'a>(
        &'a self,
        document: &'a Value,
        numbers: Numbers,
    ) -> Result<Vec<Vec<FoundValue<'a>>>, String> {
        PathEvaluation::of(&self.nodes, numbers).find(document)
    }

    /// Returns the text that kubectl prints for a document.
    ///
    /// # Errors
    /// As [`JsonPath::find`].
    pub fn print(&self, document: &Value, numbers: Numbers) -> Result<String, String> {
        let mut text = String::new();
        for found in self.find(document, numbers)? {
            let words: Vec<_> = found.into_iter().map(|item| printed(item, numbers)).collect();
            text += &words.join(" ");
        }
        Ok(text)
    }
}

/// Returns the text for one result: compact JSON for objects and lists.
fn printed(item: FoundValue<'_>, numbers: Numbers) -> String {
    match item.value() {
        value @ (Value::Object(_) | Value::Array(_)) => go_json(value),
        Value::Null => "null".to_owned(),
        value => go_text(value, item.numbers(numbers)),
    }
}

#[cfg(test)]
mod tests;
