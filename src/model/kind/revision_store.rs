//! Where the controllers keep the revisions of a workload: in ReplicaSets, or in ControllerRevisions, whose hash a
//! StatefulSet controller computes from the stored data.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{CONTROLLER_REVISION, REPLICA_SET, ResourceType};
use crate::model::text::go_json::go_json;

/// How the controller of a kind stores revisions.
pub trait RevisionStore: Sync {
    /// Returns the type of the objects that store them.
    fn type_(&self) -> &'static ResourceType;

    /// Returns the JSON pointer to the template in such an object.
    fn template(&self) -> &'static str;

    /// Returns the number of a revision.
    fn number(&self, object: &Object) -> RevisionNumber;

    /// Returns the numbers that a revision had before rollbacks, oldest first.
    fn past_numbers(&self, _object: &Object) -> Vec<i64> {
        Vec::new()
    }

    /// Returns the labels that the controller adds to the templates of revisions and to pods.
    fn template_labels(&self) -> &[&'static str];

    /// Returns the controller hash in the labels of a revision.
    fn hash<'o>(&self, object: &'o Object) -> Option<&'o str>;

    /// Returns the data of which the controller computes the hash; none where the hash depends on the Go structs of
    /// the controller.
    fn hashed_data<'o>(&self, _object: &'o Object) -> Option<&'o Value> {
        None
    }

    /// Returns the text that the pods of a revision have in common.
    fn key_of_revision<'a>(&self, revision: RevisionNames<'a>) -> &'a str;

    /// Returns that text of a pod; empty for a pod of another workload. `is_owned` tells whether the workload itself is
    /// the pod's controller.
    fn key_of_pod<'a>(&self, pod: &'a Pod, is_owned: bool) -> &'a str;

    /// Returns which of several revisions with the live template the controller uses, as an index. They are ordered by
    /// number.
    fn current(&self, alike: &[(Option<Timestamp>, &str)]) -> Option<usize>;

    /// Returns the number of the current revision that the controller writes on the workload, 0 when there is none. None
    /// if it writes no number there, or if other text stands there.
    fn recorded_number(&self, _workload: &Object) -> Option<i64> {
        None
    }

    /// Whether the controller copies the change-cause of the workload to a revision that is used again.
    fn updates_change_cause(&self) -> bool;

    /// Whether kubectl shows the change-cause of a revision among the annotations of its template.
    fn shows_change_cause(&self) -> bool {
        false
    }

    /// Whether the controller stores the revision of a template that was changed while the workload is paused.
    fn stores_while_paused(&self) -> bool;

    /// Returns the name that the controller will give to the revision of a new live template; none where the hash
    /// depends on the Go structs of the controller.
    fn name_of_new(&self, _workload: &Object) -> Option<String> {
        None
    }

    /// Returns the object that kubectl prints for a revision. `stored` is the object of the revision.
    fn document(&self, workload: &Object, stored: Value, template: Value) -> Value;
}

/// The number of a revision, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevisionNumber {
    /// A number.
    Known(i64),
    /// No number: the controller has not written it yet, or another client removed it.
    Missing,
    /// Not a number.
    Unreadable(String),
}

impl RevisionNumber {
    /// Parses the number in an annotation.
    #[must_use]
    pub fn read(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Unreadable(text.to_owned()), Self::Known)
    }

    /// Returns the number, if there is one.
    #[must_use]
    pub fn known(&self) -> Option<i64> {
        match self {
            Self::Known(number) => Some(*number),
            Self::Missing | Self::Unreadable(_) => None,
        }
    }
}

/// What pods can name their revision by.
#[derive(Clone, Copy, Debug)]
pub struct RevisionNames<'a> {
    /// The name of its object.
    pub name: &'a str,
    /// The uid of its object.
    pub uid: &'a str,
    /// The controller hash.
    pub hash: &'a str,
}

/// ReplicaSets. A pod names its revision by its owner.
#[derive(Debug)]
pub struct ReplicaSets {
    /// The annotation for the number of a revision. The controller copies that of the current revision to the workload.
    pub number: &'static str,
    /// The annotation for the numbers before rollbacks, separated by commas.
    pub past_numbers: &'static str,
    /// The label that keeps the hash.
    pub hash_label: &'static str,
}

impl RevisionStore for ReplicaSets {
    fn type_(&self) -> &'static ResourceType {
        &REPLICA_SET
    }

    fn template(&self) -> &'static str {
        "/spec/template"
    }

    fn number(&self, object: &Object) -> RevisionNumber {
        object.annotation(self.number).map_or(RevisionNumber::Missing, RevisionNumber::read)
    }

    fn past_numbers(&self, object: &Object) -> Vec<i64> {
        let numbers = object.annotation(self.past_numbers).unwrap_or_default();
        numbers.split(',').filter_map(|number| number.trim().parse().ok()).collect()
    }

    fn template_labels(&self) -> &[&'static str] {
        std::slice::from_ref(&self.hash_label)
    }

    fn hash<'o>(&self, object: &'o Object) -> Option<&'o str> {
        object.label(self.hash_label)
    }

    fn key_of_revision<'a>(&self, revision: RevisionNames<'a>) -> &'a str {
        revision.uid
    }

    fn key_of_pod<'a>(&self, pod: &'a Pod, _is_owned: bool) -> &'a str {
        &pod.owner_uid
    }

    /// The oldest, and of equally old ones the first by name (`FindNewReplicaSet` in the Deployment controller).
    fn current(&self, alike: &[(Option<Timestamp>, &str)]) -> Option<usize> {
        (0..alike.len()).min_by_key(|index| alike[*index])
    }

    fn recorded_number(&self, workload: &Object) -> Option<i64> {
        workload.annotation(self.number).unwrap_or("0").parse().ok()
    }

    fn updates_change_cause(&self) -> bool {
        true
    }

    fn shows_change_cause(&self) -> bool {
        true
    }

    fn stores_while_paused(&self) -> bool {
        false
    }

    fn document(&self, _workload: &Object, stored: Value, _template: Value) -> Value {
        stored
    }
}

