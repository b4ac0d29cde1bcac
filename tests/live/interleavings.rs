//! Commands with concurrent writers: a change applies to exactly the state that was read, or not at
//! all, and no change of another client is lost.

use std::sync::{Arc, Mutex};

use harness::Ended;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::rules::{Author, Part};
use simcluster::{Key, Verb};

use crate::changes::{db, object, web};
use crate::setup::Ground;

const SEEDS: u64 = 300;

/// A seeded random number generator.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}

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

/// One change of a concurrent writer.
fn write(object: &mut Value, writer: u64, mark: u64) {
    match writer {
        0 => {
            object["spec"]["template"]["spec"]["containers"][0]["image"] = format!("colleague:{mark}").into();
        }
        1 => object["metadata"]["annotations"]["kubernetes.io/change-cause"] = format!("cause {mark}").into(),
        2 => object["metadata"]["annotations"]["other"] = mark.to_string().into(),
        3 => object["spec"]["replicas"] = (mark % 9).into(),
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

/// Returns the fields that the change overwrites or tests.
fn relied_on(object: &Value, command: &str) -> Vec<Value> {
    let annotation = |name: &str| object["metadata"]["annotations"].get(name).cloned().unwrap_or_default();
    let mut values =
        vec![object["metadata"]["uid"].clone(), object["spec"].get("paused").cloned().unwrap_or_default()];
    if object["kind"] != "Deployment" {
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

/// The states that a run read and wrote to.
#[derive(Default)]
struct Seen {
    /// The object as last read.
    read: Option<Value>,
    /// For each patch, the object as read and as it was when the patch arrived.
    patched_over: Vec<(Option<Value>, Value)>,
}

async fn run_one(ground: &Ground, seed: u64) -> (Ended, Value, String) {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (target, key) = chance.of(&[("deployment/web", 0), ("statefulset/db", 1)]);
    let key: Key = if key == 0 { web() } else { db() };
    let command = chance.of(&COMMANDS);
    ground.cluster.clear_faults();
    ground.cluster.store(|store| {
        store
            .edit(&key, Part::Object, &Author::new("before"), |object| {
                for mark in 0..chance.below(3) {
                    write(object, 3 + chance.below(3), mark);
                }
            })
            .unwrap();
        settle(store, &key);
    });
    if chance.below(3) == 0 {
        ground.run(["pause", target]).run_here().await;
        ground.cluster.store(|store| settle(store, &key));
    }
    let states: Arc<Mutex<Seen>> = Arc::default();
    let others = Arc::new(Mutex::new(object(&ground.cluster, &key)));
    for _ in 0..=chance.below(3) {
        let (at, writer, mark, key) = (chance.below(6), chance.below(7), chance.below(1000), key.clone());
        let others = Arc::clone(&others);
        let act = FaultAction::write_before(move |store| {
            store
                .edit(&key, Part::Object, &Author::new("colleague"), |object| write(object, writer, mark))
                .unwrap();
            settle(store, &key);
            *others.lock().unwrap() = Value::clone(store.get(&key).unwrap());
        });
        ground.cluster.fault(Fault::on(Requests::any(), act).after(usize::try_from(at).unwrap()).once());
    }
    let resource = key.resource;
    let (reads, patches, read_key, patch_key) =
        (Arc::clone(&states), Arc::clone(&states), key.clone(), key.clone());
    ground.cluster.fault(Fault::on(
        Requests::of(Verb::Get, resource),
        FaultAction::write_before(move |store| {
            reads.lock().unwrap().read = store.get(&read_key).map(|object| Value::clone(object));
        }),
    ));
    ground.cluster.fault(Fault::on(
        Requests::of(Verb::Patch, resource),
        FaultAction::write_before(move |store| {
            let mut states = patches.lock().unwrap();
            let read = states.read.clone();
            states.patched_over.push((read, Value::clone(store.get(&patch_key).unwrap())));
        }),
    ));
    let ended = ground.run(command.iter().copied().chain([target])).run_here().await;
    ground.cluster.clear_faults();
    let after = object(&ground.cluster, &key);
    let states = states.lock().unwrap();
    let what = format!("seed {seed}: {command:?} {target}: {ended:?}");
    let made = ended.exit == 0 && !states.patched_over.is_empty();
    if made {
        let (read, met) = states.patched_over.last().unwrap();
        assert_eq!(
            relied_on(read.as_ref().unwrap(), command[0]),
            relied_on(met, command[0]),
            "a lost update: {what}"
        );
        let last = others.lock().unwrap();
        let came_after =
            last["metadata"]["resourceVersion"] != met["metadata"]["resourceVersion"] && *last == after;
        let met = if came_after { &*last } else { met };
        assert_eq!(after["spec"]["replicas"], met["spec"]["replicas"], "{what}");
        assert_eq!(
            after["metadata"]["annotations"].get("other"),
            met["metadata"]["annotations"].get("other"),
            "{what}"
        );
    } else {
        assert_eq!(after, *others.lock().unwrap(), "written and not said: {what}");
    }
    if ended.exit != 0 {
        let honest = ["nothing was written", "is paused", "keeps changing"];
        assert!(honest.iter().any(|words| ended.stderr.contains(words)), "{what}");
        assert_eq!(ended.stdout, "", "{what}");
    }
    let outcome = if made {
        "made"
    } else if ended.exit == 0 {
        "nothing to do"
    } else {
        "refused"
    };
    (ended, after, outcome.to_owned())
}

/// The controller observes every change at once, so commands do not wait.
fn settle(store: &mut simcluster::Store, key: &Key) {
    store
        .edit(key, Part::Status, &Author::new("controller"), |object| {
            object["status"]["observedGeneration"] = object["metadata"]["generation"].clone();
        })
        .unwrap();
}

async fn run_seeds(seeds: std::ops::Range<u64>) -> (usize, usize, usize) {
    let ground = Ground::of("shop");
    let initial = [web(), db()].map(|key| (key.clone(), object(&ground.cluster, &key)));
    let mut outcomes = Vec::new();
    for seed in seeds {
        ground.cluster.store(|store| {
            for (key, object) in &initial {
                store.restore(key.resource, object.clone());
            }
        });
        outcomes.push(run_one(&ground, seed).await.2);
        ground.cluster.forget_requests();
    }
    let count = |word: &str| outcomes.iter().filter(|outcome| *outcome == word).count();
    (count("made"), count("refused"), count("nothing to do"))
}

#[tokio::test]
async fn no_update_is_lost_among_concurrent_writers() {
    let (made, refused, nothing) = run_seeds(1..SEEDS + 1).await;
    assert_eq!(made + refused + nothing, usize::try_from(SEEDS).unwrap());
    assert!(
        made > 60 && refused > 30,
        "the seeds are not telling: {made} made, {refused} refused, {nothing} with nothing to do"
    );
}

/// Run once in release: `cargo test --release --test live -- --ignored interleavings --nocapture`.
#[tokio::test]
#[ignore = "ten thousand seeds take minutes"]
async fn no_update_is_lost_in_ten_thousand_interleavings() {
    let (made, refused, nothing) = run_seeds(1..10_001).await;
    assert!(
        made + refused + nothing == 10_000,
        "{made} made, {refused} refused, {nothing} with nothing to do"
    );
    assert!(made > 2_000 && refused > 1_000, "{made} made, {refused} refused, {nothing} with nothing to do");
}
