//! Deployments whose surge pods wait for what an old pod holds, while the strategy lets no old pod go first.

use serde_json::{Value, json};

use super::autoscaler::{self, NodeScaling};
use super::context::CauseContext;
use super::since::since;
use super::{Cause, CauseId};
use crate::api::container::declared_containers;
use crate::api::pod::Pod;
use crate::kind::{Workload, strategy};
use crate::observation::Observation;
use crate::revision::Revision;
use crate::text::plural::plural;
use crate::text::shell_command::{Word, command};

/// The defaults of the API server for both limits.
const DEFAULT_LIMIT: &str = "25%";

/// Returns the cause for a Deployment whose surge pods all wait for what its old pods hold, while `maxUnavailable` is 0,
/// also as a percentage of few pods. `other_causes` are those found before.
///
/// | what the pod waits for | source |
/// |---|---|
/// | a volume that an old pod has on another node | the event `FailedAttachVolume` names the old pod (`pkg/controller/volume/attachdetach/reconciler`) |
/// | a `ReadWriteOncePod` claim | the condition `PodScheduled` (`scheduler/framework/plugins/volumerestrictions`) |
/// | a quota that the old pods use up | the cause `quota-exceeded`, while no pod terminates |
/// | room on the nodes, which are full | the condition `PodScheduled` has only reasons of the plugin `NodeResourcesFit` |
///
/// The last one may pass: an autoscaler can add a node, and the pods of another workload can leave one. While an autoscaler
/// adds one there is no deadlock.
pub(super) fn cause(context: &CauseContext<'_>, other_causes: &[Cause]) -> Option<Cause> {
    let observed = context.observed;
    let workload = &observed.workload;
    let budget = workload.update_budget();
    if !workload.kind().can_deadlock_on_surge() || budget.unavailable > 0 || budget.surge == 0 {
        return None;
    }
    let revision = context.revision?;
    let (updated, old): (Vec<&Pod>, Vec<&Pod>) =
        (observed.updated_pods().collect(), observed.outdated_pods().collect());
    let ready = updated.iter().chain(&old).filter(|pod| pod.ready).count();
    if !old.iter().any(|pod| pod.ready) {
        return None;
    }
    if i64::try_from(ready).is_ok_and(|ready| ready > workload.wanted()) {
        return None; // the controller removes an old pod next
    }
    let waiting: Vec<&Pod> = updated.into_iter().filter(|pod| !pod.ready).collect();
    let summary = format!("new pods wait for what old pods hold, and {}", kept_by(workload));
    let cause = Cause::new(CauseId::SurgeDeadlock, summary);
    let Some(first) = waiting.first() else {
        let quota = other_causes.iter().find(|one| one.id == CauseId::QuotaExceeded && one.needs_a_fix())?;
        let frees_enough =
            |old: &&&Pod| old.ready && asks_for_as_much(old, revision, observed, &["requests", "limits"]);
        let holder = old.iter().find(frees_enough)?; // with larger new pods the quota itself is too small
        let evidence = format!("{}; {} counts in it", quota.summary(), holder.name);
        return Some(Cause { since: quota.since, ..cause }.with_evidence(&evidence));
    };
    let waits = waiting.iter().map(|pod| awaited(pod, &old, context)).collect::<Option<Vec<_>>>()?;
    let may_pass = waits.iter().any(|(_, may_pass)| *may_pass);
    let since = waiting.iter().filter_map(|pod| since(CauseId::SurgeDeadlock, pod, None)).min();
    let evidence = format!("{} waits for {}", first.name, waits.first()?.0);
    let cause = cause.with_pods(waiting.iter().copied()).with_evidence(&evidence);
    Some(Cause { since, ..cause.passing_if(may_pass) })
}

