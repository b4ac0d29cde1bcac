//! The path of a change in a readable form, and the keys of the lists that are matched by key.
//!
//! ```text
//! spec.containers[web].env[MODE].value
//! metadata.annotations."prometheus.io/scrape"
//! spec.containers[web].ports[containerPort=8080,protocol=TCP].name
//! ```
//!
//! A member follows a dot, and an element of a keyed list stands in brackets. An ambiguous name is
//! a JSON string. JSON pointers identify list elements by position, which changes between
//! revisions.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathStep {
    /// A member of an object, by its name.
    Member(String),
    /// An element of a list, by its key: `MODE`, `"a b"`, `containerPort=80,protocol=TCP`. `MODE#2`
    /// is the second element with that key.
    Element(String),
}

/// The steps from the root of a template to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TemplatePath(Vec<PathStep>);

impl TemplatePath {
    /// Returns the steps, from the root.
    #[must_use]
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    pub(super) fn push(&mut self, step: PathStep) {
        self.0.push(step);
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }
}

impl From<&[PathStep]> for TemplatePath {
    fn from(steps: &[PathStep]) -> Self {
        Self(steps.to_vec())
    }
}

impl fmt::Display for TemplatePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Member(name) => {
                    let dot = if index == 0 { "" } else { "." };
                    write!(f, "{dot}{}", member(name))?;
                }
                PathStep::Element(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

/// Returns the name of a member, quoted unless it only has the characters of field names.
fn member(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted(name) }
}

/// Returns a text as part of a key, quoted if it could be read as a number, a boolean or a part of
/// the path.
fn key_text(text: &str) -> String {
    let mark = |c: char| c.is_whitespace() || c.is_control() || "[]\"=,#".contains(c);
    let other_type = || serde_json::from_str::<serde_json::Value>(text).is_ok();
    if text.is_empty() || text.contains(mark) || other_type() { quoted(text) } else { text.to_owned() }
}

/// Returns the values in a key: `web` of `[web]`, `8080` and `TCP` of
/// `[containerPort=8080,protocol=TCP]`.
#[must_use]
pub fn key_values(key: &str) -> Vec<String> {
    let (key, _) = cut(key, '#');
    let mut rest = Some(key);
    let next = || {
        let (key_part, more) = cut(rest.take()?, ',');
        rest = more;
        let value = cut(key_part, '=').1.unwrap_or(key_part);
        Some(serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned()))
    };
    std::iter::from_fn(next).collect()
}

/// Splits at the first `mark` outside of JSON strings.
fn cut(text: &str, mark: char) -> (&str, Option<&str>) {
    match token_end(text, |c| c == mark) {
        Some(end) => (&text[..end], Some(&text[end + mark.len_utf8()..])),
        None => (text, None),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the offset of the first character outside of JSON strings for which `ends` holds.
fn token_end(text: &str, ends: impl Fn(char) -> bool) -> Option<usize> {
    let (mut in_string, mut escaped) = (false, false);
    for (index, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if !in_string && ends(c) => return Some(index),
            _ => {}
        }
    }
    None
}

/// The lists whose elements have keys, and the fields of the keys.
///
/// Most come from `patchMergeKey` and `listMapKeys` of core/v1. Kubernetes replaces some of these
/// lists as a whole (`listType=atomic`): `tolerations`, `envFrom`, `items`, `sources`,
/// `httpHeaders`, `sysctls`, `options`, `matchExpressions`. Their fields are the ones that
/// validation requires to be unique, or that identify an element to a reader. A field is a dotted
/// path. Every other list (`args`, `command`, `dnsConfig.searches`) is one value.
const KEYS: [(&str, &[&str]); 25] = [
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("env", &["name"]),
    ("envFrom", &["configMapRef.name", "secretRef.name", "prefix"]),
    ("ports", &["containerPort", "protocol"]),
    ("volumes", &["name"]),
    ("volumeMounts", &["mountPath"]),
    ("volumeDevices", &["devicePath"]),
    ("resizePolicy", &["resourceName"]),
    ("claims", &["name"]),
    ("resourceClaims", &["name"]),
    ("httpHeaders", &["name"]),
    ("items", &["path"]),
    (
        "sources",
        &[
            "configMap.name",
            "secret.name",
            "serviceAccountToken.path",
            "clusterTrustBundle.path",
            "podCertificate.keyPath",
        ],
    ),
    ("tolerations", &["key", "effect"]),
    ("topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    ("imagePullSecrets", &["name"]),
    ("hostAliases", &["ip"]),
    ("readinessGates", &["conditionType"]),
    ("schedulingGates", &["name"]),
    ("sysctls", &["name"]),
    ("options", &["name"]),
    ("matchExpressions", &["key", "operator"]),
    ("matchFields", &["key", "operator"]),
];

/// Returns the key fields of a list, by its name.
#[must_use]
pub fn identity_fields(list: &str) -> Option<&'static [&'static str]> {
    KEYS.iter().find(|(name, _)| *name == list).map(|(_, fields)| *fields)
}

/// Returns the keys of the elements in order, as paths write them: `MODE`, or
/// `containerPort=8080,protocol=TCP` for several fields, some of which may be absent. The API
/// accepts duplicate env names, of which the last counts. The second `MODE` has the key `MODE#2`
/// and is matched with the second one on the other side.
///
/// Returns `None` if the list is one value: it has no keys, or an element lacks its key field, or
/// that field is no string, integer or boolean.
#[must_use]
pub fn element_keys(list: &str, elements: &[Value]) -> Option<Vec<String>> {
    let fields = identity_fields(list)?;
    let mut seen = HashMap::<String, usize>::new();
    let mut numbered = |key: String| {
        let count = seen.entry(key.clone()).or_default();
        *count += 1;
        if *count == 1 { key } else { format!("{key}#{count}") }
    };
    elements.iter().map(|element| element_key(fields, element).map(&mut numbered)).collect()
}

fn element_key(fields: &[&str], element: &Value) -> Option<String> {
    if !element.is_object() {
        return None;
    }
    if let [field] = fields {
        return key_part(field_at(element, field)?);
    }
    let parts = fields.iter().filter_map(|field| {
        let value = field_at(element, field)?;
        Some(key_part(value).map(|value| format!("{field}={value}")))
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join(","))
}

fn field_at<'a>(element: &'a Value, field: &str) -> Option<&'a Value> {
    field.split('.').try_fold(element, |value, member| value.get(member))
}

