//! The lists of a pod template that are matched by key, and the keys of their elements.

use std::collections::HashMap;

use serde_json::Value;

use super::path::key_text;

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
pub fn fields_of(list: &str) -> Option<&'static [&'static str]> {
    KEYS.iter().find(|(name, _)| *name == list).map(|(_, fields)| *fields)
}

/// Whether the elements of a list have keys.
pub(super) fn is_keyed(list: &str) -> bool {
    fields_of(list).is_some()
}

/// Returns the keys of the elements in order, as paths write them: `MODE`, or
/// `containerPort=8080,protocol=TCP` for several fields, some of which may be absent. The API
/// accepts duplicate env names, of which the last counts. The second `MODE` has the key `MODE#2`
/// and is matched with the second one on the other side.
///
/// Returns `None` if the list is one value: it has no keys, or an element lacks its key field, or
/// that field is no string, integer or boolean.
pub(super) fn keys(list: &str, elements: &[Value]) -> Option<Vec<String>> {
    let fields = fields_of(list)?;
    let mut seen = HashMap::<String, usize>::new();
    let mut numbered = |key: String| {
        let count = seen.entry(key.clone()).or_default();
        *count += 1;
        if *count == 1 { key } else { format!("{key}#{count}") }
    };
    elements.iter().map(|element| key(fields, element).map(&mut numbered)).collect()
}

fn key(fields: &[&str], element: &Value) -> Option<String> {
    if !element.is_object() {
        return None;
    }
    if let [field] = fields {
        return key_part(at(element, field)?);
    }
    let parts = fields.iter().filter_map(|field| {
        let value = at(element, field)?;
        Some(key_part(value).map(|value| format!("{field}={value}")))
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join(","))
}

fn at<'a>(element: &'a Value, field: &str) -> Option<&'a Value> {
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
    use serde_json::json;

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
            assert_eq!(keys(list, elements.as_array().unwrap()).unwrap(), expected, "{list}");
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
            assert_eq!(keys(list, elements.as_array().unwrap()), None, "{list}");
        }
    }
}
