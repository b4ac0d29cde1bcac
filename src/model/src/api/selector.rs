//! Label selectors, as written after `-l` and as stored in `spec.selector`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use serde::Deserialize as _;
use serde_json::Value;

use super::object::Object;
use crate::error::{Error, ErrorKind, Result};

/// A conjunction of requirements on labels. The empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selector(Vec<LabelSelectorRequirement>);

impl Eq for Selector {}

impl Selector {
    /// Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
    ///
    /// # Errors
    /// A usage error that quotes the invalid part.
    pub fn parse(text: &str) -> Result<Self> {
        let parts = split_outside_parentheses(text).into_iter().map(str::trim).collect::<Vec<_>>();
        if parts == [""] {
            return Ok(Self::default());
        }
        let read = |part| read_requirement(part).ok_or_else(|| bad_selector(text, part));
        parts.into_iter().map(read).collect::<Result<_>>().map(Self)
    }

    /// Reads `spec.selector` of a workload.
    ///
    /// # Errors
    /// If it is missing or has an unknown operator.
    pub fn of_workload(workload: &Object) -> Result<Self> {
        let selector = workload.at("/spec/selector").and_then(Self::read);
        match selector.filter(|selector| !selector.0.is_empty()) {
            Some(selector) => Ok(selector),
            None => Err(Error::new(
                ErrorKind::Malformed,
                format!(
                    "{} {:?} has no usable spec.selector",
                    workload.kind().to_lowercase(),
                    workload.name()
                ),
            )),
        }
    }

    /// Reads a `LabelSelector`. Returns none for anything else, and for unknown operators.
    #[must_use]
    pub fn read(selector: &Value) -> Option<Self> {
        Self::of(LabelSelector::deserialize(selector).ok()?)
    }

    /// Returns the selector of a `LabelSelector`; none for an unknown operator.
    #[must_use]
    pub fn of(selector: LabelSelector) -> Option<Self> {
        let labels = selector.match_labels.into_iter().flatten();
        let equalities = labels.map(|(key, value)| requirement(&key, "In", Some(vec![value])));
        let requirements: Vec<_> =
            equalities.chain(selector.match_expressions.into_iter().flatten()).collect();
        let is_known = |one: &LabelSelectorRequirement| match one.operator.as_str() {
            "In" | "NotIn" => one.values.is_some(),
            operator => ["Exists", "DoesNotExist"].contains(&operator),
        };
        requirements.iter().all(is_known).then_some(Self(requirements))
    }

    /// Whether the labels of an object satisfy every requirement.
    #[must_use]
    pub fn matches(&self, object: &Object) -> bool {
        self.matches_labels(|key| object.label(key))
    }

    /// Whether labels satisfy every requirement. `label` returns the value of a key.
    pub fn matches_labels<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|requirement| holds(requirement, label(&requirement.key)))
    }

    /// Returns the labels that must be there, each with the values it may have.
    pub fn required_labels(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().filter(|one| one.operator == "In").map(|one| (one.key.as_str(), values(one)))
    }

    /// Returns the `labelSelector` query, sorted by key as client-go writes it.
    #[must_use]
    pub fn to_query(&self) -> String {
        let mut requirements: Vec<_> = self.0.iter().collect();
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        requirements.into_iter().map(query).collect::<Vec<_>>().join(",")
    }
}

fn requirement(key: &str, operator: &str, values: Option<Vec<String>>) -> LabelSelectorRequirement {
    LabelSelectorRequirement { key: key.to_owned(), operator: operator.to_owned(), values }
}

fn values(requirement: &LabelSelectorRequirement) -> &[String] {
    requirement.values.as_deref().unwrap_or_default()
}

/// Whether a label satisfies a requirement. An absent label satisfies `notin` and `!=`, as in Kubernetes.
fn holds(requirement: &LabelSelectorRequirement, label: Option<&str>) -> bool {
    let is_among = || label.is_some_and(|label| values(requirement).iter().any(|value| value == label));
    match requirement.operator.as_str() {
        "In" => is_among(),
        "NotIn" => !is_among(),
        "DoesNotExist" => label.is_none(),
        _ => label.is_some(),
    }
}

