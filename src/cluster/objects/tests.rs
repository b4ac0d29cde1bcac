//! Tests of what the updates of reflectors and refreshes emit.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Request, Response};
use k8s_openapi::jiff::Timestamp;
use kube::client::Body;
use serde_json::{Value, json};

use super::facts::{Facts, Listed, Removed, Update};
use super::observer::Observer;
use super::outage::{Attempts, Outage};
use super::targets::{TargetEvents, Targets};
use crate::cluster::connection::{Cluster, RequestError};
use crate::cluster::notice::Listener;
use crate::cluster::write::{WriteOptions, WriteOutcome};
use crate::error::{Error, ErrorKind};
use crate::model::api::event::Event;
use crate::model::api::object::Object;
use crate::model::api::patch::Patch;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{EVENT, POD, REPLICA_SET};
use crate::model::engine::{TargetEvent, TargetId};
use crate::model::kind::deployment::Deployment;
use crate::model::kind::{Kind, Workload};
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::world::Clock;

const WORKLOADS: usize = 0;
const REVISIONS: usize = 1;
const PODS: usize = 2;

fn workload(name: &str, version: u64) -> Workload {
    Workload::of_json(&json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {}},
        "metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": version.to_string()}}))
    .unwrap()
}

fn owned(kind: &str, name: &str, owner: &str) -> Object {
    let owner = json!([{"kind": "Deployment", "controller": true, "uid": owner}]);
    let metadata = json!({"name": name, "namespace": "n", "uid": name, "ownerReferences": owner});
    Object::read(json!({"kind": kind, "metadata": metadata, "spec": {"template": Value::Null}})).unwrap()
}

/// The facts of an object, and its resourceVersion.
type Stored = (Facts, u64);

fn state(name: &str, version: u64) -> Stored {
    (Facts::Workload(Box::new(workload(name, version))), version)
}

fn revision(name: &str, owner: &str) -> Stored {
    let revision = Revision::read(&Deployment, &owned("ReplicaSet", name, owner));
    (Facts::Revision(Arc::new(revision)), 1)
}

fn pod(name: &str, owner: &str, version: u64) -> Stored {
    (Facts::Pod(Arc::new(Pod::read(&owned("Pod", name, owner)))), version)
}

/// Returns targets of these workloads, of which nothing was read.
fn targets(names: &[&str]) -> Targets {
    let mut targets = Targets::default();
    for type_ in [Deployment.type_(), &REPLICA_SET, &POD] {
        targets.store.add(type_, Some("n"));
    }
    for name in names {
        targets.add_target(WORKLOADS, workload(name, 1), true);
    }
    targets
}

/// Applies an update, and returns each target that was emitted, with the names of its pods.
fn emitted(targets: &mut Targets, update: Update) -> Vec<(usize, Vec<String>)> {
    let mut events = TargetEvents::new();
    targets.apply(update, &mut events);
    targets.flush(&mut events);
    let pods = |observed: &Observation| {
        observed.pods.iter().flatten().map(|pod| pod.name.clone()).collect::<Vec<_>>()
    };
    let observed = events.iter().filter_map(|(id, event)| match event {
        TargetEvent::Observed { observation, .. } => Some((id.index, pods(observation))),
        _ => None,
    });
    observed.collect()
}

fn changed(collection: usize, (facts, version): Stored) -> Update {
    Update::Changed { collection, facts, version, is_added: false }
}

fn removed(collection: usize, name: &str, version: u64) -> Update {
    let metadata =
        json!({"name": name, "namespace": "n", "uid": name, "resourceVersion": version.to_string()});
    Update::Removed(
        collection,
        Removed::of(&Object::read(json!({"kind": "Pod", "metadata": metadata})).unwrap()),
    )
}

/// Returns a list at the version of its newest object.
fn list(all: Vec<Stored>) -> Listed {
    let version = all.iter().map(|(_, version)| *version).max().unwrap_or_default();
    (all.into_iter().map(|(facts, _)| facts).collect(), version.to_string())
}

fn listed(collection: usize, all: Vec<Stored>) -> Update {
    Update::Listed(collection, list(all))
}

