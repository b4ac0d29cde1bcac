//! Each change as something a person has a word for: the env `MODE`, the limits' `cpu`, a volume.

use serde_json::Value;

use super::brief::{Brief, brief, brief_element, brief_image};
use super::change::Change;
use super::path::{Path, Step, key_values};

/// Where a change is, as far as a reader tells one place from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// A container: the word for its list, and its name.
    Container(&'static str, String),
    /// Everything that all containers share.
    Pod,
}

/// How changes of a subject are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One of a kind, with its value or the details below it: `image shop/web:1.1`.
    Single,
    /// Named, and the value matters: `env MODE=prod`.
    Value,
    /// Named, and the value is an amount: `limits cpu 200m`.
    Amount,
    /// Named, and the name says enough: `volume config`.
    Thing,
    /// The stamp that `kubectl rollout restart` leaves.
    Restart,
}

/// A part of a template that has a word of its own.
#[derive(Debug)]
pub(super) struct Subject {
    /// The members on the way to it, from the container or the root.
    path: &'static [&'static str],
    pub(super) word: &'static str,
    pub(super) form: Form,
}

const fn subject(path: &'static [&'static str], word: &'static str, form: Form) -> Subject {
    Subject { path, word, form }
}

/// The annotation by which `kubectl rollout restart` makes a new revision of the same template.
const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// In the order in which they are told: what most often breaks or mends a release first.
const SUBJECTS: [Subject; 33] = [
    subject(&["image"], "image", Form::Single),
    subject(&["spec", "containers"], "container", Form::Thing),
    subject(&["spec", "initContainers"], "init container", Form::Thing),
    subject(&["spec", "ephemeralContainers"], "ephemeral container", Form::Thing),
    subject(&["env"], "env", Form::Value),
    subject(&["envFrom"], "env from", Form::Thing),
    subject(&["command"], "command", Form::Single),
    subject(&["args"], "args", Form::Single),
    subject(&["resources", "limits"], "limits", Form::Amount),
    subject(&["resources", "requests"], "requests", Form::Amount),
    subject(&["startupProbe"], "startup probe", Form::Single),
    subject(&["readinessProbe"], "readiness probe", Form::Single),
    subject(&["livenessProbe"], "liveness probe", Form::Single),
    subject(&["ports"], "port", Form::Thing),
    subject(&["volumeMounts"], "mount", Form::Thing),
    subject(&["volumeDevices"], "device", Form::Thing),
    subject(&["securityContext"], "security context", Form::Single),
    subject(&["imagePullPolicy"], "pull policy", Form::Single),
    subject(&["spec", "securityContext"], "security context", Form::Single),
    subject(&["spec", "volumes"], "volume", Form::Thing),
    subject(&["spec", "serviceAccountName"], "service account", Form::Single),
    subject(&["spec", "nodeSelector"], "node selector", Form::Value),
    subject(&["spec", "affinity"], "affinity", Form::Single),
    subject(&["spec", "tolerations"], "toleration", Form::Thing),
    subject(&["spec", "topologySpreadConstraints"], "topology spread", Form::Thing),
    subject(&["spec", "terminationGracePeriodSeconds"], "grace period", Form::Single),
    subject(&["spec", "priorityClassName"], "priority class", Form::Single),
    subject(&["spec", "imagePullSecrets"], "pull secret", Form::Thing),
    subject(&["spec", "hostAliases"], "host alias", Form::Thing),
    subject(&["spec", "readinessGates"], "readiness gate", Form::Thing),
    subject(&["metadata", "labels"], "label", Form::Value),
    subject(&["metadata", "annotations", RESTARTED_AT], "restarted", Form::Restart),
    subject(&["metadata", "annotations"], "annotation", Form::Value),
];

/// One change, with the words for what changed.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) scope: Scope,
    /// The place in the order of telling.
    pub(super) rank: usize,
    pub(super) subject: String,
    pub(super) form: Form,
    /// The thing's own name, such as the env's; empty where the subject is one of a kind.
    pub(super) name: String,
    /// The path below the thing, when only a part of it changed.
    pub(super) detail: String,
    pub(super) from: Option<Brief>,
    pub(super) to: Option<Brief>,
}

