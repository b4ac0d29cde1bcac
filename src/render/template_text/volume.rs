//! Volumes.

use serde_json::Value;

use crate::model::quantity::Quantity;

use super::field::{flag, member, number, part, texts, words};
use super::go_value;
use super::text::Text;
use super::volume_source::{SOURCES, Shown};

/// The block of the volumes.
pub(super) fn describe(text: &mut Text, volumes: &[&Value]) {
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
        for (label, member, shown) in known.lines {
            text.line(2, format_args!("{label}\t{}", value(source, member, *shown)));
        }
        (known.more)(text, source);
    }
}

fn value(source: &Value, name: &str, shown: Shown) -> String {
    let none = || "<none>".to_owned();
    match shown {
        Shown::Words => words(source, name).to_owned(),
        Shown::WordsOrNone => member(source, name).as_str().map_or_else(none, str::to_owned),
        Shown::Number => number(source, name).to_string(),
        Shown::NumberOrNone => member(source, name).as_i64().map_or_else(none, |number| number.to_string()),
        Shown::Flag => flag(source, name).to_string(),
        Shown::List => go_value::list(&texts(source, name)),
        Shown::Joined => texts(source, name).join(", "),
        Shown::Map => go_value::map(member(source, name)),
        Shown::Reference => go_value::reference(source, name),
        Shown::Size => match Quantity::read(member(source, name)) {
            Some(size) if size > Quantity::zero() => size.to_string(),
            _ => "<unset>".to_owned(),
        },
    }
}
