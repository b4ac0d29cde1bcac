//! The stable names of the causes, and how severe each one is.

/// What ends a cause, and whether the cause fails a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
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

/// Defines the causes: per cause its doc comment, variant, name and severity.
macro_rules! causes {
    ($($(#[$doc:meta])+ ($id:ident, $name:literal, $severity:ident),)+) => {
        /// The kind of a cause. Scripts match the names, so they do not change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CauseId {
            $($(#[$doc])+ $id,)+
        }

        impl CauseId {
            /// All causes, in the order in which they are reported.
            pub const ALL: [Self; [$(Self::$id),+].len()] = [$(Self::$id),+];

            /// Returns the name for JSON and the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$id => $name,)+
                }
            }

            /// Returns the severity, unless a detector knows more of a cause.
            pub(super) fn severity(self) -> Severity {
                match self {
                    $(Self::$id => Severity::$severity,)+
                }
            }
        }
    };
}

causes! {
    /// The registry has no such image, or none for the node's platform.
    (ImageNotFound, "image-not-found", Fatal),
    /// The registry does not allow the node to pull the image.
    (ImageUnauthorized, "image-unauthorized", Fatal),
    /// The image has no signature that the node trusts.
    (ImageSignatureInvalid, "image-signature-invalid", Fatal),
    /// The image name is not valid.
    (ImageNameInvalid, "image-name-invalid", Fatal),
    /// The registry is unreachable or returns a server error.
    (RegistryUnreachable, "registry-unreachable", MayPass),
    /// The registry limits the rate of pulls.
    (RegistryRateLimit, "registry-rate-limit", MayPass),
    /// The image cannot be pulled for another reason.
    (ImagePull, "image-pull", MayPass),
    /// A ConfigMap that the container needs does not exist.
    (MissingConfigMap, "missing-configmap", Fatal),
    /// A Secret that the container needs does not exist.
    (MissingSecret, "missing-secret", Fatal),
    /// A ConfigMap or Secret lacks a key that the container needs.
    (MissingKey, "missing-key", Fatal),
    /// The container's configuration cannot be built for another reason.
    (ConfigError, "config-error", Fatal),
    /// The kubelet's cache lacks the ConfigMaps and Secrets of the pod.
    (ConfigCache, "config-cache", MayPass),
    /// The command does not exist in the image, or is not executable.
    (CommandNotFound, "command-not-found", Fatal),
    /// The runtime cannot start the container.
    (ContainerStart, "container-start", MayPass),
    /// The container's postStart hook fails, so the kubelet kills the container.
    (PostStartHook, "post-start-hook", Fatal),
    /// The container exceeded its memory limit, or the node ran out of memory.
    (OutOfMemory, "out-of-memory", Fatal),
    /// An init container fails.
    (InitCrash, "init-crash", Fatal),
    /// The container crashed. One that crashed no more often than `--allow-restarts` says (1 by default) may recover.
    (CrashLoop, "crash-loop", Fatal),
    /// The kubelet kills the container because its liveness probe fails.
    (LivenessProbe, "liveness-probe", Fatal),
    /// The kubelet kills the container because its startup probe fails.
    (StartupProbe, "startup-probe", Fatal),
    /// The readiness probe fails.
    (ReadinessProbe, "readiness-probe", MayPass),
    /// A condition that the pod names as a readiness gate is not true.
    (ReadinessGate, "readiness-gate", MayPass),
    /// The container runs and is not ready, without a known reason.
    (NotReady, "not-ready", MayPass),
    /// The controller waits for the grace period before it updates a pod in place.
    (InPlaceGracePeriod, "in-place-grace-period", MayPass),
    /// Containers wait for kruise-daemon to restart them with changed metadata.
    (KruiseDaemon, "kruise-daemon", MayPass),
    /// Pods wait for a lifecycle hook, which another client ends.
    (LifecycleHook, "lifecycle-hook", MayPass),
    /// The policy `InPlaceOnly` keeps pods on an old revision.
    (InPlaceOnly, "in-place-only", NeedsFix),
    /// The controller reports an error in a condition of the workload.
    (ControllerError, "controller-error", MayPass),
    /// No node fits.
    (Unschedulable, "unschedulable", MayPass),
    /// A scheduling gate keeps the pod from being scheduled.
    (SchedulingGated, "scheduling-gated", MayPass),
    /// A volume claim that the pod needs does not exist.
    (MissingClaim, "missing-claim", Fatal),
    /// A volume claim is not bound.
    (VolumeUnbound, "volume-unbound", MayPass),
    /// A volume cannot be attached or mounted.
    (VolumeMount, "volume-mount", MayPass),
    /// The node cannot set up the pod's network or sandbox.
    (PodSandbox, "pod-sandbox", MayPass),
    /// The pull of an image takes long.
    (ImagePulling, "image-pulling", MayPass),
    /// The setup of the pod's volumes or network takes long.
    (ContainerCreating, "container-creating", MayPass),
    /// An init container runs for a long time.
    (InitRunning, "init-running", MayPass),
    /// The kubelet evicted the pod because the node lacked resources.
    (Evicted, "evicted", MayPass),
    /// The kubelet rejected the pod after it was scheduled.
    (NodeRefused, "node-refused", MayPass),
    /// The node does not answer.
    (NodeNotReady, "node-not-ready", MayPass),
    /// The controller waits for old pods to terminate.
    (OldPodsTerminating, "old-pods-terminating", MayPass),
    /// A pod outlives its grace period.
    (StuckTerminating, "stuck-terminating", MayPass),
    /// A quota refuses pods.
    (QuotaExceeded, "quota-exceeded", Fatal),
    /// Admission refuses pods, or the ReplicaSet.
    (AdmissionRefused, "admission-refused", Fatal),
    /// A surge pod waits for what an old pod holds, and the strategy lets no old pod go first.
    (SurgeDeadlock, "surge-deadlock", Fatal),
    /// An outdated pod that is not ready blocks the update of a StatefulSet.
    (BlockedByPod, "blocked-by-pod", NeedsFix),
    /// Pods that are not available use up `maxUnavailable`.
    (MaxUnavailable, "max-unavailable", MayPass),
    /// Pods are ready, but not for `minReadySeconds` yet.
    (MinReadySeconds, "min-ready-seconds", MayPass),
    /// The workload is being deleted.
    (Deleting, "deleting", NeedsFix),
    /// The Deployment is paused.
    (Paused, "paused", Hold),
    /// A plan of `step` keeps pods of the Deployment on the old revision.
    (Plan, "plan", Hold),
    /// A partition keeps pods on the old revision.
    (Partition, "partition", Hold),
    /// The node selector of the update strategy keeps pods on the old revision.
    (NodeSelector, "node-selector", Hold),
    /// `OnDelete`: pods are updated only when a user deletes them.
    (OnDelete, "on-delete", Hold),
}

impl CauseId {
    /// Returns the cause with this name.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|id| id.name() == name)
    }

    /// Whether the API server refuses pods, which it may do only until the rollout progresses.
    pub(crate) fn is_refusal(self) -> bool {
        matches!(self, Self::QuotaExceeded | Self::AdmissionRefused)
    }

    /// Whether a cause ends its container again and again.
    pub(crate) fn ends_container(self) -> bool {
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
