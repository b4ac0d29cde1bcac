//! JSON Patches with preconditions, and the paths of the fields that they test and change.
//!
//! Every write is one of these. It first tests the uid and every field that it
//! overwrites or relies on, with the value as read. The API server then applies it to exactly the
//! state that was shown, or rejects it. Resource version and generation cannot replace these tests.
//! An autoscaler changes both without a conflict, and annotations of StatefulSets and DaemonSets do
//! not change the generation.

use std::fmt;

use serde_json::{Map, Value, json};

use super::object::Object;
use crate::text::json::go_json;

/// The members from the root of an object to one value.
///
/// A path never leads into a list, because a concurrent writer can move its elements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<String>);

impl FieldPath {
    /// Returns the path with these members.
    pub fn of<S: Into<String>>(members: impl IntoIterator<Item = S>) -> Self {
        Self(members.into_iter().map(Into::into).collect())
    }

    /// Returns the path of the uid, which identifies an object.
    #[must_use]
    pub fn uid() -> Self {
        Self::of(["metadata", "uid"])
    }

    /// Returns the path of the pod template of a workload.
    #[must_use]
    pub fn template() -> Self {
        Self::of(["spec", "template"])
    }

    /// Returns the path of an annotation.
    #[must_use]
    pub fn annotation(name: &str) -> Self {
        Self::of(["metadata", "annotations", name])
    }

    /// Returns the members.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.0
    }

    /// Returns the value at this path. `null` counts as absent, as in the API.
    #[must_use]
    pub fn value_in<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        let value = self.0.iter().try_fold(root, |value, member| value.as_object()?.get(member));
        value.filter(|value| !value.is_null())
    }

    /// Returns the shortest prefix without a value: this path, or a map that has to be created
    /// first. Returns the path itself if there is a value.
    pub(crate) fn first_absent(&self, root: &Value) -> Self {
        let prefixes = (1..self.0.len()).map(|length| Self(self.0[..length].to_vec()));
        let absent = prefixes.into_iter().find(|prefix| !prefix.value_in(root).is_some_and(Value::is_object));
        absent.unwrap_or_else(|| self.clone())
    }

    /// Returns the members from `above` down to this path.
    pub(crate) fn below(&self, above: &Self) -> &[String] {
        self.0.get(above.0.len()..).unwrap_or_default()
    }
}

/// Formats the JSON pointer of RFC 6901.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|member| write!(f, "/{}", member.replace('~', "~0").replace('/', "~1")))
    }
}

/// A change of one object, with its preconditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    before: Value,
    after: Value,
    preconditions: Vec<FieldValue>,
    edits: Vec<FieldValue>,
}

/// A field and its value: the one that a precondition expects, or the one that an edit writes.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldValue {
    /// The path.
    pub path: FieldPath,
    /// The value; `None` for a field that does not exist, or that an edit removes.
    pub value: Option<Value>,
}

impl Patch {
    /// Starts an empty patch of an object. Its only precondition is the uid.
    #[must_use]
    pub fn of(object: &Object) -> Self {
        let json = object.json();
        let mut patch =
            Self { before: json.clone(), after: json.clone(), preconditions: Vec::new(), edits: Vec::new() };
        patch.require_unchanged(FieldPath::uid());
        patch
    }

    /// Returns the object as it was read; none if the patch creates it.
    #[must_use]
    pub fn object_before(&self) -> Option<Object> {
        Object::read(self.before.clone()).ok()
    }

    /// Adds the precondition that the field has the value that was read.
    pub fn require_unchanged(&mut self, path: FieldPath) {
        if self.preconditions.iter().all(|precondition| precondition.path != path) {
            let value = path.value_in(&self.before).cloned();
            self.preconditions.push(FieldValue { path, value });
        }
    }

    /// Sets a field and creates missing maps on its path. A field that already has the value is
    /// only tested.
    pub fn set(&mut self, path: FieldPath, value: Value) {
        self.set_or_remove(path, Some(value));
    }

    /// Removes a field, if it exists.
    pub fn remove(&mut self, path: FieldPath) {
        self.set_or_remove(path, None);
    }

    /// Sets or removes a field.
    pub fn set_or_remove(&mut self, path: FieldPath, value: Option<Value>) {
        self.require_unchanged(path.clone());
        let edit = FieldValue { path, value: value.filter(|value| !value.is_null()) };
        if !edit.is_in(&self.after) {
            edit.apply(&mut self.after);
            self.edits.push(edit);
        }
    }

