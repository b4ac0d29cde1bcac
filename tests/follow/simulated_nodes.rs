//! The simulated kubelet goes through the states that real kubelets were recorded with (`tests/data/node`).

use harness::lab::Lab;
use harness::replay::Replay;
use serde_json::json;
use simcluster::SimCluster;
use simcluster::resource::PODS;

/// The states of the container of each pod with an image, without repetitions: state, reason, restarts, readiness.
fn states(cluster: &SimCluster, image: &str) -> Vec<Vec<String>> {
    let mut pods: Vec<(String, Vec<String>)> = Vec::new();
    cluster.store(|store| {
        for change in store.changes_after(0).unwrap().filter(|change| change.key.resource == &PODS) {
            let Some(pod) = &change.after else { continue };
            let container = &pod["status"]["containerStatuses"][0];
            if pod["spec"]["containers"][0]["image"] != image || container.is_null() {
                continue;
            }
            let (state, facts) = container["state"].as_object().unwrap().iter().next().unwrap();
            let reason = facts["reason"].as_str().unwrap_or_default();
            let state = format!("{state} {reason} {} {}", container["restartCount"], container["ready"]);
            match pods.iter_mut().find(|(name, _)| *name == change.key.name) {
                Some((_, states)) if states.last() == Some(&state) => {}
                Some((_, states)) => states.push(state),
                None => pods.push((change.key.name.clone(), vec![state])),
            }
        }
    });
    pods.into_iter().map(|(_, states)| states).collect()
}

async fn simulated(image: &str) -> Vec<Vec<String>> {
    let lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    lab.pass(10).await;
    lab.hands().image(&web, image);
    lab.pass(120).await;
    states(&lab.cluster, image)
}

/// The states of the recorded pods up to the fourth run.
async fn recorded() -> Vec<Vec<String>> {
    let replay = Replay::of("crash");
    replay.at(54.0).await;
    states(&replay.cluster, "app:3-crash")
}

const STATES: [&str; 9] = [
    "waiting ContainerCreating 0 false",
    "running  0 true",
    "terminated Error 0 false",
    "running  1 true",
    "terminated Error 1 false",
    "waiting CrashLoopBackOff 1 false",
    "running  2 true",
    "terminated Error 2 false",
    "waiting CrashLoopBackOff 2 false",
];

#[tokio::test(start_paused = true)]
async fn a_crash_loop_has_the_recorded_states() {
    let (recorded, simulated) = (recorded().await, simulated("app:3-crashlate").await);
    assert_eq!(recorded.len(), 2);
    for states in recorded.iter().chain(&simulated) {
        assert_eq!(states[..STATES.len()], STATES, "{states:?}");
    }
}

/// The kubelet does not see that such a container runs.
#[tokio::test(start_paused = true)]
async fn a_container_that_ends_at_once_has_the_same_states_but_for_its_runs() {
    let runs_or_first = |state: &&&str| state.starts_with("running") || **state == STATES[2];
    let expected: Vec<&str> = STATES.iter().filter(|state| !runs_or_first(state)).copied().collect();
    for states in simulated("app:3-crash").await {
        assert_eq!(states[..expected.len()], expected, "{states:?}");
    }
}

/// A container without a readiness probe is available while it runs, so kubectl reports success before each crash.
#[tokio::test(start_paused = true)]
async fn a_simulated_container_that_crashes_late_fails_fast() {
    let lab = Lab::new();
    let web = lab.deployment(2, &json!({}));
    lab.pass(30).await;
    lab.hands().image(&web, "app:3-crashlate");
    lab.pass(17).await; // after the first crash
    let ended = lab.status("deployment/web --fail-fast --timeout 10m").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    assert!(ended.stderr.contains("deployment.apps/web failed: crash-loop for 30s"), "{}", ended.transcript);
    assert!(!ended.stdout.contains("successfully rolled out"), "{}", ended.transcript);
    let words = ["unable to retrieve", "panic: DB_URL is not set"].map(|words| ended.stderr.contains(words));
    assert_eq!(words, [false, true], "{}", ended.transcript);
}
