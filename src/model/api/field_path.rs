//! The path of a field in an object.

use std::fmt;

use serde_json::Value;

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
    pub(in crate::model) fn first_absent(&self, root: &Value) -> Self {
        let prefixes = (1..self.0.len()).map(|length| Self(self.0[..length].to_vec()));
        let absent = prefixes.into_iter().find(|prefix| !prefix.value_in(root).is_some_and(Value::is_object));
        absent.unwrap_or_else(|| self.clone())
    }

    /// Returns the members from `above` down to this path.
    pub(in crate::model) fn below(&self, above: &Self) -> &[String] {
        self.0.get(above.0.len()..).unwrap_or_default()
    }
}

/// Formats the JSON pointer of RFC 6901.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|member| write!(f, "/{}", member.replace('~', "~0").replace('/', "~1")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pointer_escapes_slashes_and_tildes() {
        assert_eq!(FieldPath::annotation("a/b~c").to_string(), "/metadata/annotations/a~1b~0c");
        assert_eq!(FieldPath::of([""; 0]).to_string(), "");
    }

    #[test]
    fn null_and_non_maps_have_no_value() {
        let path = FieldPath::of(["a", "b"]);
        for root in
            [json!({}), json!({"a": null}), json!({"a": {"b": null}}), json!({"a": 1}), json!([{"b": 1}])]
        {
            assert_eq!(path.value_in(&root), None, "{root}");
        }
        assert_eq!(path.value_in(&json!({"a": {"b": 0}})), Some(&json!(0)));
    }
}
