//! Label selectors and field selectors of LIST and WATCH.

mod fields;
mod labels;

use serde_json::Value;

pub use self::labels::matches_labels;
use self::{
    fields::{FieldRequirement, parse_fields},
    labels::{Requirement, parse_labels},
};
use crate::{refusal::Refusal, resource::Resource};

/// The selectors of a LIST or WATCH.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    labels: Vec<Requirement>,
    fields: Vec<FieldRequirement>,
}

impl Selection {
    /// Reads both selectors; empty texts select everything.
    pub fn parse(resource: &Resource, labels: &str, fields: &str) -> Result<Self, Refusal> {
        Ok(Self { labels: parse_labels(labels)?, fields: parse_fields(resource, fields)? })
    }

    /// Whether an object is selected.
    pub fn takes(&self, value: &Value) -> bool {
        self.labels.iter().all(|requirement| requirement.holds(value))
            && self.fields.iter().all(|requirement| requirement.holds(value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resource::{DEPLOYMENTS, PODS};

    fn takes(labels: &str, fields: &str) -> bool {
        let pod = json!({
            "metadata": { "name": "web-1", "namespace": "shop", "labels": { "app": "web", "tier": "front" } },
            "spec": { "nodeName": "node-1" }, "status": { "phase": "Running" },
        });
        Selection::parse(&PODS, labels, fields).unwrap().takes(&pod)
    }

    #[test]
    fn label_selectors_follow_the_grammar() {
        for yes in [
            "",
            "app=web",
            "app==web,tier=front",
            "app in (db, web),!gone",
            "app notin (db)",
            "other!=x",
            "tier",
        ] {
            assert!(takes(yes, ""), "{yes}");
        }
        for no in ["app=db", "app in (db)", "!app", "app!=web", "other", "tier notin (front,back)"] {
            assert!(!takes(no, ""), "{no}");
        }
    }

    #[test]
    fn field_selectors_know_each_resource() {
        assert!(takes("", "metadata.name=web-1,status.phase!=Pending,spec.nodeName==node-1"));
        assert!(!takes("", "metadata.name=web-2"));
        let refusal = Selection::parse(&DEPLOYMENTS, "", "spec.nodeName=a").unwrap_err();
        assert_eq!(
            (refusal.code, refusal.message.as_str()),
            (400, "field label not supported: spec.nodeName")
        );
    }

    #[test]
    fn invalid_selectors_are_refused() {
        for rubbish in ["===", "a=,=b", "app in web", "a b"] {
            assert!(Selection::parse(&PODS, rubbish, "").is_err(), "{rubbish}");
        }
    }
}
