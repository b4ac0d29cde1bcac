//! The changes in words: one line for history, rows for the head of a diff.

use std::collections::HashMap;

use super::brief::Brief;
use super::facts::{Fact, Form, Scope};

/// One row at the head of a diff: `container web`, `image`, `shop/web:1.0 -> shop/web:1.1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The container, or `pod`.
    pub scope: String,
    /// What changed: `image`, `env`, `limits`.
    pub subject: String,
    /// How: `shop/web:1.0 -> shop/web:1.1`, `CACHE=on removed`.
    pub text: String,
}

/// The rows of all facts: containers first, each one's together, the pod's last.
pub(super) fn rows(facts: &[Fact]) -> Vec<Row> {
    let mut facts: Vec<&Fact> = facts.iter().collect();
    facts.sort_by_key(|fact| &fact.scope);
    facts.into_iter().map(row).collect()
}

fn row(fact: &Fact) -> Row {
    let scope = match &fact.scope {
        Scope::Container(word, name) => format!("{word} {name}"),
        Scope::Pod => "pod".to_owned(),
    };
    Row { scope, subject: fact.subject.clone(), text: in_full(fact) }
}

fn in_full(fact: &Fact) -> String {
    let label = [fact.name.as_str(), fact.detail.as_str()].map(str::trim);
    let label = label.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let value = match (&fact.from, &fact.to) {
        // Both were cut off before they differ.
        (Some(from), Some(to)) if from == to => format!("{} (changed)", to.text),
        (Some(from), Some(to)) => format!("{} -> {}", from.text, to.text),
        (None, Some(only)) | (Some(only), None) => only.text.clone(),
        (None, None) => String::new(),
    };
    let end = match (&fact.from, &fact.to) {
        (Some(_), Some(_)) => "",
        (None, _) => " added",
        (_, None) => " removed",
    };
    let between = match (fact.form, label.is_empty() || value.is_empty()) {
        (_, true) => "",
        (Form::Value, false) if fact.detail.is_empty() => "=",
        _ => " ",
    };
    format!("{label}{between}{value}{end}")
}

/// The facts as the parts of one line, each subject once: `image shop/web:1.1`,
/// `limits cpu 200m, memory 128Mi`, `+env CACHE`. The container is named when there are several.
pub(super) fn line(facts: &[Fact], several_containers: bool) -> Vec<String> {
    if !facts.is_empty() && facts.iter().all(|fact| fact.form == Form::Restart) {
        return vec!["restart only".to_owned()];
    }
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    let mut places = HashMap::new();
    for fact in facts {
        let (sign, item) = in_short(fact);
        let head = match &fact.scope {
            Scope::Container(_, name) if several_containers => format!("{name} {sign}{}", fact.subject),
            _ => format!("{sign}{}", fact.subject),
        };
        let place = *places.entry(head).or_insert_with_key(|head| {
            parts.push((head.clone(), Vec::new()));
            parts.len() - 1
        });
        let items = &mut parts[place].1;
        // A thing of which several parts changed is named once; its facts are neighbours.
        if !item.is_empty() && items.last() != Some(&item) {
            items.push(item);
        }
    }
    parts.into_iter().map(|(head, items)| join(&head, &items.join(", "))).collect()
}

/// The sign before the subject, and what follows after it.
fn in_short(fact: &Fact) -> (&'static str, String) {
    let value = fact.to.as_ref().filter(|value| value.is_scalar).map(|value| value.text.as_str());
    let whole = fact.detail.is_empty();
    let sign = match (&fact.from, &fact.to) {
        (_, None) if whole => "-",
        (None, Some(_)) if whole && fact.form != Form::Amount && !is_plain_single(fact) => "+",
        _ => "",
    };
    let item = match fact.form {
        Form::Value if sign.is_empty() && whole => match value {
            Some(value) => format!("{}={value}", fact.name),
            None => fact.name.clone(),
        },
        Form::Amount => join(&fact.name, value.unwrap_or_default()),
        Form::Single if whole => value.unwrap_or_default().to_owned(),
        Form::Single => join(&detail(fact), value.unwrap_or_default()),
        Form::Value | Form::Thing => fact.name.clone(),
        Form::Restart => String::new(),
    };
    (sign, item)
}

/// Whether a fact is told as `pull policy Always`, new or not.
fn is_plain_single(fact: &Fact) -> bool {
    fact.form == Form::Restart || fact.form == Form::Single && fact.to.as_ref().is_some_and(|to| to.is_scalar)
}

/// The path below a subject, with its own sign when it came or went.
fn detail(fact: &Fact) -> String {
    let is_scalar = |value: &Brief| value.is_scalar;
    let sign = match (&fact.from, &fact.to) {
        (_, None) => "-",
        (None, Some(to)) if !is_scalar(to) => "+",
        _ => "",
    };
    format!("{sign}{}", fact.detail)
}

fn join(one: &str, other: &str) -> String {
    format!("{one} {other}").trim_end().to_owned()
}
