//! Revisions: the templates a workload has had, and which of them runs.

mod list;
mod word;

pub use list::Revisions;
pub use word::RevisionWord;

use k8s_openapi::jiff::Timestamp;

use super::digest::Digest;
use super::object::Object;
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
    /// The template, raw.
    pub template: Template,
    /// The template's digest.
    pub digest: Digest,
    /// Whether the stored data is what its hash says.
    pub seal: Seal,
    /// The name of the object that keeps it.
    pub name: String,
    /// The ReplicaSet or ControllerRevision that keeps it.
    pub object: Object,
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
    pub(super) fn new(number: Number, hash: String, template: Template, seal: Seal, object: Object) -> Self {
        Self {
            number,
            past_numbers: Vec::new(),
            hash,
            created: object.created(),
            cause: object.annotation(CHANGE_CAUSE).filter(|cause| !cause.is_empty()).map(str::to_owned),
            digest: template.digest(),
            template,
            seal,
            name: object.name().to_owned(),
            object,
        }
    }

    pub(super) fn once_numbered(mut self, past_numbers: Vec<i64>) -> Self {
        self.past_numbers = past_numbers;
        self
    }

    /// How a person names it: by number, or by name when it has none.
    #[must_use]
    pub fn label(&self) -> String {
        self.number.known().map_or_else(|| self.name.clone(), |number| number.to_string())
    }
}

/// Reads a ControllerRevision, which DaemonSets and StatefulSets share.
pub(super) fn controller_revision(object: Object, hash_label: &str, seal: Seal) -> Revision {
    let number = match object.at("/revision") {
        None => Number::Missing,
        Some(value) => value.as_i64().map_or_else(|| Number::Unreadable(value.to_string()), Number::Is),
    };
    let template = Template::new(object.at("/data/spec/template").unwrap_or(&serde_json::Value::Null));
    let hash = object.label(hash_label).unwrap_or_default().to_owned();
    Revision::new(number, hash, template, seal, object)
}
