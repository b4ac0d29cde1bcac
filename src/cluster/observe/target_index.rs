//! Finds the targets that an object may belong to, without comparing it with each target.

use std::collections::HashMap;

use super::watched_target::WatchedTarget;
use crate::model::api::object::Object;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::follow::TargetId;
use crate::model::kind;

/// The targets of one observer, indexed by namespace and label.
#[derive(Debug)]
pub(super) struct TargetIndex {
    targets: Vec<WatchedTarget>,
    namespaces: HashMap<String, NamespaceIndex>,
    by_uid: HashMap<String, Vec<TargetId>>,
}

/// The targets of a namespace.
#[derive(Debug, Default)]
struct NamespaceIndex {
    by_name: HashMap<String, Vec<TargetId>>,
    /// The targets by a label that their selector requires, with each allowed value.
    by_label: HashMap<String, HashMap<String, Vec<TargetId>>>,
    /// The targets whose selector requires no specific value of any label.
    unlabelled: Vec<TargetId>,
}

impl TargetIndex {
    /// Creates the index of these targets, whose ids count from 0.
    pub(super) fn of(targets: Vec<WatchedTarget>) -> Self {
        // A label that all targets share, such as the environment, does not narrow the search.
        let mut uses = HashMap::<(&str, &str, &str), usize>::new();
        for target in &targets {
            for (key, values) in target.required_labels() {
                for value in values {
                    *uses.entry((&target.namespace, key, value)).or_default() += 1;
                }
            }
        }
        let mut namespaces = HashMap::<String, NamespaceIndex>::new();
        let mut by_uid = HashMap::<String, Vec<TargetId>>::new();
        for target in &targets {
            by_uid.entry(target.uid.clone()).or_default().push(target.id);
            let index = namespaces.entry(target.namespace.clone()).or_default();
            index.by_name.entry(target.name.clone()).or_default().push(target.id);
            let shared_by = |values: &[String], key: &str| -> usize {
                values
                    .iter()
                    .filter_map(|value| uses.get(&(target.namespace.as_str(), key, value.as_str())))
                    .sum()
            };
            match target.required_labels().min_by_key(|(key, values)| shared_by(values, key)) {
                Some((key, values)) => {
                    let by_value = index.by_label.entry(key.to_owned()).or_default();
                    for value in values {
                        by_value.entry(value.clone()).or_default().push(target.id);
                    }
                }
                None => index.unlabelled.push(target.id),
            }
        }
        Self { targets, namespaces, by_uid }
    }

    /// Returns all targets.
    pub(super) fn iter(&self) -> impl Iterator<Item = &WatchedTarget> {
        self.targets.iter()
    }

    pub(super) fn get(&self, id: TargetId) -> Option<&WatchedTarget> {
        self.targets.get(id.0)
    }

    /// Returns the targets that an object of a type and a namespace may belong to, each once, by id.
    pub(super) fn concerned(&self, object: &Object, type_: &ResourceType, namespace: &str) -> Vec<TargetId> {
        let Some(index) = self.namespaces.get(namespace) else {
            return Vec::new();
        };
        let watched = |ids: Vec<TargetId>, concerns: &dyn Fn(&WatchedTarget) -> bool| {
            let is_concerned = |id: &TargetId| {
                self.get(*id).is_some_and(|watched| watched.namespace == namespace && concerns(watched))
            };
            let mut ids: Vec<_> = ids.into_iter().filter(is_concerned).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        if type_ == &POD {
            watched(index.selecting(object), &|watched| watched.selects_pod(object))
        } else if type_ == &EVENT {
            let about = object.text("/involvedObject/name").unwrap_or_default();
            watched(index.named_before(about), &|watched| watched.concerns_event(object))
        } else if kind::of_type(type_).is_some() {
            let named = index.by_name.get(object.name()).cloned().unwrap_or_default();
            watched(named, &|watched| watched.is_workload(object))
        } else {
            let controller = object.controller().map(|owner| owner.uid).unwrap_or_default();
            let owners = self.by_uid.get(controller).cloned().unwrap_or_default();
            watched(owners, &|watched| watched.is_owner(controller))
        }
    }
}

impl NamespaceIndex {
    /// Returns the targets whose selector may match the pod.
    fn selecting(&self, pod: &Object) -> Vec<TargetId> {
        let labelled = self.by_label.iter().filter_map(|(key, by_value)| by_value.get(pod.label(key)?));
        labelled.flatten().chain(&self.unlabelled).copied().collect()
    }

