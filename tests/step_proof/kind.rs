//! The kinds of workloads that are stepped: their clusters, how their objects are drawn, and how their controllers count.

use harness::Cluster;
use harness::cluster::Setup;
use harness::random::Dice;
use serde_json::{Value, json};
use simcluster::resource::{
    ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS, DAEMONSETS, DEPLOYMENTS, STATEFULSETS,
};
use simcluster::{Builder, Resource};

use crate::step_proof::external_changes::ExternalChange;
use crate::step_proof::generator::signed;

/// What is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    Deployment,
    #[default]
    StatefulSet,
    DaemonSet,
    CloneSet,
    AdvancedStatefulSet,
    AdvancedDaemonSet,
}

/// A workload as it is created.
#[derive(Clone, Debug)]
pub(crate) struct Created {
    /// The wanted pods; of a DaemonSet, the nodes.
    pub(crate) pods: i64,
    pub(crate) spec: Value,
    /// Whether several pods of a StatefulSet may be replaced at once.
    pub(crate) is_gated: bool,
    /// Whether its pods are created and updated one after the other.
    is_ordered: bool,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] = [
        Self::Deployment,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::CloneSet,
        Self::AdvancedStatefulSet,
        Self::AdvancedDaemonSet,
    ];

    /// The kind of an object.
    pub(crate) fn of(object: &Value) -> Self {
        let is_of_kruise = object["apiVersion"].as_str().is_some_and(|version| version.contains("kruise"));
        match (object["kind"].as_str().unwrap_or_default(), is_of_kruise) {
            ("Deployment", _) => Self::Deployment,
            ("DaemonSet", false) => Self::DaemonSet,
            ("DaemonSet", true) => Self::AdvancedDaemonSet,
            ("CloneSet", _) => Self::CloneSet,
            (_, true) => Self::AdvancedStatefulSet,
            (_, false) => Self::StatefulSet,
        }
    }

    pub(crate) fn resource(self) -> &'static Resource {
        match self {
            Self::Deployment => &DEPLOYMENTS,
            Self::StatefulSet => &STATEFULSETS,
            Self::DaemonSet => &DAEMONSETS,
            Self::CloneSet => &CLONESETS,
            Self::AdvancedStatefulSet => &ADVANCED_STATEFULSETS,
            Self::AdvancedDaemonSet => &ADVANCED_DAEMONSETS,
        }
    }

    /// The workload on the command line.
    pub(crate) fn target(self) -> &'static str {
        match self {
            Self::Deployment => "deployment/db",
            Self::StatefulSet => "statefulset/db",
            Self::DaemonSet => "daemonset/db",
            Self::CloneSet => "cloneset/db",
            Self::AdvancedStatefulSet => "asts/db",
            Self::AdvancedDaemonSet => "ads/db",
        }
    }

    pub(crate) fn is_of_kruise(self) -> bool {
        matches!(self, Self::CloneSet | Self::AdvancedStatefulSet | Self::AdvancedDaemonSet)
    }

    /// Whether a plan releases a number of pods, and the controller chooses them.
    pub(crate) fn is_counted(self) -> bool {
        self == Self::Deployment || self.is_of_kruise()
    }

    /// Whether there is one pod on each node.
    pub(crate) fn is_on_nodes(self) -> bool {
        matches!(self, Self::DaemonSet | Self::AdvancedDaemonSet)
    }

    /// Whether the name of a pod is its ordinal.
    pub(crate) fn has_ordinals(self) -> bool {
        matches!(self, Self::StatefulSet | Self::AdvancedStatefulSet)
    }

    /// The cluster for a workload.
    pub(crate) fn setup(self, created: &Created) -> Setup {
        let nodes = if self.is_on_nodes() { usize::try_from(created.pods).unwrap_or(1) } else { 3 };
        let setup = Cluster::simulated().nodes(nodes).with(Builder::without_managed_fields);
        let setup = if self.is_of_kruise() { setup.kruise() } else { setup };
        if created.is_gated { setup.with(Builder::max_unavailable_stateful_set) } else { setup }
    }

    /// Draws a workload.
    pub(crate) fn create(self, dice: &mut Dice) -> Created {
        match self {
            Self::StatefulSet | Self::DaemonSet => self.create_set(dice),
            Self::Deployment => create_deployment(dice),
            _ => self.create_of_kruise(dice),
        }
    }

    fn create_set(self, dice: &mut Dice) -> Created {
        let replicas = match dice.below(12) {
            0 => 20 + signed(dice.below(31)),
            1 | 2 => 7 + signed(dice.below(12)),
            _ => 1 + signed(dice.below(6)),
        };
        let partition = if dice.once_in(4) { signed(dice.below(4)) } else { 0 };
        let is_gated = dice.once_in(2);
        let mut rolling = json!({"partition": partition});
        if is_gated {
            rolling["maxUnavailable"] = (1 + dice.below(4)).into();
        }
        let mut spec = json!({
            "replicas": replicas, "serviceName": "db",
            "podManagementPolicy": dice.one_of(&["OrderedReady", "Parallel"]),
            "minReadySeconds": dice.one_of(&[0, 0, 0, 2, 10]),
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        });
        if self == Self::DaemonSet {
            let rolling =
                json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1 + dice.below(3)}});
            spec = json!({"minReadySeconds": spec["minReadySeconds"], "updateStrategy": rolling});
        } else if dice.once_in(4) {
            spec["ordinals"] = json!({"start": 1 + dice.below(5)});
        }
        Created { pods: replicas, spec, is_gated, is_ordered: false }
    }

    fn create_of_kruise(self, dice: &mut Dice) -> Created {
        let pods = 1 + signed(dice.below(10));
        let is_ordered = self == Self::AdvancedStatefulSet && dice.once_in(3);
        let mut spec = json!({"updateStrategy": self.strategy(dice, pods, is_ordered)});
        if self != Self::AdvancedDaemonSet {
            spec["replicas"] = pods.into();
        }
        if self == Self::AdvancedStatefulSet {
            spec["podManagementPolicy"] = if is_ordered { "OrderedReady".into() } else { "Parallel".into() };
            if dice.once_in(4) {
                spec["reserveOrdinals"] = json!([dice.below(6), 2]);
            }
        } else if dice.once_in(3) {
            spec["minReadySeconds"] = (*dice.one_of(&[2, 10])).into();
        }
        Created { pods, spec, is_gated: false, is_ordered }
    }

    /// OpenKruise: in place and recreated; limits as numbers and percentages; a partition of the user's own that keeps
    /// some pods.
    fn strategy(self, dice: &mut Dice, pods: i64, is_ordered: bool) -> Value {
        let policy = match (self, dice.once_in(3)) {
            (Self::AdvancedDaemonSet, true) => ("rollingUpdateType", "Standard"),
            (Self::AdvancedDaemonSet, false) => ("rollingUpdateType", "InPlaceIfPossible"),
            (_, true) => ("podUpdatePolicy", "ReCreate"),
            (_, false) => ("podUpdatePolicy", "InPlaceIfPossible"),
        };
        let mut limits = json!({policy.0: policy.1});
        limits["maxUnavailable"] = if dice.once_in(2) {
            json!(1 + dice.below(4))
        } else {
            json!(*dice.one_of(&["10%", "34%", "50%"]))
        };
        if self == Self::CloneSet && dice.once_in(4) {
            limits["maxSurge"] = if dice.once_in(2) { json!(1 + dice.below(2)) } else { json!("25%") };
        }
        if pods > 1 && dice.once_in(4) {
            let is_share = self != Self::AdvancedStatefulSet && dice.once_in(2);
            limits["partition"] = if is_share {
                json!(*dice.one_of(&["30%", "50%"]))
            } else {
                (1 + signed(dice.below(pods.unsigned_abs() - 1))).into()
            };
        }
        if self == Self::AdvancedStatefulSet && dice.once_in(3) {
            limits["minReadySeconds"] = (*dice.one_of(&[2, 10])).into();
        }
        if self == Self::AdvancedStatefulSet && !is_ordered && dice.once_in(4) {
            let label =
                json!({"key": "apps.kubernetes.io/pod-index", "operator": "In", "values": ["0", "3", "4"]});
            let first = json!([{"weight": 5, "matchSelector": {"matchExpressions": [label]}}]);
            limits["unorderedUpdate"] = if dice.once_in(2) {
                json!({})
            } else {
                json!({"priorityStrategy": {"weightPriority": first}})
            };
        }
        let is_in_place = limits[policy.0] == "InPlaceIfPossible" && self != Self::AdvancedDaemonSet;
        if is_in_place && dice.once_in(4) {
            limits["inPlaceUpdateStrategy"] = json!({"gracePeriodSeconds": 3});
        }
        json!({"type": "RollingUpdate", "rollingUpdate": limits})
    }

    /// Draws a change by another client.
    pub(crate) fn external_change(self, dice: &mut Dice, created: &Created) -> ExternalChange {
        let number = dice.below(12);
        if !self.is_counted() {
            return self.change_of_set(number, dice, created.pods);
        }
        match number {
            0..=3 if self != Self::AdvancedDaemonSet => {
                ExternalChange::Scale((created.pods + signed(dice.below(13)) - 6).max(1))
            }
            4 => ExternalChange::Image("app:3.0"),
            5 => ExternalChange::Image("app:1.0"),
            6 if self == Self::Deployment => {
                ExternalChange::Merge(json!({"spec": {"strategy": deployment_strategy(dice)}}))
            }
            6 => ExternalChange::Strategy(self.strategy(dice, created.pods, created.is_ordered)),
            7 => ExternalChange::Pause,
            8 | 9 => ExternalChange::Delete(dice.index(50)),
            10 => ExternalChange::Restart(dice.index(50)),
            _ => ExternalChange::Annotate(dice.below(100)),
        }
    }

    fn change_of_set(self, number: u64, dice: &mut Dice, replicas: i64) -> ExternalChange {
        let is_daemon_set = self == Self::DaemonSet;
        match number {
            0 if is_daemon_set => ExternalChange::NodeGone(dice.index(50)),
            1 if is_daemon_set => ExternalChange::NodeComes,
            2 if is_daemon_set => ExternalChange::NodeReady(dice.index(50), dice.once_in(3)),
            5 if is_daemon_set && dice.once_in(2) => ExternalChange::Taint(dice.index(50)),
            6 if is_daemon_set => {
                let rolling = json!({"maxUnavailable": 1 + dice.below(3)});
                ExternalChange::Strategy(json!({"type": "RollingUpdate", "rollingUpdate": rolling}))
            }
            0..=2 => ExternalChange::Scale((replicas + signed(dice.below(7)) - 3).max(1)),
            3 | 4 => ExternalChange::Pause,
            5 => ExternalChange::Image("app:3.0"),
            6 => {
                let rolling = json!({"partition": dice.below(3)});
                ExternalChange::Strategy(json!({"type": "RollingUpdate", "rollingUpdate": rolling}))
            }
            7 | 8 => ExternalChange::Delete(dice.index(50)),
            9 | 10 => ExternalChange::Restart(dice.index(50)),
            _ => ExternalChange::Annotate(dice.below(100)),
        }
    }

    /// How many of the wanted pods a partition keeps, as the controller rounds.
    pub(crate) fn kept(self, strategy: &Value, wanted: i64) -> i64 {
        let partition = &strategy["rollingUpdate"]["partition"];
        let kept = match (percent(partition), self) {
            (None, _) => partition.as_i64().unwrap_or_default(),
            (Some(percent), Self::CloneSet) => {
                ((percent * wanted + 99) / 100).min(if wanted > 1 { wanted - 1 } else { wanted })
            }
            (Some(percent), _) => percent * wanted / 100,
        };
        kept.min(wanted)
    }

    /// The `maxUnavailable` and the surge of a strategy, as the controller rounds.
    pub(crate) fn own_limits(self, strategy: &Value, wanted: i64) -> (i64, i64) {
        let limit = |name: &str, up| {
            let limit = &strategy["rollingUpdate"][name];
            percent(limit).map_or(limit.as_i64().unwrap_or_default(), |percent| (percent * wanted + up) / 100)
        };
        let surge = limit("maxSurge", 99);
        match self {
            Self::Deployment if surge == 0 => (limit("maxUnavailable", 0).clamp(1, wanted.max(1)), 0),
            Self::Deployment => (limit("maxUnavailable", 0).min(wanted), surge),
            Self::CloneSet if surge > 0 => (limit("maxUnavailable", 0), surge),
            Self::CloneSet | Self::AdvancedDaemonSet => (limit("maxUnavailable", 99).max(1), surge),
            _ => (limit("maxUnavailable", 0).max(1), 0),
        }
    }
}

