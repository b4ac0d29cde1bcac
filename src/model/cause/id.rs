//! The stable names of the causes.

/// Defines the causes: per cause its doc comment, variant, name, and whether it can resolve itself.
macro_rules! causes {
    ($($(#[$doc:meta])+ ($id:ident, $name:literal, can_resolve_itself: $can_resolve_itself:literal),)+) => {
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

            /// Whether the cause can end without a change of the workload, of an object it refers to, or of
            /// its hold. For example, a registry recovers, or a node is added.
            #[must_use]
            pub fn can_resolve_itself(self) -> bool {
                match self {
                    $(Self::$id => $can_resolve_itself,)+
                }
            }
        }
    };
}

causes! {
    /// The registry has no such image, or none for the node's platform.
    (ImageNotFound, "image-not-found", can_resolve_itself: false),
    /// The registry does not allow the node to pull the image.
    (ImageUnauthorized, "image-unauthorized", can_resolve_itself: false),
    /// The image has no signature that the node trusts.
    (ImageSignatureInvalid, "image-signature-invalid", can_resolve_itself: false),
    /// The image name is not valid.
    (ImageNameInvalid, "image-name-invalid", can_resolve_itself: false),
    /// The registry is unreachable or returns a server error.
    (RegistryUnreachable, "registry-unreachable", can_resolve_itself: true),
    /// The registry limits the rate of pulls.
    (RegistryRateLimit, "registry-rate-limit", can_resolve_itself: true),
    /// The image cannot be pulled for another reason.
    (ImagePull, "image-pull", can_resolve_itself: true),
    /// A ConfigMap that the container needs does not exist.
    (MissingConfigMap, "missing-configmap", can_resolve_itself: false),
    /// A Secret that the container needs does not exist.
    (MissingSecret, "missing-secret", can_resolve_itself: false),
    /// A ConfigMap or Secret lacks a key that the container needs.
    (MissingKey, "missing-key", can_resolve_itself: false),
    /// The container's configuration cannot be built for another reason.
    (ConfigError, "config-error", can_resolve_itself: false),
    /// The kubelet's cache lacks the ConfigMaps and Secrets of the pod.
    (ConfigCache, "config-cache", can_resolve_itself: true),
    /// The command does not exist in the image, or is not executable.
    (CommandNotFound, "command-not-found", can_resolve_itself: false),
    /// The runtime cannot start the container.
    (ContainerStart, "container-start", can_resolve_itself: true),
    /// The container's postStart hook fails, so the kubelet kills the container.
    (PostStartHook, "post-start-hook", can_resolve_itself: false),
    /// The container exceeded its memory limit, or the node ran out of memory.
    (OutOfMemory, "out-of-memory", can_resolve_itself: false),
    /// An init container fails.
    (InitCrash, "init-crash", can_resolve_itself: false),
    /// The container crashed. One that crashed no more often than `--allow-restarts` says (1 by default) may recover.
    (CrashLoop, "crash-loop", can_resolve_itself: false),
    /// The kubelet kills the container because its liveness probe fails.
    (LivenessProbe, "liveness-probe", can_resolve_itself: false),
    /// The kubelet kills the container because its startup probe fails.
    (StartupProbe, "startup-probe", can_resolve_itself: false),
    /// The readiness probe fails.
    (ReadinessProbe, "readiness-probe", can_resolve_itself: true),
    /// A condition that the pod names as a readiness gate is not true.
    (ReadinessGate, "readiness-gate", can_resolve_itself: true),
    /// The container runs and is not ready, without a known reason.
    (NotReady, "not-ready", can_resolve_itself: true),
    /// The controller waits for the grace period before it updates a pod in place.
    (InPlaceGracePeriod, "in-place-grace-period", can_resolve_itself: true),
    /// Containers wait for kruise-daemon to restart them with changed metadata.
    (KruiseDaemon, "kruise-daemon", can_resolve_itself: true),
    /// Pods wait for a lifecycle hook, which another client ends.
    (LifecycleHook, "lifecycle-hook", can_resolve_itself: true),
    /// The policy `InPlaceOnly` keeps pods on an old revision.
    (InPlaceOnly, "in-place-only", can_resolve_itself: false),
    /// The controller reports an error in a condition of the workload.
    (ControllerError, "controller-error", can_resolve_itself: true),
    /// No node fits.
    (Unschedulable, "unschedulable", can_resolve_itself: true),
    /// A scheduling gate keeps the pod from being scheduled.
    (SchedulingGated, "scheduling-gated", can_resolve_itself: true),
    /// A volume claim that the pod needs does not exist.
    (MissingClaim, "missing-claim", can_resolve_itself: false),
    /// A volume claim is not bound.
    (VolumeUnbound, "volume-unbound", can_resolve_itself: true),
    /// A volume cannot be attached or mounted.
    (VolumeMount, "volume-mount", can_resolve_itself: true),
    /// The node cannot set up the pod's network or sandbox.
    (PodSandbox, "pod-sandbox", can_resolve_itself: true),
    /// The pull of an image takes long.
    (ImagePulling, "image-pulling", can_resolve_itself: true),
    /// The setup of the pod's volumes or network takes long.
    (ContainerCreating, "container-creating", can_resolve_itself: true),
    /// An init container runs for a long time.
    (InitRunning, "init-running", can_resolve_itself: true),
    /// The kubelet evicted the pod because the node lacked resources.
    (Evicted, "evicted", can_resolve_itself: true),
    /// The kubelet rejected the pod after it was scheduled.
    (NodeRefused, "node-refused", can_resolve_itself: true),
    /// The node does not answer.
    (NodeNotReady, "node-not-ready", can_resolve_itself: true),
    /// The controller waits for old pods to terminate.
    (OldPodsTerminating, "old-pods-terminating", can_resolve_itself: true),
    /// A pod outlives its grace period.
    (StuckTerminating, "stuck-terminating", can_resolve_itself: true),
    /// A quota refuses pods.
    (QuotaExceeded, "quota-exceeded", can_resolve_itself: false),
    /// Admission refuses pods, or the ReplicaSet.
    (AdmissionRefused, "admission-refused", can_resolve_itself: false),
    /// A surge pod waits for what an old pod holds, and the strategy lets no old pod go first.
    (SurgeDeadlock, "surge-deadlock", can_resolve_itself: false),
    /// An outdated pod that is not ready blocks the update of a StatefulSet.
    (BlockedByPod, "blocked-by-pod", can_resolve_itself: false),
    /// Pods that are not available use up `maxUnavailable`.
    (MaxUnavailable, "max-unavailable", can_resolve_itself: true),
    /// Pods are ready, but not for `minReadySeconds` yet.
    (MinReadySeconds, "min-ready-seconds", can_resolve_itself: true),
    /// The workload is being deleted.
    (Deleting, "deleting", can_resolve_itself: false),
    /// The Deployment is paused.
    (Paused, "paused", can_resolve_itself: false),
    /// A plan of `step` keeps pods of the Deployment on the old revision.
    (Plan, "plan", can_resolve_itself: false),
    /// A partition keeps pods on the old revision.
    (Partition, "partition", can_resolve_itself: false),
    /// The node selector of the update strategy keeps pods on the old revision.
    (NodeSelector, "node-selector", can_resolve_itself: false),
    /// `OnDelete`: pods are updated only when a user deletes them.
    (OnDelete, "on-delete", can_resolve_itself: false),
}

impl CauseId {
    /// Returns the cause with this name.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|id| id.name() == name)
    }

    /// Whether the cause is a hold, which a user requested and which is no failure.
    #[must_use]
    pub fn is_hold(self) -> bool {
        matches!(self, Self::Paused | Self::Plan | Self::Partition | Self::NodeSelector | Self::OnDelete)
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
