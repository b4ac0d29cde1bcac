use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::model::hold::HELD;
use crate::model::object::Object;
use crate::model::observed::Observed;
use crate::model::revision::Revisions;
use crate::model::step::next::{Next, is_reached, next};
use crate::model::step::pacing::{Pacing, Reach};
use crate::model::step::{Amount, Batches, Given};

/// What a test says of the pod on a node: `old`, `new`, or with `!` one that is not available, with `-`
/// one that is on its way out; nothing for none.
type OnNode<'t> = (&'t str, &'t str);

struct World {
    observed: Observed,
    nodes: Option<Vec<Node>>,
    pacing: Pacing,
    begun: Option<Begun>,
}

fn template(image: &str) -> Value {
    json!({"spec": {"containers": [{"name": "c", "image": image}]}})
}

fn pod((node, how): OnNode<'_>) -> Pod {
    let hash = if how.contains("new") { "2" } else { "1" };
    let mut metadata = json!({"name": format!("agent-{node}"), "uid": format!("{node}-{how}"),
        "labels": {"controller-revision-hash": hash}, "ownerReferences": [{"controller": true, "uid": "u"}]});
    if how.starts_with('-') {
        metadata["deletionTimestamp"] = "2026-11-20T13:00:00Z".into();
    }
    let ready = if how.starts_with('!') { "False" } else { "True" };
    let condition = json!({"type": "Ready", "status": ready, "lastTransitionTime": "2026-11-20T12:00:00Z"});
    let pod = json!({"kind": "Pod", "metadata": metadata, "spec": {"nodeName": node},
        "status": {"phase": "Running", "conditions": [condition]}});
    Pod::read(&Object::read(pod).unwrap())
}

/// A node of a zone; one that begins with `!` is not ready.
fn node((name, zone): (&str, &str)) -> Node {
    let labels = if zone.is_empty() { json!({}) } else { json!({"zone": zone.trim_start_matches('!')}) };
    let ready = if zone.starts_with('!') { "Unknown" } else { "True" };
    let node = json!({"kind": "Node", "metadata": {"name": name, "labels": labels},
        "status": {"conditions": [{"type": "Ready", "status": ready}]}});
    Node::read(&Object::read(node).unwrap())
}

fn daemon_set(wanted: usize, strategy: &Value, annotations: &Value) -> Workload {
    let object = json!({"kind": "DaemonSet", "metadata": {"name": "agent", "uid": "u", "annotations": annotations},
        "spec": {"template": template("x:2"), "updateStrategy": strategy},
        "status": {"desiredNumberScheduled": wanted, "currentNumberScheduled": wanted}});
    Workload::of(Object::read(object).unwrap()).unwrap()
}

impl World {
    fn of(wanted: usize, pods: &[OnNode<'_>]) -> Self {
        let workload = daemon_set(wanted, &json!({"type": "OnDelete"}), &json!({}));
        let revisions = [1, 2].map(|number| {
            let data = json!({"spec": {"template": template(&format!("x:{number}"))}});
            let metadata = json!({"name": format!("agent-{number}"), "uid": format!("r{number}"),
                "labels": {"controller-revision-hash": number.to_string()},
                "ownerReferences": [{"controller": true, "uid": "u"}]});
            let revision =
                json!({"kind": "ControllerRevision", "revision": number, "data": data, "metadata": metadata});
            Object::read(revision).unwrap()
        });
        let observed = Observed {
            revisions: Revisions::of(&workload, revisions),
            pods: Some(pods.iter().copied().map(pod).collect()),
            events: None,
            workload,
        };
        Self { observed, nodes: None, pacing: Pacing::default(), begun: None }
    }

    fn in_zones(mut self, zones: &[(&str, &str)]) -> Self {
        self.nodes = Some(zones.iter().copied().map(node).collect());
        self.pacing.order = Some("zone".to_owned());
        self
    }

    fn begun(mut self, places: &[&str]) -> Self {
        let places = places.iter().map(|&place| place.to_owned()).collect();
        self.begun = Some(Begun { number: 1, is_canary: false, places, is_done: false });
        self
    }

    fn sight(&self) -> Sight<'_> {
        Sight {
            observed: &self.observed,
            nodes: self.nodes.as_deref(),
            pacing: &self.pacing,
            begun: self.begun.as_ref(),
            own: None,
            beyond: false,
            wall: "2026-11-20T13:00:00Z".parse::<Timestamp>().unwrap(),
        }
    }

