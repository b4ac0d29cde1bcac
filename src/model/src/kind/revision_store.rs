//! Where the controllers keep the revisions of a workload: in ReplicaSets, or in ControllerRevisions, whose hash a
//! StatefulSet controller computes from the stored data. A kind whose template never changes has no store.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use crate::api::managed_fields::last_author;
use crate::api::object::Object;
use crate::api::patch::FieldPath;
use crate::api::pod::Pod;
use crate::api::resource_type::{CONTROLLER_REVISION, REPLICA_SET, ResourceType};
use crate::text::json::go_json;

/// Where the controller of a kind stores revisions.
///
/// This is an enum and no trait: there are two stores and none, a kind chooses by value, and each difference between them is in
/// one place. No file outside of `model/kind` matches on it.
#[derive(Clone, Copy, Debug)]
pub enum RevisionStore {
    /// ReplicaSets. A pod names its revision by its owner.
    ReplicaSets,
    /// ControllerRevisions, which carry the number in `.revision`. A pod names its revision by the label
    /// `controller-revision-hash`: the name of the ControllerRevision or its hash, which follows the last `-` of the name.
    ControllerRevisions {
        /// Whether the hash follows from the stored data, so that it can be verified and the next name foretold.
        is_verifiable: bool,
    },
    /// No store: the template never changes, so the workload is its only revision, and its pods name it by their owner.
    Workload,
}

/// The annotation for the number of a ReplicaSet. The controller copies that of the current one to the Deployment.
const NUMBER: &str = "deployment.kubernetes.io/revision";

/// The annotation for the numbers that a ReplicaSet had before rollbacks, separated by commas.
const PAST_NUMBERS: &str = "deployment.kubernetes.io/revision-history";

/// The most of them that are read. The controller keeps the last 2,000 characters (`maxRevHistoryLengthInChars`).
const MOST_PAST_NUMBERS: usize = 1_000;

/// The label that keeps the hash of a ReplicaSet.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// The longest prefix of a revision's name (`ControllerRevisionName` in `pkg/controller/history`).
const LONGEST_PREFIX: usize = 223;

