//! The slots of a DaemonSet, and the waves of its deletions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use crate::api::object::Object;
use crate::api::patch::FieldPath;
use crate::api::pod::{Node, Pod};
use crate::engine::Now;
use crate::hold::mechanism::deletions::{Deletions, check_node_flags};
use crate::hold::mechanism::{Mechanism, State};
use crate::hold::plan::schema::tests::plan_json;
use crate::hold::plan::{Amount, BatchSize, HOLD_ANNOTATION, Hold, Pace, Plan, PlannedBatch, Reach};
use crate::hold::slot::{Slot, SlotState};
use crate::kind::fields::HoldFields;
use crate::kind::{Workload, strategy};
use crate::observation::Observation;
use crate::revision::Revisions;
use crate::step::batch::FutureBatches;
use crate::step::batch::continue_batch;
use crate::step::memory::Memory;
use crate::step::request::Step;
use crate::step::view::plan_view;
use crate::step::{FurtherBatches, Request};

/// What a test says of the pod on a node: `old`, `new`, or with `!` one that is not available, with `-`
/// one that is on its way out; nothing for none.
type OnNode<'t> = (&'t str, &'t str);

struct DaemonSetFixture {
    observed: Observation,
    nodes: Option<Vec<Node>>,
    hold: Hold,
    plan: Plan,
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

impl DaemonSetFixture {
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
        let observed = Observation {
            revisions: Revisions::of(&workload, revisions),
            pods: Some(pods.iter().copied().map(pod).map(Into::into).collect()),
            events: None,
            workload,
        };
        let fields = strategy::as_fields(&observed.workload, json!({"type": "OnDelete"}));
        let hold = Hold::new(&observed.workload, fields);
        let digest = observed.workload.template_digest();
        let plan = Plan::new(&digest, None, Pace::default(), Reach::All);
        Self { observed, nodes: None, hold, plan }
    }

    fn in_zones(mut self, zones: &[(&str, &str)]) -> Self {
        self.nodes = Some(zones.iter().copied().map(node).collect());
        self.plan.pace.order = Some("zone".to_owned());
        self
    }

    fn with_batch(mut self, slots: &[&str]) -> Self {
        let slots = slots.iter().map(|&slot| slot.to_owned()).collect();
        self.plan.last_batch = Some(PlannedBatch { number: 1, canary: false, slots, done: false });
        self
    }

    fn state(&self) -> State<'_> {
        let server_time = "2026-11-20T13:00:00Z".parse::<Timestamp>().unwrap();
        let now = Now { elapsed: Duration::ZERO, server_time };
        State::new(&Deletions, &self.observed, self.nodes.as_deref(), &self.hold, &self.plan, now)
    }

    fn slots(&self) -> Vec<Slot<'_>> {
        self.state().slots
    }

    /// The slots in the order of release, each with its facts.
    fn listed(&self) -> String {
        let slots = self.slots();
        let listed = slots.iter().map(|slot| {
            let state = match slot.state {
                SlotState::Held => "held",
                SlotState::HeldDown => "down",
                SlotState::Released => "released",
                SlotState::Missing => "missing",
                SlotState::Starting => "starting",
                SlotState::Healthy { .. } => "healthy",
            };
            let facts =
                [(true, state), (slot.skip.is_some(), "kept"), (slot.unready_node.is_some(), "unready")];
            let facts: Vec<_> = facts.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
            format!("{} {}", slot.key, facts.join(" ")).trim().to_owned()
        });
        listed.collect::<Vec<_>>().join(", ")
    }

    /// The nodes of the next wave, if this many more pods may become unavailable.
    fn wave(&mut self, free: usize) -> Vec<String> {
        let most = self.state().unavailable_slots().count() + free;
        self.plan.pace.max_unavailable = Some(Amount::Pods(u32::try_from(most).unwrap()));
        let state = self.state();
        assert_eq!(usize::try_from(state.budget_left()), Ok(free));
        let wave: Vec<_> = Deletions.wave(&state).into_iter().map(|pod| pod.name).collect();
        let nodes = state.slots.iter().filter(|slot| slot.pod.is_some_and(|pod| wave.contains(&pod.name)));
        nodes.map(|slot| slot.key.clone()).collect()
    }

    fn next(&self) -> Vec<String> {
        let slots = self.state().slots;
        let next = FutureBatches::after(&self.plan, &slots, &Deletions).next(Some(Reach::All));
        next.ok().flatten().map(|batch| batch.slots).unwrap_or_default()
    }
}

