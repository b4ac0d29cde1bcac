//! Field selectors of workloads, as written after `--field-selector`.

use super::object::Object;
use crate::error::{Error, Result};

/// The fields by which an API server selects workloads (`DefaultMetaV1FieldSelectorConversion`).
const FIELDS: [&str; 2] = ["metadata.name", "metadata.namespace"];

/// A conjunction of requirements on fields. The empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    field: &'static str,
    is_equal: bool,
    value: String,
}

impl FieldSelector {
    /// Parses `metadata.name=web,metadata.namespace!=kube-system`.
    ///
    /// # Errors
    /// A usage error that quotes the invalid part.
    pub fn parse(text: &str) -> Result<Self> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(read_requirement).collect::<Result<_>>().map(Self)
    }

    /// Whether an object satisfies every requirement.
    #[must_use]
    pub fn matches(&self, object: &Object) -> bool {
        self.0.iter().all(|one| {
            let value = if one.field == FIELDS[0] { object.name() } else { object.namespace() };
            (value == one.value) == one.is_equal
        })
    }

    /// Returns the selector for the API server; empty for none.
    #[must_use]
    pub fn to_query(&self) -> String {
        let parts = self.0.iter().map(|one| {
            let operator = if one.is_equal { "=" } else { "!=" };
            format!("{}{operator}{}", one.field, one.value)
        });
        parts.collect::<Vec<_>>().join(",")
    }
}

fn read_requirement(part: &str) -> Result<Requirement> {
    let operators = [("!=", false), ("==", true), ("=", true)];
    let split =
        operators.iter().find_map(|(operator, is_equal)| Some((part.split_once(operator)?, *is_equal)));
    let Some(((field, value), is_equal)) = split else {
        return Err(Error::usage(format!("{part:?} is no field selector")).hint(hint()));
    };
    let field = FIELDS.into_iter().find(|known| *known == field.trim()).ok_or_else(|| {
        Error::usage(format!("an API server does not select workloads by the field {field:?}")).hint(hint())
    })?;
    Ok(Requirement { field, is_equal, value: value.trim().to_owned() })
}

fn hint() -> String {
    "write it as metadata.name=web or metadata.namespace!=kube-system".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_namespaces_select() {
        let web = json!({"kind": "Deployment", "apiVersion": "apps/v1",
            "metadata": {"name": "web", "namespace": "shop"}});
        let web = Object::read(web).unwrap();
        for (text, matches, query) in [
            ("", true, ""),
            ("metadata.name=web", true, "metadata.name=web"),
            (
                "metadata.name==web,metadata.namespace!=kube-system",
                true,
                "metadata.name=web,metadata.namespace!=kube-system",
            ),
            (
                "metadata.name=web, metadata.namespace != shop",
                false,
                "metadata.name=web,metadata.namespace!=shop",
            ),
            ("metadata.name=", false, "metadata.name="),
        ] {
            let selector = FieldSelector::parse(text).unwrap();
            assert_eq!((selector.matches(&web), selector.to_query().as_str()), (matches, query), "{text}");
        }
        for text in ["web", "spec.replicas=3", "status.phase!=Running"] {
            assert!(FieldSelector::parse(text).is_err(), "{text}");
        }
    }
}