/// ControllerRevisions, which carry the number in `.revision`. A pod names its revision by the label
/// `controller-revision-hash`.
#[derive(Debug)]
pub struct ControllerRevisions {
    /// The label that keeps the hash.
    pub hash_label: &'static str,
    /// Whether the hash follows from the stored data, so that it can be verified and the next name foretold.
    pub is_verifiable: bool,
    /// What the pods' label names.
    pub pod_label: PodLabelValue,
}

/// What the label `controller-revision-hash` of a pod names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodLabelValue {
    /// The hash of the revision.
    Hash,
    /// The name of the ControllerRevision.
    Name,
    /// The name of the ControllerRevision or its hash: what follows the last `-` is compared.
    NameOrHash,
}

/// The longest prefix of a revision's name (`ControllerRevisionName` in `pkg/controller/history`).
const LONGEST_PREFIX: usize = 223;

impl RevisionStore for ControllerRevisions {
    fn type_(&self) -> &'static ResourceType {
        &CONTROLLER_REVISION
    }

    fn template(&self) -> &'static str {
        "/data/spec/template"
    }

    fn number(&self, object: &Object) -> RevisionNumber {
        let Some(value) = object.at("/revision") else { return RevisionNumber::Missing };
        value.as_i64().map_or_else(|| RevisionNumber::Unreadable(value.to_string()), RevisionNumber::Known)
    }

    fn template_labels(&self) -> &[&'static str] {
        &["controller-revision-hash", "pod-template-generation"]
    }

    fn hash<'o>(&self, object: &'o Object) -> Option<&'o str> {
        object.label(self.hash_label)
    }

    fn hashed_data<'o>(&self, object: &'o Object) -> Option<&'o Value> {
        self.hash(object).filter(|_| self.is_verifiable).and_then(|_| object.at("/data"))
    }

    fn key_of_revision<'a>(&self, revision: RevisionNames<'a>) -> &'a str {
        match self.pod_label {
            PodLabelValue::Hash => revision.hash,
            PodLabelValue::Name => revision.name,
            PodLabelValue::NameOrHash => after_last_dash(revision.name),
        }
    }

    fn key_of_pod<'a>(&self, pod: &'a Pod, is_owned: bool) -> &'a str {
        match self.pod_label {
            _ if !is_owned => "",
            PodLabelValue::Hash | PodLabelValue::Name => &pod.revision_hash,
            PodLabelValue::NameOrHash => after_last_dash(&pod.revision_hash),
        }
    }

    /// The newest, which the controller renumbers.
    fn current(&self, alike: &[(Option<Timestamp>, &str)]) -> Option<usize> {
        alike.len().checked_sub(1)
    }

    fn updates_change_cause(&self) -> bool {
        false
    }

    fn stores_while_paused(&self) -> bool {
        true
    }

    fn name_of_new(&self, workload: &Object) -> Option<String> {
        if !self.is_verifiable {
            return None;
        }
        let mut template = workload.at("/spec/template")?.clone();
        template.as_object_mut()?.insert("$patch".to_owned(), Value::from("replace"));
        let data = json!({"spec": {"template": template}});
        let collisions = workload.int("/status/collisionCount").unwrap_or_default();
        let prefix: String = workload.name().chars().take(LONGEST_PREFIX).collect();
        Some(format!("{prefix}-{}", controller_hash(&data, collisions)))
    }

    /// kubectl prints the workload with the template of the revision.
    fn document(&self, workload: &Object, _stored: Value, template: Value) -> Value {
        let mut document = workload.json().clone();
        if let Some(live) = document.pointer_mut("/spec/template") {
            *live = template;
        }
        document
    }
}

/// Returns the hash at the end of a name; the whole text if there is no `-`.
fn after_last_dash(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or_default()
}

/// The alphabet of Kubernetes' `SafeEncodeString`, without vowels, so that a hash never spells a
/// word.
const SAFE: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The hash over the stored data, before the collision count is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHash(u32);

impl DataHash {
    /// Starts with the stored `data`.
    ///
    /// The API server stores compact JSON with sorted keys and Go's HTML escapes. `serde_json`
    /// sorts keys too, so every JSON of the API server gives the same hash.
    #[must_use]
    pub fn of(data: &Value) -> Self {
        Self(fnv(0x811c_9dc5, &go_json(data)))
    }

    /// Returns the whole hash: 32-bit FNV-1 over the data and the decimal collision count. Its
    /// decimal form is encoded in the safe alphabet.
    #[must_use]
    pub fn with(self, collisions: i64) -> String {
        safe_encoded(&fnv(self.0, &collisions.to_string()).to_string())
    }
}

/// Returns the hash of a revision with this data and collision count.
#[must_use]
pub fn controller_hash(data: &Value, collisions: i64) -> String {
    DataHash::of(data).with(collisions)
}

/// FNV-1 multiplies before it XORs; FNV-1a does the reverse.
fn fnv(sum: u32, text: &str) -> u32 {
    text.bytes().fold(sum, |sum, byte| sum.wrapping_mul(0x0100_0193) ^ u32::from(byte))
}

fn safe_encoded(text: &str) -> String {
    text.bytes().map(|byte| char::from(SAFE[usize::from(byte) % SAFE.len()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_become_the_letters_kubernetes_uses() {
        assert_eq!(safe_encoded("0123456789"), "456789bcdf");
    }
}