#[test]
fn each_state_of_a_workload_is_emitted_once_everything_else_was_read() {
    let mut targets = targets(&["web"]);
    assert_eq!(emitted(&mut targets, listed(WORKLOADS, vec![state("web", 3)])), []);
    assert_eq!(emitted(&mut targets, changed(WORKLOADS, state("web", 4))), []);
    assert_eq!(emitted(&mut targets, listed(PODS, vec![pod("web-1", "r", 1)])), []);
    let pods = vec!["web-1".to_owned()];
    let both = [(0, pods.clone()), (0, pods.clone())];
    assert_eq!(emitted(&mut targets, listed(REVISIONS, vec![revision("r", "web")])), both);
    assert_eq!(emitted(&mut targets, changed(WORKLOADS, state("web", 5))), [(0, pods)]);
}

#[test]
fn a_pod_belongs_to_the_owner_of_its_replica_set_only() {
    let mut targets = targets(&["web", "api"]);
    emitted(&mut targets, listed(WORKLOADS, vec![state("web", 1), state("api", 1)]));
    emitted(&mut targets, listed(PODS, Vec::new()));
    let revisions = vec![revision("r", "web"), revision("s", "api")];
    assert_eq!(emitted(&mut targets, listed(REVISIONS, revisions)).len(), 2);
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(emitted(&mut targets, changed(PODS, pod("p", "r", 1))), [(0, of(&["p"]))]);
    assert_eq!(emitted(&mut targets, changed(PODS, pod("p", "s", 1))), [(0, of(&[])), (1, of(&["p"]))]);
    assert_eq!(emitted(&mut targets, changed(PODS, pod("q", "t", 1))), [], "the owner is not known yet");
    assert_eq!(emitted(&mut targets, changed(REVISIONS, revision("t", "web"))), [(0, of(&["q"]))]);
    assert_eq!(emitted(&mut targets, removed(PODS, "p", 2)), [(1, of(&[]))]);
}

fn existing(targets: &Targets) -> usize {
    targets.all.values().filter(|target| target.version.is_some()).count()
}

/// Preview environments come and go while `list --watch` runs.
#[test]
fn a_deleted_workload_of_a_scope_takes_no_memory() {
    let mut of_scope = targets(&[]);
    for (update, kept) in [
        (listed(WORKLOADS, vec![state("web", 1), state("api", 1)]), 2),
        (removed(WORKLOADS, "web", 2), 1),
        (listed(WORKLOADS, Vec::new()), 0),
        (changed(WORKLOADS, state("web", 5)), 1),
    ] {
        emitted(&mut of_scope, update);
        assert_eq!((of_scope.all.len(), existing(&of_scope)), (kept, kept));
    }
    let mut found = targets(&["web"]);
    emitted(&mut found, listed(WORKLOADS, Vec::new()));
    assert_eq!((found.all.len(), existing(&found)), (1, 0), "it may be created again");
}

/// Returns the target of a workload that was read with one ReplicaSet.
fn read_targets() -> Targets {
    let mut targets = targets(&["web"]);
    emitted(&mut targets, listed(PODS, Vec::new()));
    emitted(&mut targets, listed(REVISIONS, vec![revision("r", "web")]));
    assert_eq!(emitted(&mut targets, listed(WORKLOADS, vec![state("web", 3)])).len(), 1);
    targets
}

/// Returns a refresh that read the workload at a version with one ReplicaSet, and its pods.
fn refreshed(workload_version: u64, pods: Option<Listed>) -> Update {
    let revisions = Some(list(vec![revision("r", "web")]));
    Update::Refreshed(
        TargetId::of(0),
        Ok(Some(Box::new((workload("web", workload_version), [revisions, pods])))),
    )
}

/// Applies a refresh that read the workload at a version, and then its pods with a list at a version.
fn refresh(
    targets: &mut Targets,
    workload_version: u64,
    pods: &[(&str, u64)],
    list_version: u64,
) -> TargetEvents {
    let pods = pods.iter().map(|(name, version)| pod(name, "r", *version)).collect();
    let pods = (list(pods).0, list_version.to_string());
    let mut events = TargetEvents::new();
    targets.apply(refreshed(workload_version, Some(pods)), &mut events);
    events
}

