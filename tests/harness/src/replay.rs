//! Replays a recording of real nodes: objects, Events and logs, each at its recorded time.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]
#![expect(clippy::panic, reason = "a failed setup fails the test")]

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use simcluster::patch::Format;
use simcluster::resource::{DEPLOYMENTS, EVENTS, PODS, REPLICASETS};
use simcluster::{Clock, Finalization, Key, Resource, SimCluster};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::{Output, Run, data};

/// A simulated cluster that replays the states of a recorded one on tokio's clock. Create it on the runtime of
/// the test.
#[derive(Debug)]
pub struct Replay {
    /// The cluster.
    pub cluster: SimCluster,
    name: String,
    start: Timestamp,
    began: Instant,
    /// The time in the recording at which the change under test is in the cluster, in seconds.
    changed: f64,
    /// The length of the recording, in seconds.
    ends: f64,
    player: JoinHandle<()>,
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.player.abort();
    }
}

impl Replay {
    /// Starts to replay `tests/data/node/NAME.jsonl`.
    pub fn of(name: &str) -> Self {
        let text = std::fs::read_to_string(data().join("node").join(format!("{name}.jsonl"))).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let head = lines.next().unwrap();
        let start: Timestamp = head["start"].as_str().unwrap().parse().unwrap();
        let records: Vec<Value> = lines.collect();
        let is_change =
            |record: &&Value| record["patch"] == "Deployment" && record["by"].get("spec").is_some();
        let changed = seconds(records.iter().find(is_change).unwrap());
        let ends = head["end"].as_f64().unwrap();
        let builder = SimCluster::builder().without_managed_fields().namespace(name).history(100_000);
        let cluster = builder.clock(Clock::tokio(start)).finalization(Finalization::ByControllers).build();
        let began = Instant::now();
        let player = tokio::spawn(play(cluster.clone(), name.to_owned(), began, records));
        Self { cluster, name: name.to_owned(), start, began, changed, ends, player }
    }

    /// Waits until the change under test is in the cluster.
    pub async fn changed(&self) {
        self.at(self.changed).await;
    }

    /// Waits for a time of the recording, in seconds.
    pub async fn at(&self, seconds: f64) {
        sleep_until(self.began + Duration::from_secs_f64(seconds)).await;
        tokio::task::yield_now().await; // the player is woken at the same time
    }

    /// Returns how many seconds of the recording are left.
    pub fn remaining(&self) -> u64 {
        Duration::from_secs_f64(self.ends).saturating_sub(self.elapsed()).as_secs()
    }

    /// Returns how long the replay has run.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Runs `status deployment/web` with further arguments. Each line of the transcript starts with the time in
    /// the recording.
    pub async fn status(&self, args: &str) -> Output {
        let args = format!("status deployment/web -n {} --heartbeat 0 {args}", self.name);
        let client = kube::Client::new(self.cluster.service(), "default");
        let run = Run::of(args.split_whitespace()).at(self.start).timed(self.began);
        run.run_against(client).await
    }
}

async fn play(cluster: SimCluster, namespace: String, began: Instant, records: Vec<Value>) {
    let mut first = Vec::<Value>::new();
    for record in records {
        sleep_until(began + Duration::from_secs_f64(seconds(&record))).await;
        cluster.store(|store| {
            let text = |member: &str| record[member].as_str();
            if let Some(log) = record.get("log") {
                let pod = Key::new(&PODS, &namespace, log["pod"].as_str().unwrap());
                let Some(uid) =
                    store.get(&pod).map(|pod| pod["metadata"]["uid"].as_str().unwrap().to_owned())
                else {
                    return;
                };
                let lines = (log["code"] == 200)
                    .then(|| log["text"].as_str().unwrap().lines().map(str::to_owned).collect());
                let output = store.logs_mut().of_mut(&uid, log["container"].as_str().unwrap());
                let which = if log["previous"] == true { &mut output.previous } else { &mut output.current };
                *which = lines;
            } else if let Some(kind) = text("new") {
                let like = text("like")
                    .and_then(|like| first.iter().find(|value| value["metadata"]["name"] == like));
                let state = like.map_or_else(|| record["by"].clone(), |like| changed(like, &record["by"]));
                first.push(state.clone());
                store.replay(&Key::of(resource(kind), &state), Some(state));
            } else if let Some(kind) = text("patch") {
                let key = Key::new(resource(kind), &namespace, text("name").unwrap());
                let state = changed(store.get(&key).unwrap(), &record["by"]);
                store.replay(&key, Some(state));
            } else if let Some(kind) = text("gone") {
                store.replay(&Key::new(resource(kind), &namespace, text("name").unwrap()), None);
            }
        });
    }
}

fn changed(state: &Value, by: &Value) -> Value {
    Format::Merge.apply(state, by).unwrap()
}

fn seconds(record: &Value) -> f64 {
    record["t"].as_f64().unwrap()
}

fn resource(kind: &str) -> &'static Resource {
    match kind {
        "Deployment" => &DEPLOYMENTS,
        "ReplicaSet" => &REPLICASETS,
        "Pod" => &PODS,
        "Event" => &EVENTS,
        other => panic!("{other} is not recorded"),
    }
}
