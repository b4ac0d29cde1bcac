//! Values shortened for one line.

use serde_json::Value;

use super::change::CONTAINERS;
use super::path;

/// A shortened value, and whether it is a string, number or boolean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShortValue {
    pub(super) text: String,
    pub(super) is_scalar: bool,
}

/// The longest value in a line. The diff below shows it in full.
const LONGEST: usize = 60;

/// The longest image in a line. It is larger, because images differ at their ends.
const LONGEST_IMAGE: usize = 600;

/// Shortens a value: `prod`, `--listen :8080`, `secretKeyRef key=password,name=db`.
pub(super) fn short_value(value: &Value) -> ShortValue {
    within(LONGEST, value)
}

/// Shortens an image, and its digest to twelve digits.
pub(super) fn short_image(image: &Value) -> ShortValue {
    let image = within(LONGEST_IMAGE, image);
    ShortValue { text: short_digests(&image.text), ..image }
}

/// How a digest in an image begins.
const DIGEST: &str = "@sha256:";

/// The digits of a shortened digest, as many as `docker images` shows.
const DIGITS: usize = 12;

/// Returns a text with each digest of an image shortened: `web@sha256:0123456789ab`.
#[must_use]
pub fn short_digests(text: &str) -> String {
    let mut pieces = text.split(DIGEST);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let end = piece.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(piece.len());
        text + DIGEST + &piece[..end.min(DIGITS)] + &piece[end..]
    })
}

fn within(longest: usize, value: &Value) -> ShortValue {
    let mut text = String::new();
    write(&mut text, value, longest);
    ShortValue { text: shortened(text, longest), is_scalar: !value.is_object() && !value.is_array() }
}

/// Shortens an element of a keyed list without its key: an env to its value, a container to its
/// image, a source of envs to the name of its object.
pub(super) fn short_element(list: &str, element: &Value) -> ShortValue {
    let main_member = match list {
        "env" => ["value", "valueFrom"].iter().find_map(|member| element.get(member)).map(short_value),
        "envFrom" => short_source(element),
        list if CONTAINERS.contains(&list) => element.get("image").map(short_image),
        _ => None,
    };
    main_member.unwrap_or_else(|| match without_key(list, element) {
        Value::Object(members) if members.is_empty() => ShortValue::default(),
        rest => short_value(&rest),
    })
}

/// Shortens an `envFrom` element: `cfg`, `cfg (prefix CFG_)`.
fn short_source(element: &Value) -> Option<ShortValue> {
    let source = ["configMapRef", "secretRef"].iter().find_map(|member| element.get(member))?;
    let name = source.get("name")?.as_str()?;
    let prefix = element.get("prefix").and_then(Value::as_str).filter(|prefix| !prefix.is_empty());
    let optional = source.get("optional").and_then(Value::as_bool) == Some(true);
    let notes = prefix.map(|prefix| format!("prefix {prefix}")).into_iter();
    let notes: Vec<_> = notes.chain(optional.then(|| "optional".to_owned())).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    Some(ShortValue { text: shortened(format!("{name}{notes}"), LONGEST), is_scalar: true })
}

fn without_key(list: &str, element: &Value) -> Value {
    let mut element = element.clone();
    if let Some(members) = element.as_object_mut() {
        for field in path::identity_fields(list).unwrap_or_default() {
            members.remove(*field);
        }
    }
    element
}

fn write(text: &mut String, value: &Value, longest: usize) {
    // The text already fills the line; a value may have a megabyte.
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
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::short_digests;

    #[test]
    fn a_digest_keeps_twelve_digits() {
        let digest = "0123456789ab".to_owned() + &"c".repeat(52);
        for (image, short) in [
            (format!("r/web@sha256:{digest}"), "r/web@sha256:0123456789ab"),
            (format!("r/web:1@sha256:{digest}, b"), "r/web:1@sha256:0123456789ab, b"),
            ("r/web:1".to_owned(), "r/web:1"),
            ("r/web@sha256:12".to_owned(), "r/web@sha256:12"),
        ] {
            assert_eq!(short_digests(&image), short);
        }
    }
}
