//! Compares two templates, and lists the changes between them.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::change::Change;
use super::path;
use super::path::{PathStep, TemplatePath};
use super::secret::{self, SecretValues};
use crate::api::quantity::Quantity;
use crate::revision::template;
use crate::text::secret::MASK;

/// The result of comparing two canonical templates.
#[derive(Debug)]
pub(super) struct Comparison {
    /// In the order of FROM, with additions after existing values. Masked unless secrets are shown.
    pub(super) changes: Vec<Change>,
    /// The keyed lists whose common elements changed their order. Kubernetes replaces pods for that
    /// as well.
    pub(super) reordered: Vec<TemplatePath>,
    secrets: SecretValues,
    here: TemplatePath,
}

/// Compares two canonical templates, so that server defaults and hash labels do not count. Elements
/// of keyed lists are matched by key, whatever their order. Every other list is one value, because
/// Kubernetes replaces it as a whole. Quantities are compared by value. Returns both templates as they are shown too: of TO
/// only the changes differ from FROM, because its keyed lists are in FROM's order and equal quantities are written as there.
pub(super) fn compare(from: &Value, to: &Value, secrets: SecretValues) -> (Comparison, [Value; 2]) {
    let shown = secret::shown(from, secrets).into_owned();
    let mut comparison =
        Comparison { changes: Vec::new(), reordered: Vec::new(), secrets, here: TemplatePath::default() };
    let to = if from == to {
        shown.clone()
    } else {
        comparison.visit("", Some(from), Some(&shown), Some(to)).unwrap_or_default()
    };
    (comparison, [shown, to])
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
    /// Compares two values, of which FROM's is also given as it is shown. Returns TO's as it is shown.
    fn visit(
        &mut self,
        member: &str,
        from: Option<&Value>,
        shown: Option<&Value>,
        to: Option<&Value>,
    ) -> Option<Value> {
        match (Shape::of(member, from), Shape::of(member, to)) {
            // The empty security context of a container, which differs from none.
            (Shape::Object(None), Shape::Object(Some(other)))
            | (Shape::Object(Some(other)), Shape::Object(None))
                if other.is_empty() =>
            {
                self.add_change(from, to)
            }
            (Shape::Object(from), Shape::Object(members)) => {
                let members = self.objects(from, shown, members);
                to.map(|_| members.into())
            }
            (Shape::Keyed(from), Shape::Keyed(elements)) => {
                let elements = self.lists(&from, shown, &elements);
                to.map(|_| elements.into())
            }
            _ if self.is_same_amount(from, to) => shown.cloned(),
            _ => self.add_change(from, to),
        }
    }

    fn add_change(&mut self, from: Option<&Value>, to: Option<&Value>) -> Option<Value> {
        let change = Change { path: self.here.clone(), from: from.cloned(), to: to.cloned() };
        let change = match self.secrets {
            SecretValues::Shown => change,
            SecretValues::Masked => secret::mask_change(change),
        };
        let to = change.to.clone();
        self.changes.push(change);
        to
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

    fn objects(
        &mut self,
        from: Option<&Map<String, Value>>,
        shown: Option<&Value>,
        to: Option<&Map<String, Value>>,
    ) -> Map<String, Value> {
        let mut members = Map::new();
        for (name, value) in from.into_iter().flatten() {
            let (shown, to) = (shown.and_then(|shown| shown.get(name)), to.and_then(|to| to.get(name)));
            let member = self.step(|| PathStep::Member(name.clone()), name, Some(value), shown, to);
            members.extend(member.map(|member| (name.clone(), member)));
        }
        let is_new = |name: &String| from.is_none_or(|from| !from.contains_key(name));
        for (name, value) in to.into_iter().flatten().filter(|(name, _)| is_new(name)) {
            let member = self.step(|| PathStep::Member(name.clone()), name, None, None, Some(value));
            members.extend(member.map(|member| (name.clone(), member)));
        }
        members
    }

    /// Compares the elements of two keyed lists. Returns TO's in the order of FROM if the order of common ones changed, with new
    /// ones last.
    fn lists(
        &mut self,
        from: &[(String, &Value)],
        shown: Option<&Value>,
        to: &[(String, &Value)],
    ) -> Vec<Value> {
        let indexes: HashMap<&str, usize> =
            to.iter().enumerate().map(|(index, (key, _))| (key.as_str(), index)).collect();
        let mut elements = Vec::new();
        for (place, (key, value)) in from.iter().enumerate() {
            let index = indexes.get(key.as_str()).copied();
            let other = index.map(|index| to[index].1);
            let shown = shown.and_then(|shown| shown.get(place));
            // The element is an object, so it needs no list name to find keys.
            let element = self.step(|| PathStep::Element(key.clone()), "", Some(value), shown, other);
            elements.extend(index.zip(element));
        }
        let keeps_order = elements.is_sorted_by_key(|(index, _)| *index);
        if !keeps_order {
            self.reordered.push(self.here.clone());
        }
        let known: HashSet<&str> = from.iter().map(|(key, _)| key.as_str()).collect();
        for (index, (key, value)) in
            to.iter().enumerate().filter(|(_, (key, _))| !known.contains(key.as_str()))
        {
            let element = self.step(|| PathStep::Element(key.clone()), "", None, None, Some(value));
            elements.extend(element.map(|element| (index, element)));
        }
        if keeps_order {
            elements.sort_by_key(|(index, _)| *index);
        }
        elements.into_iter().map(|(_, element)| element).collect()
    }

    /// Compares what is one step below. Most of a template is equal, and needs no path. What is below a masked value is masked.
    fn step(
        &mut self,
        step: impl FnOnce() -> PathStep,
        member: &str,
        from: Option<&Value>,
        shown: Option<&Value>,
        to: Option<&Value>,
    ) -> Option<Value> {
        if from == to {
            return to.map(|_| shown.cloned().unwrap_or_else(|| MASK.into()));
        }
        self.here.push(step());
        let shown = self.visit(member, from, shown, to);
        self.here.pop();
        shown
    }
}
