//! Volumes.

use serde_json::Value;

use crate::model::api::quantity::Quantity;

use super::field::{IndentedText, flag, member, number, part, texts, words};
use super::go_format;
use super::volume_source::{SOURCES, ValueFormat};

/// Writes the volumes.
pub(super) fn describe(text: &mut IndentedText, volumes: &[&Value]) {
    if volumes.is_empty() {
        text.line(1, "Volumes:\t<none>");
        return;
    }
    text.line(1, "Volumes:");
    for volume in volumes {
        text.line(0, format_args!("   {}:", words(volume, "name")));
        let found = SOURCES.iter().find_map(|known| Some((known, part(volume, known.member)?)));
        let Some((known, source)) = found else {
            text.line(1, "<unknown>");
            continue;
        };
        text.field(2, "Type", known.kind);
        for (label, member, format) in known.lines {
            text.line(2, format_args!("{label}\t{}", value(source, member, *format)));
        }
        (known.extra)(text, source);
    }
}

fn value(source: &Value, name: &str, format: ValueFormat) -> String {
    let none = || "<none>".to_owned();
    match format {
        ValueFormat::Words => words(source, name).to_owned(),
        ValueFormat::WordsOrNone => member(source, name).as_str().map_or_else(none, str::to_owned),
        ValueFormat::Number => number(source, name).to_string(),
        ValueFormat::NumberOrNone => {
            member(source, name).as_i64().map_or_else(none, |number| number.to_string())
        }
        ValueFormat::Flag => flag(source, name).to_string(),
        ValueFormat::List => go_format::list(&texts(source, name)),
        ValueFormat::Joined => texts(source, name).join(", "),
        ValueFormat::Map => go_format::map(member(source, name)),
        ValueFormat::Reference => go_format::reference(source, name),
        ValueFormat::Size => match Quantity::read(member(source, name)) {
            Some(size) if size > Quantity::zero() => size.to_string(),
            _ => "<unset>".to_owned(),
        },
    }
}
