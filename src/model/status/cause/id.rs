//! The stable names of the causes.

/// The kind of a cause. Scripts match the names, so they do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseId {
    /// The registry has no such image, or none for the node's platform.
    ImageNotFound,
    /// The registry does not allow the node to pull the image.
    ImageUnauthorized,
    /// The image has no signature that the node trusts.
    ImageSignatureInvalid,
    /// The image name is not valid.
    ImageNameInvalid,
    /// The registry is unreachable or returns a server error.
    RegistryUnreachable,
    /// The registry limits the rate of pulls.
    RegistryRateLimit,
    /// The image cannot be pulled for another reason.
    ImagePull,
    /// A ConfigMap that the container needs does not exist.
    MissingConfigMap,
    /// A Secret that the container needs does not exist.
    MissingSecret,
    /// A ConfigMap or Secret lacks a key that the container needs.
    MissingKey,
    /// The container's configuration cannot be built for another reason.
    ConfigError,
    /// The kubelet's cache lacks the ConfigMaps and Secrets of the pod.
    ConfigCache,
    /// The command does not exist in the image, or is not executable.
    CommandNotFound,
    /// The runtime cannot start the container.
    ContainerStart,
    /// The container's postStart hook fails, so the kubelet kills the container.
    PostStartHook,
    /// The container exceeded its memory limit, or the node ran out of memory.
    OutOfMemory,
    /// An init container fails.
    InitCrash,
    /// The container crashes repeatedly.
    CrashLoop,
    /// The kubelet kills the container because its liveness probe fails.
    LivenessProbe,
    /// The kubelet kills the container because its startup probe fails.
    StartupProbe,
    /// The readiness probe fails.
    ReadinessProbe,
    /// A condition that the pod names as a readiness gate is not true.
    ReadinessGate,
    /// The container runs and is not ready, without a known reason.
    NotReady,
    /// The controller waits for the grace period before it updates a pod in place.
    InPlaceGracePeriod,
    /// Containers wait for kruise-daemon to restart them with changed metadata.
    KruiseDaemon,
    /// Pods wait for a lifecycle hook, which another client ends.
    LifecycleHook,
    /// The policy `InPlaceOnly` keeps pods on an old revision.
    InPlaceOnly,
    /// The controller reports an error in a condition of the workload.
    ControllerError,
    /// No node fits.
    Unschedulable,
    /// A scheduling gate keeps the pod from being scheduled.
    SchedulingGated,
    /// A volume claim that the pod needs does not exist.
    MissingClaim,
    /// A volume claim is not bound.
    VolumeUnbound,
    /// A volume cannot be attached or mounted.
    VolumeMount,
    /// The node cannot set up the pod's network or sandbox.
    PodSandbox,
    /// The pull of an image takes long.
    ImagePulling,
    /// The setup of the pod's volumes or network takes long.
    ContainerCreating,
    /// An init container runs for a long time.
    InitRunning,
    /// The kubelet evicted the pod because the node lacked resources.
    Evicted,
    /// The kubelet rejected the pod after it was scheduled.
    NodeRefused,
    /// The node does not answer.
    NodeNotReady,
    /// The controller waits for old pods to terminate.
    OldPodsTerminating,
    /// A pod outlives its grace period.
    StuckTerminating,
    /// A quota refuses pods.
    QuotaExceeded,
    /// Admission refuses pods, or the ReplicaSet.
    AdmissionRefused,
    /// An outdated pod that is not ready blocks the update of a StatefulSet.
    BlockedByPod,
    /// Pods that are not available use up `maxUnavailable`.
    MaxUnavailable,
    /// Pods are ready, but not for `minReadySeconds` yet.
    MinReadySeconds,
    /// The workload is being deleted.
    Deleting,
    /// The Deployment is paused.
    Paused,
    /// A partition keeps pods on the old revision.
    Partition,
    /// The node selector of the update strategy keeps pods on the old revision.
    NodeSelector,
    /// `OnDelete`: pods are updated only when a user deletes them.
    OnDelete,
}

impl CauseId {
    /// All causes, in the order in which they are reported.
    pub const ALL: [Self; 52] = [
        Self::ImageNotFound,
        Self::ImageUnauthorized,
        Self::ImageSignatureInvalid,
        Self::ImageNameInvalid,
        Self::RegistryUnreachable,
        Self::RegistryRateLimit,
        Self::ImagePull,
        Self::MissingConfigMap,
        Self::MissingSecret,
        Self::MissingKey,
        Self::ConfigError,
        Self::ConfigCache,
        Self::CommandNotFound,
        Self::ContainerStart,
        Self::PostStartHook,
        Self::OutOfMemory,
        Self::InitCrash,
        Self::CrashLoop,
        Self::LivenessProbe,
        Self::StartupProbe,
        Self::ReadinessProbe,
        Self::ReadinessGate,
        Self::NotReady,
        Self::InPlaceGracePeriod,
        Self::KruiseDaemon,
        Self::LifecycleHook,
        Self::InPlaceOnly,
        Self::ControllerError,
        Self::Unschedulable,
        Self::SchedulingGated,
        Self::MissingClaim,
        Self::VolumeUnbound,
        Self::VolumeMount,
        Self::PodSandbox,
        Self::ImagePulling,
        Self::ContainerCreating,
        Self::InitRunning,
        Self::Evicted,
        Self::NodeRefused,
        Self::NodeNotReady,
        Self::OldPodsTerminating,
        Self::StuckTerminating,
        Self::QuotaExceeded,
        Self::AdmissionRefused,
        Self::BlockedByPod,
        Self::MaxUnavailable,
        Self::MinReadySeconds,
        Self::Deleting,
        Self::Paused,
        Self::Partition,
        Self::NodeSelector,
        Self::OnDelete,
    ];

