//! Commands with concurrent writers: a patch applies only to the state that the command read, and no change of another
//! client is lost.

use std::sync::{Arc, Mutex};

use harness::prelude::*;
use harness::random::Dice;

use crate::writes::{db, object, web};

const SEEDS: u64 = 300;

const COMMANDS: [&[&str]; 8] = [
    &["undo"],
    &["undo", "--force"],
    &["undo", "--resume", "--cause", "chance"],
    &["undo", "--keep-hold", "--to-revision", "1"],
    &["undo", "--sync-last-applied"],
    &["pause"],
    &["resume"],
    &["restart"],
];

/// Applies one of the changes of a concurrent writer.
fn apply_change(object: &mut Value, writer: u64, mark: u64) {
    match writer {
        0 => {
            object["spec"]["template"]["spec"]["containers"][0]["image"] = format!("colleague:{mark}").into();
        }
        1 => object["metadata"]["annotations"]["kubernetes.io/change-cause"] = format!("cause {mark}").into(),
        2 => object["metadata"]["annotations"]["other"] = mark.to_string().into(),
        3 => object["spec"]["replicas"] = (mark % 9).into(),
        5 if is_of_kruise(object) => {
            let rolling = &mut object["spec"]["updateStrategy"]["rollingUpdate"];
            let paused = rolling["paused"] == true;
            rolling["paused"] = (!paused).into();
        }
        4 if object["kind"] == "Deployment" => {
            object["spec"]["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": mark % 5 + 1, "maxUnavailable": 0}});
        }
        4 => {
            object["spec"]["updateStrategy"] =
                json!({"type": "RollingUpdate", "rollingUpdate": {"partition": mark % 5}});
        }
        5 if object["kind"] == "Deployment" => {
            let paused = object["spec"]["paused"] == true;
            object["spec"]["paused"] = (!paused).into();
        }
        5 => object["spec"]["updateStrategy"] = json!({"type": "OnDelete"}),
        _ => drop(object["metadata"].as_object_mut().unwrap().remove("annotations")),
    }
}

fn is_of_kruise(object: &Value) -> bool {
    object["apiVersion"] == "apps.kruise.io/v1beta1"
}

/// Returns the fields that a command overwrites or tests.
fn precondition_fields(object: &Value, command: &str) -> Vec<Value> {
    let annotation = |name: &str| object["metadata"]["annotations"].get(name).cloned().unwrap_or_default();
    let mut values =
        vec![object["metadata"]["uid"].clone(), object["spec"].get("paused").cloned().unwrap_or_default()];
    if is_of_kruise(object) {
        values.push(
            object["spec"]["updateStrategy"]["rollingUpdate"].get("paused").cloned().unwrap_or_default(),
        );
    } else if object["kind"] != "Deployment" {
        values.extend([object["spec"]["updateStrategy"].clone()]);
        if command != "restart" {
            values.push(annotation("kubectl-rollout2/held"));
        }
    }
    if command == "undo" {
        values.extend([object["spec"]["template"].clone(), annotation("kubernetes.io/change-cause")]);
    }
    values
}

/// The states of the object when a run read and patched it.
#[derive(Default)]
struct ObservedStates {
    /// The object as last read.
    read: Option<Value>,
    /// For each patch, the object as read and as it was when the patch arrived.
    patched: Vec<(Option<Value>, Value)>,
}