#[test]
fn a_terminating_or_missing_pod_has_no_revision() {
    let pods = [("n1", "-old"), ("n2", "old"), ("n3", "old"), ("n4", "old")];
    let mut fixture = DaemonSetFixture::of(5, &pods);
    fixture.plan.pace.batch_size = BatchSize::By(Amount::Pods(3));
    assert_eq!(fixture.next(), ["n2"], "the canary");
    fixture.plan.reach = Some(Reach::To(Amount::Pods(1)));
    assert!(!fixture.state().is_reached());
    let mut released = DaemonSetFixture::of(5, &pods).with_batch(&["n1"]);
    released.plan.reach = Some(Reach::To(Amount::Pods(1)));
    assert!(released.state().is_reached(), "the plan released it");
    fixture = DaemonSetFixture::of(4, &[("n1", "new"), ("n2", "old"), ("n3", "old"), ("n4", "old")]);
    fixture.plan.pace.batch_size = BatchSize::By(Amount::Pods(3));
    assert_eq!(fixture.next(), ["n2", "n3", "n4"]);
}

#[test]
fn nodes_are_listed_by_name_with_their_state() {
    let fixture = DaemonSetFixture::of(4, &[("n3", "old"), ("n1", "new"), ("n2", "!old"), ("n4", "-old")]);
    assert_eq!(fixture.listed(), "n1 healthy, n2 down, n3 held, n4 missing");
}

#[test]
fn of_two_pods_on_a_node_the_one_that_stays_counts() {
    let fixture = DaemonSetFixture::of(1, &[("n1", "-old"), ("n1", "!new")]);
    assert_eq!(fixture.listed(), "n1 starting");
}

#[test]
fn missing_pods_are_counted_and_named_by_the_batch() {
    let fixture = DaemonSetFixture::of(3, &[("n1", "old")]).with_batch(&["n2"]);
    assert_eq!(fixture.listed(), "n1 held, n2 released, (a node without its pod) missing");
    let gone = DaemonSetFixture::of(3, &[("n1", "old"), ("n3", "old"), ("n4", "old")]).with_batch(&["n2"]);
    assert_eq!(gone.listed(), "n1 held, n3 held, n4 held");
}

/// A later command selects other nodes while the pod of the batch is being replaced.
#[test]
fn a_released_slot_of_the_batch_is_awaited_though_it_is_not_selected_any_more() {
    for (batch, is_moving) in [("n1", true), ("n2", false)] {
        let fixture = DaemonSetFixture::of(2, &[("n1", "-old"), ("n2", "new")]).with_batch(&[batch]);
        let mut fixture = fixture.in_zones(&[("n1", "a"), ("n2", "b")]);
        fixture.plan.pace.node_selector = Some("zone=b".to_owned());
        assert_eq!(fixture.state().is_moving(), is_moving, "{batch}");
    }
}

/// A later command selects other nodes before the slot of `n2` is released.
#[test]
fn a_slot_that_is_not_selected_any_more_is_not_released() {
    for (n1, is_in_progress) in [("old", false), ("new", true)] {
        let fixture = DaemonSetFixture::of(3, &[("n1", n1), ("n2", "old"), ("n3", "old")]);
        let mut fixture =
            fixture.in_zones(&[("n1", "a"), ("n2", "a"), ("n3", "b")]).with_batch(&["n1", "n2"]);
        assert!(fixture.wave(2).contains(&"n2".to_owned()));
        fixture.plan.pace.node_selector = Some("zone=b".to_owned());
        assert_eq!(fixture.wave(2), [""; 0]);
        assert_eq!(fixture.state().present_batch.is_some(), is_in_progress, "{n1}");
        assert_eq!(fixture.next(), ["n3"]);
    }
}