    /// Returns the name for JSON and the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ImageNotFound => "image-not-found",
            Self::ImageUnauthorized => "image-unauthorized",
            Self::ImageSignatureInvalid => "image-signature-invalid",
            Self::ImageNameInvalid => "image-name-invalid",
            Self::RegistryUnreachable => "registry-unreachable",
            Self::RegistryRateLimit => "registry-rate-limit",
            Self::ImagePull => "image-pull",
            Self::MissingConfigMap => "missing-configmap",
            Self::MissingSecret => "missing-secret",
            Self::MissingKey => "missing-key",
            Self::ConfigError => "config-error",
            Self::ConfigCache => "config-cache",
            Self::CommandNotFound => "command-not-found",
            Self::ContainerStart => "container-start",
            Self::PostStartHook => "post-start-hook",
            Self::OutOfMemory => "out-of-memory",
            Self::InitCrash => "init-crash",
            Self::CrashLoop => "crash-loop",
            Self::LivenessProbe => "liveness-probe",
            Self::StartupProbe => "startup-probe",
            Self::ReadinessProbe => "readiness-probe",
            Self::ReadinessGate => "readiness-gate",
            Self::NotReady => "not-ready",
            Self::InPlaceGracePeriod => "in-place-grace-period",
            Self::KruiseDaemon => "kruise-daemon",
            Self::LifecycleHook => "lifecycle-hook",
            Self::InPlaceOnly => "in-place-only",
            Self::ControllerError => "controller-error",
            Self::Unschedulable => "unschedulable",
            Self::SchedulingGated => "scheduling-gated",
            Self::MissingClaim => "missing-claim",
            Self::VolumeUnbound => "volume-unbound",
            Self::VolumeMount => "volume-mount",
            Self::PodSandbox => "pod-sandbox",
            Self::ImagePulling => "image-pulling",
            Self::ContainerCreating => "container-creating",
            Self::InitRunning => "init-running",
            Self::Evicted => "evicted",
            Self::NodeRefused => "node-refused",
            Self::NodeNotReady => "node-not-ready",
            Self::OldPodsTerminating => "old-pods-terminating",
            Self::StuckTerminating => "stuck-terminating",
            Self::QuotaExceeded => "quota-exceeded",
            Self::AdmissionRefused => "admission-refused",
            Self::BlockedByPod => "blocked-by-pod",
            Self::MaxUnavailable => "max-unavailable",
            Self::MinReadySeconds => "min-ready-seconds",
            Self::Deleting => "deleting",
            Self::Paused => "paused",
            Self::Partition => "partition",
            Self::NodeSelector => "node-selector",
            Self::OnDelete => "on-delete",
        }
    }

    /// Returns the cause with this name.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|id| id.name() == name)
    }

    /// Whether the cause is a hold, which a user requested and which is no failure.
    #[must_use]
    pub fn is_hold(self) -> bool {
        matches!(self, Self::Paused | Self::Partition | Self::NodeSelector | Self::OnDelete)
    }

    /// Whether the cause can end without a change of the workload, of an object it refers to, or of its hold.
    /// For example, a registry recovers, or a node is added.
    #[must_use]
    pub fn can_resolve_itself(self) -> bool {
        match self {
            Self::ImageNotFound
            | Self::ImageUnauthorized
            | Self::ImageSignatureInvalid
            | Self::ImageNameInvalid
            | Self::MissingConfigMap
            | Self::MissingSecret
            | Self::MissingKey
            | Self::MissingClaim
            | Self::ConfigError
            | Self::CommandNotFound
            | Self::PostStartHook
            | Self::OutOfMemory
            | Self::InitCrash
            | Self::CrashLoop
            | Self::BlockedByPod
            | Self::InPlaceOnly
            | Self::Deleting
            | Self::Paused
            | Self::Partition
            | Self::NodeSelector
            | Self::OnDelete => false,
            Self::RegistryUnreachable
            | Self::RegistryRateLimit
            | Self::ImagePull
            | Self::ConfigCache
            | Self::ContainerStart
            | Self::LivenessProbe
            | Self::StartupProbe
            | Self::ReadinessProbe
            | Self::ReadinessGate
            | Self::NotReady
            | Self::InPlaceGracePeriod
            | Self::KruiseDaemon
            | Self::LifecycleHook
            | Self::ControllerError
            | Self::Unschedulable
            | Self::SchedulingGated
            | Self::VolumeUnbound
            | Self::VolumeMount
            | Self::PodSandbox
            | Self::ImagePulling
            | Self::ContainerCreating
            | Self::InitRunning
            | Self::Evicted
            | Self::NodeRefused
            | Self::NodeNotReady
            | Self::OldPodsTerminating
            | Self::StuckTerminating
            | Self::QuotaExceeded
            | Self::AdmissionRefused
            | Self::MaxUnavailable
            | Self::MinReadySeconds => true,
        }
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