fn query(requirement: &LabelSelectorRequirement) -> String {
    let key = &requirement.key;
    match (requirement.operator.as_str(), values(requirement)) {
        ("In", [value]) => format!("{key}={value}"),
        ("In", values) => format!("{key} in ({})", values.join(",")),
        ("NotIn", [value]) => format!("{key}!={value}"),
        ("NotIn", values) => format!("{key} notin ({})", values.join(",")),
        ("DoesNotExist", _) => format!("!{key}"),
        _ => key.clone(),
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    })
    .collect()
}

fn read_requirement(part: &str) -> Option<LabelSelectorRequirement> {
    let checked = |key: &str, operator, values| is_key(key).then(|| requirement(key, operator, values));
    if let Some(key) = part.strip_prefix('!') {
        return checked(key.trim(), "DoesNotExist", None);
    }
    if let Some(set) = part.strip_suffix(')') {
        let (head, values) = set.split_once('(')?;
        let (key, operator) = head.trim().rsplit_once(char::is_whitespace)?;
        let values = values.split(',').map(read_value).collect::<Option<Vec<_>>>()?;
        return match operator {
            "in" => checked(key.trim(), "In", Some(values)),
            "notin" => checked(key.trim(), "NotIn", Some(values)),
            _ => None,
        };
    }
    if let Some((key, value)) = part.split_once("!=") {
        return checked(key.trim(), "NotIn", Some(vec![read_value(value)?]));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return checked(key.trim(), "In", Some(vec![read_value(value)?]));
    }
    checked(part, "Exists", None)
}

/// Label keys: letters, digits, `-`, `_`, `.`, and one `/` after a prefix.
fn is_key(key: &str) -> bool {
    let legal = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    !key.is_empty() && key.chars().all(legal) && key.matches('/').count() <= 1
}

/// Label values: as keys, without a slash, possibly empty.
fn read_value(value: &str) -> Option<String> {
    let value = value.trim();
    let legal = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    value.chars().all(legal).then(|| value.to_owned())
}

fn bad_selector(text: &str, part: &str) -> Error {
    Error::usage(format!("the selector {text:?} is not valid: cannot read {part:?}"))
        .hint("write it as app=web,tier!=cache or 'env in (prod,test)'")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn labelled(labels: &Value) -> Object {
        Object::read(json!({"kind": "Pod", "metadata": {"name": "p", "labels": labels}})).unwrap()
    }

    #[test]
    fn selectors_match_as_kubernetes_matches() {
        let object = labelled(&json!({"app": "web", "env": "prod", "empty": ""}));
        for (text, matches) in [
            ("", true),
            ("app=web", true),
            ("app==web,env=prod", true),
            ("app=web, env!=prod", false),
            ("missing!=x", true),
            ("env in (test, prod)", true),
            ("env notin (prod)", false),
            ("app,!missing", true),
            ("!app", false),
            ("empty=", true),
        ] {
            assert_eq!(Selector::parse(text).unwrap().matches(&object), matches, "{text:?}");
        }
    }

    #[test]
    fn an_unreadable_selector_is_a_usage_error() {
        for text in ["===", "a=,=b", "a in b", "a of (b)", "a b", "a=b c", "(", ",", "a/b/c=d"] {
            let error = Selector::parse(text).unwrap_err();
            assert_eq!(error.exit().code(), 2, "{text:?}");
        }
    }

    #[test]
    fn a_workloads_selector_becomes_a_query_sorted_by_key() {
        let object = |selector: Value| {
            Object::read(
                json!({"kind": "Deployment", "metadata": {"name": "w"}, "spec": {"selector": selector}}),
            )
            .unwrap()
        };
        let selector = Selector::of_workload(&object(
            json!({"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [
            {"key": "c", "operator": "In", "values": ["x", "y"]}, {"key": "d", "operator": "DoesNotExist"}]}),
        ));
        assert_eq!(selector.unwrap().to_query(), "a=1,b=2,c in (x,y),!d");
        for broken in
            [json!(null), json!({}), json!({"matchExpressions": [{"key": "a", "operator": "Near"}]})]
        {
            assert!(Selector::of_workload(&object(broken)).is_err());
        }
    }
}
