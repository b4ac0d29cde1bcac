//! A value in a few words.

use serde_json::Value;

use super::change::CONTAINERS;
use super::keys;

/// A value in a few words, and whether it is a plain text, number or truth value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Brief {
    pub(super) text: String,
    pub(super) is_scalar: bool,
}

/// As many characters as a value gets in a line of words. The whole of it is in the diff below.
const LONGEST: usize = 60;

/// As many as an image gets: all of it, since its end is what tells it from another.
const LONGEST_IMAGE: usize = 600;

/// `prod`, `--listen :8080`, `secretKeyRef key=password,name=db`.
pub(super) fn brief(value: &Value) -> Brief {
    within(LONGEST, value)
}

/// An image.
pub(super) fn brief_image(image: &Value) -> Brief {
    within(LONGEST_IMAGE, image)
}

fn within(longest: usize, value: &Value) -> Brief {
    let mut text = String::new();
    write(&mut text, value, longest);
    Brief { text: shortened(text, longest), is_scalar: !value.is_object() && !value.is_array() }
}

/// An element of a keyed list, without what its key says already: of an env its value, of a container
/// its image.
pub(super) fn brief_element(list: &str, element: &Value) -> Brief {
    let telling = match list {
        "env" => ["value", "valueFrom"].iter().find_map(|member| element.get(member)).map(brief),
        list if CONTAINERS.contains(&list) => element.get("image").map(brief_image),
        _ => None,
    };
    telling.unwrap_or_else(|| match without_key(list, element) {
        Value::Object(members) if members.is_empty() => Brief::default(),
        rest => brief(&rest),
    })
}

fn without_key(list: &str, element: &Value) -> Value {
    let mut element = element.clone();
    if let Some(members) = element.as_object_mut() {
        for field in keys::fields_of(list).unwrap_or_default() {
            members.remove(*field);
        }
    }
    element
}

fn write(text: &mut String, value: &Value, longest: usize) {
    // Enough to fill the line is enough; a value may have a megabyte.
    if text.chars().nth(longest).is_some() {
        return;
    }
    match value {
        Value::Object(members) if members.is_empty() => text.push_str("{}"),
        Value::String(string) => text.push_str(string),
        Value::Array(elements) => {
            write_all(text, elements.iter().map(|element| (None, element)), " ", longest);
        }
        Value::Object(members) => {
            let sole_object = members.len() == 1 && members.values().all(Value::is_object);
            let between = if sole_object { " " } else { "=" };
            write_all(
                text,
                members.iter().map(|(name, member)| (Some((name, between)), member)),
                ",",
                longest,
            );
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn write_all<'a>(
    text: &mut String,
    values: impl Iterator<Item = (Option<(&'a String, &'a str)>, &'a Value)>,
    between: &str,
    longest: usize,
) {
    for (index, (name, value)) in values.enumerate() {
        if index > 0 {
            text.push_str(between);
        }
        if let Some((name, is)) = name {
            text.push_str(name);
            text.push_str(is);
        }
        write(text, value, longest);
    }
}

fn shortened(text: String, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
