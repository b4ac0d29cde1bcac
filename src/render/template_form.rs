//! The output formats that a template of the user defines: `-o jsonpath` and `-o custom-columns`.

use serde_json::Value;

use super::custom_columns::CustomColumns;
use super::kubectl_json;
use crate::error::{Error, ErrorKind, Result};
use crate::model::text::jsonpath::{FoundValue, JsonPath, Numbers};

/// A template of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateForm {
    /// `jsonpath`: the text of the template.
    JsonPath(JsonPath),
    /// `jsonpath-as-json`: each part of the template as a JSON list.
    JsonPathAsJson(JsonPath),
    /// `custom-columns`: a row for each document.
    CustomColumns(CustomColumns),
}

impl TemplateForm {
    /// Returns the text for a document. A list is a table with a row for each item, and one document for a JSONPath.
    ///
    /// # Errors
    /// When the document does not have what the template asks for, such as an index.
    pub fn text(&self, document: &Value, has_headers: bool) -> Result<String> {
        let items = match document.get("items").and_then(Value::as_array) {
            Some(items) => items.iter().collect(),
            None => vec![document],
        };
        self.table_or(&items, document, has_headers, Numbers::Exact)
    }

    /// Returns the text for several documents, which are the rows of a table.
    ///
    /// # Errors
    /// As [`TemplateForm::text`].
    pub fn text_of_all(&self, documents: &[Value]) -> Result<String> {
        if let Self::CustomColumns(_) = self {
            return self.table_or(&documents.iter().collect::<Vec<_>>(), &Value::Null, true, Numbers::Exact);
        }
        documents.iter().map(|document| self.text(document, true)).collect()
    }

    /// Returns the text for an object that kubectl prints with a Go type.
    ///
    /// # Errors
    /// As [`TemplateForm::text`].
    pub fn text_of_object(&self, object: &Value) -> Result<String> {
        self.table_or(&[object], object, true, Numbers::Floats)
    }

    fn table_or(
        &self,
        rows: &[&Value],
        document: &Value,
        has_headers: bool,
        numbers: Numbers,
    ) -> Result<String> {
        match self {
            Self::JsonPath(path) => path.print(document, numbers).map_err(|why| failed(path, &why)),
            Self::JsonPathAsJson(path) => {
                let found = path.find(document, numbers).map_err(|why| failed(path, &why))?;
                let list = |items: Vec<FoundValue<'_>>| {
                    Value::Array(items.into_iter().map(|item| item.value().clone()).collect())
                };
                Ok(found.into_iter().map(|items| kubectl_json::kubectl_json(&list(items))).collect())
            }
            Self::CustomColumns(columns) => {
                let table = columns.table(rows.iter().copied(), has_headers, numbers);
                table.map_err(|why| Error::new(ErrorKind::Malformed, why))
            }
        }
    }
}

fn failed(path: &JsonPath, why: &str) -> Error {
    let template = path.template();
    Error::new(ErrorKind::Malformed, format!("jsonpath {template:?}: {why}"))
}
