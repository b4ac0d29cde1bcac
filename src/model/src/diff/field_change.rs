//! Names for changes (the env `MODE`, the `cpu` limit, a volume), and their values shortened for one line.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::change::{CONTAINERS, Change};
use super::path;
use super::path::{PathStep, TemplatePath, key_values};
use crate::revision::template::RESTARTED_AT;

/// The part of the pod that a change is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ChangeScope {
    /// A container: the label of its list, and its name.
    Container(&'static str, String),
    /// The pod itself.
    Pod,
}

/// How the changes of a field are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldFormat {
    /// A single field with its value, or the path below it: `image shop/web:1.1`.
    Single,
    /// A named element with its value: `env MODE=prod`.
    Value,
    /// A named amount: `limits cpu 200m`.
    Amount,
    /// A named element without its value: `volume config`.
    Named,
    /// A kind of object and the name of one: `env from configmap cfg`.
    Source,
    /// The annotation of `kubectl rollout restart`.
    Restart,
}

/// A part of a template with a label of its own: the members from the container or the root to it, and its label.
type KnownField = (&'static [&'static str], &'static str, FieldFormat);

/// In the order of printing: the most frequent causes and fixes of failures first.
const KNOWN_FIELDS: [KnownField; 33] = [
    (&["image"], "image", FieldFormat::Single),
    (&["spec", "containers"], "container", FieldFormat::Named),
    (&["spec", "initContainers"], "init container", FieldFormat::Named),
    (&["spec", "ephemeralContainers"], "ephemeral container", FieldFormat::Named),
    (&["env"], "env", FieldFormat::Value),
    (&["envFrom"], "env from", FieldFormat::Source),
    (&["command"], "command", FieldFormat::Single),
    (&["args"], "args", FieldFormat::Single),
    (&["resources", "limits"], "limits", FieldFormat::Amount),
    (&["resources", "requests"], "requests", FieldFormat::Amount),
    (&["startupProbe"], "startup probe", FieldFormat::Single),
    (&["readinessProbe"], "readiness probe", FieldFormat::Single),
    (&["livenessProbe"], "liveness probe", FieldFormat::Single),
    (&["ports"], "port", FieldFormat::Named),
    (&["volumeMounts"], "mount", FieldFormat::Named),
    (&["volumeDevices"], "device", FieldFormat::Named),
    (&["securityContext"], "security context", FieldFormat::Single),
    (&["imagePullPolicy"], "pull policy", FieldFormat::Single),
    (&["spec", "securityContext"], "security context", FieldFormat::Single),
    (&["spec", "volumes"], "volume", FieldFormat::Named),
    (&["spec", "serviceAccountName"], "service account", FieldFormat::Single),
    (&["spec", "nodeSelector"], "node selector", FieldFormat::Value),
    (&["spec", "affinity"], "affinity", FieldFormat::Single),
    (&["spec", "tolerations"], "toleration", FieldFormat::Named),
    (&["spec", "topologySpreadConstraints"], "topology spread", FieldFormat::Named),
    (&["spec", "terminationGracePeriodSeconds"], "grace period", FieldFormat::Single),
    (&["spec", "priorityClassName"], "priority class", FieldFormat::Single),
    (&["spec", "imagePullSecrets"], "pull secret", FieldFormat::Named),
    (&["spec", "hostAliases"], "host alias", FieldFormat::Named),
    (&["spec", "readinessGates"], "readiness gate", FieldFormat::Named),
    (&["metadata", "labels"], "label", FieldFormat::Value),
    (&["metadata", "annotations", RESTARTED_AT], "restarted", FieldFormat::Restart),
    (&["metadata", "annotations"], "annotation", FieldFormat::Value),
];