    /// Returns the targets whose name is a prefix of an object's name that ends before a hyphen or at its end.
    fn named_before(&self, name: &str) -> Vec<TargetId> {
        let ends = name.match_indices('-').map(|(end, _)| end).chain([name.len()]);
        let named = ends.filter_map(|end| self.by_name.get(name.get(..end)?));
        named.flatten().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::resource_type::REPLICA_SET;
    use crate::model::kind::Kind;
    use crate::model::kind::Workload;
    use crate::model::kind::deployment::Deployment;
    use serde_json::{Value, json};

    fn index() -> TargetIndex {
        let workload = |(id, (name, namespace, selector)): (usize, (&str, &str, Value))| {
            let object = Object::read(json!({
                "kind": "Deployment", "apiVersion": "apps/v1",
                "metadata": {"name": name, "namespace": namespace, "uid": format!("{namespace}-{name}")},
                "spec": {"selector": selector},
            }));
            WatchedTarget::of(TargetId(id), &Workload::of(object.unwrap()).unwrap())
        };
        let labels = |app: &str| json!({"matchLabels": {"env": "prod", "app": app}});
        let targets = [
            ("web", "shop", labels("web")),
            ("web-api", "shop", labels("api")),
            ("web", "test", labels("web")),
            ("any", "shop", json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]})),
            (
                "both",
                "shop",
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "api"]}]}),
            ),
        ];
        TargetIndex::of(targets.into_iter().enumerate().map(workload).collect())
    }

    fn concerned(object: &Value, type_: &ResourceType, namespace: &str) -> Vec<usize> {
        let mut object = object.clone();
        object["kind"] = json!(type_.title());
        let object = Object::read(object).unwrap();
        index().concerned(&object, type_, namespace).into_iter().map(|id| id.0).collect()
    }

    #[test]
    fn a_pod_belongs_to_every_target_that_selects_it() {
        let pod = |labels: Value| json!({"metadata": {"name": "p", "labels": labels}});
        let web = pod(json!({"env": "prod", "app": "web"}));
        assert_eq!(concerned(&web, &POD, "shop"), [0, 3, 4]);
        assert_eq!(concerned(&web, &POD, "test"), [2]);
        assert_eq!(concerned(&web, &POD, "elsewhere"), [0; 0]);
        assert_eq!(concerned(&pod(json!({"env": "test", "app": "api"})), &POD, "shop"), [3, 4]);
        assert_eq!(concerned(&pod(json!({"env": "prod"})), &POD, "shop"), [0; 0]);
    }

    #[test]
    fn other_objects_belong_to_the_target_they_refer_to() {
        let named = |name: &str| json!({"metadata": {"name": name}});
        assert_eq!(concerned(&named("web"), Deployment.type_(), "shop"), [0]);
        assert_eq!(concerned(&named("web-"), Deployment.type_(), "shop"), [0; 0]);
        let event = |about: &str| json!({"metadata": {"name": "e"}, "involvedObject": {"name": about}});
        assert_eq!(concerned(&event("web-api-7f9-x2"), &EVENT, "shop"), [0, 1]);
        assert_eq!(concerned(&event("web"), &EVENT, "shop"), [0]);
        assert_eq!(concerned(&event("webapi"), &EVENT, "shop"), [0; 0]);
        let owned = |uid: &str| json!({"metadata": {"name": "r", "ownerReferences": [{"uid": uid, "controller": true, "kind": "Deployment", "name": "x"}]}});
        assert_eq!(concerned(&owned("shop-web"), &REPLICA_SET, "shop"), [0]);
        assert_eq!(concerned(&owned("test-web"), &REPLICA_SET, "shop"), [0; 0]);
    }
}
