//! Revisions: the templates a workload has had, and which of them runs.

mod document;
mod list;
mod word;

pub use list::Revisions;
pub use word::RevisionWord;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use self::document::Document;
use super::condition::Condition;
use super::controller_hash::DataHash;
use super::digest::Digest;
use super::object::Object;
use super::secret::secrets_in;
use super::template::Template;

/// The annotation in which people say why they changed something.
pub const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";

/// One template a workload has had, from the object that keeps it.
#[derive(Clone, Debug)]
pub struct Revision {
    /// Its number, which a rollback changes.
    pub number: Number,
    /// The numbers it had before rollbacks renumbered it, oldest first.
    pub past_numbers: Vec<i64>,
    /// The hash its controller gave it, as it stands in labels.
    pub hash: String,
    /// When the object was created: the first use of the template, not the last.
    pub created: Option<Timestamp>,
    /// Why, if anybody said.
    pub cause: Option<String>,
    /// The digest of its template.
    pub digest: Digest,
    /// The name of the object that keeps it.
    pub name: String,
    /// That object's uid.
    pub uid: String,
    /// The uid of its controller, empty when it has none.
    pub owner_uid: String,
    /// What a ReplicaSet says of its own pods; nothing of a ControllerRevision's.
    pub recorded: Recorded,
    /// Why its controller could not make a pod (`ReplicaFailure`), if a ReplicaSet says so.
    pub refused: Option<Condition>,
    /// The values in its template that look secret, which other texts may repeat.
    pub secrets: Vec<String>,
    /// What the hash it was named by was made of, for the kind that tells.
    pub(super) sealed: Option<DataHash>,
    document: Document,
}

/// The pods of a revision as the ReplicaSet that keeps it counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// All of them.
    pub total: usize,
    /// Those that are ready.
    pub ready: usize,
    /// Those that are available.
    pub available: usize,
}

impl Recorded {
    fn read(object: &Object) -> Self {
        let counter =
            |pointer| object.int(pointer).and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        Self {
            total: counter("/status/replicas"),
            ready: counter("/status/readyReplicas"),
            available: counter("/status/availableReplicas"),
        }
    }
}

/// A revision's number as found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// A number.
    Is(i64),
    /// None: the controller has not numbered it yet, or somebody removed it.
    Missing,
    /// Something that is no number.
    Unreadable(String),
}

impl Number {
    /// Reads a number from an annotation.
    #[must_use]
    pub fn read(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Unreadable(text.to_owned()), Self::Is)
    }

    /// The number, if there is one.
    #[must_use]
    pub fn known(&self) -> Option<i64> {
        match self {
            Self::Is(number) => Some(*number),
            Self::Missing | Self::Unreadable(_) => None,
        }
    }
}

/// Whether a revision's stored data still has the hash it was named by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seal {
    /// The kind's hash cannot be recomputed, or there is none.
    None,
    /// The hash was recomputed and is the same.
    Verified,
    /// The hash was recomputed and differs: the object was altered or restored from elsewhere.
    Broken {
        /// What the hash of the stored data is.
        expected: String,
    },
}

impl Revision {
    /// Reads what every kind's revisions have; the template is at a JSON pointer.
    pub(super) fn new(number: Number, hash: String, object: &Object, template_at: &'static str) -> Self {
        let raw = object.at(template_at).unwrap_or(&Value::Null);
        let template = Template::new(raw);
        Self {
            number,
            past_numbers: Vec::new(),
            hash,
            created: object.created(),
            cause: object.annotation(CHANGE_CAUSE).filter(|cause| !cause.is_empty()).map(str::to_owned),
            digest: template.digest(),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            owner_uid: object.controller().map(|owner| owner.uid.to_owned()).unwrap_or_default(),
            recorded: Recorded::read(object),
            refused: Condition::read(object, "ReplicaFailure"),
            secrets: secrets_in(template.json()),
            sealed: None,
            document: Document::of(object, raw),
        }
    }

    pub(super) fn once_numbered(mut self, past_numbers: Vec<i64>) -> Self {
        self.past_numbers = past_numbers;
        self
    }

    pub(super) fn sealed_by(mut self, sealed: Option<DataHash>) -> Self {
        self.sealed = sealed;
        self
    }

    /// The object that keeps it; null when only facts were kept.
    #[must_use]
    pub fn json(&self) -> Value {
        self.document.json()
    }

    /// Its template, raw; null when only facts were kept.
    #[must_use]
    pub fn template(&self) -> Template {
        Template::new(&self.document.template())
    }

    /// The facts alone, for whoever never shows or writes the template: of thousands of revisions, even the
    /// text takes room.
    #[must_use]
    pub fn without_document(self) -> Self {
        Self { document: Document::default(), ..self }
    }

    /// How a person names it: by number, or by name when it has none.
    #[must_use]
    pub fn label(&self) -> String {
        self.number.known().map_or_else(|| self.name.clone(), |number| number.to_string())
    }
}

/// Reads a ControllerRevision, which DaemonSets and StatefulSets share.
pub(super) fn controller_revision(object: &Object, hash_label: &str) -> Revision {
    let number = match object.at("/revision") {
        None => Number::Missing,
        Some(value) => value.as_i64().map_or_else(|| Number::Unreadable(value.to_string()), Number::Is),
    };
    let hash = object.label(hash_label).unwrap_or_default().to_owned();
    Revision::new(number, hash, object, "/data/spec/template")
}
