//! Changes as text: one line for `history`, and the rows above a diff.

use std::collections::HashMap;

use super::field_change::{ChangeScope, FieldChange, FieldFormat};
use super::short_value::ShortValue;

/// One row above a diff: `container web`, `image`, `shop/web:1.0 -> shop/web:1.1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    /// The container, or `pod`.
    pub scope: String,
    /// The field: `image`, `env`, `limits`.
    pub field: String,
    /// The change: `shop/web:1.0 -> shop/web:1.1`, `CACHE=on removed`.
    pub text: String,
}

/// Returns one row for each change: containers first, grouped, then the pod.
pub(super) fn rows(field_changes: &[FieldChange]) -> Vec<ChangeRow> {
    let mut field_changes: Vec<&FieldChange> = field_changes.iter().collect();
    field_changes.sort_by_key(|field_change| &field_change.scope);
    field_changes.into_iter().map(row).collect()
}

fn row(field_change: &FieldChange) -> ChangeRow {
    let scope = match &field_change.scope {
        ChangeScope::Container(word, name) => format!("{word} {name}"),
        ChangeScope::Pod => "pod".to_owned(),
    };
    ChangeRow { scope, field: field_change.field.clone(), text: in_full(field_change) }
}

fn in_full(field_change: &FieldChange) -> String {
    let label = [field_change.name.as_str(), field_change.detail.as_str()].map(str::trim);
    let label = label.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let value = match (&field_change.from, &field_change.to) {
        // Both texts were shortened before the part that differs.
        (Some(from), Some(to)) if from == to => format!("{} (changed)", to.text),
        (Some(from), Some(to)) => format!("{} -> {}", from.text, to.text),
        (None, Some(only)) | (Some(only), None) => only.text.clone(),
        (None, None) => String::new(),
    };
    let end = match (&field_change.from, &field_change.to) {
        (Some(_), Some(_)) => "",
        (None, _) => " added",
        (_, None) => " removed",
    };
    let between = match (field_change.format, label.is_empty() || value.is_empty()) {
        (_, true) => "",
        (FieldFormat::Value, false) if field_change.detail.is_empty() => "=",
        _ => " ",
    };
    format!("{label}{between}{value}{end}")
}

/// Returns the parts of one line, each field once: `image shop/web:1.1`, `limits cpu 200m, memory
/// 128Mi`, `+env CACHE`. With several containers each part starts with the container.
pub(super) fn line(field_changes: &[FieldChange], several_containers: bool) -> Vec<String> {
    if !field_changes.is_empty()
        && field_changes.iter().all(|field_change| field_change.format == FieldFormat::Restart)
    {
        return vec!["restart only".to_owned()];
    }
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    let mut indexes = HashMap::new();
    for field_change in field_changes {
        let (sign, item) = in_short(field_change);
        let head = match &field_change.scope {
            ChangeScope::Container(_, name) if several_containers => {
                format!("{name} {sign}{}", field_change.field)
            }
            _ => format!("{sign}{}", field_change.field),
        };
        let index = *indexes.entry(head).or_insert_with_key(|head| {
            parts.push((head.clone(), Vec::new()));
            parts.len() - 1
        });
        let items = &mut parts[index].1;
        // Several changes of one element are adjacent, and the element is printed once.
        if !item.is_empty() && items.last() != Some(&item) {
            items.push(item);
        }
    }
    parts.into_iter().map(|(head, items)| join(&head, &items.join(", "))).collect()
}

/// Returns the sign before the field, and the text after it.
fn in_short(field_change: &FieldChange) -> (&'static str, String) {
    let value = field_change.to.as_ref().filter(|value| value.is_scalar).map(|value| value.text.as_str());
    let whole = field_change.detail.is_empty();
    let sign = match (&field_change.from, &field_change.to) {
        (_, None) if whole => "-",
        (None, Some(_))
            if whole && field_change.format != FieldFormat::Amount && !is_plain_single(field_change) =>
        {
            "+"
        }
        _ => "",
    };
    let item = match field_change.format {
        FieldFormat::Value if sign.is_empty() && whole => match value {
            Some(value) => format!("{}={value}", field_change.name),
            None => field_change.name.clone(),
        },
        FieldFormat::Amount => join(&field_change.name, value.unwrap_or_default()),
        FieldFormat::Single if whole => value.unwrap_or_default().to_owned(),
        FieldFormat::Single => join(&detail(field_change), value.unwrap_or_default()),
        FieldFormat::Source if whole => {
            let object = field_change.to.as_ref().or(field_change.from.as_ref());
            join(&field_change.name, object.map_or("", |object| object.text.as_str()))
        }
        FieldFormat::Value | FieldFormat::Named | FieldFormat::Source => field_change.name.clone(),
        FieldFormat::Restart => String::new(),
    };
    (sign, item)
}

/// Whether the change is printed without a sign, such as `pull policy Always`.
fn is_plain_single(field_change: &FieldChange) -> bool {
    field_change.format == FieldFormat::Restart
        || field_change.format == FieldFormat::Single
            && field_change.to.as_ref().is_some_and(|to| to.is_scalar)
}

/// Returns the path below a field, with a sign if that part was added or removed.
fn detail(field_change: &FieldChange) -> String {
    let is_scalar = |value: &ShortValue| value.is_scalar;
    let sign = match (&field_change.from, &field_change.to) {
        (_, None) => "-",
        (None, Some(to)) if !is_scalar(to) => "+",
        _ => "",
    };
    format!("{sign}{}", field_change.detail)
}

fn join(one: &str, other: &str) -> String {
    format!("{one} {other}").trim_end().to_owned()
}
