//! Reads of one sort that the server refuses while the watches work: the command continues without them or ends.

use harness::prelude::*;
use tokio::time::Instant;

const ALL: [&str; 4] = ["deployments", "replicasets", "pods", "events"];

/// Returns a cluster whose Deployment `web` does not progress, with a user who may list and watch but not get.
async fn stuck_rollout() -> Cluster {
    let cluster = Cluster::simulated().start();
    let rules = vec![Rule::allow(&["list", "watch"], &ALL)];
    cluster.sim.users(|users| users.add(User::limited("gina", rules)));
    let web = cluster.deployment(3, &json!({"progressDeadlineSeconds": 30}));
    cluster.advance(30).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster
}

/// Refuses every `get` of a Deployment after the first few seconds.
fn refuse_gets(cluster: &Cluster, code: u16) {
    cluster.later(2_000, move |editor| {
        let refusal = Refusal::with_status(code, "no such right");
        editor.sim.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), FaultAction::Refuse(refusal)));
    });
}

fn notes(output: &Output) -> Vec<&str> {
    output.stderr.lines().filter(|line| line.starts_with("note: ")).collect()
}

#[tokio::test(start_paused = true)]
async fn without_permission_to_get_a_refresh_lists() {
    for (args, before) in [
        ("status deployment -l app=web --timeout 2m", 90),
        ("status deployment -l app=web --fail-fast=3s", 0),
        ("status deployment -l app=web --timeout 8s", 90),
    ] {
        let cluster = stuck_rollout().await;
        cluster.advance(before).await;
        cluster.editor().patch(
            &harness::cluster::key(&DEPLOYMENTS, "web"),
            &json!({"metadata": {"labels": {"app": "web"}}}),
        );
        let begun = Instant::now();
        let output = cluster.run_as("gina", args).await;
        assert_eq!(output.exit, 4, "{args}: {}", output.transcript);
        assert!(begun.elapsed() < Duration::from_secs(8), "{args}: {:?}", begun.elapsed());
        assert_eq!(notes(&output).len(), 0, "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_lasts_is_an_error_of_the_target() {
    for code in [401, 403] {
        let cluster = stuck_rollout().await;
        refuse_gets(&cluster, code);
        cluster.later(2_000, move |editor| {
            let refusal = Refusal::with_status(code, "no such right");
            let lists = Requests::of(Verb::List, &DEPLOYMENTS);
            editor.sim.fault(Fault::on(lists, FaultAction::Refuse(refusal)));
        });
        let begun = Instant::now();
        let output = cluster.status("deployment/web --fail-fast=3s").await;
        output.ends(1);
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        let notes = notes(&output);
        assert_eq!(notes.len(), 1, "{}", output.transcript);
        let reason =
            if code == 401 { "in-process:80 does not accept the credentials" } else { "forbidden: " };
        assert!(notes[0].starts_with(&format!("note: cannot read deployments: {reason}")), "{}", notes[0]);
        output.reports("error: deployment/web: ");
    }
}

/// A watch of the pods ends after 30 s, so that the next one is refused for longer than a right is waited for.
#[tokio::test(start_paused = true)]
async fn pods_are_read_again_once_the_credentials_are_accepted_again() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-notready");
    cluster.later(2_000, |editor| {
        let refusal = Refusal::with_status(401, "Unauthorized");
        editor.sim.fault(Fault::on(Requests::on(&PODS), FaultAction::Refuse(refusal)));
    });
    cluster.later(90_000, |editor| editor.sim.clear_faults());
    cluster.later(100_000, move |editor| editor.set_image(&web, "app:3.0-bad"));
    let output = cluster.status("deployment/web --fail-fast=10s --timeout 4m").await;
    output.ends(4).reports("image-not-found for 10s");
    assert!(!output.stderr.contains("causes are incomplete"), "{}", output.transcript);
}

/// Refused and reset reads were mentioned, and this one only after its limit of 30 s, once more.
#[tokio::test(start_paused = true)]
async fn a_server_that_accepts_and_does_not_answer_is_mentioned() {
    let cluster = stuck_rollout().await;
    cluster.later(5_000, |editor| editor.sim.fault(Fault::on(Requests::any(), FaultAction::Stall)));
    let output = cluster.status("deployment/web --timeout 65s").await;
    output.ends(3).reports("note: in-process:80: no answer for 4s; still waiting\n");
    let times = output.stderr.matches("no answer for 4s").count();
    assert!(times <= 2, "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_is_reported_once_and_when_it_works_again() {
    let cluster = stuck_rollout().await;
    refuse_gets(&cluster, 500);
    cluster.later(60_000, |editor| editor.sim.clear_faults());
    let output = cluster.status("deployment/web").await;
    output.ends(4);
    let notes = notes(&output);
    let failing = "note: cannot read deployments: in-process:80 returned 500 Internal Server Error: ";
    assert_eq!(notes.len(), 2, "{}", output.transcript);
    assert!(notes[0].starts_with(failing) && notes[0].ends_with("; trying again"), "{}", notes[0]);
    assert!(notes[1].starts_with("note: in-process:80: reads work again, after "), "{}", notes[1]);
}

/// A refresh has three requests, so that each would fail as a whole.
#[tokio::test(start_paused = true)]
async fn a_server_that_fails_every_third_request_delays_no_verdict() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.advance(60).await;
    for number in 0..200 {
        let refusal = FaultAction::Refuse(Refusal::with_status(500, "out of order"));
        cluster.sim.fault(Fault::on(Requests::any(), refusal).after(3 * number + 2).once());
    }
    let begun = Instant::now();
    let output = cluster.status("deployment/web --fail-fast=3s").await;
    cluster.sim.clear_faults();
    output.ends(4);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}\n{}", begun.elapsed(), output.transcript);
}