/// The node `gone` was removed, and its pod stays until it is collected. The controller has not noticed yet that the pod of
/// `n3` is missing.
#[test]
fn a_pod_of_a_removed_node_does_not_replace_a_missing_pod() {
    let fixture = DaemonSetFixture::of(2, &[("n1", "old"), ("gone", "old")]).with_batch(&["n3"]);
    let fixture = fixture.in_zones(&[("n1", "a"), ("n3", "a")]);
    assert_eq!(fixture.listed(), "n1 held, n3 released, gone held");
}

/// A node that was tainted after its pod came keeps the pod, and is not counted among those that want one.
#[test]
fn a_pod_on_an_unwanted_node_does_not_replace_a_missing_pod() {
    let mut fixture = DaemonSetFixture::of(2, &[("n1", "old"), ("tainted", "old")]).with_batch(&["n2"]);
    let mut object = fixture.observed.workload.object().json().clone();
    object["status"]["numberMisscheduled"] = 1.into();
    object["status"]["currentNumberScheduled"] = 1.into();
    fixture.observed.workload = Workload::of(Object::read(object).unwrap()).unwrap();
    assert_eq!(fixture.listed(), "n1 held, n2 released, tainted held");
}

/// The pod of a new node is there before its controller counts it.
#[test]
fn a_node_of_the_batch_is_missing_while_the_controller_counts_a_missing_pod() {
    let mut fixture = DaemonSetFixture::of(2, &[("n1", "old"), ("n3", "new")]).with_batch(&["n2"]);
    let mut object = fixture.observed.workload.object().json().clone();
    object["status"]["currentNumberScheduled"] = 1.into();
    fixture.observed.workload = Workload::of(Object::read(object).unwrap()).unwrap();
    assert_eq!(fixture.listed(), "n1 held, n2 released, n3 healthy");
}

#[test]
fn a_selector_that_matches_no_node_is_an_error() {
    let mut fixture =
        DaemonSetFixture::of(2, &[("n1", "old"), ("n2", "old")]).in_zones(&[("n1", "a"), ("n2", "b")]);
    fixture.plan.pace.node_selector = Some("zone=c".to_owned());
    let error = check_node_flags(&fixture.state()).unwrap_err();
    assert!(
        error.exit().code() == 1 && error.to_string().contains("matches none of the 2 nodes"),
        "{error:?}"
    );
    fixture.plan.pace.node_selector = Some("zone=b".to_owned());
    assert_eq!(check_node_flags(&fixture.state()), Ok(()));
}

#[test]
fn an_order_without_any_node_is_an_error() {
    let mut fixture = DaemonSetFixture::of(1, &[]).in_zones(&[]);
    fixture.plan.pace.order = Some("zone".to_owned());
    let error = check_node_flags(&fixture.state()).unwrap_err();
    assert_eq!(error.to_string(), "--order needs the labels of nodes, and the cluster has no nodes");
}

#[test]
fn a_batch_is_limited_by_the_annotation_size() {
    let names: Vec<String> = (0..1000).map(|number| format!("{number:0>100}.compute.internal")).collect();
    let pods: Vec<OnNode<'_>> = names.iter().map(|name| (name.as_str(), "old")).collect();
    let mut fixture = DaemonSetFixture::of(1000, &pods);
    (fixture.plan.pace.batch_size, fixture.plan.pace.canary) = (BatchSize::By(Amount::PerCent(100)), false);
    let batch = fixture.next();
    assert!(batch.len() > 500 && batch.concat().len() < 70_000, "{}", batch.len());
}

#[test]
fn a_deleted_node_has_no_slot() {
    let fixture = DaemonSetFixture::of(2, &[("n1", "old")]).with_batch(&["n2"]).in_zones(&[("n1", "a")]);
    assert_eq!(fixture.listed(), "n1 held, (a node without its pod) missing");
}

#[test]
fn groups_are_stepped_one_after_another_and_unlabelled_nodes_last() {
    let pods = [("n1", "old"), ("n2", "old"), ("n3", "old"), ("n4", "old")];
    let zones = [("n1", "b"), ("n2", ""), ("n3", "a"), ("n4", "b")];
    let mut fixture = DaemonSetFixture::of(4, &pods).in_zones(&zones);
    assert_eq!(fixture.listed(), "n3 held, n1 held, n4 held, n2 held");
    (fixture.plan.pace.batch_size, fixture.plan.pace.canary) = (BatchSize::By(Amount::Pods(3)), false);
    assert_eq!(fixture.next(), ["n3"], "a batch does not cross from one group into the next");
    let mut on = DaemonSetFixture::of(4, &[("n1", "old"), ("n2", "old"), ("n3", "new"), ("n4", "old")])
        .in_zones(&zones);
    on.plan.pace.batch_size = BatchSize::By(Amount::Pods(3));
    assert_eq!(on.next(), ["n1", "n4"]);
}

