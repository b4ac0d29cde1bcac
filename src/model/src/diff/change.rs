//! Compares two templates, lists the changes between them, and applies changes.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::path;
use super::path::{PathStep, TemplatePath, key_values};
use crate::api::quantity::Quantity;
use crate::revision::template;
use crate::revision::template::Template;

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
    /// The positions in TO of the added elements of the other keyed lists.
    pub(super) positions: Positions,
    here: TemplatePath,
}

/// The positions of elements in their lists, by their paths.
pub(super) type Positions = HashMap<TemplatePath, usize>;

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
            Some(Value::Array(elements)) => match path::element_keys(member, elements) {
                Some(keys) => Self::Keyed(keys.into_iter().zip(elements).collect()),
                None => Self::Whole,
            },
            None if template::EMPTY_IS_ABSENT.contains(&member) => Self::Object(None),
            None if path::identity_fields(member).is_some() => Self::Keyed(Vec::new()),
            _ => Self::Whole,
        }
    }
}

impl Comparison {
    fn visit(&mut self, member: &str, from: Option<&Value>, to: Option<&Value>) {
        match (Shape::of(member, from), Shape::of(member, to)) {
            // The empty security context of a container, which differs from none.
            (Shape::Object(None), Shape::Object(Some(other)))
            | (Shape::Object(Some(other)), Shape::Object(None))
                if other.is_empty() =>
            {
                self.add_change(from, to);
            }
            (Shape::Object(from), Shape::Object(to)) => self.objects(from, to),
            (Shape::Keyed(from), Shape::Keyed(to)) => self.lists(&from, &to),
            _ if self.is_same_amount(from, to) => {}
            _ => self.add_change(from, to),
        }
    }

    fn add_change(&mut self, from: Option<&Value>, to: Option<&Value>) {
        self.changes.push(Change { path: self.here.clone(), from: from.cloned(), to: to.cloned() });
    }

    /// Whether both values are the same quantity. `1000m` and `1` have one digest and make no new
    /// revision.
    fn is_same_amount(&self, from: Option<&Value>, to: Option<&Value>) -> bool {
        let amount = |value: Option<&Value>| value.and_then(Quantity::read);
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
        let keeps_order = kept.is_sorted();
        if !keeps_order {
            self.reordered.push(self.here.clone());
        }
        let known: HashSet<&str> = from.iter().map(|(key, _)| key.as_str()).collect();
        for (index, (key, value)) in
            to.iter().enumerate().filter(|(_, (key, _))| !known.contains(key.as_str()))
        {
            self.here.push(PathStep::Element(key.clone()));
            self.visit("", None, Some(value));
            if keeps_order {
                self.positions.insert(self.here.clone(), index);
            }
            self.here.pop();
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

/// Returns FROM with the changes applied. The result equals TO, but the elements of keyed lists
/// stay in FROM's order, new ones last. A line diff of it shows the changes only.
#[must_use]
pub fn apply(from: &Value, changes: &[Change]) -> Value {
    apply_at(from, changes, &Positions::new())
}

/// As [`apply`], with new elements at their positions.
///
/// All changes are applied in one traversal. One traversal for each change takes minutes with a
/// megabyte of env.
pub(super) fn apply_at(from: &Value, changes: &[Change], positions: &Positions) -> Value {
    let edits = changes.iter().map(|Change { path, to, .. }| PendingEdit {
        steps: path.steps(),
        to,
        position: positions.get(path).copied(),
    });
    let applied = edit("", Some(from.clone()), edits.collect()).unwrap_or(Value::Null);
    // The canonical form removes emptied maps and lists.
    Template::new(&applied).canonical()
}

/// The edits that remain below some value.
struct PendingEdit<'a> {
    steps: &'a [PathStep],
    to: &'a Option<Value>,
    /// The position of an added element; none for the end of the list.
    position: Option<usize>,
}

fn edit(member: &str, value: Option<Value>, edits: Vec<PendingEdit<'_>>) -> Option<Value> {
    if let Some(here) = edits.iter().rfind(|edit| edit.steps.is_empty()) {
        return here.to.clone();
    }
    match edits.first().and_then(|edit| edit.steps.first()) {
        None => value,
        Some(PathStep::Member(_)) => Some(Value::Object(edit_members(value, edits))),
        Some(PathStep::Element(_)) => Some(Value::Array(edit_elements(member, value, edits))),
    }
}

fn edit_members(value: Option<Value>, edits: Vec<PendingEdit<'_>>) -> Map<String, Value> {
    let mut members = match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    for (step, below) in by_first_step(edits) {
        let PathStep::Member(name) = step else { continue };
        let old = members.remove(name);
        if let Some(new) = edit(name, old, below) {
            members.insert(name.clone(), new);
        }
    }
    members
}

fn edit_elements(list: &str, value: Option<Value>, edits: Vec<PendingEdit<'_>>) -> Vec<Value> {
    let elements = match value {
        Some(Value::Array(elements)) => elements,
        _ => Vec::new(),
    };
    let keys = path::element_keys(list, &elements).unwrap_or_default();
    let indexes: HashMap<String, usize> =
        keys.into_iter().enumerate().map(|(index, key)| (key, index)).collect();
    let mut elements: Vec<Option<Value>> = elements.into_iter().map(Some).collect();
    let mut added = Vec::new();
    for (step, below) in by_first_step(edits) {
        let PathStep::Element(key) = step else { continue };
        if let Some(&index) = indexes.get(key) {
            elements[index] = edit("", elements[index].take(), below);
        } else {
            let position = below.first().and_then(|edit| edit.position).unwrap_or(usize::MAX);
            added.extend(edit("", None, below).map(|element| (position, element)));
        }
    }
    let (mut merged, mut added) = (Vec::new(), added.into_iter().peekable());
    for kept in elements.into_iter().flatten() {
        while let Some((_, element)) = added.next_if(|(position, _)| *position <= merged.len()) {
            merged.push(element);
        }
        merged.push(kept);
    }
    merged.extend(added.map(|(_, element)| element));
    merged
}

/// Groups the edits by their first step, in the order of their first edit.
fn by_first_step(edits: Vec<PendingEdit<'_>>) -> Vec<(&PathStep, Vec<PendingEdit<'_>>)> {
    let mut groups: Vec<(&PathStep, Vec<PendingEdit<'_>>)> = Vec::new();
    let mut indexes = HashMap::new();
    for PendingEdit { steps, to, position } in edits {
        let Some((first, rest)) = steps.split_first() else { continue };
        let index = *indexes.entry(first).or_insert_with(|| {
            groups.push((first, Vec::new()));
            groups.len() - 1
        });
        groups[index].1.push(PendingEdit { steps: rest, to, position });
    }
    groups
}
