//! Compares two templates.
//!
//! [`Diff`] is the whole comparison. Every output (the line in `history`, the rows above a diff,
//! the unified diff, JSON) comes from one list of [`Change`]s in which secrets are already masked.
//! No output can leak one.

mod change;
mod compare;
mod field_change;
mod path;
pub mod pod_update;
pub mod portable_template;
mod secret;
mod unified;

pub use change::Change;
pub use field_change::{short_digests, within_line};
pub use path::{PathStep, TemplatePath, element_keys, identity_fields, key_values};
pub use secret::{MASK_CHANGED, SecretValues, shown, without_secret_values};
pub use unified::{DiffSide, Hunk, HunkLine, yaml};

use std::collections::HashMap;
use std::time::Instant;

use serde_json::Value;

use self::compare::{Comparison, compare};
use self::field_change::{ChangeScope, FieldChange, FieldFormat, ShortValue, field_changes, short_value};
use crate::revision::template::Template;

/// Returns a value as text for one line, shortened to about 60 characters.
#[must_use]
pub fn short_text(value: &Value) -> String {
    short_value(value).text
}

impl Change {
    /// Returns the values in short: `5 -> 10`, `5 added`, `5 removed`.
    #[must_use]
    pub fn words(&self) -> String {
        match [&self.from, &self.to].map(|value| value.as_ref().map(short_text)) {
            [Some(from), Some(to)] => from_to(&from, &to),
            [None, Some(to)] => format!("{to} added"),
            [from, None] => format!("{} removed", from.unwrap_or_default()),
        }
    }
}

/// Returns two short texts of values that differ, also if both were shortened before the part that differs.
fn from_to(from: &str, to: &str) -> String {
    if from == to { format!("{to} (changed)") } else { format!("{from} -> {to}") }
}

/// The comparison of two templates.
#[derive(Clone, Debug)]
pub struct Diff {
    /// Both templates, canonical and masked. The elements of TO's keyed lists are in FROM's order, so that a line diff shows
    /// the changes only. New elements are last in a list that is reordered.
    pub templates: [Value; 2],
    /// The changes, with secret values masked unless they are to be shown.
    pub changes: Vec<Change>,
    /// The keyed lists whose elements changed their order. Kubernetes replaces pods for that, although the content is the same.
    pub reordered: Vec<TemplatePath>,
    several_containers: bool,
}

impl Diff {
    /// Compares two templates.
    #[must_use]
    pub fn between(from: &Template, to: &Template, secrets: SecretValues) -> Self {
        Self::of_canonical(&from.canonical(), &to.canonical(), secrets)
    }

    /// Compares two canonical templates.
    #[must_use]
    pub fn of_canonical(from: &Value, to: &Value, secrets: SecretValues) -> Self {
        let (Comparison { changes, reordered, .. }, templates) = compare(from, to, secrets);
        let mut containers = [from, to].into_iter().flat_map(container_names);
        let first = containers.next();
        let several_containers = containers.any(|name| Some(name) != first);
        Self { templates, changes, reordered, several_containers }
    }

    /// Whether nothing changed, apart from the order of lists in which it means nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let has_meaning = |list: &TemplatePath| match list.steps().last() {
            Some(PathStep::Member(name)) => ORDERED.contains(&name.as_str()),
            _ => false,
        };
        self.changes.is_empty() && !self.reordered.iter().any(has_meaning)
    }

    /// Returns the unified diff of the two [`templates`](Self#structfield.templates), with `context` lines
    /// around each change. Without a deadline the diff is the shortest.
    #[must_use]
    pub fn hunks(&self, context: usize, deadline: Option<Instant>) -> Vec<Hunk> {
        let [from, to] = &self.templates;
        unified::hunks(from, to, context, deadline)
    }

    /// Returns one row for each change, and for each list in another order: containers first, grouped, then the pod.
    #[must_use]
    pub fn rows(&self) -> Vec<ChangeRow> {
        let mut field_changes = field_changes(&self.changes, &self.reordered);
        field_changes.sort_by(|one, other| one.scope.cmp(&other.scope));
        field_changes.iter().map(row).collect()
    }

    /// Returns the changes as the parts of one line, the most important first: `image
    /// shop/web:1.1`, `env MODE=prod`, `+env CACHE`, `limits cpu 200m, memory 128Mi`, `order of env`.
    /// `restart only` stands alone. Empty for equal templates.
    #[must_use]
    pub fn summary(&self) -> Vec<String> {
        line(&field_changes(&self.changes, &self.reordered), self.several_containers)
    }
}

/// The keyed lists whose order has a meaning: init containers run one after another, an env can refer to
/// those before it, and the last of several sources of one variable wins.
const ORDERED: [&str; 3] = ["initContainers", "env", "envFrom"];

fn container_names(template: &Value) -> impl Iterator<Item = &Value> {
    let elements = |list: &&str| template.get("spec")?.get(list)?.as_array();
    change::CONTAINERS.iter().filter_map(elements).flatten().filter_map(|container| container.get("name"))
}

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
        (Some(from), Some(to)) => from_to(&from.text, &to.text),
        (None, Some(only)) | (Some(only), None) => only.text.clone(),
        (None, None) => String::new(),
    };
    let end = match (&field_change.from, &field_change.to) {
        (None, Some(_)) => " added",
        (Some(_), None) => " removed",
        _ => "",
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
fn line(field_changes: &[FieldChange], several_containers: bool) -> Vec<String> {
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
        (Some(_), None) if whole => "-",
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

#[cfg(test)]
mod tests;