    /// The nodes in the order of release, each with what is worth saying of it.
    fn told(&self) -> String {
        let spots = spots(&self.sight());
        let told = spots.iter().map(|spot| {
            let facts = [
                (spot.is_new, "new"),
                (spot.is_available, "up"),
                (spot.is_released, "released"),
                (spot.kept.is_some(), "kept"),
                (spot.unready_node.is_some(), "unready"),
                (spot.goes_down, "goes"),
            ];
            let facts: Vec<_> = facts.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
            format!("{} {}", spot.name, facts.join(" ")).trim().to_owned()
        });
        told.collect::<Vec<_>>().join(", ")
    }

    /// The node whose pod would be removed next.
    fn removed(&self, free: usize) -> Option<String> {
        let sight = self.sight();
        match release(&sight, &spots(&sight), self.begun.as_ref()?, Some(free))? {
            Release::Remove { place, .. } => Some(place),
            Release::Strategy { .. } => None,
        }
    }

    fn next(&self) -> Vec<String> {
        let spots = spots(&self.sight());
        match next(&self.observed.workload, &spots, &self.pacing, Reach::All, 0) {
            Next::Batch(batch) => batch.places,
            _ => Vec::new(),
        }
    }
}

#[test]
fn a_pod_that_only_goes_or_is_not_there_yet_shows_nothing_of_the_revision() {
    let pods = [("n1", "-old"), ("n2", "old"), ("n3", "old"), ("n4", "old")];
    let mut world = World::of(5, &pods);
    world.pacing.batches = Batches::By(Amount::Pods(3));
    assert_eq!(world.next(), ["n2"], "the canary");
    let spots = spots(&world.sight());
    assert!(!is_reached(Reach::To(Amount::Pods(1)), &spots));
    world = World::of(4, &[("n1", "new"), ("n2", "old"), ("n3", "old"), ("n4", "old")]);
    world.pacing.batches = Batches::By(Amount::Pods(3));
    assert_eq!(world.next(), ["n2", "n3", "n4"]);
}

#[test]
fn nodes_come_by_name_and_each_says_how_it_is() {
    let world = World::of(4, &[("n3", "old"), ("n1", "new"), ("n2", "!old"), ("n4", "-old")]);
    assert_eq!(world.told(), "n1 new up released, n2, n3 up, n4 released");
}

#[test]
fn a_node_with_two_pods_is_told_by_the_one_that_stays() {
    let world = World::of(1, &[("n1", "-old"), ("n1", "!new")]);
    assert_eq!(world.told(), "n1 new released");
}

#[test]
fn nodes_without_their_pods_are_counted_and_named_when_a_batch_tells_of_them() {
    let world = World::of(3, &[("n1", "old")]).begun(&["n2"]);
    assert_eq!(world.told(), "n1 up, n2 released, (a node without its pod) released");
    let gone = World::of(3, &[("n1", "old"), ("n3", "old"), ("n4", "old")]).begun(&["n2"]);
    assert_eq!(gone.told(), "n1 up, n3 up, n4 up");
}