/// A workload on a command line, and its key.
type Target = (&'static str, Key);

async fn run_one(server: &Cluster, targets: &[Target], seed: u64) -> (Output, Value, String) {
    let mut random = Dice::new(seed);
    let (target, key) = random.one_of(targets).clone();
    let command = *random.one_of(&COMMANDS);
    server.sim.clear_faults();
    server.sim.store(|store| {
        store
            .edit(&key, Part::Object, &Author::new("before"), |object| {
                for mark in 0..random.below(3) {
                    apply_change(object, 3 + random.below(3), mark);
                }
            })
            .unwrap();
        observe_generation(store, &key);
    });
    if random.below(3) == 0 {
        server.command(["pause", target]).run_async().await;
        server.sim.store(|store| observe_generation(store, &key));
    }
    let states: Arc<Mutex<ObservedStates>> = Arc::default();
    let others = Arc::new(Mutex::new(object(&server.sim, &key)));
    for _ in 0..=random.below(3) {
        let (at, writer, mark, key) = (random.below(6), random.below(7), random.below(1000), key.clone());
        let others = Arc::clone(&others);
        let act = FaultAction::write_before(move |store| {
            store
                .edit(&key, Part::Object, &Author::new("colleague"), |object| {
                    apply_change(object, writer, mark);
                })
                .unwrap();
            observe_generation(store, &key);
            *others.lock().unwrap() = Value::clone(store.get(&key).unwrap());
        });
        server.sim.fault(Fault::on(Requests::any(), act).after(usize::try_from(at).unwrap()).once());
    }
    let resource = key.resource;
    let (reads, patches, read_key, patch_key) =
        (Arc::clone(&states), Arc::clone(&states), key.clone(), key.clone());
    server.sim.fault(Fault::on(
        Requests::of(Verb::Get, resource),
        FaultAction::write_before(move |store| {
            reads.lock().unwrap().read = store.get(&read_key).map(|object| Value::clone(object));
        }),
    ));
    server.sim.fault(Fault::on(
        Requests::of(Verb::Patch, resource),
        FaultAction::write_before(move |store| {
            let mut states = patches.lock().unwrap();
            let read = states.read.clone();
            states.patched.push((read, Value::clone(store.get(&patch_key).unwrap())));
        }),
    ));
    let output = server.command(command.iter().copied().chain([target])).run_async().await;
    server.sim.clear_faults();
    let after = object(&server.sim, &key);
    let states = states.lock().unwrap();
    let context = format!("seed {seed}: {command:?} {target}: {output:?}");
    let applied = output.exit == 0 && !states.patched.is_empty();
    if applied {
        let (read, written) = states.patched.last().unwrap();
        assert_eq!(
            precondition_fields(read.as_ref().unwrap(), command[0]),
            precondition_fields(written, command[0]),
            "a lost update: {context}"
        );
        let last = others.lock().unwrap();
        let changed_later =
            last["metadata"]["resourceVersion"] != written["metadata"]["resourceVersion"] && *last == after;
        let expected = if changed_later { &*last } else { written };
        assert_eq!(after["spec"]["replicas"], expected["spec"]["replicas"], "{context}");
        assert_eq!(
            after["metadata"]["annotations"].get("other"),
            expected["metadata"]["annotations"].get("other"),
            "{context}"
        );
    } else {
        assert_eq!(
            after,
            *others.lock().unwrap(),
            "the object changed although the command reported no change: {context}"
        );
    }
    if output.exit != 0 {
        let reasons = ["nothing was written", "is paused", "keeps changing"];
        assert!(reasons.iter().any(|reason| output.stderr.contains(reason)), "{context}");
        assert_eq!(output.stdout, "", "{context}");
    }
    let outcome = if applied {
        "applied"
    } else if output.exit == 0 {
        "unchanged"
    } else {
        "refused"
    };
    (output, after, outcome.to_owned())
}

/// Sets the observed generation as the controller does, so that commands do not wait.
fn observe_generation(store: &mut simcluster::Store, key: &Key) {
    store
        .edit(key, Part::Status, &Author::new("controller"), |object| {
            object["status"]["observedGeneration"] = object["metadata"]["generation"].clone();
        })
        .unwrap();
}

/// The recorded shop and its targets.
fn recorded_shop() -> (Cluster, Vec<Target>) {
    (Cluster::recorded("shop").start(), vec![("deployment/web", web()), ("statefulset/db", db())])
}

/// The kinds of OpenKruise.
fn kruise_shop() -> (Cluster, Vec<Target>) {
    let typed = ["cloneset/web", "asts/db", "ads/agent"];
    let keys = harness::kruise::WORKLOADS.map(|(resource, name)| Key::new(resource, "shop", name));
    (Cluster::built(harness::kruise::shop()).start(), typed.into_iter().zip(keys).collect())
}

async fn run_seeds(
    (server, targets): (Cluster, Vec<Target>),
    seeds: std::ops::Range<u64>,
) -> (usize, usize, usize) {
    let initial: Vec<_> = targets.iter().map(|(_, key)| (key.clone(), object(&server.sim, key))).collect();
    let mut outcomes = Vec::new();
    for seed in seeds {
        server.sim.store(|store| {
            for (key, object) in &initial {
                store.restore(key.resource, object.clone());
            }
        });
        outcomes.push(run_one(&server, &targets, seed).await.2);
        server.sim.forget_requests();
    }
    let count = |word: &str| outcomes.iter().filter(|outcome| *outcome == word).count();
    (count("applied"), count("refused"), count("unchanged"))
}

/// Runs half of the seeds, so that two processors share them.
async fn run_half(seeds: std::ops::Range<u64>) {
    let (applied, refused, unchanged) = run_seeds(recorded_shop(), seeds).await;
    assert!(
        applied > 30 && refused > 15,
        "the seeds cover too few outcomes: {applied} applied, {refused} refused, {unchanged} unchanged"
    );
}

#[tokio::test]
async fn no_update_is_lost_among_concurrent_writers() {
    run_half(1..SEEDS / 2 + 1).await;
}

#[tokio::test]
async fn no_update_is_lost_among_other_concurrent_writers() {
    run_half(SEEDS / 2 + 1..SEEDS + 1).await;
}

#[tokio::test]
async fn no_update_of_open_kruise_is_lost_among_concurrent_writers() {
    let (applied, refused, unchanged) = run_seeds(kruise_shop(), 1..151).await;
    assert!(
        applied > 40 && refused > 15 && unchanged > 5,
        "the seeds cover too few outcomes: {applied} applied, {refused} refused, {unchanged} unchanged"
    );
}

/// Run once in release: `cargo test --release --test all -- --ignored writes::interleavings --nocapture`.
#[tokio::test]
#[ignore = "ten thousand seeds take minutes"]
async fn no_update_is_lost_in_ten_thousand_interleavings() {
    let (applied, refused, unchanged) = run_seeds(recorded_shop(), 1..10_001).await;
    assert!(
        applied + refused + unchanged == 10_000,
        "{applied} applied, {refused} refused, {unchanged} unchanged"
    );
    assert!(
        applied > 2_000 && refused > 1_000,
        "{applied} applied, {refused} refused, {unchanged} unchanged"
    );
}
