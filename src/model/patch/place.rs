//! Where in an object something is, as JSON Patch points to it.

use std::fmt;

use serde_json::Value;

/// The members on the way from the root of an object down to one value.
///
/// No step leads into a list: a place in a list is a number that a concurrent writer moves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(Vec<String>);

impl Place {
    /// The place that these members lead to.
    pub fn of<S: Into<String>>(members: impl IntoIterator<Item = S>) -> Self {
        Self(members.into_iter().map(Into::into).collect())
    }

    /// An annotation of the object itself.
    #[must_use]
    pub fn annotation(name: &str) -> Self {
        Self::of(["metadata", "annotations", name])
    }

    /// The members on the way.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.0
    }

    /// The value at this place; `null` says the same as nothing, as the API has it.
    #[must_use]
    pub fn of_value<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        let value = self.0.iter().try_fold(root, |value, member| value.as_object()?.get(member));
        value.filter(|value| !value.is_null())
    }

    /// The highest place on the way at which there is nothing: this one, or a map that would have
    /// to be there first. The place itself when something is there.
    pub(super) fn first_absent(&self, root: &Value) -> Self {
        let prefixes = (1..self.0.len()).map(|length| Self(self.0[..length].to_vec()));
        let absent = prefixes.into_iter().find(|prefix| !prefix.of_value(root).is_some_and(Value::is_object));
        absent.unwrap_or_else(|| self.clone())
    }

    /// The members from `above` down to this place.
    pub(super) fn below(&self, above: &Self) -> &[String] {
        self.0.get(above.0.len()..).unwrap_or_default()
    }
}

/// The JSON pointer of RFC 6901.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|member| write!(f, "/{}", member.replace('~', "~0").replace('/', "~1")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pointer_escapes_what_pointers_are_made_of() {
        assert_eq!(Place::annotation("a/b~c").to_string(), "/metadata/annotations/a~1b~0c");
        assert_eq!(Place::of([""; 0]).to_string(), "");
    }

    #[test]
    fn null_and_what_is_no_map_lead_nowhere() {
        let place = Place::of(["a", "b"]);
        for root in
            [json!({}), json!({"a": null}), json!({"a": {"b": null}}), json!({"a": 1}), json!([{"b": 1}])]
        {
            assert_eq!(place.of_value(&root), None, "{root}");
        }
        assert_eq!(place.of_value(&json!({"a": {"b": 0}})), Some(&json!(0)));
    }
}
