//! The `ReplicaSet` of the live template, and the revision numbers.

use serde_json::{Value, json};

use super::condition::{self, Condition, PROGRESSING};
use super::size::size_of_new;
use super::{COMPONENT, Outdated, Sync, annotations};
use crate::clock::stamp;
use crate::controller::event::Event;
use crate::controller::hash::template_hash;
use crate::controller::owner::reference;
use crate::controller::{count, template};
use crate::object;
use crate::resource::REPLICASETS;
use crate::store::Key;

/// The label that distinguishes the pods of the sets.
const HASH_LABEL: &str = "pod-template-hash";

/// The maximum length of a name.
const NAME_LIMIT: usize = 253;

impl Sync<'_> {
    /// Returns the set of the live template with number and annotations. It is created if it is absent and required.
    pub(super) fn new_set(&mut self, make: bool) -> Result<Option<usize>, Outdated> {
        let new = self.sets.iter().position(|set| self.runs_live_template(set));
        let old = self.old_sets(new).into_iter().filter_map(|old| annotations::number(&self.sets[old]));
        let number = old.max().unwrap_or(0) + 1;
        match new {
            Some(index) => self.describe_known(index, number).map(|()| Some(index)),
            None if make => self.make_set(number),
            None => Ok(None),
        }
    }

    fn runs_live_template(&self, set: &Value) -> bool {
        template::equal_without_label(
            &set["spec"]["template"],
            &self.deployment["spec"]["template"],
            HASH_LABEL,
        )
    }

    /// Updates the annotations of an existing set, or else the revision number of the Deployment.
    ///
    /// The real controller reads the set twice in a sync from the same cache, so its second write meets a conflict
    /// with its first.
    fn describe_known(&mut self, index: usize, number: i64) -> Result<(), Outdated> {
        if self.annotated {
            return Err(Outdated);
        }
        let seconds = object::at(&self.deployment, &["spec", "minReadySeconds"]).cloned();
        let set = &mut self.sets[index];
        let described = annotations::describe(set, &self.deployment, number);
        if described || count::min_ready(set) != seconds.as_ref().and_then(Value::as_i64).unwrap_or(0) {
            set["spec"]["minReadySeconds"] = seconds.unwrap_or(Value::Null);
            self.annotated = true;
            self.write_set(index);
            return Ok(());
        }
        let name = object::name(set).to_owned();
        let number = annotations::get(set, annotations::REVISION).to_owned();
        let mut changed = annotations::set(&mut self.deployment, annotations::REVISION, &number);
        let is_unreported = condition::find(&self.deployment["status"], PROGRESSING).is_none();
        if is_unreported && condition::deadline(&self.deployment).is_some() {
            self.set_progressing("True", "FoundNewReplicaSet", format!("Found new replica set \"{name}\""));
            changed = true;
        }
        if changed { self.write_deployment() } else { Ok(()) }
    }

    /// Creates the set of the live template. A name that exists already increments the collision count.
    fn make_set(&mut self, number: i64) -> Result<Option<usize>, Outdated> {
        let collisions = object::at(&self.deployment, &["status", "collisionCount"]).and_then(Value::as_i64);
        let hash = template_hash(&self.deployment["spec"]["template"], collisions);
        let mut set = self.blank_set(&hash);
        if self.store.get(&Key::of(&REPLICASETS, &set)).is_some() {
            self.deployment["status"]["collisionCount"] = (collisions.unwrap_or(0) + 1).into();
            self.write_deployment()?;
            return Err(Outdated);
        }
        let size = size_of_new(&self.deployment, 0, self.total_wanted());
        set["spec"]["replicas"] = size.into();
        annotations::describe(&mut set, &self.deployment, number);
        annotations::note_sizes(&mut set, &self.deployment);
        let namespace = object::namespace(&self.deployment).to_owned();
        self.plan.create(&REPLICASETS, &namespace, set.clone());
        let name = object::name(&set).to_owned();
        if size > 0 {
            self.record_event(format!("Scaled up replica set {name} from 0 to {size}"));
        }
        annotations::set(&mut self.deployment, annotations::REVISION, &number.to_string());
        if condition::deadline(&self.deployment).is_some() {
            self.set_progressing(
                "True",
                "NewReplicaSetCreated",
                format!("Created new replica set \"{name}\""),
            );
        }
        self.sets.push(set);
        self.keep_in_order();
        self.write_deployment()?;
        Ok(self.sets.iter().position(|set| object::name(set) == name))
    }

    fn blank_set(&self, hash: &str) -> Value {
        let deployment = &self.deployment;
        let mut template = deployment["spec"]["template"].clone();
        let labels = object::members(object::metadata(&mut template).entry("labels").or_insert(Value::Null));
        labels.insert(HASH_LABEL.to_owned(), hash.into());
        let mut selector = deployment["spec"]["selector"].clone();
        let matched =
            object::members(object::members(&mut selector).entry("matchLabels").or_insert(Value::Null));
        matched.insert(HASH_LABEL.to_owned(), hash.into());
        let deployment_part: String =
            object::name(deployment).chars().take(NAME_LIMIT - 1 - hash.len()).collect();
        json!({
            "metadata": {
                "name": format!("{deployment_part}-{hash}"), "namespace": object::namespace(deployment),
                "labels": template["metadata"]["labels"], "ownerReferences": [reference(deployment)],
                // Sorts the set among the others until the server has set the timestamp.
                "creationTimestamp": stamp(self.now),
            },
            "spec": {
                "replicas": 0, "minReadySeconds": deployment["spec"]["minReadySeconds"],
                "selector": selector, "template": template,
            },
        })
    }

    /// Sets the condition `Progressing`, unless it has this reason already.
    pub(super) fn set_progressing(&mut self, status: &'static str, reason: &'static str, message: String) {
        let condition = Condition::progressing(status, reason, message).value(self.now);
        condition::set(&mut self.deployment["status"], condition);
    }

    pub(super) fn record_event(&mut self, message: String) {
        self.plan.record_event(Event::normal(&self.deployment, COMPONENT, "ScalingReplicaSet", message));
    }

    /// Sets the condition of a paused or resumed Deployment once. An exceeded deadline stays.
    pub(super) fn note_pause(&mut self) -> Result<(), Outdated> {
        let reason_before = condition::reason(&self.deployment["status"], PROGRESSING);
        if condition::deadline(&self.deployment).is_none() || reason_before == "ProgressDeadlineExceeded" {
            return Ok(());
        }
        let (reason, message) = match (self.is_paused(), reason_before == "DeploymentPaused") {
            (true, false) => ("DeploymentPaused", "Deployment is paused"),
            (false, true) => ("DeploymentResumed", "Deployment is resumed"),
            _ => return Ok(()),
        };
        self.set_progressing("Unknown", reason, message.to_owned());
        self.write_deployment()
    }
}