/// One change, with the labels to print.
#[derive(Debug)]
pub(super) struct FieldChange {
    pub(super) scope: ChangeScope,
    /// The position in the order of printing.
    rank: usize,
    pub(super) field: String,
    pub(super) format: FieldFormat,
    /// The name of the element, such as the env's; empty for a single field.
    pub(super) name: String,
    /// The path below the element, if only a part of it changed.
    pub(super) detail: String,
    pub(super) from: Option<ShortValue>,
    pub(super) to: Option<ShortValue>,
}

/// Returns the labelled changes, sorted by the order of printing. The lists whose elements have another order are last.
pub(super) fn field_changes(changes: &[Change], reordered: &[TemplatePath]) -> Vec<FieldChange> {
    let mut field_changes: Vec<FieldChange> = Vec::new();
    // The removed sources that no added one of the same kind replaces yet.
    let mut removed = HashMap::<_, VecDeque<usize>>::new();
    for change in changes.iter().filter(|change| !is_old_alias(change, changes)) {
        let field_change = field_change(change);
        if field_change.format == FieldFormat::Source && field_change.detail.is_empty() {
            let kind = (field_change.scope.clone(), field_change.name.clone());
            let removed = removed.entry(kind).or_default();
            if field_change.to.is_none() {
                removed.push_back(field_changes.len());
            } else if let Some(last) = removed.pop_front().and_then(|index| field_changes.get_mut(index)) {
                last.merge(field_change);
                continue;
            }
        }
        match field_changes.last_mut().filter(|last| is_source_change(last, &field_change)) {
            Some(last) => last.merge(field_change),
            None => field_changes.push(field_change),
        }
    }
    field_changes.sort_by_key(|field_change| field_change.rank);
    field_changes.extend(reordered.iter().map(change_of_order));
    field_changes
}

/// Returns the change of a list whose elements have another order: `order of env`, without values.
fn change_of_order(list: &TemplatePath) -> FieldChange {
    let field = format!("order of {}", list.steps().last().map(name_of).unwrap_or_default());
    let (name, detail) = (String::new(), String::new());
    FieldChange { field, name, detail, ..field_change(&Change { path: list.clone(), from: None, to: None }) }
}

/// Whether the change is of `serviceAccount`, the deprecated alias of `serviceAccountName`. The API
/// server keeps both equal.
fn is_old_alias(change: &Change, all: &[Change]) -> bool {
    let at = |change: &Change, name: &str| matches!(change.path.steps(), [PathStep::Member(spec), PathStep::Member(member)] if spec == "spec" && member == name);
    at(change, "serviceAccount")
        && all.iter().any(|other| at(other, "serviceAccountName") && other.to == change.to)
}

/// Whether both changes belong to one env that switched between `value` and `valueFrom`.
fn is_source_change(one: &FieldChange, other: &FieldChange) -> bool {
    let moves = matches!((&one.from, &one.to, &other.from, &other.to), (Some(_), None, None, Some(_)))
        || matches!((&one.from, &one.to, &other.from, &other.to), (None, Some(_), Some(_), None));
    one.field == "env"
        && other.field == "env"
        && moves
        && one.scope == other.scope
        && one.name == other.name
        && [one, other].map(|field_change| field_change.detail.as_str()) == ["", "valueFrom"]
}

impl FieldChange {
    fn merge(&mut self, other: Self) {
        self.from = self.from.take().or(other.from);
        self.to = self.to.take().or(other.to);
    }
}

fn field_change(change: &Change) -> FieldChange {
    let (container, below) = match change.split() {
        // A container that was added or removed is a change of the pod.
        (Some(_), []) => (None, change.path.steps()),
        split => split,
    };
    let scope =
        container.map_or(ChangeScope::Pod, |(list, name)| ChangeScope::Container(container_word(list), name));
    let (rank, field, format, rest) = classify(below);
    let (name, rest) = match (format, rest) {
        (FieldFormat::Source, [_]) => (source_kind(change).to_owned(), &[][..]),
        (FieldFormat::Single | FieldFormat::Restart, rest) | (_, rest @ []) => (String::new(), rest),
        (_, [named, rest @ ..]) => (name_of(named), rest),
    };
    let rest = if field == "env" && rest == [PathStep::Member("value".to_owned())] { &[] } else { rest };
    FieldChange {
        scope,
        rank,
        field,
        format,
        name,
        detail: TemplatePath::from(rest).to_string(),
        from: change.from.as_ref().map(|value| short_value_of(change, value)),
        to: change.to.as_ref().map(|value| short_value_of(change, value)),
    }
}

