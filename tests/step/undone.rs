//! `undo` in a second terminal, while `step` runs in the first.

use harness::prelude::*;

/// Returns a cluster with a workload of six pods that was paused and then changed, and its name.
async fn changed(kind: &str) -> (Cluster, String) {
    let cluster = Cluster::simulated().nodes(6).start();
    let key = match kind {
        "deployment" => cluster.deployment(6, &json!({})),
        "statefulset" => cluster.stateful_set(6, &json!({})),
        _ => cluster.daemon_set(&json!({})),
    };
    cluster.advance(120).await;
    let name = format!("{kind}/{}", key.name);
    cluster.run(&format!("pause {name}")).await.ends(0);
    cluster.editor().set_image(&key, "app:2.0");
    cluster.advance(10).await;
    (cluster, name)
}

/// Runs `step`, and `undo` 40 seconds later. Returns the output of `step`.
async fn undone(cluster: &Cluster, name: &str, more: &[&str], screen: Option<(u16, u16)>) -> Output {
    let undo = async {
        tokio::time::sleep(Duration::from_secs(40)).await;
        cluster.run(&format!("undo {name}")).await
    };
    let run = cluster.command(["step", name, "--all", "--by", "2", "--soak", "2m"]).args(more);
    let run = screen.into_iter().fold(run, |run, (width, height)| run.terminal(width, height));
    let stepped = run.run_async();
    let (stepped, undone) = tokio::join!(stepped, undo);
    assert_eq!((stepped.exit, undone.exit), (5, 0), "{}\n{}", stepped.transcript, undone.transcript);
    stepped
}

#[tokio::test(start_paused = true)]
async fn an_undo_by_another_client_is_reported_in_one_sentence() {
    for kind in ["deployment", "statefulset", "daemonset"] {
        let (cluster, name) = changed(kind).await;
        let stepped = Box::pin(undone(&cluster, &name, &[], None)).await;
        let (last, hint) = (
            format!(
                "stopped: {name} was rolled back to revision 3 by kubectl-rollout2; the rollback \
                 continues in the cluster\n"
            ),
            format!("hint: kubectl rollout2 status {name} -n default\n"),
        );
        stepped.reports_last(&format!("{last}{hint}"));
        assert!(!stepped.stderr.contains("undo") && !stepped.stderr.contains("->"), "{}", stepped.transcript);
        assert!(!stepped.stderr.contains("cluster created"), "{}", stepped.transcript);
    }
}

/// The command that takes it back would release the failed revision to all pods, because the hold has ended.
#[tokio::test(start_paused = true)]
async fn an_undo_that_ends_a_hold_names_no_command_that_takes_it_back() {
    for kind in ["deployment", "statefulset", "daemonset"] {
        for steps in [true, false] {
            let (cluster, name) = changed(kind).await;
            if steps {
                cluster.run(&format!("step {name} --soak 0s")).await.ends(0);
            }
            let resume = if kind == "deployment" && !steps { " --resume" } else { "" };
            let output = cluster.run(&format!("undo {name}{resume}")).await;
            output.ends(0);
            assert!(!output.stderr.contains("to take this back"), "{}", output.transcript);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_frame_shows_the_rollback() {
    for kind in ["deployment", "statefulset", "daemonset"] {
        let (cluster, name) = changed(kind).await;
        let stepped = Box::pin(undone(&cluster, &name, &[], Some((80, 24)))).await;
        let mut terminal = avt::Terminal::with_scrollback(80, 24, None).unwrap();
        terminal.feed(stepped.transcript.replace('\n', "\r\n").as_str());
        let lines = terminal.screen().text();
        let lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
        insta::assert_snapshot!(format!("{kind}"), lines.join("\n").trim_end());
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_event_has_the_revision() {
    let (cluster, name) = changed("deployment").await;
    let stepped = Box::pin(undone(&cluster, &name, &["-o", "json"], None)).await;
    let last: Value = serde_json::from_str(stepped.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["outcome"], &last["reason"], &last["manager"], &last["rolledBackTo"]),
        (&json!("stopped"), &json!("changed"), &json!("kubectl-rollout2"), &json!(3)),
        "{last}"
    );
}