/// A node that was tainted after its pod came keeps the pod, and is not counted among those that want one.
#[test]
fn a_pod_where_none_is_wanted_stands_in_for_no_other() {
    let mut world = World::of(2, &[("n1", "old"), ("tainted", "old")]).begun(&["n2"]);
    let mut object = world.observed.workload.object().json().clone();
    object["status"]["numberMisscheduled"] = 1.into();
    object["status"]["currentNumberScheduled"] = 1.into();
    world.observed.workload = Workload::of(Object::read(object).unwrap()).unwrap();
    assert_eq!(world.told(), "n1 up, n2 released, tainted up");
}

/// The pod of a new node is there before its controller counts it.
#[test]
fn a_node_of_the_batch_is_missing_as_long_as_its_controller_says_that_one_is() {
    let mut world = World::of(2, &[("n1", "old"), ("n3", "new")]).begun(&["n2"]);
    let mut object = world.observed.workload.object().json().clone();
    object["status"]["currentNumberScheduled"] = 1.into();
    world.observed.workload = Workload::of(Object::read(object).unwrap()).unwrap();
    assert_eq!(world.told(), "n1 up, n2 released, n3 new up released");
}

#[test]
fn a_selector_that_takes_no_node_is_a_mistake() {
    let mut world = World::of(2, &[("n1", "old"), ("n2", "old")]).in_zones(&[("n1", "a"), ("n2", "b")]);
    world.pacing.node_selector = Some("zone=c".to_owned());
    let error = check_nodes(&world.sight()).unwrap_err();
    assert!(error.exit().code() == 2 && error.sentence().contains("takes none of the 2 nodes"), "{error:?}");
    world.pacing.node_selector = Some("zone=b".to_owned());
    assert_eq!(check_nodes(&world.sight()), Ok(()));
}

#[test]
fn a_batch_is_no_longer_than_an_annotation_may_be() {
    let names: Vec<String> = (0..1000).map(|number| format!("{number:0>100}.compute.internal")).collect();
    let pods: Vec<OnNode<'_>> = names.iter().map(|name| (name.as_str(), "old")).collect();
    let mut world = World::of(1000, &pods);
    (world.pacing.batches, world.pacing.canary) = (Batches::By(Amount::PerCent(100)), false);
    let batch = world.next();
    assert!(batch.len() > 500 && batch.concat().len() < 70_000, "{}", batch.len());
}

#[test]
fn a_node_that_is_not_there_any_more_is_nobodys_place() {
    let world = World::of(2, &[("n1", "old")]).begun(&["n2"]).in_zones(&[("n1", "a")]);
    assert_eq!(world.told(), "n1 up, (a node without its pod) released");
}

#[test]
fn groups_come_one_after_the_other_and_nodes_without_the_label_last() {
    let pods = [("n1", "old"), ("n2", "old"), ("n3", "old"), ("n4", "old")];
    let zones = [("n1", "b"), ("n2", ""), ("n3", "a"), ("n4", "b")];
    let mut world = World::of(4, &pods).in_zones(&zones);
    assert_eq!(world.told(), "n3 up, n1 up, n4 up, n2 up");
    (world.pacing.batches, world.pacing.canary) = (Batches::By(Amount::Pods(3)), false);
    assert_eq!(world.next(), ["n3"], "a batch does not cross from one group into the next");
    let mut on = World::of(4, &[("n1", "old"), ("n2", "old"), ("n3", "new"), ("n4", "old")]).in_zones(&zones);
    on.pacing.batches = Batches::By(Amount::Pods(3));
    assert_eq!(on.next(), ["n1", "n4"]);
}

#[test]
fn a_selector_keeps_the_rest_and_unready_nodes_are_passed_over() {
    let pods = [("n1", "old"), ("n2", "old"), ("n3", "old")];
    let mut world = World::of(3, &pods).in_zones(&[("n1", "!a"), ("n2", "b"), ("n3", "a")]);
    world.pacing.node_selector = Some("zone=a".to_owned());
    assert_eq!(world.told(), "n1 up unready, n3 up, n2 up kept");
    assert_eq!(world.next(), ["n3"]);
}