#[test]
fn states_that_are_older_than_a_refresh_or_known_are_no_events() {
    let mut targets = read_targets();
    let count = |targets: &mut Targets, update| {
        let mut events = TargetEvents::new();
        targets.apply(update, &mut events);
        events.len()
    };
    assert_eq!(count(&mut targets, listed(WORKLOADS, vec![state("web", 3)])), 0);
    refresh(&mut targets, 7, &[], 7);
    assert_eq!(count(&mut targets, changed(WORKLOADS, state("web", 5))), 0);
    assert_eq!(count(&mut targets, changed(WORKLOADS, state("web", 8))), 1);
    // A backup of etcd has older versions, which a list returns.
    assert_eq!(count(&mut targets, listed(WORKLOADS, vec![state("web", 2)])), 1);
    assert_eq!(count(&mut targets, listed(WORKLOADS, Vec::new())), 1, "it is deleted");
}

/// Seen on a real control plane: the refresh began before the controller created a pod, and ended after the watch had
/// reported it. What is older than the refresh does not come back.
#[test]
fn a_refresh_does_not_hide_what_a_watch_reported_meanwhile() {
    let pods_of = |events: &TargetEvents| {
        let observed = events.iter().filter_map(|(_, event)| match event {
            TargetEvent::Observed { observation, .. } | TargetEvent::Refreshed(observation) => {
                let pods = observation.pods.iter().flatten();
                Some(pods.map(|pod| pod.name.clone()).collect::<Vec<_>>())
            }
            _ => None,
        });
        observed.collect::<Vec<_>>()
    };
    let mut targets = read_targets();
    let new = [vec!["new".to_owned()]];
    assert_eq!(emitted(&mut targets, changed(PODS, pod("new", "r", 5))).len(), 1);
    assert_eq!(pods_of(&refresh(&mut targets, 3, &[], 4)), new);
    assert_eq!(emitted(&mut targets, changed(PODS, pod("new", "r", 6))).len(), 1);
    assert_eq!(pods_of(&refresh(&mut targets, 3, &[("new", 7)], 7)), new, "the refresh is newer");
    assert_eq!(emitted(&mut targets, removed(PODS, "new", 8)).len(), 1);
    assert_eq!(pods_of(&refresh(&mut targets, 3, &[("new", 7)], 7)), [Vec::<String>::new()]);
    // Without a report of the watch, later events change what was refreshed.
    assert_eq!(refresh(&mut targets, 3, &[("a", 8), ("b", 8)], 9).len(), 1);
    let pods = emitted(&mut targets, removed(PODS, "a", 10));
    assert_eq!(pods, [(0, vec!["b".to_owned()])]);
}

