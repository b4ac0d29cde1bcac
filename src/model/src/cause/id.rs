//! The stable names of the causes, and how severe each one is.

/// What ends a cause, and whether the cause fails a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseSeverity {
    /// Only a fix ends it. It fails a rollout once it has lasted for its grace period.
    Fatal,
    /// Only a fix ends it, but it fails no rollout before a deadline: a user asked for a deletion or for `InPlaceOnly`, an
    /// outdated pod blocks the update, or a pod has not been ready for long beside pods that serve.
    NeedsFix,
    /// It can end without a change by a user. For example, a registry recovers, or a node is added.
    MayPass,
    /// A user requested it, and it is no failure.
    Hold,
}

impl CauseSeverity {
    /// Returns the word for documents and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fatal => "fatal",
            Self::NeedsFix => "needs a fix",
            Self::MayPass => "may pass",
            Self::Hold => "hold",
        }
    }
}

/// Defines the causes: per cause its variant, name and severity, what it means, how it is found, and what helps. The sentences
/// have no full stop, and code is in backticks.
macro_rules! causes {
    ($(($id:ident, $name:literal, $severity:ident, $means:literal, $found:literal, $helps:literal),)+) => {
        /// The kind of a cause. Scripts match the names, so they do not change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CauseId {
            $(#[doc = $means] $id,)+
        }

        impl CauseId {
            /// All causes, in the order in which they are reported.
            pub const ALL: [Self; [$(Self::$id),+].len()] = [$(Self::$id),+];

            /// Returns the row of the cause.
            #[must_use]
            pub fn row(self) -> CauseRow {
                match self {
                    $(Self::$id => CauseRow {
                        name: $name,
                        severity: CauseSeverity::$severity,
                        means: $means,
                        found: $found,
                        helps: $helps,
                    },)+
                }
            }
        }
    };
}

/// What is known of every cause with an id.
#[derive(Clone, Copy, Debug)]
pub struct CauseRow {
    /// The name for JSON and the command line.
    pub name: &'static str,
    /// The severity, unless a detector knows more of a cause.
    pub severity: CauseSeverity,
    /// What the cause means.
    pub means: &'static str,
    /// In which fields or events it is found.
    pub found: &'static str,
    /// What usually helps.
    pub helps: &'static str,
}