/// Returns what a pod waits for, with the old pod that holds it; and whether it can become free although that pod stays.
fn awaited(pod: &Pod, old: &[&Pod], context: &CauseContext<'_>) -> Option<(String, bool)> {
    const ONE_POD: &str = "with ReadWriteOncePod access mode already in-use by another pod";
    let message = &pod.scheduling.message;
    if pod.node.is_empty() && message.contains(ONE_POD) {
        let holder = old.iter().find(|old| old.ready)?;
        let what = format!("a ReadWriteOncePod claim that {} uses", holder.name);
        return Some((what, false));
    }
    if let Some(reasons) = reasons_of_full_nodes(message).filter(|_| pod.node.is_empty()) {
        if matches!(autoscaler::latest(pod, context), Some((NodeScaling::AddsNode, _))) {
            return None;
        }
        let revision = context.revision?;
        let holder = old
            .iter()
            .find(|old| old.ready && asks_for_as_much(old, revision, context.observed, &["requests"]))?;
        let what = format!("room on a node ({reasons}), and {} has as much", holder.name);
        return Some((what, true));
    }
    let mut warnings = context.warnings(pod, "");
    let attach = &warnings.find(|warning| warning.reason == "FailedAttachVolume")?.message;
    let rest = attach.strip_prefix("Multi-Attach error for volume \"")?;
    let (volume, rest) = rest.split_once('"')?;
    let (_, users) = rest.split_once("already used by pod(s) ")?;
    let is_named = |name: &str| users.split([',', ' ']).any(|user| user == name);
    let holder = old.iter().find(|old| is_named(&old.name))?;
    Some((format!("volume {volume}, which {} uses", holder.name), false))
}

/// Whether a pod has the same of these resources as the pods of a revision: its end leaves room for one of them on its node,
/// or in a quota.
fn asks_for_as_much(pod: &Pod, revision: &Revision, observed: &Observation, what: &[&str]) -> bool {
    let own = observed.revision_of(pod);
    own.is_some_and(|own| {
        let templates = [own.template(), revision.template()];
        let [own, new] = templates.each_ref().map(|template| resources(template.json(), what));
        own == new
    })
}

/// Returns these resources of the containers of a template, each with what says whether it runs beside the others.
fn resources<'t>(template: &'t Value, what: &[&str]) -> Vec<(Vec<&'t Value>, &'t Value)> {
    let of_container = |container: &'t Value| {
        (what.iter().map(|one| &container["resources"][one]).collect(), &container["restartPolicy"])
    };
    declared_containers(template).map(of_container).collect()
}

/// Returns the reasons of a pod that does not fit on any node because all of them are full: `3 Insufficient cpu`. None
/// if a node has another reason, so that it is not known whether an old pod is on a node that otherwise fits.
///
/// The message is `0/3 nodes are available: 2 Insufficient cpu, 1 Too many pods. preemption: ...`
/// (`FitError` in `pkg/scheduler/framework/types.go`).
fn reasons_of_full_nodes(message: &str) -> Option<&str> {
    let (_, reasons) = message.split_once(" nodes are available: ")?;
    let reasons = reasons.split_once(". ").map_or(reasons.trim_end_matches('.'), |(reasons, _)| reasons);
    let is_full = |reason: &str| {
        let (count, why) = reason.split_once(' ').unwrap_or_default();
        count.parse::<u32>().is_ok() && (why.starts_with("Insufficient ") || why == "Too many pods")
    };
    reasons.split(", ").all(is_full).then_some(reasons)
}

/// Returns why no old pod goes first: `maxUnavailable 25% of 3 pods is 0`.
fn kept_by(workload: &Workload) -> String {
    match limit(workload, "maxUnavailable") {
        Value::String(share) => {
            format!("maxUnavailable {share} of {} is 0", plural(workload.wanted(), "pod"))
        }
        _ => "maxUnavailable is 0".to_owned(),
    }
}

/// Returns a limit of the strategy.
fn limit(workload: &Workload, name: &str) -> Value {
    let limit = strategy::update_strategy(workload).and_then(|strategy| strategy::field(strategy, name));
    limit.filter(|limit| !limit.is_null()).cloned().unwrap_or_else(|| json!(DEFAULT_LIMIT))
}

