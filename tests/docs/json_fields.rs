//! The tables of fields in docs/json.md, which are generated from docs/json.schema.json.

use std::fmt;
use std::fs;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::docs::generated::{Files, root};

/// What begins a generated table, with a definition of the schema, or a part of one: `<!-- fields: Status -->`.
const BEGINNING: &str = "<!-- fields: ";

/// What ends it.
const END: &str = "<!-- end of fields -->";

/// The fields that every line of events has.
const OF_EVERY_EVENT: [&str; 3] = ["elapsedMilliseconds", "workload", "context"];

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
        text += &format!("{BEGINNING}{name} -->\n{}{END}{rest}", table(&schema, name, &page));
    }
    [("docs/json.md".to_owned(), text)].into()
}

/// Returns the table of a definition, of the items of a document (`ChangeList.configuration`), or of one event
/// (`StepEvent.began`).
fn table(schema: &str, name: &str, page: &str) -> String {
    let (name, part) = name.split_once('.').unwrap_or((name, ""));
    let definition = member(&member(schema, "$defs"), name);
    let events = events(&definition);
    if let Some((_, fields)) = events.iter().find(|(event, _)| event == part) {
        return rows(fields);
    }
    if !events.is_empty() {
        return table_of_events(name, &events, page);
    }
    let definition = match part {
        "" => definition,
        items => member(&member(&member(&definition, "properties"), items), "items"),
    };
    let of_status: Vec<_> = fields(&member(&member(schema, "$defs"), "Status"));
    let is_of_status = |(name, field): &(String, Value)| {
        field["description"].is_null() && of_status.iter().any(|(other, _)| other == name)
    };
    let own = fields(&definition).into_iter().filter(|field| name == "Status" || !is_of_status(field));
    rows(&own.collect::<Vec<_>>())
}

/// Returns the fields of each event of a definition, without those that every line has.
fn events(definition: &str) -> Vec<(String, Vec<(String, Value)>)> {
    let events = members(definition).into_iter().find(|(name, _)| name == "oneOf");
    let events = events.map(|(_, events)| serde_json::from_str::<Vec<Box<RawValue>>>(events.get()).unwrap());
    let event = |event: Box<RawValue>| {
        let fields = fields(event.get()).into_iter();
        let fields = fields.filter(|(name, _)| !OF_EVERY_EVENT.contains(&name.as_str())).collect();
        let event: Value = serde_json::from_str(event.get()).unwrap();
        (event["properties"]["event"]["const"].as_str().unwrap().to_owned(), fields)
    };
    events.unwrap_or_default().into_iter().map(event).collect()
}

/// Returns the table of all events. It has only the name of a field that the page describes in the table of one event.
fn table_of_events(name: &str, events: &[(String, Vec<(String, Value)>)], page: &str) -> String {
    let has_table = |event: &str| page.contains(&format!("{BEGINNING}{name}.{event} -->"));
    let described = events.iter().filter(|(event, _)| has_table(event)).flat_map(|(_, fields)| fields);
    let described: Vec<_> = described.collect();
    let rows = events.iter().map(|(event, fields)| {
        let fields = fields.iter().map(|field| {
            if described.contains(&field) {
                written(&field.0, &field.1)
            } else {
                in_short(&field.0, &field.1)
            }
        });
        format!("| `{event}` | {} |\n", fields.collect::<Vec<_>>().join(", "))
    });
    "| `event` | fields |\n|---|---|\n".to_owned() + &rows.collect::<String>()
}

/// Returns a table with a row for each field.
fn rows(fields: &[(String, Value)]) -> String {
    let rows = fields
        .iter()
        .map(|(name, field)| format!("| {} | {} |\n", written(name, field), content(field).unwrap()));
    "| field | content |\n|---|---|\n".to_owned() + &rows.collect::<String>()
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
