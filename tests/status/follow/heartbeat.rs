//! `--heartbeat`: a sign of life where nothing is printed for long.

use harness::prelude::*;

fn signs(output: &Output) -> usize {
    output.stderr.lines().filter(|line| line.starts_with("note: still waiting: ")).count()
}

#[tokio::test(start_paused = true)]
async fn a_silent_rollout_shows_signs_of_life_without_a_terminal() {
    for (flags, expected) in [
        ("", 4), // after 60 s, and each minute until the timeout
        ("--heartbeat 30s", 9),
        ("--heartbeat 0", 0),
        ("--heartbeat 10m", 0),
        ("-o json", 4),
    ] {
        let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
        cluster.editor().set_image(&web, "app:2.0-bad");
        let output = cluster.status(&format!("deployment/web --timeout 5m {flags}")).await;
        output.ends(3);
        assert_eq!(signs(&output), expected, "{flags}\n{}", output.transcript);
        let line = "note: still waiting: deployment/web: stuck for ";
        assert_eq!(output.stderr.contains(line), expected > 0, "{flags}\n{}", output.transcript);
        let rest = "1/2 updated, 2/2 available; app: ImagePullBackOff, no image app:2.0-bad\n";
        assert_eq!(output.stderr.contains(rest), expected > 0, "{flags}\n{}", output.transcript);
    }
    let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    let args = ["status", "deployment/web", "--timeout", "5m", "--plain"];
    let output = cluster.command(args).terminal(100, 30).run_async().await;
    assert_eq!(signs(&output), 0, "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_creation_shows_signs_of_life() {
    let cluster = Cluster::simulated().start();
    let output = cluster.status("deployment/web --wait-for-creation 5m").await;
    let notes = output.stderr.matches("no deployment \"web\" in namespace \"default\" yet").count();
    assert_eq!((output.exit, notes), (1, 5), "{}", output.transcript);
}