fn key_part(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(key_text(text)),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn member(name: &str) -> PathStep {
        PathStep::Member(name.to_owned())
    }

    #[test]
    fn paths_are_printed_in_the_documented_form() {
        let path = TemplatePath(vec![
            member("spec"),
            member("containers"),
            PathStep::Element(key_text("web")),
            member("volumeMounts"),
            PathStep::Element(key_text("/etc/web")),
            member("a b"),
        ]);
        assert_eq!(path.to_string(), r#"spec.containers[web].volumeMounts[/etc/web]."a b""#);
    }

    #[test]
    fn ambiguous_names_are_quoted() {
        for (text, key) in [
            ("web", "web"),
            ("8080", r#""8080""#),
            ("true", r#""true""#),
            ("", r#""""#),
            ("a]b", r#""a]b""#),
            ("a#2", r#""a#2""#),
            ("a=b", r#""a=b""#),
        ] {
            assert_eq!(key_text(text), key);
            assert_eq!(key_values(&format!("{key}#2")), [text]);
            assert_eq!(key_values(&format!("a={key},b={key}")), [text, text]);
        }
    }

    fn any_step() -> impl Strategy<Value = PathStep> {
        prop_oneof![
            any::<String>().prop_map(PathStep::Member),
            (any::<String>(), 1..3_u8).prop_map(|(text, nth)| {
                let key = key_text(&text);
                PathStep::Element(if nth == 1 { key } else { format!("{key}#{nth}") })
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn different_paths_have_different_texts(
            one in prop::collection::vec(any_step(), 0..6),
            other in prop::collection::vec(any_step(), 0..6),
        ) {
            let is_same = one == other;
            prop_assert_eq!(TemplatePath(one).to_string() == TemplatePath(other).to_string(), is_same);
        }
    }

    #[test]
    fn keys_use_the_merge_fields_of_kubernetes() {
        for (list, elements, expected) in [
            ("env", json!([{"name": "A"}, {"name": "B"}, {"name": "A"}]), vec!["A", "B", "A#2"]),
            (
                "ports",
                json!([{"containerPort": 80, "protocol": "TCP"}]),
                vec!["containerPort=80,protocol=TCP"],
            ),
            ("tolerations", json!([{"operator": "Exists"}, {"key": "a"}]), vec!["", "key=a"]),
            (
                "envFrom",
                json!([{"prefix": "S_", "secretRef": {"name": "s"}}]),
                vec!["secretRef.name=s,prefix=S_"],
            ),
        ] {
            assert_eq!(element_keys(list, elements.as_array().unwrap()).unwrap(), expected, "{list}");
        }
    }

    #[test]
    fn a_list_without_usable_keys_is_one_value() {
        for (list, elements) in [
            ("args", json!([{"name": "A"}])),
            ("env", json!([{"name": "A"}, {}])),
            ("env", json!([{"name": ["A"]}])),
            ("ports", json!([{"containerPort": 1.5}])),
            ("ports", json!([8080])),
        ] {
            assert_eq!(element_keys(list, elements.as_array().unwrap()), None, "{list}");
        }
    }
}