#[test]
fn pods_are_removed_one_by_one_within_what_may_go_down() {
    let pods = [("n1", "old"), ("n2", "!old"), ("n3", "old")];
    let world = World::of(3, &pods).begun(&["n1", "n2", "n3"]);
    assert_eq!(world.removed(1).as_deref(), Some("n1"));
    assert_eq!(world.removed(0).as_deref(), Some("n2"), "what is down already costs nothing more");
    let pods = [("n1", "-old"), ("n2", "!new"), ("n3", "old")];
    let world = World::of(3, &pods).begun(&["n1", "n2", "n3"]);
    assert_eq!(world.removed(0), None);
    assert_eq!(world.removed(1).as_deref(), Some("n3"));
    let other = World::of(3, &pods).begun(&["n1", "n2"]);
    assert_eq!(other.removed(3), None, "only the batch's own nodes");
}

#[test]
fn a_pod_on_a_node_that_is_not_ready_is_left_alone() {
    let world = World::of(1, &[("n1", "old")]).begun(&["n1"]).in_zones(&[("n1", "!a")]);
    assert_eq!(world.removed(1), None);
}

#[test]
fn without_a_hold_the_controller_may_take_any_old_pod() {
    let mut world = World::of(2, &[("n1", "old"), ("n2", "new")]);
    world.observed.workload = daemon_set(2, &json!({"type": "RollingUpdate"}), &json!({}));
    assert_eq!(world.told(), "n1 up released goes, n2 new up released");
}

/// Nodes come, and pods die, all the time: a fleet would never be done with its soaks.
#[test]
fn only_the_nodes_of_the_last_batch_soak() {
    let pods = [("n1", "new"), ("n2", "new"), ("n3", "old"), ("n4", "new")];
    let world = World::of(4, &pods).begun(&["n2", "n3"]);
    let spots = spots(&world.sight());
    let soaking: Vec<_> = spots.iter().filter(|spot| spot.soaks).map(|spot| spot.name.as_str()).collect();
    assert_eq!(soaking, ["n2", "n3"]);
}

#[test]
fn a_surge_is_refused_unless_somebody_accepts_that_it_is_taken_away() {
    let surging = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "10%", "maxUnavailable": 0}});
    let held = |reason: &str| {
        let memory = json!({"reason": reason, "set": {"type": "OnDelete"}, "strategy": surging, "plan": {}});
        daemon_set(3, &json!({"type": "OnDelete"}), &json!({HELD: memory.to_string()}))
    };
    let request = Request::default();
    let forced = Request { force: true, ..Request::default() };
    let plain = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
    for (workload, is_refused) in [
        (daemon_set(3, &surging, &json!({})), true),
        (held("pause"), true),
        (held("plan"), false), // somebody accepted it when the plan began
        (daemon_set(3, &plain, &json!({})), false),
        (daemon_set(3, &json!({"type": "OnDelete"}), &json!({})), false),
    ] {
        let refused = check(&workload, &request).map_err(|error| error.exit().code());
        assert_eq!(refused, if is_refused { Err(2) } else { Ok(()) }, "{:?}", workload.object());
        assert_eq!(check(&workload, &forced), Ok(()));
    }
}

#[test]
fn labels_of_nodes_that_may_not_be_read_are_refused_before_anything_is_written() {
    let mut world = World::of(1, &[("n1", "old")]);
    assert_eq!(check_nodes(&world.sight()), Ok(()));
    world.pacing.order = Some("zone".to_owned());
    let error = check_nodes(&world.sight()).unwrap_err();
    assert!(error.sentence().contains("nodes may not be read") && error.exit().code() == 1);
    let given = Given { node_selector: Some("a in".to_owned()), ..Given::default() };
    let request = Request { given, ..Request::default() };
    assert_eq!(check(&world.observed.workload, &request).map_err(|error| error.exit().code()), Err(2));
}
