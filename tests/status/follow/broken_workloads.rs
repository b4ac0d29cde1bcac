//! The recorded failures on the simulated cluster. Each run prints the cause as soon as an event shows it.

use harness::prelude::*;
use rollout2::model::cause::{CauseId, causes};
use simcluster::controller::Quota;

use harness::cluster::observed;

/// A workload, the change that breaks it, and the expected outcome.
struct BrokenWorkload {
    resource: &'static Resource,
    spec: Value,
    change: Value,
    args: &'static str,
    exit: u8,
    cause: Option<CauseId>,
}

fn image(image: &str) -> Value {
    json!({"template": {"spec": {"containers": [{"name": "app", "image": image}]}}})
}

fn deployment(change: Value, exit: u8, cause: Option<CauseId>) -> BrokenWorkload {
    let spec = json!({"replicas": 3, "progressDeadlineSeconds": 8});
    BrokenWorkload { resource: &DEPLOYMENTS, spec, change, args: "", exit, cause }
}

/// A Deployment with a deadline long enough to report a container that is not ready.
fn deployment_with_long_deadline(change: Value, exit: u8, cause: Option<CauseId>) -> BrokenWorkload {
    let spec = json!({"replicas": 3, "progressDeadlineSeconds": 60});
    BrokenWorkload { spec, ..deployment(change, exit, cause) }
}

fn stateful_set(spec: &Value, change: Value, exit: u8, cause: Option<CauseId>) -> BrokenWorkload {
    let spec = harness::cluster::with(json!({"replicas": 3, "serviceName": "db"}), spec);
    BrokenWorkload { resource: &STATEFULSETS, spec, change, args: "--fail-fast=5s --timeout 2m", exit, cause }
}

fn daemon_set(spec: Value, change: Value, exit: u8, cause: Option<CauseId>) -> BrokenWorkload {
    BrokenWorkload { resource: &DAEMONSETS, spec, change, args: "--fail-fast=5s --timeout 2m", exit, cause }
}

#[tokio::test(start_paused = true)]
async fn every_broken_workload_has_its_cause() {
    use CauseId::{
        CrashLoop, ImageNotFound, MissingConfigMap, NotReady, OnDelete, OutOfMemory, Paused, Unschedulable,
    };
    let on_delete = || json!({"updateStrategy": {"type": "OnDelete"}});
    let surge = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}});
    let selected = json!({"template": {"spec": {"nodeSelector": {"disk": "nvme"}}}});
    let paused = harness::cluster::with(json!({"paused": true}), &image("app:2.0"));
    for (name, broken) in [
        ("badimage", deployment(image("app:2.0-bad"), 4, Some(ImageNotFound))),
        ("config", deployment(image("app:2.0-config"), 4, Some(MissingConfigMap))),
        ("crash", deployment(image("app:2.0-crash"), 4, Some(CrashLoop))),
        ("oom", deployment(image("app:2.0-oom"), 4, Some(OutOfMemory))),
        ("notready", deployment_with_long_deadline(image("app:2.0-notready"), 4, Some(NotReady))),
        ("unschedulable", deployment(selected, 4, Some(Unschedulable))),
        ("paused", deployment(paused, 5, Some(Paused))),
        ("good", deployment(image("app:2.0"), 0, None)),
        ("sts-bad", stateful_set(&json!({}), image("app:2.0-bad"), 4, Some(ImageNotFound))),
        (
            "sts-parallel",
            stateful_set(
                &json!({"podManagementPolicy": "Parallel"}),
                image("app:2.0-crash"),
                4,
                Some(CrashLoop),
            ),
        ),
        ("sts-ondelete", stateful_set(&on_delete(), image("app:2.0"), 5, Some(OnDelete))),
        ("ds-bad", daemon_set(json!({}), image("app:2.0-bad"), 4, Some(ImageNotFound))),
        ("ds-surge", daemon_set(surge, image("app:2.0-notready"), 3, Some(NotReady))),
        ("ds-ondelete", daemon_set(on_delete(), image("app:2.0"), 5, Some(OnDelete))),
    ] {
        follow(name, &broken).await;
    }
}

