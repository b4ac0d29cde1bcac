//! The tables of fields in docs/json.md, which are generated from docs/json.schema.json.

use std::fmt;
use std::fs;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::docs::generated::{Files, root};

/// What begins a generated table, with a definition of the schema: `<!-- fields: Status -->`.
const BEGINNING: &str = "<!-- fields: ";

/// What ends it.
const END: &str = "<!-- end of fields -->";

/// The fields that every line of events has.
const OF_EVERY_EVENT: [&str; 2] = ["elapsedMilliseconds", "workload"];

/// The members of an object, in the order of the text.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut json: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = json.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        json.deserialize_map(InOrder)
    }
}

/// Returns docs/json.md with its tables of fields.
pub(crate) fn page() -> Files {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let schema = read("docs/json.schema.json");
    let page = read("docs/json.md");
    let mut parts = page.split(BEGINNING);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").unwrap();
        let (_, rest) = rest.split_once(END).unwrap();
        text += &format!("{BEGINNING}{name} -->\n{}{END}{rest}", table(&schema, name));
    }
    [("docs/json.md".to_owned(), text)].into()
}

/// Returns the table of a definition, or of the items of a document: `HistoryList.items`.
fn table(schema: &str, name: &str) -> String {
    let (name, items) = name.split_once('.').unwrap_or((name, ""));
    let definition = member(&member(schema, "$defs"), name);
    let definition = match items {
        "" => definition,
        items => member(&member(&member(&definition, "properties"), items), "items"),
    };
    if let Some((_, events)) = members(&definition).into_iter().find(|(name, _)| name == "oneOf") {
        let events: Vec<Box<RawValue>> = serde_json::from_str(events.get()).unwrap();
        return events.iter().fold("| `event` | fields |\n|---|---|\n".to_owned(), |text, event| {
            let of_event = |(name, _): &(String, Value)| !OF_EVERY_EVENT.contains(&name.as_str());
            let fields = fields(event.get()).into_iter().filter(of_event);
            let fields: Vec<_> = fields.map(|(name, field)| in_short(&name, &field)).collect();
            let event: Value = serde_json::from_str(event.get()).unwrap();
            let name = event["properties"]["event"]["const"].as_str().unwrap();
            text + &format!("| `{name}` | {} |\n", fields.join(", "))
        });
    }
    let defaults = fields(&member(&member(schema, "$defs"), "Status"));
    fields(&definition).into_iter().fold(
        "| field | content |\n|---|---|\n".to_owned(),
        |text, (name, field)| {
            let default = || {
                defaults.iter().find(|(default, _)| *default == name).and_then(|(_, field)| content(field))
            };
            let is_described = !field["description"].is_null();
            let content = if is_described { content(&field) } else { default() };
            text + &format!("| {} | {} |\n", written(&name, &field), content.unwrap())
        },
    )
}

fn members(json: &str) -> Vec<(String, Box<RawValue>)> {
    serde_json::from_str::<Members>(json).unwrap().0
}

fn member(json: &str, name: &str) -> String {
    let (_, member) = members(json).into_iter().find(|(other, _)| other == name).unwrap();
    member.get().to_owned()
}

/// Returns the fields whose values differ.
fn fields(definition: &str) -> Vec<(String, Value)> {
    let fields = members(&member(definition, "properties")).into_iter();
    let fields = fields.map(|(name, field)| (name, serde_json::from_str::<Value>(field.get()).unwrap()));
    fields.filter(|(_, field)| field["const"].is_null()).collect()
}

fn in_short(name: &str, field: &Value) -> String {
    let content = content(field).map(|content| format!(" ({content})")).unwrap_or_default();
    format!("{}{content}", written(name, field))
}

fn written(name: &str, field: &Value) -> String {
    if field["items"].is_null() { format!("`{name}`") } else { format!("`{name}[]`") }
}

/// Returns what a field contains: its description, its possible values, and whether it can be null.
fn content(field: &Value) -> Option<String> {
    let values = if field["items"]["enum"].is_null() { &field["enum"] } else { &field["items"]["enum"] };
    let values: Vec<_> = values
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|word| format!("`{word}`"))
        .collect();
    let values = match values.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        [others @ .., last] => Some(format!("{} or {last}", others.join(", "))),
    };
    let description = field["description"].as_str().map(str::to_owned);
    let mut content = [description, values].into_iter().flatten().collect::<Vec<_>>().join(": ");
    let is_null = |type_: &Value| type_ == "null" || type_["type"] == "null";
    let mut types = [&field["type"], &field["oneOf"]].into_iter().filter_map(Value::as_array).flatten();
    if types.any(is_null) && !content.is_empty() && !content.contains("null") {
        content += ", or null";
    }
    (!content.is_empty()).then_some(content)
}