causes! {
    (ImageNotFound, "image-not-found", Fatal,
        "The registry has no such image, or none for the node's platform",
        "The container waits with `ErrImagePull` or `ImagePullBackOff`, and the message or the event of the failed pull says that there is no such image; or with `ErrImageNeverPull`",
        "Correct the tag, or push the image"),
    (ImageUnauthorized, "image-unauthorized", Fatal,
        "The registry does not allow the node to pull",
        "The container waits with `ErrImagePull` or `ImagePullBackOff`, and the message says that the registry denied access",
        "Check `imagePullSecrets` and the registry's rights"),
    (ImageSignatureInvalid, "image-signature-invalid", Fatal,
        "The image has no signature that the node trusts",
        "The container waits with `SignatureValidationFailed`, or the message of the failed pull says so",
        "Sign the image, or correct the node's policy"),
    (ImageNameInvalid, "image-name-invalid", Fatal,
        "The image name is not valid",
        "The container waits with `InvalidImageName`",
        "Correct the name"),
    (RegistryUnreachable, "registry-unreachable", MayPass,
        "The registry does not answer, or answers with a server error",
        "The container waits with `ErrImagePull` or `ImagePullBackOff`, and the message has an error of the network or a server error of the registry",
        "Wait; check the registry and the network of the node"),
    (RegistryRateLimit, "registry-rate-limit", MayPass,
        "The registry limits the rate of pulls",
        "The container waits with `ErrImagePull` or `ImagePullBackOff`, and the message says that there were too many requests",
        "Wait; pull with credentials or through a mirror"),
    (ImagePull, "image-pull", MayPass,
        "The image cannot be pulled for another reason",
        "The container waits with `ErrImagePull` or `ImagePullBackOff`, and the message has no known reason",
        "Read the evidence, then `kubectl describe pod`"),
    (MissingConfigMap, "missing-configmap", Fatal,
        "A ConfigMap that the container needs does not exist",
        "A message of the kubelet, with `CreateContainerConfigError` or the event `FailedMount`, names a ConfigMap that was not found",
        "Create it, or correct its name"),
    (MissingSecret, "missing-secret", Fatal,
        "A Secret that the container needs does not exist",
        "A message of the kubelet, with `CreateContainerConfigError` or the event `FailedMount`, names a Secret that was not found",
        "Create it, or correct its name"),
    (MissingKey, "missing-key", Fatal,
        "A ConfigMap or Secret lacks a key",
        "A message of the kubelet, with `CreateContainerConfigError` or the event `FailedMount`, names a key that it could not find",
        "Add the key"),
    (ConfigError, "config-error", Fatal,
        "The container's configuration cannot be built",
        "The container waits with `CreateContainerConfigError`, and the message has no known reason",
        "Read the evidence"),
    (ConfigCache, "config-cache", MayPass,
        "The kubelet has not read the pod's ConfigMaps and Secrets yet",
        "A message of the kubelet says that it failed to sync its cache",
        "Wait; check the kubelet's connection"),
    (CommandNotFound, "command-not-found", Fatal,
        "The command does not exist in the image, or is not executable",
        "The runtime could not start the container, and its error says that the command was not found or is not executable",
        "Correct `command` or the image"),
    (ContainerStart, "container-start", MayPass,
        "The runtime cannot start the container",
        "The container waits with `RunContainerError` or `CreateContainerError`, or never ran, and the error has no known reason",
        "Read the evidence; check the node's runtime"),
    (PostStartHook, "post-start-hook", Fatal,
        "The postStart hook fails, and the kubelet kills the container",
        "The container waits with `PostStartHookError`, or the event `FailedPostStartHook` belongs to its last run",
        "Correct the hook"),
    (OutOfMemory, "out-of-memory", Fatal,
        "The container exceeded its memory limit, or the node ran out of memory",
        "The container ended with `OOMKilled`, or with exit code 137 while it has a memory limit and no probe that could have killed it",
        "Raise `limits.memory`, or fix the leak"),
    (InitCrash, "init-crash", Fatal,
        "An init container fails",
        "An init container ended with an error, and waits for its restart or restarted a short time ago",
        "Read its log lines in the output"),
    (CrashLoop, "crash-loop", Fatal,
        "The container crashes repeatedly",
        "The container ended and waits for its restart, or restarted so recently that the same crash may happen again",
        "Read its log lines in the output"),
    (LivenessProbe, "liveness-probe", Fatal,
        "The kubelet kills the container because its liveness probe fails",
        "The container was stopped, and an event `Unhealthy` of that run has a failed liveness probe",
        "Correct the probe, or the endpoint"),
    (StartupProbe, "startup-probe", Fatal,
        "The kubelet kills the container because its startup probe fails. Not fatal while a sidecar waits for its probe to pass, before which no other container starts",
        "The container was stopped, and an event `Unhealthy` of that run has a failed startup probe; or a sidecar with a startup probe has run for more than 10 seconds and has not started",
        "Allow more time, or correct the start"),
    (ReadinessProbe, "readiness-probe", MayPass,
        "The readiness probe fails. It needs a fix (`!`) once outdated pods serve and the pod was not ready for a minute beyond its probes' own time and `minReadySeconds`",
        "The container has run for longer than its startup and readiness probes may fail, and is not ready",
        "Check the endpoint and what it depends on"),
    (ReadinessGate, "readiness-gate", MayPass,
        "A condition that the pod names as a readiness gate is not true; an update in place of OpenKruise may close its gate for a minute",
        "The condition `Ready` of the pod has the reason `ReadinessGatesNotReady`",
        "Check the controller that sets the condition"),
    (NotReady, "not-ready", MayPass,
        "The container runs and is not ready, without a known reason. It needs a fix as `readiness-probe` does",
        "The container has no readiness probe, has run for more than 10 seconds, and is not ready",
        "`kubectl describe pod`"),
    (InPlaceGracePeriod, "in-place-grace-period", MayPass,
        "The controller waits for the grace period before it updates the pod in place",
        "The state of the update in place that OpenKruise writes to the pod has a grace period that has not ended",
        "Wait"),
    (KruiseDaemon, "kruise-daemon", MayPass,
        "Containers whose environment reads changed metadata wait for kruise-daemon to restart them",
        "The state of the update in place that OpenKruise writes to the pod names containers that were not restarted yet",
        "Check kruise-daemon on the node"),
    (LifecycleHook, "lifecycle-hook", MayPass,
        "The pod waits for a lifecycle hook",
        "The state of the lifecycle that OpenKruise writes to the pod is one before a hook, and the workload has that hook",
        "Check the client that removes its labels and finalizers"),
    (InPlaceOnly, "in-place-only", NeedsFix,
        "The policy `InPlaceOnly` keeps pods outdated, because the change is not possible in place",
        "The update policy is `InPlaceOnly`, and a path of the template changed that no update in place can change",
        "Undo the change, or use `InPlaceIfPossible`"),
    (ControllerError, "controller-error", MayPass,
        "The controller reports an error in a condition such as `FailedUpdate`",
        "A condition of the workload reports a failure",
        "Read the evidence"),
    (Unschedulable, "unschedulable", MayPass,
        "No node fits. The cause says whether the cluster autoscaler or Karpenter adds a node",
        "The condition `PodScheduled` is `False` with the reason `Unschedulable`. The events of the autoscaler are those of the last 15 minutes",
        "Wait while a node is being added; else add nodes, or lower requests, and check affinity and taints"),
    (SchedulingGated, "scheduling-gated", MayPass,
        "A scheduling gate keeps the pod from being scheduled",
        "The condition `PodScheduled` is `False` with the reason `SchedulingGated`",
        "Check the controller that removes the gate"),
    (MissingClaim, "missing-claim", Fatal,
        "A volume claim that the pod needs does not exist",
        "The scheduler or the kubelet reports a persistent volume claim that was not found, which no controller creates for the pod",
        "Create the claim"),
    (VolumeUnbound, "volume-unbound", MayPass,
        "A volume claim is not bound",
        "The scheduler reports that a claim of the pod is not bound, or that no volume fits",
        "Check the storage class and its provisioner"),
    (VolumeMount, "volume-mount", MayPass,
        "A volume cannot be attached or mounted",
        "The pod has an event `FailedMount` or `FailedAttachVolume`, which names no missing object",
        "Read the evidence; check the CSI driver"),
    (PodSandbox, "pod-sandbox", MayPass,
        "The node cannot set up the pod's network or sandbox",
        "The containers are being created, and the pod has an event `FailedCreatePodSandBox`",
        "Check the CNI plugin on that node"),
    (ImagePulling, "image-pulling", MayPass,
        "The pull of an image takes long: that of the container, or that of a volume",
        "The sandbox of the pod is ready, and the next container has not been created for more than 10 seconds",
        "Wait, or use a smaller image"),
    (ContainerCreating, "container-creating", MayPass,
        "The setup of the pod's volumes or network takes long",
        "The pod was bound to its node more than 10 seconds ago, and its sandbox is not ready",
        "Wait; check the node"),
    (InitRunning, "init-running", MayPass,
        "An init container runs for a long time, or a sidecar has not started",
        "An init container has run for more than 10 seconds, or a sidecar without a startup probe has not started",
        "Wait; read its log"),
    (Evicted, "evicted", MayPass,
        "Within the last hour the kubelet evicted the pod because the node lacked resources, or ended it because the node shut down",
        "The pod ended with the reason `Evicted`, `Preempting`, `Terminated` or `NodeShutdown`, or has an event `Evicted`",
        "Set requests; free the node"),
    (NodeRefused, "node-refused", MayPass,
        "The kubelet rejected the pod after it was scheduled",
        "The pod failed with another reason of the kubelet, such as `OutOfcpu` or `NodeAffinity`",
        "Read the evidence, such as a port conflict"),
    (NodeNotReady, "node-not-ready", MayPass,
        "The node does not answer",
        "The node controller reports that the node of the pod is lost, or a kubelet has not reported a pod for more than 10 seconds",
        "Check the node"),
    (OldPodsTerminating, "old-pods-terminating", MayPass,
        "The controller waits for outdated pods to terminate",
        "A pod has been terminating for more than 10 seconds, and the controller creates its replacement only afterwards",
        "Wait for their grace period"),
    (StuckTerminating, "stuck-terminating", MayPass,
        "A pod outlives its grace period",
        "A pod exists more than 30 seconds after its grace period",
        "Check the node and the pod's finalizers"),
    (QuotaExceeded, "quota-exceeded", Fatal,
        "A quota refuses pods. Not fatal while an outdated pod terminates, nor without the right to read events, because the condition keeps its first message",
        "An event `FailedCreate` or the condition `ReplicaFailure` has the message of a resource quota",
        "Raise the quota, or lower requests"),
    (AdmissionRefused, "admission-refused", Fatal,
        "Admission refuses pods, or the ReplicaSet. Not fatal while an outdated pod terminates, where admission itself failed, such as a webhook that does not answer, nor without the right to read events",
        "An event `FailedCreate` or the condition `ReplicaFailure` has another refusal of the API server",
        "Read the evidence; correct the template, or fix the webhook"),
    (SurgeDeadlock, "surge-deadlock", Fatal,
        "Updated pods of a Deployment wait for a volume, a claim or a quota that its outdated pods hold, and `maxUnavailable` is 0 (also 25% of at most 3 pods). Not fatal where all nodes are full and an outdated pod has the room that a new one needs: an autoscaler may add a node",
        "Updated pods of a Deployment wait for what an outdated pod holds, and `maxUnavailable` rounds down to 0",
        "The printed `kubectl patch` lets an outdated pod go first; a second one puts the strategy back"),
    (BlockedByPod, "blocked-by-pod", NeedsFix,
        "An outdated pod that is not ready blocks the update of a StatefulSet, with `Parallel` too on Kubernetes 1.35.0 to 1.35.2",
        "The StatefulSet controller waits for a pod that is not ready and does not run the current revision",
        "The printed command: `undo --replace-stuck-pods`, or `kubectl delete pod`"),
    (MaxUnavailable, "max-unavailable", MayPass,
        "Pods that are not available use up `maxUnavailable`",
        "Pods that are not available use up `maxUnavailable` of the update strategy",
        "Fix those pods, or raise `maxUnavailable`"),
    (MinReadySeconds, "min-ready-seconds", MayPass,
        "Pods are ready, but not for `minReadySeconds` yet",
        "Pods are ready since less than `spec.minReadySeconds`",
        "Wait"),
    (Deleting, "deleting", NeedsFix,
        "The workload is being deleted",
        "The workload has a deletion timestamp",
        "Check its finalizers"),
    (Paused, "paused", Hold,
        "The Deployment is paused",
        "`spec.paused` of the Deployment is true",
        "`resume`"),
    (Plan, "plan", Hold,
        "A plan of `step` keeps pods of the Deployment outdated",
        "The annotation of the workload has a plan of `step`",
        "`step`, or `resume --release-all`"),
    (Partition, "partition", Hold,
        "A partition keeps pods outdated",
        "`partition` of the update strategy keeps pods outdated",
        "`resume` ends the partition of `pause`. For your own: lower it"),
    (NodeSelector, "node-selector", Hold,
        "The node selector of the update strategy keeps pods outdated",
        "`selector` of the update strategy keeps pods outdated",
        "Change or remove the selector"),
    (OnDelete, "on-delete", Hold,
        "Pods are updated only when a user deletes them",
        "The update strategy is `OnDelete`, and a pod runs another revision",
        "`step`, or delete the pods"),
}