/// A watch of the pods that lags must not hide a pod of a refresh, and an older state of the workload must not decide about a
/// failure.
#[test]
fn each_part_of_a_refresh_is_the_newest_one() {
    let mut targets = read_targets();
    assert_eq!(emitted(&mut targets, removed(PODS, "back", 4)), []);
    assert_eq!(emitted(&mut targets, changed(WORKLOADS, state("web", 9))).len(), 1);
    let events = refresh(&mut targets, 7, &[("back", 6)], 8);
    let [(_, TargetEvent::Refreshed(observed))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(observed.workload.object().version_number(), Some(9));
    let pods: Vec<_> = observed.pods.iter().flatten().map(|pod| pod.name.as_str()).collect();
    assert_eq!(pods, ["back"]);
}

/// A watch that RBAC forbids is a list at an interval, which may have begun before the refresh.
#[tokio::test]
async fn a_list_that_arrives_with_a_newer_refresh_does_not_replace_it() {
    let (cluster, _) = server(|_| Value::Null);
    let mut observer = Observer::of_found(cluster, TargetId::default(), &[workload("web", 3)]);
    observer.tasks.abort_all();
    let (before, after) = (list(vec![pod("old", "r", 4)]), list(vec![pod("new", "r", 6)]));
    for update in [
        refreshed(5, Some(after)),
        listed(WORKLOADS, vec![state("web", 3)]),
        listed(REVISIONS, vec![revision("r", "web")]),
        Update::Listed(PODS, before),
    ] {
        observer.sender.send(update).await.unwrap();
    }
    let events = observer.next().await;
    let Some((_, TargetEvent::Refreshed(refreshed))) = events.last() else { panic!("{events:?}") };
    let pods: Vec<_> = refreshed.pods.iter().flatten().map(|pod| pod.name.as_str()).collect();
    assert_eq!((refreshed.workload.object().version_number(), pods), (Some(5), vec!["new"]));
}

#[test]
fn an_event_of_a_pod_changes_its_workload() {
    let mut targets = read_targets();
    let events = targets.store.add(&EVENT, Some("n"));
    assert_eq!(emitted(&mut targets, listed(events, Vec::new())).len(), 1);
    assert_eq!(emitted(&mut targets, changed(PODS, pod("p", "r", 1))).len(), 1);
    let event = |pod: &str| {
        let event = json!({"kind": "Event", "type": "Warning", "reason": "BackOff",
            "metadata": {"name": pod, "namespace": "n", "uid": pod}, "involvedObject": {"uid": pod}});
        let event = Event::read(&Object::read(event).unwrap()).unwrap();
        changed(events, (Facts::Event(Arc::new(event)), 1))
    };
    assert_eq!(emitted(&mut targets, event("p")), [(0, vec!["p".to_owned()])]);
    assert_eq!(emitted(&mut targets, event("other")), []);
}

/// The list of the watch, which is forbidden too, may arrive much later.
#[test]
fn pods_that_a_refresh_may_not_read_are_unknown() {
    let mut targets = targets(&["web"]);
    emitted(&mut targets, listed(REVISIONS, vec![revision("r", "web")]));
    emitted(&mut targets, listed(WORKLOADS, vec![state("web", 3)]));
    let mut events = TargetEvents::new();
    targets.apply(refreshed(3, None), &mut events);
    targets.apply(changed(WORKLOADS, state("web", 4)), &mut events);
    targets.flush(&mut events);
    let Some((_, TargetEvent::Observed { observation, .. })) = events.last() else { panic!("{events:?}") };
    assert!(observation.pods.is_none());
}

/// Returns the cluster to a server that responds to each path, and the lines of its notices.
fn server(respond: impl Fn(&str) -> Value + Send + 'static) -> (Arc<Cluster>, Arc<Mutex<Vec<String>>>) {
    let service = tower::service_fn(move |request: Request<Body>| {
        let body = respond(request.uri().path()).to_string();
        async { Ok::<_, Infallible>(Response::new(Body::from(body.into_bytes()))) }
    });
    let notices = Arc::<Mutex<Vec<String>>>::default();
    let heard = Arc::clone(&notices);
    let listener = Listener::new(move |notice| heard.lock().unwrap().push(notice.text.clone()));
    let clock = Clock::Fixed(Timestamp::UNIX_EPOCH);
    (Arc::new(Cluster::in_process(kube::Client::new(service, "n"), clock, 0, listener)), notices)
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_ended_takes_no_memory() {
    let (cluster, _) = server(|path| match path.rsplit_once('/') {
        Some((_, "web")) => workload("web", 1).object().json().clone(),
        _ => json!({"metadata": {"resourceVersion": "1"}, "items": []}),
    });
    let mut observer = Observer::of_found(cluster, TargetId::default(), &[workload("web", 1)]);
    for _ in 0..5 {
        observer.refresh(TargetId::of(0));
        while !observer.next().await.iter().any(|(_, event)| matches!(event, TargetEvent::Refreshed(_))) {}
    }
    assert!(observer.tasks.len() <= 3 + 2, "three reflectors, and the last refresh");
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_no_list_is_not_reported_as_forbidden() {
    let (cluster, notices) = server(|_| json!({"kind": "Table"}));
    let mut observer = Observer::of_found(cluster, TargetId::default(), &[workload("web", 1)]);
    let _ = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            observer.next().await;
        }
    })
    .await;
    let notices = notices.lock().unwrap().join("\n");
    assert!(notices.contains("is not a list") && !notices.contains("causes are incomplete"), "{notices}");
}

/// A credential plugin that hangs takes longer than the grace period.
#[tokio::test(start_paused = true)]
async fn one_slow_refusal_is_not_final() {
    let (cluster, _) = server(|_| Value::Null);
    let mut attempts = Attempts::new(&POD, &Arc::new(Outage::new(cluster)));
    let mut ends = Vec::new();
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let hung = Error::new(ErrorKind::Unreachable, "the plugin did not finish");
        ends.push(attempts.fail(RequestError::NotSent(hung), false).await.is_err());
    }
    assert_eq!(ends, [false, true]);
}

