//! The output formats that a template of the user defines: `-o jsonpath`, and `-o custom-columns`, a table whose columns are
//! JSONPaths, as `kubectl get` prints it.

use serde_json::{Value, json};

use super::columns::aligned_apart;
use super::json::kubectl_json;
use super::line::{Line, text_of};
use crate::error::{Error, ErrorKind, Result};
use crate::model::text::json::go_text;
use crate::model::text::jsonpath::JsonPath;

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
        match self {
            Self::JsonPath(path) => path.print(document).map_err(|why| failed(path, &why)),
            Self::JsonPathAsJson(path) => {
                let found = path.find(document).map_err(|why| failed(path, &why))?;
                let list = |items: Vec<&Value>| items.into_iter().cloned().collect::<Value>();
                Ok(found.into_iter().map(|items| kubectl_json(&list(items))).collect())
            }
            Self::CustomColumns(columns) => {
                let items = document.get("items").and_then(Value::as_array);
                let rows = items.map_or(std::slice::from_ref(document), Vec::as_slice);
                columns.table(rows, has_headers).map_err(|why| Error::new(ErrorKind::Malformed, why))
            }
        }
    }

    /// Returns the text for several documents, which are the rows of a table.
    ///
    /// # Errors
    /// As [`TemplateForm::text`].
    pub fn text_of_all(&self, documents: &[Value]) -> Result<String> {
        match self {
            Self::CustomColumns(_) => self.text(&json!({"items": documents}), true),
            _ => documents.iter().map(|document| self.text(document, true)).collect(),
        }
    }
}

fn failed(path: &JsonPath, why: &str) -> Error {
    let template = path.template();
    Error::new(ErrorKind::Malformed, format!("jsonpath {template:?}: {why}"))
}

/// The columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomColumns(Vec<Column>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    header: String,
    path: JsonPath,
}

impl CustomColumns {
    /// Parses `NAME:.metadata.name,IMAGES:{.spec.containers[*].image}`.
    ///
    /// # Errors
    /// kubectl's message.
    pub fn parse(spec: &str) -> Result<Self, String> {
        if spec.is_empty() {
            return Err("custom-columns format specified but no custom columns given".to_owned());
        }
        let columns = spec.split(',').map(|column| match column.split_once(':') {
            Some((header, path)) => Column::parse(header, path),
            None => {
                Err(format!("unexpected custom-columns spec: {column}, expected <header>:<json-path-expr>"))
            }
        });
        columns.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the table of documents.
    ///
    /// # Errors
    /// kubectl's message, such as that of an index out of bounds.
    pub fn table<'a>(
        &self,
        documents: impl IntoIterator<Item = &'a Value>,
        has_headers: bool,
    ) -> Result<String, String> {
        let headers = || self.0.iter().map(|column| Line::of(&column.header)).collect();
        let mut rows: Vec<Vec<Line>> = has_headers.then(headers).into_iter().collect();
        for document in documents {
            rows.push(self.0.iter().map(|column| column.cell(document)).collect::<Result<_, _>>()?);
        }
        if let Some((_, cells)) = rows.first_mut().and_then(|first| first.split_last_mut()) {
            for cell in cells {
                *cell = std::mem::take(cell).padded_to(MIN_WIDTH);
            }
        }
        Ok(text_of(&aligned_apart(rows, PADDING), false))
    }
}

impl Column {
    fn parse(header: &str, path: &str) -> Result<Self, String> {
        let path = JsonPath::parse(&in_braces(path)?)?;
        Ok(Self { header: header.to_owned(), path })
    }

    /// Returns all results, separated by commas.
    fn cell(&self, document: &Value) -> Result<Line, String> {
        let found = self.path.find(document)?;
        let texts: Vec<_> = found.iter().flatten().map(|item| go_text(item)).collect();
        Ok(Line::of(if texts.is_empty() { "<none>".to_owned() } else { texts.join(",") }))
    }
}

/// Returns a JSONPath in braces. The braces and the dot at its beginning may be missing.
///
/// # Errors
/// kubectl's message.
pub fn in_braces(path: &str) -> Result<String, String> {
    if path.is_empty() {
        return Ok(String::new());
    }
    let inside = path.strip_prefix('{').and_then(|path| path.strip_suffix('}')).unwrap_or(path);
    let fields = inside.strip_prefix('.').filter(|rest| !rest.is_empty()).unwrap_or(inside);
    if fields.is_empty() || fields.contains(['{', '}']) {
        return Err("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'".to_owned());
    }
    Ok(format!("{{.{fields}}}"))
}

/// The spaces between two columns of `kubectl get`.
const PADDING: usize = 3;

/// The minimum width of a column of `kubectl get`, without these spaces.
const MIN_WIDTH: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const SNAPSHOT: &str = include_str!("../../tests/data/jsonpath/snapshot.json");
    const CASES: &str = include_str!("../../tests/data/jsonpath/cases.json");

    #[test]
    fn tables_and_errors_are_kubectls() {
        let snapshot: Value = serde_json::from_str(SNAPSHOT).unwrap();
        let cases: Value = serde_json::from_str(CASES).unwrap();
        let cases = cases.as_array().unwrap().iter().filter(|case| case["output"] == "custom-columns");
        assert!(cases.clone().count() > 10);
        for case in cases {
            let text = |name: &str| case[name].as_str().unwrap();
            let is_wanted =
                |item: &&Value| text("command").contains(&item["kind"].as_str().unwrap().to_lowercase());
            let documents = snapshot["items"].as_array().unwrap().iter().filter(is_wanted);
            let has_headers = !text("command").contains("--no-headers");
            let columns = CustomColumns::parse(text("expression"));
            match columns.and_then(|columns| columns.table(documents, has_headers)) {
                Ok(table) => {
                    assert_eq!((table.as_str(), &case["exit"]), (text("stdout"), &0.into()), "{case}");
                }
                Err(message) => assert_eq!(format!("error: {message}\n"), text("stderr"), "{case}"),
            }
        }
    }

    #[test]
    fn a_cell_stays_on_its_line_and_has_no_control_characters() {
        let columns = CustomColumns::parse("TEXT:.text,KIND:.kind").unwrap();
        let document = serde_json::json!({"text": "a\tb\nc\u{1b}[2J", "kind": "Pod"});
        let table = columns.table([&document], true).unwrap();
        assert_eq!(table.lines().count(), 2, "{table:?}");
        assert!(!table.contains(['\t', '\u{1b}']), "{table:?}");
    }

    #[test]
    fn the_last_column_is_not_padded() {
        for (spec, cause, text) in [
            (
                "REVISION:.n,CAUSE:.c",
                json!("<none>"),
                "REVISION   CAUSE\n1          one\n22         <none>\n",
            ),
            ("A:.n,B:.c", json!("<none>"), "A     B\n1     one\n22    <none>\n"),
            ("A:.n,B:.c", json!(""), "A     B\n1     one\n22\n"),
        ] {
            let documents = [json!({"n": 1, "c": "one"}), json!({"n": 22, "c": cause})];
            assert_eq!(CustomColumns::parse(spec).unwrap().table(&documents, true).unwrap(), text);
        }
        assert_eq!(CustomColumns::parse("A:.n").unwrap().table([], false).unwrap(), "");
    }
}
