//! The causes by name.

/// What keeps a rollout from going on. The names are a contract: scripts match them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseId {
    /// The registry has no such image, or none for the node's platform.
    ImageNotFound,
    /// The registry does not let the node pull the image.
    ImageUnauthorized,
    /// The image is signed by nobody the node trusts.
    ImageSignatureInvalid,
    /// The image's name is none.
    ImageNameInvalid,
    /// The registry cannot be reached, or is out of order.
    RegistryUnreachable,
    /// The registry has had enough pulls for now.
    RegistryRateLimit,
    /// The image cannot be pulled, for a reason that is none of the above.
    ImagePull,
    /// A ConfigMap that the container needs is not there.
    MissingConfigMap,
    /// A Secret that the container needs is not there.
    MissingSecret,
    /// A ConfigMap or Secret has not the key that the container needs.
    MissingKey,
    /// The container's configuration cannot be made, for a reason that is none of the above.
    ConfigError,
    /// The kubelet has not yet seen the ConfigMaps and Secrets it needs.
    ConfigCache,
    /// The image has no such command, or it may not be executed.
    CommandNotFound,
    /// The runtime cannot start the container.
    ContainerStart,
    /// The container used more memory than it may.
    OutOfMemory,
    /// An init container ends with an error.
    InitCrash,
    /// The container ends again and again.
    CrashLoop,
    /// The kubelet kills the container because its liveness probe fails.
    LivenessProbe,
    /// The kubelet kills the container because its startup probe fails.
    StartupProbe,
    /// The readiness probe fails.
    ReadinessProbe,
    /// A condition that the pod names as a readiness gate is not true.
    ReadinessGate,
    /// The container runs and is not ready, and nobody says why.
    NotReady,
    /// No node fits.
    Unschedulable,
    /// The pod is not to be scheduled yet.
    SchedulingGated,
    /// A volume claim that the pod needs is not there.
    MissingClaim,
    /// A volume claim is not bound.
    VolumeUnbound,
    /// A volume cannot be attached or mounted.
    VolumeMount,
    /// The node cannot set up the pod's network or sandbox.
    PodSandbox,
    /// The node put the pod out to save itself.
    Evicted,
    /// The kubelet refused the pod that the scheduler gave it.
    NodeRefused,
    /// The node does not answer.
    NodeNotReady,
    /// A pod outlives its grace period.
    StuckTerminating,
    /// A quota refuses pods.
    QuotaExceeded,
    /// Admission refuses pods, or the ReplicaSet.
    AdmissionRefused,
    /// A broken pod of another revision keeps a StatefulSet from going on.
    BlockedByPod,
    /// Pods that are not available use up `maxUnavailable`.
    MaxUnavailable,
    /// Pods are ready, but not for `minReadySeconds` yet.
    MinReadySeconds,
    /// The Deployment is paused.
    Paused,
    /// A partition keeps pods on the old revision.
    Partition,
    /// `OnDelete`: pods stay as they are until somebody deletes them.
    OnDelete,
}

impl CauseId {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 40] = [
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
        Self::OutOfMemory,
        Self::InitCrash,
        Self::CrashLoop,
        Self::LivenessProbe,
        Self::StartupProbe,
        Self::ReadinessProbe,
        Self::ReadinessGate,
        Self::NotReady,
        Self::Unschedulable,
        Self::SchedulingGated,
        Self::MissingClaim,
        Self::VolumeUnbound,
        Self::VolumeMount,
        Self::PodSandbox,
        Self::Evicted,
        Self::NodeRefused,
        Self::NodeNotReady,
        Self::StuckTerminating,
        Self::QuotaExceeded,
        Self::AdmissionRefused,
        Self::BlockedByPod,
        Self::MaxUnavailable,
        Self::MinReadySeconds,
        Self::Paused,
        Self::Partition,
        Self::OnDelete,
    ];

    /// The name, as it stands in JSON and on the command line.
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
            Self::OutOfMemory => "out-of-memory",
            Self::InitCrash => "init-crash",
            Self::CrashLoop => "crash-loop",
            Self::LivenessProbe => "liveness-probe",
            Self::StartupProbe => "startup-probe",
            Self::ReadinessProbe => "readiness-probe",
            Self::ReadinessGate => "readiness-gate",
            Self::NotReady => "not-ready",
            Self::Unschedulable => "unschedulable",
            Self::SchedulingGated => "scheduling-gated",
            Self::MissingClaim => "missing-claim",
            Self::VolumeUnbound => "volume-unbound",
            Self::VolumeMount => "volume-mount",
            Self::PodSandbox => "pod-sandbox",
            Self::Evicted => "evicted",
            Self::NodeRefused => "node-refused",
            Self::NodeNotReady => "node-not-ready",
            Self::StuckTerminating => "stuck-terminating",
            Self::QuotaExceeded => "quota-exceeded",
            Self::AdmissionRefused => "admission-refused",
            Self::BlockedByPod => "blocked-by-pod",
            Self::MaxUnavailable => "max-unavailable",
            Self::MinReadySeconds => "min-ready-seconds",
            Self::Paused => "paused",
            Self::Partition => "partition",
            Self::OnDelete => "on-delete",
        }
    }

    /// The cause of this name.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|id| id.name() == name)
    }

    /// Whether it is somebody's wish that pods stay as they are: no trouble, and no failure.
    #[must_use]
    pub fn is_hold(self) -> bool {
        matches!(self, Self::Paused | Self::Partition | Self::OnDelete)
    }

    /// Whether it may pass without anybody changing the workload, what it refers to, or its hold:
    /// registries come back, nodes are added, quotas are raised, time goes by.
    #[must_use]
    pub fn heals_by_itself(self) -> bool {
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
            | Self::OutOfMemory
            | Self::InitCrash
            | Self::CrashLoop
            | Self::BlockedByPod
            | Self::Paused
            | Self::Partition
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
            | Self::Unschedulable
            | Self::SchedulingGated
            | Self::VolumeUnbound
            | Self::VolumeMount
            | Self::PodSandbox
            | Self::Evicted
            | Self::NodeRefused
            | Self::NodeNotReady
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
