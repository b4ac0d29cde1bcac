//! The changes that lead from one template to another.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::keys;
use super::path::{Path, Step, key_values};
use crate::model::quantity::Quantity;
use crate::model::template::{self, Template};

/// One change between two templates: a value that is new, gone or another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where.
    pub path: Path,
    /// What was there; `None` when nothing was.
    pub from: Option<Value>,
    /// What is there now; `None` when nothing is.
    pub to: Option<Value>,
}

/// The lists that hold containers.
pub(super) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

impl Change {
    /// The name of the container that the change is in, init containers included.
    #[must_use]
    pub fn container(&self) -> Option<String> {
        self.split().0.map(|(_, name)| name)
    }

    /// The path below the container, and of a change elsewhere the whole path: `image`,
    /// `env[MODE].value`, `spec.nodeSelector.disk`. Empty when the container itself came or went.
    #[must_use]
    pub fn field(&self) -> String {
        Path::from(self.split().1).to_string()
    }

    /// The list and name of the container, and the steps below it (all steps when there is none).
    pub(super) fn split(&self) -> (Option<(&str, String)>, &[Step]) {
        match self.path.steps() {
            [Step::Member(spec), Step::Member(list), Step::Element(key), below @ ..]
                if spec == "spec" && CONTAINERS.contains(&list.as_str()) =>
            {
                (Some((list, key_values(key).join("/"))), below)
            }
            steps => (None, steps),
        }
    }
}

/// The changes from one template to another, in the order of FROM, what is new after what was there.
///
/// Canonical templates are compared, so neither server noise nor hash labels show. Elements of keyed
/// lists are matched by key and their order is no change; every other list is one value, since
/// Kubernetes takes it as a whole. Quantities count by value.
#[must_use]
pub fn changes(from: &Template, to: &Template) -> Vec<Change> {
    compare(&from.canonical(), &to.canonical()).changes
}

/// What came of comparing two canonical templates.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) changes: Vec<Change>,
    /// The keyed lists whose common elements stand in another order. Kubernetes starts new pods for
    /// that too, so where nothing else changed it has to be said.
    pub(super) reordered: Vec<Path>,
    here: Path,
}

pub(super) fn compare(from: &Value, to: &Value) -> Comparison {
    let mut comparison = Comparison::default();
    comparison.visit("", Some(from), Some(to));
    comparison
}

/// A value as something to descend into, or not.
enum Shape<'a> {
    Object(BTreeMap<&'a str, &'a Value>),
    Keyed(Vec<(String, &'a Value)>),
    Whole,
}

impl<'a> Shape<'a> {
    /// The shape of a member. Where an empty value says the same as none, none is taken for empty, so
    /// that the first label or env is told as itself and not as a new map or list.
    fn of(member: &str, value: Option<&'a Value>) -> Self {
        match value {
            Some(Value::Object(members)) => {
                Self::Object(members.iter().map(|(name, value)| (name.as_str(), value)).collect())
            }
            Some(Value::Array(elements)) => match keys::keys(member, elements) {
                Some(keys) => Self::Keyed(keys.into_iter().zip(elements).collect()),
                None => Self::Whole,
            },
            None if template::EMPTY_IS_ABSENT.contains(&member) => Self::Object(BTreeMap::new()),
            None if keys::is_keyed(member) => Self::Keyed(Vec::new()),
            _ => Self::Whole,
        }
    }
}

impl Comparison {
    fn visit(&mut self, member: &str, from: Option<&Value>, to: Option<&Value>) {
        if from == to {
            return;
        }
        match (Shape::of(member, from), Shape::of(member, to)) {
            (Shape::Object(from), Shape::Object(to)) => self.objects(&from, &to),
            (Shape::Keyed(from), Shape::Keyed(to)) => self.lists(&from, &to),
            _ if self.is_same_amount(from, to) => {}
            _ => self.changes.push(Change { path: self.here.clone(), from: from.cloned(), to: to.cloned() }),
        }
    }

    /// Whether one quantity is written in two ways. `1000m` and `1` make no new revision, and have
    /// one digest.
    fn is_same_amount(&self, from: Option<&Value>, to: Option<&Value>) -> bool {
        let amount = |value: Option<&Value>| value.and_then(Quantity::read).map(|amount| amount.exact());
        match self.here.steps() {
            [.., Step::Member(object), Step::Member(member)] if template::is_quantity(object, member) => {
                amount(from).is_some_and(|from| amount(to) == Some(from))
            }
            _ => false,
        }
    }

    fn objects(&mut self, from: &BTreeMap<&str, &Value>, to: &BTreeMap<&str, &Value>) {
        for (name, value) in from {
            self.step(Step::Member((*name).to_owned()), name, Some(value), to.get(name).copied());
        }
        for (name, value) in to.iter().filter(|(name, _)| !from.contains_key(*name)) {
            self.step(Step::Member((*name).to_owned()), name, None, Some(value));
        }
    }

    fn lists(&mut self, from: &[(String, &Value)], to: &[(String, &Value)]) {
        let places: HashMap<&str, usize> =
            to.iter().enumerate().map(|(place, (key, _))| (key.as_str(), place)).collect();
        let mut kept = Vec::new();
        for (key, value) in from {
            let place = places.get(key.as_str()).copied();
            kept.extend(place);
            // An element's own members are no list, so it needs no name to find keys by.
            self.step(Step::Element(key.clone()), "", Some(value), place.map(|place| to[place].1));
        }
        if !kept.is_sorted() {
            self.reordered.push(self.here.clone());
        }
        let known: HashSet<&str> = from.iter().map(|(key, _)| key.as_str()).collect();
        for (key, value) in to.iter().filter(|(key, _)| !known.contains(key.as_str())) {
            self.step(Step::Element(key.clone()), "", None, Some(value));
        }
    }

    fn step(&mut self, step: Step, member: &str, from: Option<&Value>, to: Option<&Value>) {
        self.here.push(step);
        self.visit(member, from, to);
        self.here.pop();
    }
}