async fn follow(name: &str, broken: &BrokenWorkload) {
    let cluster = Cluster::simulated().start();
    let key = cluster.editor().create_workload(broken.resource, name, &broken.spec);
    cluster.advance(60).await;
    let started = tokio::time::Instant::now();
    let patch = json!({"spec": broken.change});
    cluster.patch_on_first_read(&key, &patch);
    let appearance = broken.cause.map(|cause| first_appearance(&cluster, &key, cause));
    let output =
        cluster.status(&format!("{}/{name} -o json {}", broken.resource.singular, broken.args)).await;
    assert_eq!(output.exit, broken.exit, "{name}\n{}", output.transcript);
    let lines: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.last().unwrap()["exitCode"], broken.exit, "{name}");
    let printed = lines.iter().filter(|line| line["change"] == "appeared");
    let printed: Vec<_> = printed
        .map(|line| (line["cause"]["id"].as_str().unwrap(), line["elapsedMilliseconds"].as_u64().unwrap()))
        .collect();
    match broken.cause.zip(appearance) {
        None => assert!(printed.is_empty(), "{name}: {printed:?}"),
        Some((id, appearance)) => {
            let at = printed
                .iter()
                .find(|(printed, _)| *printed == id.name())
                .ok_or(format!("{name}: {printed:?}"))
                .unwrap()
                .1;
            let appearance = appearance.await.unwrap().duration_since(started);
            let late = Duration::from_millis(at).saturating_sub(appearance);
            // This cause appears without an event, and the follower evaluates every five seconds.
            let allowed = if id == CauseId::NotReady { 5_100 } else { 5 };
            assert!(
                late <= Duration::from_millis(allowed),
                "{name}: printed after {at} ms, but the store had it after {appearance:?}"
            );
            assert_eq!(lines.last().unwrap()["workloads"][0]["causes"][0]["id"], id.name(), "{name}");
        }
    }
}

/// Returns when a cause was first visible in the store.
fn first_appearance(
    cluster: &Cluster,
    key: &Key,
    cause: CauseId,
) -> tokio::task::JoinHandle<tokio::time::Instant> {
    let (cluster, key) = (cluster.sim.clone(), key.clone());
    tokio::spawn(async move {
        let mut revisions = cluster.revisions();
        loop {
            let now = cluster.store(|store| store.now());
            let found = observed(&cluster, &key).map(|observed| causes(&observed, now)).unwrap_or_default();
            if found.iter().any(|found| found.id == cause) {
                return tokio::time::Instant::now();
            }
            // Some causes appear without a change.
            let _ = tokio::time::timeout(Duration::from_secs(1), revisions.changed()).await;
        }
    })
}

#[tokio::test(start_paused = true)]
async fn an_exceeded_quota_is_reported_and_the_deadline_fails_the_rollout() {
    let cluster = Cluster::simulated()
        .controllers(Controllers::new().quota("default", Quota { name: "q".into(), pods: 3 }))
        .start();
    let web = cluster.deployment(3, &json!({"progressDeadlineSeconds": 8}));
    cluster.advance(60).await;
    cluster.editor().set_image(&web, "app:2.0");
    let output = cluster.status("deployment/web --timeout 5m").await;
    output.ends(4).reports("no new pods: quota \"q\" is exhausted (3 of 3)");
    output.reports("exceeded its progress deadline");
}

#[tokio::test(start_paused = true)]
async fn a_failed_first_rollout_can_be_undone() {
    let cluster = Cluster::simulated().start();
    let containers = json!([{"name": "app", "image": "app:1.0-bad"}]);
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}});
    let web = cluster.deployment(3, &json!({"progressDeadlineSeconds": 8, "template": template}));
    let output = cluster.status("deployment/web").await;
    output.ends(4).reports("ImagePullBackOff, no image app:1.0-bad");
    cluster.editor().set_image(&web, "app:1.0");
    cluster.status("deployment/web --until old-gone --stable 10s").await.ends(0);
}
