//! The input of the detectors and what they find: problems of pods, and causes.

use std::borrow::Cow;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{CauseId, CauseSeverity};
use crate::api::container::{Container, ContainerState, declared_container};
use crate::api::event::Event;
use crate::api::pod::Pod;
use crate::observation::Observation;
use crate::revision::Revision;

/// A workload at one moment, and the revision whose pods are examined.
pub(super) struct CauseContext<'a> {
    pub(super) observed: &'a Observation,
    /// The current revision for [`causes_of`](super::causes_of), `None` while no revision has the live template. Other
    /// callers examine the pods of another revision.
    pub(super) revision: Option<&'a Revision>,
    /// The restarts that are no crash loop.
    pub(super) allowed: AllowedRestarts,
    pub(super) now: Timestamp,
    /// The template of that revision; null if the revision was read without it.
    template: Cow<'a, Value>,
}

/// A cause, with the pod and the container that have it.
#[derive(Clone, Debug)]
pub(super) struct PodProblem<'a> {
    pub(super) pod: &'a Pod,
    pub(super) container: Option<&'a Container>,
    pub(super) cause: Cause,
}

/// A step that takes longer than this is reported, even without an error.
pub(super) const SLOW_AFTER: SignedDuration = SignedDuration::from_secs(10);

/// The longest run that a container needs to recover from a crash.
pub(super) const MAX_RECOVERY_TIME: SignedDuration = SignedDuration::from_secs(60);

impl<'a> CauseContext<'a> {
    pub(super) fn new(
        observed: &'a Observation,
        revision: Option<&'a Revision>,
        allowed: AllowedRestarts,
        now: Timestamp,
    ) -> Self {
        let live = || observed.workload.object().at("/spec/template").map(Cow::Borrowed);
        let template = revision.and_then(|revision| {
            let is_current = observed.revisions.is_current(revision);
            if is_current { live() } else { Some(Cow::Owned(revision.template().json().clone())) }
        });
        Self { observed, revision, allowed, now, template: template.unwrap_or(Cow::Owned(Value::Null)) }
    }

    /// Whether the pods end once their work is done.
    pub(super) fn runs_to_completion(&self) -> bool {
        self.observed.workload.kind().runs_to_completion()
    }

    /// Returns the warning events about a pod's container or the whole pod, newest first.
    pub(super) fn warnings(&self, pod: &Pod, container: &str) -> impl Iterator<Item = &'a Event> {
        let container = container.to_owned();
        let warnings = self.observed.warnings_about(&pod.uid).iter();
        warnings.filter(move |warning| warning.container.is_empty() || warning.container == container)
    }

    /// Returns the references of the images that the revision's template mounts as volumes.
    pub(super) fn image_volumes(&self) -> impl Iterator<Item = &str> {
        let volumes = self.template.pointer("/spec/volumes").and_then(Value::as_array).into_iter().flatten();
        volumes.filter_map(|volume| volume.pointer("/image/reference")?.as_str())
    }

    /// Returns a container of the revision's template.
    pub(super) fn declared(&self, name: &str) -> Option<&Value> {
        declared_container(&self.template, name)
    }
}

/// What identifies a cause: its id, its container, and what its detail is about.
pub(crate) type CauseKey = (CauseId, Option<String>, String);

/// What distinguishes the causes of one id and container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// What the container does at this moment, such as `CrashLoopBackOff`. A container in a crash loop alternates between
    /// states with every restart, so causes that differ only in it are one.
    pub(super) state: String,
    /// What the cause is about, such as `exit 1` or the name of an image.
    pub(crate) what: String,
}