/// The pause before the attempt that succeeds counted as outage: 17s after one of 10 s.
#[tokio::test(start_paused = true)]
async fn an_outage_lasts_from_the_first_failure_to_the_last() {
    let (cluster, notices) = server(|_| Value::Null);
    let mut attempts = Attempts::new(&POD, &Arc::new(Outage::new(cluster)));
    let begun = tokio::time::Instant::now();
    let mut last = begun;
    while begun.elapsed() < Duration::from_secs(12) {
        last = tokio::time::Instant::now();
        let failure = RequestError::Lost(Error::new(ErrorKind::Unreachable, "lost"));
        attempts.fail(failure, false).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    attempts.succeed();
    let notices = notices.lock().unwrap();
    let lasted = crate::cluster::notice::seconds(last - begun);
    assert!(
        notices.last().unwrap().ends_with(&format!("reads work again, after failing for {lasted}")),
        "{notices:?}"
    );
}

/// Such a response may come from a proxy.
#[tokio::test(start_paused = true)]
async fn a_response_without_the_object_is_no_deletion() {
    for (response, why) in [
        (json!({"error": "log in"}), "has no kind"),
        (json!({"kind": "Login", "metadata": {"name": "web"}}), "is another object"),
        (workload("api", 1).object().json().clone(), "is another object"),
    ] {
        let (cluster, notices) = server(move |path| match path.rsplit_once('/') {
            Some((_, "web")) => response.clone(),
            Some((_, "deployments")) => {
                json!({"metadata": {"resourceVersion": "1"}, "items": [workload("web", 1).object().json()]})
            }
            _ => json!({"metadata": {"resourceVersion": "1"}, "items": []}),
        });
        let mut observer = Observer::of_found(cluster, TargetId::default(), &[workload("web", 1)]);
        observer.refresh(TargetId::of(0));
        let mut events = TargetEvents::new();
        let _ = tokio::time::timeout(Duration::from_secs(60), async {
            loop {
                events.extend(observer.next().await);
            }
        })
        .await;
        let is_of_refresh =
            |event: &TargetEvent| matches!(event, TargetEvent::Deleted | TargetEvent::Refreshed(_));
        assert!(!events.iter().any(|(_, event)| is_of_refresh(event)), "{events:?}");
        let notices = notices.lock().unwrap().join("\n");
        let message = format!("the server's response for deployment \"web\" {why}");
        assert!(notices.contains(&message), "{notices}");
    }
}

/// Such a response to a write may come from a proxy too. It was taken for the stored object.
#[tokio::test]
async fn a_response_with_another_object_leaves_the_result_of_a_write_unknown() {
    let found = workload("web", 1);
    for (kind, name, expected) in [
        ("Deployment", "web", None),
        ("Deployment", "api", Some(WriteOutcome::Unknown)),
        ("Login", "web", Some(WriteOutcome::Unknown)),
    ] {
        let (cluster, _) = server(move |_| json!({"kind": kind, "metadata": {"name": name}}));
        let (type_, patch) = (found.kind().type_(), Patch::of(found.object()));
        let options = WriteOptions { dry_run: false, field_manager: "test" };
        let written = cluster.patch(type_, "shop", "web", &patch, options).await;
        assert_eq!(written.err().map(|(_, outcome)| outcome), expected, "{kind}/{name}");
    }
}

/// A watch for each type and namespace would exceed the streams of the connection.
#[tokio::test(start_paused = true)]
async fn many_namespaces_are_watched_together() {
    let found = |namespaces: usize| -> Vec<Workload> {
        let of = |index| {
            let mut object = workload("web", 1).object().json().clone();
            object["metadata"]["namespace"] = json!(format!("n{index}"));
            Workload::of_json(&object).unwrap()
        };
        (0..namespaces).map(of).collect()
    };
    for (namespaces, watches) in [(24, 24 * 4), (25, 4)] {
        let (cluster, _) = server(|_| json!({"metadata": {"resourceVersion": "1"}, "items": []}));
        let mut observer = Observer::of_found(cluster, TargetId::default(), &found(namespaces));
        observer.watch_warnings();
        assert_eq!(observer.targets.store.collections.len(), watches, "{namespaces}");
    }
}