fn percent(limit: &Value) -> Option<i64> {
    limit.as_str()?.strip_suffix('%')?.parse().ok()
}

fn create_deployment(dice: &mut Dice) -> Created {
    let replicas = 1 + signed(dice.below(12));
    let mut spec = json!({"replicas": replicas, "strategy": deployment_strategy(dice)});
    if dice.once_in(3) {
        spec["minReadySeconds"] = (*dice.one_of(&[2, 10])).into();
    }
    if dice.once_in(3) {
        spec["progressDeadlineSeconds"] = (*dice.one_of(&[60, 900, 2_147_483_647_i64])).into();
    }
    Created { pods: replicas, spec, is_gated: false, is_ordered: false }
}

/// Every kind of surge and unavailable: numbers and percentages, none of one of them.
fn deployment_strategy(dice: &mut Dice) -> Value {
    let limit = |dice: &mut Dice| match dice.below(4) {
        0 => json!(0),
        1 => json!(1 + dice.below(4)),
        _ => json!(format!("{}%", dice.one_of(&[1, 10, 25, 34, 50, 100]))),
    };
    let (surge, mut unavailable) = (limit(dice), limit(dice));
    if surge == json!(0) && unavailable == json!(0) {
        unavailable = json!(1); // the server refuses both
    }
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
}