/// One reason why a rollout does not progress, shared by all pods that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The kind of the cause.
    pub id: CauseId,
    /// What ends the cause, and whether it fails a rollout.
    pub severity: CauseSeverity,
    /// What distinguishes it from other causes with the same id and container.
    pub detail: Detail,
    /// The name of the container that has the cause; `None` for a cause of the pod or the workload.
    pub container: Option<String>,
    /// The names of the pods that have the cause, the example first; empty for a cause of the workload.
    pub pods: Vec<String>,
    /// The number of restarts of the example's container, the highest of all these pods, and of pods that ended and were
    /// replaced.
    pub restarts: i64,
    /// Whether the example's container runs now. The output of its crash is then in the log of the previous
    /// instance.
    pub is_running: bool,
    /// Since when a pod or the workload has it, at the latest; none if no stamp shows it. Pods of one cause have the
    /// earliest of their times.
    pub since: Option<Timestamp>,
    /// The component's message about the example, with secrets masked as in the summary.
    pub evidence: Option<String>,
}

impl Cause {
    /// Whether only a fix ends the cause.
    #[must_use]
    pub fn needs_a_fix(&self) -> bool {
        matches!(self.severity, CauseSeverity::Fatal | CauseSeverity::NeedsFix)
    }

    /// Returns a short description, the same for all pods that have the cause: `CrashLoopBackOff, exit 1`.
    #[must_use]
    pub fn summary(&self) -> String {
        match (self.detail.state.as_str(), self.detail.what.as_str()) {
            ("", one) | (one, "") => one.to_owned(),
            (state, what) => format!("{state}, {what}"),
        }
    }

    /// Returns the summary after the name of its container: `app: CrashLoopBackOff, exit 1`.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.container {
            Some(container) => format!("{container}: {}", self.summary()),
            None => self.summary(),
        }
    }

    /// Returns what identifies the cause among those of a workload.
    pub(crate) fn key(&self) -> CauseKey {
        (self.id, self.container.clone(), self.detail.what.clone())
    }

    /// Returns a cause without its pods, its container and since when it lasts.
    #[must_use]
    pub fn new(id: CauseId, what: impl Into<String>) -> Self {
        Self {
            id,
            severity: id.row().severity,
            detail: Detail { state: String::new(), what: what.into() },
            container: None,
            pods: Vec::new(),
            restarts: 0,
            is_running: false,
            since: None,
            evidence: None,
        }
    }

    /// Adds what the container does at this moment.
    pub(super) fn in_state(mut self, state: &str) -> Self {
        state.clone_into(&mut self.detail.state);
        self
    }

    /// Adds the message of a component; an empty one is none.
    pub(super) fn with_evidence(mut self, evidence: &str) -> Self {
        self.evidence = (!evidence.is_empty()).then(|| evidence.to_owned());
        self
    }

    /// Lowers the severity if the cause can end without a change by a user.
    pub(super) fn passing_if(self, may_pass: bool) -> Self {
        if may_pass { Self { severity: CauseSeverity::MayPass, ..self } } else { self }
    }

    pub(super) fn with_pods<'a>(mut self, pods: impl IntoIterator<Item = &'a Pod>) -> Self {
        self.pods = pods.into_iter().map(|pod| pod.name.clone()).collect();
        self.pods.sort();
        self
    }
}

/// The restarts that need no fix without `--allow-restarts`. The first crash may have waited for a dependency.
const RESTARTS_WITHOUT_FIX: i64 = 1;

/// How many restarts of a container are no crash loop, however short its runs are. Without the option each short run after
/// a restart is one, and only the first restart needs no fix.
///
/// The counter of the container decides (`restartCount`). It begins with the pod, so with the rollout that created the pod.
/// An update in place keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllowedRestarts(pub Option<u32>);

impl AllowedRestarts {
    /// Returns how many restarts need no fix.
    pub(super) fn limit(self) -> i64 {
        self.0.map_or(RESTARTS_WITHOUT_FIX, i64::from)
    }

    /// Whether a container runs after no more restarts than an option allows. It then is in no crash loop, however short
    /// its present run is.
    pub(super) fn allows(self, container: &Container) -> bool {
        let is_running = matches!(container.state, ContainerState::Running { .. });
        is_running && self.0.is_some() && container.restarts <= self.limit()
    }
}