    /// Returns the same change for the present object. All
    /// [preconditions](Self::failed_preconditions) must hold; only absent maps may exist by now.
    #[must_use]
    pub fn rebased_on(&self, now: &Object) -> Self {
        let mut patch = Self::of(now);
        self.preconditions.iter().for_each(|precondition| patch.require_unchanged(precondition.path.clone()));
        for edit in &self.edits {
            patch.set_or_remove(edit.path.clone(), edit.value.clone());
        }
        patch
    }

    /// Whether the object has the resource version that the patch was made from.
    #[must_use]
    pub fn is_based_on(&self, now: &Object) -> bool {
        let version = FieldPath::of(["metadata", "resourceVersion"]);
        version.value_in(&self.before) == version.value_in(now.json())
    }

    /// Whether the object already has every value of the patch.
    #[must_use]
    pub fn is_applied_to(&self, now: &Object) -> bool {
        self.unapplied_paths(now).next().is_none()
    }

    /// Returns the paths where an object differs from the one after the patch. If it is another object, the uid is one.
    pub fn unapplied_paths<'a>(&'a self, now: &'a Object) -> impl Iterator<Item = &'a FieldPath> {
        let uid = self.preconditions.iter().take(1);
        let paths = uid.chain(&self.edits).map(|one| &one.path);
        paths.filter(|path| path.value_in(now.json()) != path.value_in(&self.after))
    }

    /// Whether the patch changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Returns the expected object after the patch. The API server may add defaults.
    #[must_use]
    pub fn after(&self) -> &Value {
        &self.after
    }

    /// Returns the operations of RFC 6902, the tests first.
    #[must_use]
    pub fn operations(&self) -> Vec<Value> {
        let mut operations: Vec<Value> = Vec::new();
        for test in self.preconditions.iter().map(|precondition| precondition.test(&self.before)) {
            if !operations.contains(&test) {
                operations.push(test);
            }
        }
        let mut document = self.before.clone();
        operations.extend(self.edits.iter().map(|edit| edit.apply(&mut document)));
        operations
    }

    /// Returns the request body (`application/json-patch+json`).
    #[must_use]
    pub fn body(&self) -> String {
        go_json(&Value::Array(self.operations()))
    }

    /// Returns the preconditions that the present object does not meet. If the API server rejected
    /// the patch and there are none, the patch itself is wrong.
    pub fn failed_preconditions<'a>(&'a self, now: &'a Object) -> impl Iterator<Item = &'a FieldValue> {
        self.preconditions.iter().filter(|precondition| !precondition.is_in(now.json()))
    }
}

impl FieldValue {
    /// Returns the operation that tests whether the field is as it was `before`. The API server accepts `null` for an
    /// absent member, but not below an absent map (seen on a real API server). There the absence of the map is tested.
    fn test(&self, before: &Value) -> Value {
        let path = self.path.first_absent(before);
        let value = path.value_in(before).cloned().unwrap_or_default();
        json!({"op": "test", "path": path.to_string(), "value": value})
    }

    fn is_in(&self, document: &Value) -> bool {
        self.path.value_in(document) == self.value.as_ref()
    }

    /// Writes the value into a document and returns its operation.
    fn apply(&self, document: &mut Value) -> Value {
        let Some(value) = &self.value else {
            if let Some((map, name)) = parent_of(document, self.path.members()) {
                map.remove(name);
            }
            return json!({"op": "remove", "path": self.path.to_string()});
        };
        let at = self.path.first_absent(document);
        let op = if at.value_in(document).is_some() { "replace" } else { "add" };
        let value = wrapped(value.clone(), self.path.below(&at));
        if let Some((map, name)) = parent_of(document, at.members()) {
            map.insert(name.clone(), value.clone());
        }
        json!({"op": op, "path": at.to_string(), "value": value})
    }
}

/// Wraps a value in maps with these names.
fn wrapped(value: Value, members: &[String]) -> Value {
    members.iter().rev().fold(value, |value, member| Value::Object(Map::from_iter([(member.clone(), value)])))
}

/// Returns the map with the last member of a path, and the name of that member.
fn parent_of<'a>(
    root: &'a mut Value,
    members: &'a [String],
) -> Option<(&'a mut Map<String, Value>, &'a String)> {
    let (last, above) = members.split_last()?;
    let map = above.iter().try_fold(root, |value, member| value.get_mut(member))?.as_object_mut()?;
    Some((map, last))
}

#[cfg(test)]
mod tests;