impl RevisionStore {
    /// Returns the type of the objects that store them, if there are any.
    #[must_use]
    pub fn type_(self) -> Option<&'static ResourceType> {
        match self {
            Self::ReplicaSets => Some(&REPLICA_SET),
            Self::ControllerRevisions { .. } => Some(&CONTROLLER_REVISION),
            Self::Workload => None,
        }
    }

    /// Returns the JSON pointer to the template in such an object.
    #[must_use]
    pub fn template(self) -> &'static str {
        match self {
            Self::ReplicaSets | Self::Workload => "/spec/template",
            Self::ControllerRevisions { .. } => "/data/spec/template",
        }
    }

    /// Returns the number of a revision.
    #[must_use]
    pub fn number(self, object: &Object) -> RevisionNumber {
        let stored = match self {
            Self::ReplicaSets => object.annotation(NUMBER).map(|text| text.parse().ok()),
            Self::ControllerRevisions { .. } => object.at("/revision").map(Value::as_i64),
            Self::Workload => None,
        };
        match stored {
            Some(Some(number)) => RevisionNumber::Known(number),
            Some(None) => RevisionNumber::Unreadable,
            None => RevisionNumber::Missing,
        }
    }

    /// Returns when the controller wrote the number: the creation of the revision, or the last return to it. None of a
    /// ReplicaSet, to which its controller also writes for other reasons.
    #[must_use]
    pub fn numbered(self, object: &Object) -> Option<Timestamp> {
        match self {
            Self::ReplicaSets | Self::Workload => None,
            Self::ControllerRevisions { .. } => {
                last_author(object, &FieldPath::of(["revision"])).map(|author| author.time)
            }
        }
    }

    /// Returns the numbers that a revision had before rollbacks, oldest first.
    #[must_use]
    pub fn past_numbers(self, object: &Object) -> Vec<i64> {
        match self {
            Self::ReplicaSets => {
                let numbers = object.annotation(PAST_NUMBERS).unwrap_or_default();
                let newest = numbers.rsplit(',').take(MOST_PAST_NUMBERS);
                let mut numbers: Vec<_> = newest.filter_map(|number| number.trim().parse().ok()).collect();
                numbers.reverse();
                numbers
            }
            Self::ControllerRevisions { .. } | Self::Workload => Vec::new(),
        }
    }

    /// Returns the labels that the controller adds to the templates of revisions and to pods.
    #[must_use]
    pub fn template_labels(self) -> &'static [&'static str] {
        match self {
            Self::ReplicaSets => &[TEMPLATE_HASH],
            Self::ControllerRevisions { .. } => &["controller-revision-hash", "pod-template-generation"],
            Self::Workload => &[],
        }
    }

    /// Returns the controller hash in the labels of a revision.
    #[must_use]
    pub fn hash(self, object: &Object) -> Option<&str> {
        match self {
            Self::ReplicaSets => object.label(TEMPLATE_HASH),
            Self::ControllerRevisions { is_verifiable: true } => {
                object.label("controller.kubernetes.io/hash")
            }
            Self::ControllerRevisions { is_verifiable: false } => object.label("controller-revision-hash"),
            Self::Workload => None,
        }
    }

    /// Returns the data of which the controller computes the hash; none where the hash depends on the Go structs of
    /// the controller.
    #[must_use]
    pub fn hashed_data(self, object: &Object) -> Option<&Value> {
        match self {
            Self::ControllerRevisions { is_verifiable: true } => {
                self.hash(object).and_then(|_| object.at("/data"))
            }
            _ => None,
        }
    }

    /// Returns the text that the pods of a revision with this name and uid have in common.
    #[must_use]
    pub fn key_of_revision<'a>(self, name: &'a str, uid: &'a str) -> &'a str {
        match self {
            Self::ReplicaSets | Self::Workload => uid,
            Self::ControllerRevisions { .. } => after_last_dash(name),
        }
    }

    /// Returns that text of a pod; empty for a pod of another workload. `is_owned` tells whether the workload itself is
    /// the pod's controller.
    #[must_use]
    pub fn key_of_pod(self, pod: &Pod, is_owned: bool) -> &str {
        match self {
            Self::ReplicaSets | Self::Workload => &pod.owner_uid,
            Self::ControllerRevisions { .. } if is_owned => after_last_dash(&pod.revision_hash),
            Self::ControllerRevisions { .. } => "",
        }
    }

    /// Returns which of several revisions with the live template the controller uses, as an index. They are ordered by
    /// number.
    ///
    /// Of ReplicaSets it is the oldest, and of equally old ones the first by name (`FindNewReplicaSet` in the Deployment
    /// controller). Of ControllerRevisions it is the newest, which the controller renumbers.
    #[must_use]
    pub fn current(self, alike: &[(Option<Timestamp>, &str)]) -> Option<usize> {
        match self {
            Self::ReplicaSets => (0..alike.len()).min_by_key(|index| alike[*index]),
            Self::ControllerRevisions { .. } | Self::Workload => alike.len().checked_sub(1),
        }
    }

    /// Returns the number of the current revision that the controller writes on the workload, 0 when there is none. None
    /// if it writes no number there, or if other text stands there.
    #[must_use]
    pub fn recorded_number(self, workload: &Object) -> Option<i64> {
        match self {
            Self::ReplicaSets => workload.annotation(NUMBER).unwrap_or("0").parse().ok(),
            Self::ControllerRevisions { .. } | Self::Workload => None,
        }
    }

    /// Whether the controller syncs the current revision with the workload: it copies annotations to it, the change-cause
    /// among them, and stores no revision while the workload is paused.
    #[must_use]
    pub fn is_synced(self) -> bool {
        matches!(self, Self::ReplicaSets)
    }

    /// Returns the name that the controller will give to the revision of a new live template; none where the hash
    /// depends on the Go structs of the controller.
    #[must_use]
    pub fn name_of_new(self, workload: &Object) -> Option<String> {
        let Self::ControllerRevisions { is_verifiable: true } = self else { return None };
        let mut template = workload.at("/spec/template")?.clone();
        template.as_object_mut()?.insert("$patch".to_owned(), Value::from("replace"));
        let data = json!({"spec": {"template": template}});
        let collisions = workload.int("/status/collisionCount").unwrap_or_default();
        let prefix: String = workload.name().chars().take(LONGEST_PREFIX).collect();
        Some(format!("{prefix}-{}", DataHash::of(&data).with(collisions)))
    }

    /// Returns the object that kubectl prints for a revision: the stored object, or the workload with the template of the
    /// revision.
    #[must_use]
    pub fn document(self, workload: &Object, stored: Value, template: Value) -> Value {
        match self {
            Self::ReplicaSets => stored,
            Self::ControllerRevisions { .. } | Self::Workload => {
                let mut document = workload.json().clone();
                if let Some(live) = document.pointer_mut("/spec/template") {
                    *live = template;
                }
                document
            }
        }
    }
}

/// The number of a revision, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionNumber {
    /// A number.
    Known(i64),
    /// No number: the controller has not written it yet, or another client removed it.
    Missing,
    /// Not a number.
    Unreadable,
}

impl RevisionNumber {
    /// Returns the number, if there is one.
    #[must_use]
    pub fn known(self) -> Option<i64> {
        match self {
            Self::Known(number) => Some(number),
            Self::Missing | Self::Unreadable => None,
        }
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
    fn the_newest_past_numbers_are_read() {
        let text: Vec<_> = (0..500_000).map(|number| number.to_string()).collect();
        let replica_set = json!({"kind": "ReplicaSet", "metadata": {
            "name": "web", "annotations": {PAST_NUMBERS: text.join(", ")}}});
        let numbers = RevisionStore::ReplicaSets.past_numbers(&Object::read(replica_set).unwrap());
        assert_eq!(numbers, (499_000..500_000).collect::<Vec<_>>());
    }

    #[test]
    fn digits_become_the_letters_kubernetes_uses() {
        assert_eq!(safe_encoded("0123456789"), "456789bcdf");
    }
}