#[test]
fn unselected_nodes_stay_held_and_unready_nodes_are_skipped() {
    let pods = [("n1", "old"), ("n2", "old"), ("n3", "old")];
    let mut fixture = DaemonSetFixture::of(3, &pods).in_zones(&[("n1", "!a"), ("n2", "b"), ("n3", "a")]);
    fixture.plan.pace.node_selector = Some("zone=a".to_owned());
    assert_eq!(fixture.listed(), "n1 held unready, n3 held, n2 held kept");
    assert_eq!(fixture.next(), ["n3"]);
}

#[test]
fn a_wave_is_limited_by_max_unavailable() {
    let pods = [("n1", "old"), ("n2", "!old"), ("n3", "old"), ("n4", "old")];
    let mut fixture = DaemonSetFixture::of(4, &pods).with_batch(&["n1", "n2", "n3", "n4"]);
    assert_eq!(fixture.wave(2), ["n1", "n2", "n3"], "what is unavailable costs nothing");
    assert_eq!(fixture.wave(0), ["n2"]);
    let pods = [("n1", "-old"), ("n2", "!new"), ("n3", "old"), ("n4", "new")];
    let mut fixture = DaemonSetFixture::of(4, &pods).with_batch(&["n1", "n2", "n3"]);
    assert_eq!(fixture.wave(0), [""; 0]);
    assert_eq!(fixture.wave(1), ["n3"]);
    let mut other = DaemonSetFixture::of(4, &pods).with_batch(&["n1", "n2"]);
    assert_eq!(other.wave(1), [""; 0], "only the nodes of the batch");
}

#[test]
fn a_pod_on_an_unready_node_is_not_deleted() {
    let mut fixture = DaemonSetFixture::of(1, &[("n1", "old")]).with_batch(&["n1"]).in_zones(&[("n1", "!a")]);
    assert_eq!(fixture.wave(1), [""; 0]);
}

/// Its rest is one pod: the others are on nodes that are not ready.
#[test]
fn the_rest_of_a_batch_is_deleted_without_a_pause() {
    let pods = [("n1", "old"), ("n2", "old"), ("n3", "old"), ("n4", "old"), ("n5", "new")];
    let nodes = [("n1", "a"), ("n2", "!a"), ("n3", "!a"), ("n4", "!a"), ("n5", "a")];
    let mut fixture = DaemonSetFixture::of(5, &pods).with_batch(&["n1", "n2", "n3", "n4"]).in_zones(&nodes);
    fixture.plan.pace.max_unavailable = Some(Amount::Pods(4));
    let mut memory = Memory::default();
    memory.batch.last_wave = Some(Duration::ZERO);
    let batch = fixture.plan.last_batch.as_ref().unwrap();
    let action = continue_batch(&fixture.state(), &memory, batch);
    assert!(matches!(&action, Step::Ask(Request::Delete { pods, .. }) if pods.len() == 1), "{action:?}");
}

#[test]
fn without_a_hold_the_controller_may_replace_any_outdated_pod() {
    let mut fixture = DaemonSetFixture::of(2, &[("n1", "old"), ("n2", "new")]);
    fixture.observed.workload = daemon_set(2, &json!({"type": "RollingUpdate"}), &json!({}));
    assert_eq!(fixture.listed(), "n1 released, n2 healthy");
}

/// Nodes come, and pods die, all the time: a fleet would never be done with its soaks. Before the first batch, and after the
/// nodes of the last one were removed, no other pods prove the new revision.
#[test]
fn only_the_nodes_of_the_last_batch_soak() {
    let pods = [("n1", "new"), ("n2", "new"), ("n3", "old"), ("n4", "new")];
    for (batch, expected) in
        [(&["n2", "n3"][..], &["n2"][..]), (&[], &["n1", "n2", "n4"]), (&["gone"], &["n1", "n2", "n4"])]
    {
        let fixture = DaemonSetFixture::of(4, &pods).with_batch(batch);
        let state = fixture.state();
        let soaking: Vec<_> = state.soaking().map(|slot| slot.key.as_str()).collect();
        assert_eq!(soaking, expected);
    }
}