impl CauseId {
    /// Returns the name for JSON and the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the severity in words, for tables and `explain`.
    #[must_use]
    pub fn severity_words(self) -> &'static str {
        if self.ends_container() { "fatal from the second restart" } else { self.row().severity.word() }
    }

    /// Returns the cause with this name.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|id| id.name() == name)
    }

    /// Whether the API server refuses pods, which it may do only until the rollout progresses.
    pub(crate) fn is_refusal(self) -> bool {
        matches!(self, Self::QuotaExceeded | Self::AdmissionRefused)
    }

    /// Whether a container with the cause runs, and its own output may show why it is not ready.
    #[must_use]
    pub fn keeps_unready(self) -> bool {
        matches!(self, Self::ReadinessProbe | Self::NotReady | Self::StartupProbe | Self::InitRunning)
    }

    /// Whether a cause ends its container again and again.
    #[must_use]
    pub fn ends_container(self) -> bool {
        matches!(
            self,
            Self::CrashLoop
                | Self::InitCrash
                | Self::OutOfMemory
                | Self::PostStartHook
                | Self::LivenessProbe
                | Self::StartupProbe
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_cause_is_found_by_its_own_name() {
        let names: BTreeSet<_> = CauseId::ALL.into_iter().map(CauseId::name).collect();
        assert_eq!(names.len(), CauseId::ALL.len());
        for id in CauseId::ALL {
            assert_eq!(CauseId::read(id.name()), Some(id));
        }
        assert_eq!(CauseId::read("gremlins"), None);
    }
}