/// The members of an `envFrom` element that name an object, and the kind of that object.
const SOURCES: [(&str, &str); 2] = [("configMapRef", "configmap"), ("secretRef", "secret")];

/// Returns the kind of the object that an `envFrom` element reads.
fn source_kind(change: &Change) -> &'static str {
    let element = change.from.as_ref().or(change.to.as_ref());
    let is_read = |(member, _): &&(&str, &str)| element.is_some_and(|element| element.get(member).is_some());
    SOURCES.iter().find(is_read).map_or("", |(_, kind)| kind)
}

fn container_word(list: &str) -> &'static str {
    let at = |(path, ..): &&KnownField| *path == ["spec", list];
    KNOWN_FIELDS.iter().find(at).map_or("container", |(_, word, _)| word)
}

/// Returns the rank, label and format of the field that the steps lead to, and the remaining steps.
/// A field without a label uses its member name.
fn classify(steps: &[PathStep]) -> (usize, String, FieldFormat, &[PathStep]) {
    for (rank, (path, word, format)) in KNOWN_FIELDS.iter().enumerate() {
        if let Some(rest) = below(steps, path) {
            return (rank, (*word).to_owned(), *format, rest);
        }
    }
    let steps = below(steps, &["spec"]).filter(|rest| !rest.is_empty()).unwrap_or(steps);
    match steps {
        [first, rest @ ..] => (KNOWN_FIELDS.len(), name_of(first), FieldFormat::Single, rest),
        [] => (KNOWN_FIELDS.len(), "template".to_owned(), FieldFormat::Single, &[]),
    }
}

/// Returns the steps after the members of `path`.
fn below<'a>(steps: &'a [PathStep], path: &[&str]) -> Option<&'a [PathStep]> {
    let (start, rest) = steps.split_at_checked(path.len())?;
    let same = |(step, name): (&PathStep, &&str)| matches!(step, PathStep::Member(member) if member == name);
    start.iter().zip(path).all(same).then_some(rest)
}

fn name_of(step: &PathStep) -> String {
    match step {
        PathStep::Member(name) => name.clone(),
        PathStep::Element(key) if key.is_empty() => "(any)".to_owned(),
        PathStep::Element(key) => key_values(key).join("/"),
    }
}

fn short_value_of(change: &Change, value: &Value) -> ShortValue {
    match change.path.steps() {
        [.., PathStep::Member(list), PathStep::Element(_)] => short_element(list, value),
        [.., PathStep::Member(image)] if image == "image" => short_image(value),
        _ => short_value(value),
    }
}

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
fn short_image(image: &Value) -> ShortValue {
    let image = within(LONGEST_IMAGE, image);
    ShortValue { text: short_digests(&image.text), ..image }
}

/// Returns an image in full, unless it is longer than an image in a line may be.
#[must_use]
pub fn within_line(image: &str) -> String {
    shortened(image.to_owned(), LONGEST_IMAGE)
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
fn short_element(list: &str, element: &Value) -> ShortValue {
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
    let source = SOURCES.iter().find_map(|(member, _)| element.get(member))?;
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
            for (index, element) in elements.iter().enumerate() {
                text.push_str(if index > 0 { " " } else { "" });
                write(text, element, longest);
            }
        }
        Value::Object(members) => {
            let sole_object = members.len() == 1 && members.values().all(Value::is_object);
            for (index, (name, member)) in members.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                text.push_str(name);
                text.push_str(if sole_object { " " } else { "=" });
                write(text, member, longest);
            }
        }
        scalar => text.push_str(&scalar.to_string()),
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
    use super::*;

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
