//! The kinds of workload, and every way people spell them.

use super::resource_type::{
    CONTROLLER_REVISION, DAEMON_SET, DEPLOYMENT, REPLICA_SET, ResourceType, STATEFUL_SET, refused_type,
};

/// A kind of workload whose rollouts we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `apps/v1` Deployment; its revisions are ReplicaSets.
    Deployment,
    /// `apps/v1` DaemonSet; its revisions are ControllerRevisions.
    DaemonSet,
    /// `apps/v1` StatefulSet; its revisions are ControllerRevisions.
    StatefulSet,
}

impl Kind {
    /// All kinds, in the order in which kubectl's category `all` lists them.
    pub const ALL: [Self; 3] = [Self::DaemonSet, Self::Deployment, Self::StatefulSet];

    /// The kind an object says it is.
    #[must_use]
    pub fn of(title: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.type_().title() == title)
    }

    /// What the API serves it as.
    #[must_use]
    pub fn type_(self) -> &'static ResourceType {
        match self {
            Self::Deployment => &DEPLOYMENT,
            Self::DaemonSet => &DAEMON_SET,
            Self::StatefulSet => &STATEFUL_SET,
        }
    }

    /// What keeps this kind's old templates.
    #[must_use]
    pub fn revision_type(self) -> &'static ResourceType {
        match self {
            Self::Deployment => &REPLICA_SET,
            Self::DaemonSet | Self::StatefulSet => &CONTROLLER_REVISION,
        }
    }
}

/// What a word in the place of a type names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeWord {
    /// A kind of ours.
    Kind(Kind),
    /// The category `all`: every kind of ours.
    All,
    /// A type without rollouts.
    Other(&'static ResourceType),
    /// Nothing we know.
    Unknown,
}

/// Reads a type as kubectl does.
///
/// The list is fixed: asking the cluster's discovery costs two requests for three kinds that never change.
#[must_use]
pub fn read_type(word: &str) -> TypeWord {
    if word.eq_ignore_ascii_case("all") {
        return TypeWord::All;
    }
    match Kind::ALL.into_iter().find(|kind| kind.type_().is_spelled(word)) {
        Some(kind) => TypeWord::Kind(kind),
        None => refused_type(word).map_or(TypeWord::Unknown, TypeWord::Other),
    }
}

/// The spelling of ours that is nearest to a mistyped one.
#[must_use]
pub fn nearest_spelling(word: &str) -> Option<&'static str> {
    let types = Kind::ALL.map(Kind::type_);
    let spellings: Vec<&str> =
        types.iter().flat_map(|type_| [type_.singular(), type_.plural(), type_.short()]).collect();
    similar::get_close_matches(word.to_ascii_lowercase().as_str(), &spellings, 1, 0.6).first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_kind_is_understood() {
        for (kind, words) in [
            (
                Kind::Deployment,
                "deployment deployments deploy Deployment DEPLOY deployments.apps deployments.v1.apps",
            ),
            (Kind::DaemonSet, "ds daemonset DaemonSets daemonset.apps ds.v1.apps"),
            (Kind::StatefulSet, "sts StatefulSet statefulsets.v1.apps"),
        ] {
            for word in words.split(' ') {
                assert_eq!(read_type(word), TypeWord::Kind(kind), "{word}");
            }
        }
        assert_eq!(read_type("all"), TypeWord::All);
    }

    #[test]
    fn kruises_sets_and_mistyped_words_are_not_taken_for_ours() {
        for word in
            ["statefulsets.apps.kruise.io", "deploymnt", "", "deployments.v2.apps", "deployments.", "pods."]
        {
            assert!(!matches!(read_type(word), TypeWord::Kind(_)), "{word}");
        }
        assert_eq!(nearest_spelling("deploymnt"), Some("deployment"));
        assert_eq!(nearest_spelling("zebra"), None);
    }

    #[test]
    fn types_without_rollouts_are_known_by_name() {
        for (word, name) in
            [("rs", "ReplicaSet.apps"), ("Pods", "Pod"), ("cj", "CronJob.batch"), ("svc", "Service")]
        {
            assert!(
                matches!(read_type(word), TypeWord::Other(type_) if type_.group_kind() == name),
                "{word}"
            );
        }
    }
}
