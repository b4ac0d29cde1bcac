//! Drops the pods of other workloads as they are read.

use std::collections::{HashMap, HashSet};

use crate::model::api::object::Object;
use crate::model::api::selector::Selector;

/// One label that the selector of each workload requires, so that the pods of others are dropped as they are read.
#[derive(Debug, Default)]
pub(super) struct PodLabels {
    /// Values by key.
    required: HashMap<String, HashSet<String>>,
    /// Whether a selector requires no label of one value, so that every pod may belong to its workload.
    any: bool,
}

impl PodLabels {
    /// Adds the selector of a workload.
    pub(super) fn add(&mut self, selector: &Selector) {
        match selector.required_labels().next() {
            Some((key, values)) => {
                self.required.entry(key.to_owned()).or_default().extend(values.iter().cloned());
            }
            None => self.any = true,
        }
    }

    /// Whether a pod may belong to one of the workloads.
    pub(super) fn may_belong(&self, pod: &Object) -> bool {
        let has = |(key, values): (&String, &HashSet<String>)| {
            pod.label(key).is_some_and(|value| values.contains(value))
        };
        self.any || self.required.iter().any(has)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_selector_without_a_required_label_keeps_every_pod() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "p", "labels": {"app": "web"}}});
        let pod = Object::read(pod).unwrap();
        for (selectors, is_kept) in [
            (&["app=web"][..], true),
            (&["app=db"], false),
            (&["!legacy"], true),
            (&["app=db", "!legacy"], true),
        ] {
            let mut labels = PodLabels::default();
            for text in selectors {
                labels.add(&Selector::parse(text).unwrap());
            }
            assert_eq!(labels.may_belong(&pod), is_kept, "{selectors:?}");
        }
    }
}
