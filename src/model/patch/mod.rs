//! One change of one object: a JSON Patch that begins with what must still be so.
//!
//! Every write of ours is one of these (design rule 2). It tests the uid and the value, as read, of
//! every field that it overwrites or relies on, so it is made on exactly the state that was shown,
//! or not at all. Neither the resource version nor the generation could stand for these tests: an
//! autoscaler moves both without touching a thing that matters here, and annotations of a StatefulSet
//! or DaemonSet move no generation.

mod place;

pub use place::Place;

use serde_json::{Map, Value, json};

use super::go_json::go_json;
use super::object::Object;

/// A change of one object and the conditions under which it may be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    before: Value,
    after: Value,
    guards: Vec<Guard>,
    edits: Vec<Edit>,
}

/// A value to put at a place; `None` to remove what is there.
#[derive(Clone, Debug, PartialEq)]
struct Edit {
    place: Place,
    value: Option<Value>,
}

/// A field that must still be as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// Where it is.
    pub place: Place,
    /// What was read there; `None` when there was nothing.
    pub as_read: Option<Value>,
}

impl Patch {
    /// A patch of an object as it was read, which changes nothing yet and holds for no namesake.
    #[must_use]
    pub fn of(object: &Object) -> Self {
        let json = object.json();
        let mut patch =
            Self { before: json.clone(), after: json.clone(), guards: Vec::new(), edits: Vec::new() };
        patch.rely_on(Place::of(["metadata", "uid"]));
        patch
    }

    /// Makes the patch fail when what was read at a place is no longer so.
    pub fn rely_on(&mut self, place: Place) {
        if self.guards.iter().all(|guard| guard.place != place) {
            let as_read = place.of_value(&self.before).cloned();
            self.guards.push(Guard { place, as_read });
        }
    }

    /// Puts a value at a place, and the maps on the way to it where there are none. What is there
    /// already is left alone, but relied on.
    pub fn set(&mut self, place: Place, value: Value) {
        self.set_or_remove(place, Some(value));
    }

    /// Removes what is at a place, if anything is.
    pub fn remove(&mut self, place: Place) {
        self.set_or_remove(place, None);
    }

    /// Puts a value at a place, or removes what is there.
    pub fn set_or_remove(&mut self, place: Place, value: Option<Value>) {
        self.rely_on(place.clone());
        let edit = Edit { place, value: value.filter(|value| !value.is_null()) };
        if !edit.is_made_in(&self.after) {
            edit.make(&mut self.after);
            self.edits.push(edit);
        }
    }

    /// The same change of the object as it is now. Only right where no condition is
    /// [broken](Self::broken_by): an absent map may be there by now, which is all that differs.
    #[must_use]
    pub fn of_the_same_in(&self, now: &Object) -> Self {
        let mut patch = Self::of(now);
        self.guards.iter().for_each(|guard| patch.rely_on(guard.place.clone()));
        for edit in &self.edits {
            patch.set_or_remove(edit.place.clone(), edit.value.clone());
        }
        patch
    }

    /// Whether nobody has written the object since it was read for this patch.
    #[must_use]
    pub fn was_read_from(&self, now: &Object) -> bool {
        let version = Place::of(["metadata", "resourceVersion"]);
        version.of_value(&self.before) == version.of_value(now.json())
    }

    /// Whether an object is as the patch would leave it, as far as the patch goes.
    #[must_use]
    pub fn is_made_in(&self, now: &Object) -> bool {
        let uid = Place::of(["metadata", "uid"]);
        uid.of_value(now.json()) == uid.of_value(&self.before)
            && self.edits.iter().all(|edit| edit.is_made_in(now.json()))
    }

    /// Whether there is nothing to change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The object after the patch, as far as we can tell: the server may add to it.
    #[must_use]
    pub fn after(&self) -> &Value {
        &self.after
    }

    /// The operations of RFC 6902, the tests first.
    #[must_use]
    pub fn operations(&self) -> Vec<Value> {
        let mut operations: Vec<Value> = Vec::new();
        for test in self.guards.iter().map(|guard| guard.test(&self.before)) {
            if !operations.contains(&test) {
                operations.push(test);
            }
        }
        let mut document = self.before.clone();
        operations.extend(self.edits.iter().map(|edit| edit.make(&mut document)));
        operations
    }

    /// The patch as it is sent, `application/json-patch+json`.
    #[must_use]
    pub fn body(&self) -> String {
        go_json(&Value::Array(self.operations()))
    }

    /// The conditions that an object as it is now does not meet. When a server refused the patch
    /// and there is none, the patch itself is at fault.
    pub fn broken_by<'a>(&'a self, now: &'a Object) -> impl Iterator<Item = &'a Guard> {
        self.guards.iter().filter(|guard| guard.place.of_value(now.json()) != guard.as_read.as_ref())
    }
}

impl Guard {
    /// The server takes `null` for an absent member, but not for one below an absent map (seen on a
    /// real API server): there the map's own absence is tested.
    fn test(&self, before: &Value) -> Value {
        let place = self.place.first_absent(before);
        let value = place.of_value(before).cloned().unwrap_or_default();
        json!({"op": "test", "path": place.to_string(), "value": value})
    }
}

impl Edit {
    fn is_made_in(&self, document: &Value) -> bool {
        self.place.of_value(document) == self.value.as_ref()
    }

    /// Makes the edit, and returns the operation that does so.
    fn make(&self, document: &mut Value) -> Value {
        let Some(value) = &self.value else {
            take(document, self.place.members());
            return json!({"op": "remove", "path": self.place.to_string()});
        };
        let at = self.place.first_absent(document);
        let op = if at.of_value(document).is_some() { "replace" } else { "add" };
        let value = wrapped(value.clone(), self.place.below(&at));
        put(document, at.members(), value.clone());
        json!({"op": op, "path": at.to_string(), "value": value})
    }
}

/// A value inside maps of these names.
fn wrapped(value: Value, members: &[String]) -> Value {
    members.iter().rev().fold(value, |value, member| Value::Object(Map::from_iter([(member.clone(), value)])))
}

fn put(root: &mut Value, members: &[String], value: Value) {
    if let Some((last, above)) = members.split_last()
        && let Some(map) = map_at(root, above)
    {
        map.insert(last.clone(), value);
    }
}

fn take(root: &mut Value, members: &[String]) {
    if let Some((last, above)) = members.split_last()
        && let Some(map) = map_at(root, above)
    {
        map.remove(last);
    }
}

fn map_at<'a>(root: &'a mut Value, members: &[String]) -> Option<&'a mut Map<String, Value>> {
    members.iter().try_fold(root, |value, member| value.get_mut(member))?.as_object_mut()
}

#[cfg(test)]
mod tests;
