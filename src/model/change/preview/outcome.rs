//! What applying an object would do to the revisions of a workload, and to its fields outside of the template.

use serde_json::{Map, Value, json};

use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::diff::{Change, Diff, SecretValues};
use crate::model::hold::end_command;
use crate::model::hold::plan::Hold;
use crate::model::kind::Workload;
use crate::model::revision::Revision;
use crate::model::revision::template::Template;
use crate::model::text::secret::without_secrets;
use crate::model::text::shell_command::command;

/// What applying an object would do to the revisions of a workload.
#[derive(Clone, Debug)]
pub enum PreviewOutcome {
    /// The workload does not exist yet.
    Created {
        /// The name of its first revision, where it can be foretold.
        name: Option<String>,
    },
    /// Nothing changes.
    Unchanged,
    /// Fields outside of the template change, and no pod is replaced.
    NoRollout,
    /// The template stays, and outdated pods that were held are replaced.
    Released,
    /// A template that no revision has.
    NewRevision {
        /// The number of the revision.
        number: i64,
        /// Its name, where it can be foretold.
        name: Option<String>,
        /// Whether the revision is created only after the workload is resumed.
        is_after_pause: bool,
    },
    /// A template that a revision has.
    Returns {
        /// The revision.
        to: Box<Revision>,
        /// The number that the controller gives to it.
        number: i64,
    },
}

impl PreviewOutcome {
    /// Whether pods are created or replaced, now or as soon as a hold ends.
    #[must_use]
    pub fn is_rollout(&self) -> bool {
        match self {
            Self::Unchanged | Self::NoRollout => false,
            Self::Created { .. } | Self::Released | Self::NewRevision { .. } | Self::Returns { .. } => true,
        }
    }
}

/// The end of the API server's message (`ValidateDeploymentSpec`).
const DEADLINE: &str = "must be greater than minReadySeconds";

/// Returns that the plan that holds a Deployment is the reason for a refusal, and the command that ends it.
#[must_use]
pub fn refusal_by_plan(live: &Workload, message: &str) -> Option<String> {
    let is_held = Hold::in_force(live).is_some() && live.is_completion_blocked_by_hold();
    (is_held && message.contains(DEADLINE)).then(|| {
        let end = command("to end the plan: {}", [end_command(live)]);
        format!("the API server rejects this manifest until the plan of step ends, which set minReadySeconds; {end}")
    })
}

/// The annotations that `kubectl apply`, the API server and the controllers write.
const GENERATED_ANNOTATIONS: [&str; 3] =
    [LAST_APPLIED, "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"];

/// Returns the changes of labels, annotations and the spec without the template. The spec of another API version has
/// other fields, so that it is not compared.
pub(super) fn changed_fields(before: &Workload, after: &Workload, secrets: SecretValues) -> Vec<Change> {
    let has_spec = before.api_version() == after.api_version();
    let [from, to] = [before, after].map(|workload| Template::new(&own_fields(workload, has_spec)));
    let changes = Diff::between(&from, &to, secrets).changes().to_vec();
    match secrets {
        SecretValues::Shown => changes,
        SecretValues::Masked => changes.into_iter().map(masked).collect(),
    }
}

fn own_fields(workload: &Workload, has_spec: bool) -> Value {
    let object = workload.object();
    let members = |pointer: &str| object.at(pointer).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut annotations: Map<String, Value> = members("/metadata/annotations");
    annotations.retain(|name, _| !GENERATED_ANNOTATIONS.contains(&name.as_str()));
    let mut spec = if has_spec { members("/spec") } else { Map::new() };
    spec.remove("template");
    json!({"metadata": {"labels": members("/metadata/labels"), "annotations": annotations}, "spec": spec})
}

/// Annotations are free text, which can repeat a secret.
fn masked(change: Change) -> Change {
    let mask = |value: Option<Value>| {
        value.map(|value| match value {
            Value::String(text) => without_secrets(&text).into(),
            value => value,
        })
    };
    Change { path: change.path, from: mask(change.from), to: mask(change.to) }
}