#[tokio::test(start_paused = true)]
async fn step_lists_when_it_may_no_longer_get() {
    let cluster = Cluster::simulated().start();
    let rights = |gets: bool| {
        let verbs: &[&str] =
            if gets { &["get", "list", "watch", "patch"] } else { &["list", "watch", "patch"] };
        User::limited("gina", vec![Rule::allow(verbs, &ALL)])
    };
    cluster.sim.users(|users| users.add(rights(true)));
    let web = cluster.deployment(3, &json!({}));
    cluster.advance(30).await;
    cluster.editor().patch(&web, &json!({"spec": {"paused": true}}));
    cluster.editor().set_image(&web, "app:2.0");
    cluster.later(4_000, move |editor| editor.sim.users(|users| users.add(rights(false))));
    cluster.run_as("gina", "step deployment/web --all --by 1 --soak 3s --timeout 10m").await.ends(0);
}

#[tokio::test(start_paused = true)]
async fn step_ends_when_its_reads_are_refused() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().patch(&web, &json!({"spec": {"paused": true}}));
    cluster.editor().set_image(&web, "app:2.0");
    refuse_gets(&cluster, 401);
    let begun = Instant::now();
    let output = cluster.run("step deployment/web --all --by 1 --soak 3s").await;
    output.ends(1);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_eq!(
        notes(&output)
            .iter()
            .filter(|note| note.contains("cannot read deployments: in-process:80 does not accept"))
            .count(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeout_says_since_when_the_server_does_not_answer() {
    let (cluster, web) = Cluster::simulated().deployment(4, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.later(2_000, |editor| editor.sim.fault(Fault::on(Requests::any(), FaultAction::LoseRequest)));
    let output = cluster.status("deployment/web --timeout 90s").await;
    output.ends(3);
    let error = "error: timed out waiting for the condition: deployment/web after 1m30s (--timeout); \
                 the server does not answer; known ";
    output.reports(error);
    let last = output.stderr.lines().rfind(|line| line.contains("available on revision")).unwrap_or_default();
    assert!(last.starts_with("  ") && last.contains(" ago: "), "{}", output.transcript);
}

/// The watches work, and no observation is complete.
#[tokio::test(start_paused = true)]
async fn a_read_that_keeps_failing_is_reported_every_minute() {
    let (cluster, _) = Cluster::simulated().deployment(2, &json!({})).await;
    let refusal = Refusal::with_status(500, "no pods");
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &PODS), FaultAction::Refuse(refusal)));
    let output = cluster.status("deployment/web --timeout 3m --heartbeat 0").await;
    output.ends(3);
    assert_eq!(notes(&output).len(), 3, "{}", output.transcript);
    assert!(
        notes(&output).iter().all(|note| note.starts_with("note: cannot read pods: ")),
        "{}",
        output.transcript
    );
}

/// A minute is awaited, and reported at once.
#[tokio::test(start_paused = true)]
async fn a_retry_after_of_hours_is_not_awaited() {
    let (cluster, _) = Cluster::simulated().deployment(2, &json!({})).await;
    let later = Refusal::with_status(429, "come back tomorrow").retry_after(86_400);
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &PODS), FaultAction::Refuse(later)).once());
    let begun = tokio::time::Instant::now();
    let output = cluster.status("deployment/web").await;
    assert_eq!(output.exit, 0, "{}", output.transcript);
    assert!(output.transcript.starts_with("note: cannot read pods: "), "{}", output.transcript);
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
}
