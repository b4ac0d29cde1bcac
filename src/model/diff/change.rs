//! Compares two templates and lists the changes between them.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::list_keys;
use super::path::{PathStep, TemplatePath, key_values};
use crate::model::api::quantity::Quantity;
use crate::model::revision::template;

/// One change between two templates: a value that was added, removed or replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The path of the value.
    pub path: TemplatePath,
    /// The value before; `None` if it was added.
    pub from: Option<Value>,
    /// The value after; `None` if it was removed.
    pub to: Option<Value>,
}

/// The lists that contain containers.
pub(super) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

impl Change {
    /// Returns the name of the container that the change is in, init containers included.
    #[must_use]
    pub fn container(&self) -> Option<String> {
        self.split().0.map(|(_, name)| name)
    }

    /// Returns the path below the container: `image`, `env[MODE].value`. Outside of containers it
    /// is the whole path, such as `spec.nodeSelector.disk`. Empty if the container itself was added
    /// or removed.
    #[must_use]
    pub fn field(&self) -> String {
        TemplatePath::from(self.split().1).to_string()
    }

    /// Splits the path into the container's list and name, and the steps below. Outside of
    /// containers all steps are returned.
    pub(super) fn split(&self) -> (Option<(&str, String)>, &[PathStep]) {
        match self.path.steps() {
            [PathStep::Member(spec), PathStep::Member(list), PathStep::Element(key), below @ ..]
                if spec == "spec" && CONTAINERS.contains(&list.as_str()) =>
            {
                (Some((list, key_values(key).join("/"))), below)
            }
            steps => (None, steps),
        }
    }
}

/// The result of comparing two canonical templates.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// In the order of FROM, with additions after existing values.
    pub(super) changes: Vec<Change>,
    /// The keyed lists whose common elements changed their order. Kubernetes replaces pods for that
    /// as well.
    pub(super) reordered: Vec<TemplatePath>,
    here: TemplatePath,
}

/// Compares two canonical templates, so that server defaults and hash labels do not count. Elements
/// of keyed lists are matched by key, whatever their order. Every other list is one value, because
/// Kubernetes replaces it as a whole. Quantities are compared by value.
pub(super) fn compare(from: &Value, to: &Value) -> Comparison {
    let mut comparison = Comparison::default();
    if from != to {
        comparison.visit("", Some(from), Some(to));
    }
    comparison
}

/// How a value is compared: member by member, element by element, or as a whole.
enum Shape<'a> {
    /// None is an absent object that counts as an empty one.
    Object(Option<&'a Map<String, Value>>),
    Keyed(Vec<(String, &'a Value)>),
    Whole,
}

impl<'a> Shape<'a> {
    /// Returns the shape of a member. Where an empty value means the same as an absent one, an
    /// absent one is treated as empty. The first label is then an added label and not an added map.
    fn of(member: &str, value: Option<&'a Value>) -> Self {
        match value {
            Some(Value::Object(members)) => Self::Object(Some(members)),
            Some(Value::Array(elements)) => match list_keys::keys(member, elements) {
                Some(keys) => Self::Keyed(keys.into_iter().zip(elements).collect()),
                None => Self::Whole,
            },
            None if template::EMPTY_IS_ABSENT.contains(&member) => Self::Object(None),
            None if list_keys::is_keyed(member) => Self::Keyed(Vec::new()),
            _ => Self::Whole,
        }
    }
}

impl Comparison {
    fn visit(&mut self, member: &str, from: Option<&Value>, to: Option<&Value>) {
        match (Shape::of(member, from), Shape::of(member, to)) {
            (Shape::Object(from), Shape::Object(to)) => self.objects(from, to),
            (Shape::Keyed(from), Shape::Keyed(to)) => self.lists(&from, &to),
            _ if self.is_same_amount(from, to) => {}
            _ => self.changes.push(Change { path: self.here.clone(), from: from.cloned(), to: to.cloned() }),
        }
    }

    /// Whether both values are the same quantity. `1000m` and `1` have one digest and make no new
    /// revision.
    fn is_same_amount(&self, from: Option<&Value>, to: Option<&Value>) -> bool {
        let amount = |value: Option<&Value>| value.and_then(Quantity::read).map(|amount| amount.exact());
        match self.here.steps() {
            [.., PathStep::Member(object), PathStep::Member(member)]
                if template::is_quantity(object, member) =>
            {
                amount(from).is_some_and(|from| amount(to) == Some(from))
            }
            _ => false,
        }
    }

    fn objects(&mut self, from: Option<&Map<String, Value>>, to: Option<&Map<String, Value>>) {
        for (name, value) in from.into_iter().flatten() {
            let to = to.and_then(|to| to.get(name));
            self.step(|| PathStep::Member(name.clone()), name, Some(value), to);
        }
        let is_new = |name: &String| from.is_none_or(|from| !from.contains_key(name));
        for (name, value) in to.into_iter().flatten().filter(|(name, _)| is_new(name)) {
            self.step(|| PathStep::Member(name.clone()), name, None, Some(value));
        }
    }

    fn lists(&mut self, from: &[(String, &Value)], to: &[(String, &Value)]) {
        let indexes: HashMap<&str, usize> =
            to.iter().enumerate().map(|(index, (key, _))| (key.as_str(), index)).collect();
        let mut kept = Vec::new();
        for (key, value) in from {
            let index = indexes.get(key.as_str()).copied();
            kept.extend(index);
            // The element is an object, so it needs no list name to find keys.
            self.step(|| PathStep::Element(key.clone()), "", Some(value), index.map(|index| to[index].1));
        }
        if !kept.is_sorted() {
            self.reordered.push(self.here.clone());
        }
        let known: HashSet<&str> = from.iter().map(|(key, _)| key.as_str()).collect();
        for (key, value) in to.iter().filter(|(key, _)| !known.contains(key.as_str())) {
            self.step(|| PathStep::Element(key.clone()), "", None, Some(value));
        }
    }

    /// Compares what is one step below. Most of a template is equal, and needs no path.
    fn step(
        &mut self,
        step: impl FnOnce() -> PathStep,
        member: &str,
        from: Option<&Value>,
        to: Option<&Value>,
    ) {
        if from != to {
            self.here.push(step());
            self.visit(member, from, to);
            self.here.pop();
        }
    }
}