/// Returns the command that lets an old pod go first, and the one that puts the strategy back.
#[must_use]
pub fn surge_deadlock_commands(workload: &Workload) -> [String; 2] {
    let own = (limit(workload, "maxSurge"), limit(workload, "maxUnavailable"));
    [(json!(0), json!(1)), own].map(|(surge, unavailable)| {
        let limits = json!({"maxSurge": surge, "maxUnavailable": unavailable});
        let patch = json!({"spec": {"strategy": {"rollingUpdate": limits}}}).to_string();
        command(
            "kubectl patch {} --type merge -p {}",
            [workload.command_target(), Word::text(&patch, "PATCH")],
        )
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;
    use crate::api::event::{Event, Events};
    use crate::api::object::Object;
    use crate::cause::{AllowedRestarts, causes_of};
    use crate::observation::fixture::{self, revision};
    use crate::status::verdict;

    const MULTI_ATTACH: &str =
        "Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) other, web-1-a";
    const ONE_POD: &str = "0/3 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with \
                           ReadWriteOncePod access mode already in-use by another pod.";

    /// A Deployment of one pod during an update from `x:1` to `x:2`.
    struct Update {
        strategy: Value,
        /// What the pods of each revision request of cpu.
        cpu: [&'static str; 2],
        replica_failure: Value,
        pods: Vec<Value>,
        warnings: Vec<Value>,
    }

    /// A pod of a revision; its condition `PodScheduled` has a message unless that is empty.
    fn pod(name: &str, revision: &str, ready: bool, message: &str) -> Value {
        let word = |is| if is { "True" } else { "False" };
        let scheduled = json!({"type": "PodScheduled", "status": word(message.is_empty()),
            "reason": "Unschedulable", "message": message, "lastTransitionTime": "2026-11-20T13:00:10Z"});
        json!({"kind": "Pod", "spec": {"nodeName": if message.is_empty() { "n1" } else { "" }},
            "metadata": {"name": name, "uid": name, "creationTimestamp": "2026-11-20T13:00:00Z",
                "ownerReferences": [{"controller": true, "uid": revision}]},
            "status": {"phase": if ready { "Running" } else { "Pending" }, "conditions": [scheduled,
                {"type": "Ready", "status": word(ready)}]}})
    }

    impl Update {
        fn new(pods: impl IntoIterator<Item = Value>) -> Self {
            let (strategy, pods) = (json!({"maxSurge": 1, "maxUnavailable": 0}), pods.into_iter().collect());
            Self { strategy, cpu: ["1"; 2], replica_failure: json!([]), pods, warnings: Vec::new() }
        }

        fn warned(mut self, reason: &str, message: &str) -> Self {
            self.warnings.push(json!({"kind": "Event", "type": "Warning", "reason": reason, "message": message,
                "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "web-2-a", "uid": "web-2-a"},
                "lastTimestamp": "2026-11-20T13:00:20Z"}));
            self
        }

        fn found(&self) -> Vec<(&'static str, Option<String>)> {
            let template = |image: &str| {
                let cpu = self.cpu[usize::from(image == "x:2")];
                let resources = json!({"requests": {"cpu": cpu}});
                json!({"spec": {"containers": [{"name": "app", "image": image, "resources": resources}]}})
            };
            let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "shop", "uid": "u", "generation": 1},
                "spec": {"replicas": 1, "template": template("x:2"),
                    "strategy": {"type": "RollingUpdate", "rollingUpdate": self.strategy}},
                "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1, "readyReplicas": 1,
                    "availableReplicas": 1}});
            let mut revisions = [("r1", 1, "x:1"), ("r2", 2, "x:2")]
                .map(|(name, number, image)| revision(name, number, &template(image)));
            revisions[1]["status"] = json!({"conditions": self.replica_failure});
            let observed = fixture::observation(&workload, revisions, self.pods.iter().cloned());
            let warnings = self.warnings.iter().map(|event| Object::read(event.clone()).unwrap());
            let events = Some(Events::of(warnings.filter_map(|event| Event::read(&event))));
            let observed = Observation { events, ..observed };
            let now: Timestamp = "2026-11-20T13:10:00Z".parse().unwrap();
            let (state, allowed) = (verdict(&observed).state, AllowedRestarts::default());
            causes_of(&observed, state, allowed, now)
                .into_iter()
                .map(|cause| (cause.id.name(), cause.evidence))
                .collect()
        }

        fn evidence(&self) -> Option<String> {
            let found = self.found().into_iter();
            found.filter(|(id, _)| *id == "surge-deadlock").find_map(|(_, evidence)| evidence)
        }
    }

    fn old() -> Value {
        pod("web-1-a", "r1", true, "")
    }

    #[test]
    fn a_surge_pod_that_waits_for_an_old_pod_is_a_deadlock() {
        let waiting = || pod("web-2-a", "r2", false, "");
        let attach = || Update::new([old(), waiting()]).warned("FailedAttachVolume", MULTI_ATTACH);
        let shared = Some("web-2-a waits for volume pvc-1, which web-1-a uses".to_owned());
        let one_pod = Some("web-2-a waits for a ReadWriteOncePod claim that web-1-a uses".to_owned());
        let with = |strategy: Value| Update { strategy, ..attach() };
        for (what, update, expected) in [
            ("a volume", attach(), shared.clone()),
            ("the default of one pod is 0", with(json!({})), shared.clone()),
            ("a percentage", with(json!({"maxSurge": "25%", "maxUnavailable": "99%"})), shared),
            ("an old pod may go", with(json!({"maxSurge": 1, "maxUnavailable": 1})), None),
            ("a claim", Update::new([old(), pod("web-2-a", "r2", false, ONE_POD)]), one_pod),
            (
                "a pod of another workload",
                Update::new([old(), waiting()]).warned(
                    "FailedAttachVolume",
                    "Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) web-1-ab",
                ),
                None,
            ),
            (
                "one of two",
                Update::new([old(), waiting(), pod("web-2-b", "r2", false, "")])
                    .warned("FailedAttachVolume", MULTI_ATTACH),
                None,
            ),
            (
                "an old pod goes next",
                Update::new([old(), waiting(), pod("web-2-b", "r2", true, "")])
                    .warned("FailedAttachVolume", MULTI_ATTACH),
                None,
            ),
            (
                "no old pod serves",
                Update::new([pod("web-1-a", "r1", false, ""), waiting()])
                    .warned("FailedAttachVolume", MULTI_ATTACH),
                None,
            ),
        ] {
            assert_eq!(update.evidence(), expected, "{what}");
        }
    }

    /// As the scheduler of Kubernetes 1.36.2 wrote it.
    const FULL: &str = "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes \
                        are available: 3 No preemption victims found for incoming pod.";

    /// The room that the old pod has is enough for a pod that asks for the same. An autoscaler may add a node too.
    #[test]
    fn a_surge_pod_that_fits_only_in_the_place_of_an_old_pod_waits_for_it() {
        let waiting = |message: &str| pod("web-2-a", "r2", false, message);
        let evidence = |reasons: &str| {
            Some(format!("web-2-a waits for room on a node ({reasons}), and web-1-a has as much"))
        };
        let tainted = "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient cpu.";
        let several = "0/3 nodes are available: 2 Insufficient example.com/gpu, 1 Too many pods.";
        let unmatched = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.";
        for (cpu, message, expected) in [
            (["2", "2"], FULL, evidence("3 Insufficient cpu")),
            (["2", "2"], several, evidence("2 Insufficient example.com/gpu, 1 Too many pods")),
            (["2", "3"], FULL, None),
            (["2", "2"], tainted, None),
            (["2", "2"], unmatched, None),
            (["2", "2"], "no nodes available to schedule pods", None),
        ] {
            let update = Update { cpu, ..Update::new([old(), waiting(message)]) };
            assert_eq!(update.evidence(), expected);
            let ids: Vec<_> = update.found().into_iter().map(|(id, _)| id).collect();
            let deadlock = expected.is_some().then_some("surge-deadlock");
            assert_eq!(
                ids,
                ["unschedulable"].into_iter().chain(deadlock).collect::<Vec<_>>(),
                "both may pass"
            );
        }
    }

    #[test]
    fn a_quota_that_the_old_pods_use_up_is_a_deadlock() {
        let message = "pods \"web-2\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1";
        let refused = json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}]);
        let update = Update { replica_failure: refused, ..Update::new([old()]) };
        let expected = "no new pods: quota \"q\" is exhausted (1 of 1); web-1-a counts in it";
        assert_eq!(update.evidence().as_deref(), Some(expected));
        let ids: Vec<_> = update.found().into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["quota-exceeded", "surge-deadlock"]);
        let update = Update { cpu: ["10m", "400m"], ..update };
        assert_eq!(update.evidence(), None, "the quota is too small for a new pod, also without the old one");
        let update = Update { cpu: ["1"; 2], ..update };
        let mut terminating = old();
        terminating["metadata"]["deletionTimestamp"] = json!("2026-11-20T13:00:00Z");
        terminating["metadata"]["name"] = json!("web-1-b");
        let update = Update { pods: vec![old(), terminating], ..update };
        assert_eq!(update.evidence(), None, "the terminating pod frees the quota");
    }

    #[test]
    fn the_commands_change_the_strategy_and_put_it_back() {
        let deployment = |strategy: Value| {
            let object = json!({"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {"template": {}, "strategy": {"rollingUpdate": strategy}}});
            surge_deadlock_commands(&Workload::of_json(&object).unwrap())
        };
        let patch = |surge: &str, unavailable: &str| {
            format!(
                "kubectl patch deployment/web -n shop --type merge -p \
                 '{{\"spec\":{{\"strategy\":{{\"rollingUpdate\":{{\"maxSurge\":{surge},\"maxUnavailable\":{unavailable}}}}}}}}}'"
            )
        };
        assert_eq!(
            deployment(json!({"maxSurge": 2, "maxUnavailable": "10%"})),
            [patch("0", "1"), patch("2", "\"10%\"")]
        );
        assert_eq!(deployment(json!(null)), [patch("0", "1"), patch("\"25%\"", "\"25%\"")]);
    }
}