/// The facts behind a list of changes, in the order of telling within the order of the changes.
pub(super) fn facts(changes: &[Change]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for change in changes.iter().filter(|change| !is_old_alias(change, changes)) {
        let fact = fact(change);
        match facts.last_mut().filter(|last| is_other_source(last, &fact)) {
            Some(last) => last.become_one_with(fact),
            None => facts.push(fact),
        }
    }
    facts.sort_by_key(|fact| fact.rank);
    facts
}

/// Whether a change is that of `serviceAccount`, the old name of `serviceAccountName`, which the API
/// server keeps equal.
fn is_old_alias(change: &Change, all: &[Change]) -> bool {
    let at = |change: &Change, name: &str| matches!(change.path.steps(), [Step::Member(spec), Step::Member(member)] if spec == "spec" && member == name);
    at(change, "serviceAccount")
        && all.iter().any(|other| at(other, "serviceAccountName") && other.to == change.to)
}

/// Whether two facts are one env that takes its value from elsewhere now (`value`, `valueFrom`).
fn is_other_source(one: &Fact, other: &Fact) -> bool {
    let moves = matches!((&one.from, &one.to, &other.from, &other.to), (Some(_), None, None, Some(_)))
        || matches!((&one.from, &one.to, &other.from, &other.to), (None, Some(_), Some(_), None));
    one.subject == "env"
        && other.subject == "env"
        && moves
        && one.scope == other.scope
        && one.name == other.name
        && [one, other].map(|fact| fact.detail.as_str()) == ["", "valueFrom"]
}

impl Fact {
    fn become_one_with(&mut self, other: Self) {
        self.from = self.from.take().or(other.from);
        self.to = self.to.take().or(other.to);
    }
}

fn fact(change: &Change) -> Fact {
    let (container, below) = match change.split() {
        // A container that came or went is a change of the pod.
        (Some(_), []) => (None, change.path.steps()),
        split => split,
    };
    let scope = container.map_or(Scope::Pod, |(list, name)| Scope::Container(word_for(list), name));
    let (rank, subject, form, rest) = classified(below);
    let (name, rest) = match (form, rest) {
        (Form::Value | Form::Amount | Form::Thing, [named, rest @ ..]) => (name_of(named), rest),
        (_, rest) => (String::new(), rest),
    };
    let rest = if subject == "env" && rest == [Step::Member("value".to_owned())] { &[] } else { rest };
    Fact {
        scope,
        rank,
        subject,
        form,
        name,
        detail: Path::from(rest).to_string(),
        from: change.from.as_ref().map(|value| told(change, value)),
        to: change.to.as_ref().map(|value| told(change, value)),
    }
}

fn word_for(list: &str) -> &'static str {
    let at = |subject: &&Subject| subject.path == ["spec", list];
    SUBJECTS.iter().find(at).map_or("container", |subject| subject.word)
}

/// The rank, word and form of the subject that steps lead to, and the steps below it. What has no
/// word of its own goes by its member name, so no field is ever left out.
fn classified(steps: &[Step]) -> (usize, String, Form, &[Step]) {
    for (rank, subject) in SUBJECTS.iter().enumerate() {
        if let Some(rest) = below(steps, subject.path) {
            return (rank, subject.word.to_owned(), subject.form, rest);
        }
    }
    let steps = below(steps, &["spec"]).filter(|rest| !rest.is_empty()).unwrap_or(steps);
    match steps {
        [first, rest @ ..] => (SUBJECTS.len(), name_of(first), Form::Single, rest),
        [] => (SUBJECTS.len(), "template".to_owned(), Form::Single, &[]),
    }
}

/// The steps that follow after the members of `path`.
fn below<'a>(steps: &'a [Step], path: &[&str]) -> Option<&'a [Step]> {
    let (start, rest) = steps.split_at_checked(path.len())?;
    let same = |(step, name): (&Step, &&str)| matches!(step, Step::Member(member) if member == name);
    start.iter().zip(path).all(same).then_some(rest)
}

fn name_of(step: &Step) -> String {
    match step {
        Step::Member(name) => name.clone(),
        Step::Element(key) if key.is_empty() => "(any)".to_owned(),
        Step::Element(key) => key_values(key).join("/"),
    }
}

fn told(change: &Change, value: &Value) -> Brief {
    match change.path.steps() {
        [.., Step::Member(list), Step::Element(_)] => brief_element(list, value),
        [.., Step::Member(image)] if image == "image" => brief_image(value),
        _ => brief(value),
    }
}