#[test]
fn a_surge_is_refused_without_force() {
    let surging = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "10%", "maxUnavailable": 0}});
    let held = |mut memory: Value| {
        (memory["version"], memory["set"]) = (json!(1), json!({"type": "OnDelete"}));
        memory["strategy"] = surging.clone();
        daemon_set(3, &json!({"type": "OnDelete"}), &json!({HOLD_ANNOTATION: memory.to_string()}))
    };
    let plain = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
    for (workload, is_refused) in [
        (daemon_set(3, &surging, &json!({})), true),
        (held(json!({})), true),
        (held(json!({"plan": plan_json()})), false), // a user accepted it when the plan began
        (daemon_set(3, &plain, &json!({})), false),
        (daemon_set(3, &json!({"type": "OnDelete"}), &json!({})), false),
    ] {
        let refused = Deletions.check_workload(&workload, false).map_err(|error| error.exit().code());
        assert_eq!(refused, if is_refused { Err(1) } else { Ok(()) }, "{:?}", workload.object());
        assert_eq!(Deletions.check_workload(&workload, true), Ok(()));
    }
}

#[test]
fn missing_permission_to_read_node_labels_is_refused_before_any_write() {
    let mut fixture = DaemonSetFixture::of(1, &[("n1", "old")]);
    assert_eq!(check_node_flags(&fixture.state()), Ok(()));
    fixture.plan.pace.order = Some("zone".to_owned());
    let error = check_node_flags(&fixture.state()).unwrap_err();
    assert!(error.to_string().contains("listing nodes is forbidden") && error.exit().code() == 1);
}

/// Steps DaemonSets, and counts how often it is asked about a node that is not ready.
struct CountingDaemonSets(AtomicUsize);

impl Mechanism for CountingDaemonSets {
    fn fields_to_hold(&self, observed: &Observation, workload: &Workload) -> HoldFields {
        Deletions.fields_to_hold(observed, workload)
    }

    fn is_in_force(&self, workload: &Workload, held: &HoldFields) -> bool {
        Deletions.is_in_force(workload, held)
    }

    fn step_field(&self, workload: &Workload) -> (FieldPath, Option<&'static str>) {
        Deletions.step_field(workload)
    }

    fn slots<'a>(&self, state: &State<'a>) -> Vec<Slot<'a>> {
        Deletions.slots(state)
    }

    fn skips_unready_nodes(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// Every second node is not ready, so each future batch would visit those before it again.
#[test]
fn the_view_of_a_large_plan_is_linear_in_its_nodes() {
    static COUNTING: CountingDaemonSets = CountingDaemonSets(AtomicUsize::new(0));
    let names: Vec<String> = (0..1000).map(|number| format!("n{number:04}")).collect();
    let pods: Vec<_> = names.iter().map(|name| (name.as_str(), "old")).collect();
    let zones = names.iter().enumerate().map(|(index, name)| (name.as_str(), ["a", "!a"][index % 2]));
    let mut fixture = DaemonSetFixture::of(1000, &pods).in_zones(&zones.collect::<Vec<_>>());
    fixture.plan.pace.batch_size = BatchSize::By(Amount::Pods(1));
    let mut state = fixture.state();
    state.mechanism = &COUNTING;
    let view = plan_view(&state, &Memory::default());
    let batches =
        view.batches.iter().map(|batch| (batch.number, batch.slots.iter().map(|slot| &slot.label).collect()));
    let expected = names.iter().step_by(2).enumerate().map(|(index, name)| (index + 1, vec![name])).take(10);
    assert_eq!(batches.collect::<Vec<(_, Vec<_>)>>(), expected.collect::<Vec<_>>());
    assert_eq!(view.further, FurtherBatches { count: 490, size: Some(1) });
    let count = COUNTING.0.load(Ordering::Relaxed);
    assert!(count <= 5 * names.len(), "{count}");
}
