//! The commands in hints do what the hints say.

use harness::prelude::*;

use crate::step::setup::{changed, replicas_on, run_of};

/// Returns the hints in the order of the output.
fn hints(transcript: &str) -> Vec<&str> {
    transcript.lines().filter_map(|line| line.strip_prefix("hint: ")).collect()
}

async fn run_in_shell(cluster: &Cluster, args: &[&str]) -> harness::Output {
    let path = std::env::var("PATH").unwrap_or_default();
    run_of(cluster, args, &[("PATH", &path)]).await
}

#[tokio::test(start_paused = true)]
async fn a_plan_with_a_check_needs_it_again() {
    let (cluster, db) = changed(3, &json!({})).await;
    let output = run_in_shell(&cluster, &["step", "statefulset/db", "--check", "true"]).await;
    let step = "kubectl rollout2 step statefulset/db -n default --check true";
    let placeholder = "kubectl rollout2 step statefulset/db -n default --check COMMAND_OF_THE_PLAN";
    assert_eq!(hints(&output.transcript), [format!("the next batch: {step}; all of them: {step} --all")]);
    let status = cluster.run("status statefulset/db --watch=false").await;
    status.reports(&format!("after batch 1, until {placeholder}"));
    let failed =
        run_in_shell(&cluster, &["step", "statefulset/db", "--check", "true", "--timeout", "0.1s"]).await;
    let back = "to roll back: kubectl rollout2 undo statefulset/db -n default".to_owned();
    assert_eq!(
        hints(&failed.transcript),
        [format!("continue the plan: {step}"), back],
        "{}",
        failed.transcript
    );
    cluster.editor().set_image(&db, "app:3.0");
    let status = cluster.run("status statefulset/db --watch=false").await;
    status.reports(&format!("until {placeholder} --new-plan"));
}

#[tokio::test(start_paused = true)]
async fn another_template_needs_a_new_plan_and_another_strategy_does_not() {
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.run("step statefulset/db").await;
    cluster.editor().set_image(&db, "app:3.0");
    cluster.advance(5).await;
    let status = cluster.run("status statefulset/db --watch=false").await;
    let until = "after batch 1, until kubectl rollout2 step statefulset/db -n default --new-plan";
    status.reports(until);
    let output = cluster.run("step statefulset/db").await;
    output.ends(5);
    assert_eq!(
        hints(&output.transcript),
        [
            "to continue with it as it is now: kubectl rollout2 step statefulset/db -n default --new-plan",
            "to roll back: kubectl rollout2 undo statefulset/db -n default",
        ],
        "{}",
        output.transcript
    );
    cluster.run("step statefulset/db --new-plan --all").await.ends(0);
}

#[tokio::test(start_paused = true)]
async fn a_paused_plan_for_another_template_is_replaced_after_its_resume() {
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.run("step statefulset/db").await;
    cluster.run("pause statefulset/db").await;
    cluster.editor().set_image(&db, "app:3.0");
    let status = cluster.run("status statefulset/db --watch=false").await;
    let step = "kubectl rollout2 step statefulset/db -n default --new-plan";
    let until = format!("paused, until kubectl rollout2 resume statefulset/db -n default && {step}");
    status.reports(&until);
    let resumed = cluster.run("resume statefulset/db").await;
    assert_eq!(
        hints(&resumed.transcript),
        [format!("to replace the plan, which is for another template: {step}")]
    );
    let output = cluster.run("step statefulset/db --new-plan --all").await;
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:3.0")), (0, 3), "{}", output.transcript);
}

/// It printed only `not paused` and the first command.
#[tokio::test(start_paused = true)]
async fn resume_of_a_plan_that_is_not_paused_has_the_command_that_ends_it() {
    let (cluster, _) = changed(3, &json!({})).await;
    cluster.run("step statefulset/db").await;
    let resumed = cluster.run("resume statefulset/db").await;
    resumed.ends(0).reports("note: a plan of step holds statefulset/db, and it is not paused\n");
    let end = "kubectl rollout2 resume statefulset/db -n default --release-all";
    let [step, end] = [
        "to continue the plan: kubectl rollout2 step statefulset/db -n default".to_owned(),
        format!("to end it and update the other pods: {end}"),
    ];
    assert_eq!(hints(&resumed.transcript), [step, end]);
}

#[tokio::test(start_paused = true)]
async fn the_original_partition_is_reported_with_a_hint() {
    let spec = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}});
    let (cluster, db) = changed(3, &spec).await;
    let lower = "to update the pods that it keeps: kubectl patch statefulset/db -n default --type=merge \
                 -p '{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":0}}}}'";
    for (words, exit, message) in [
        (
            "--by 2 --no-canary",
            0,
            "every pod at or above its own partition 1 is updated, 1 pod below it stays outdated",
        ),
        ("--all", 5, "its own partition 1 keeps 1 pod outdated"),
        ("--to 100%", 5, "its own partition 1 keeps 1 pod outdated"),
    ] {
        let output = cluster.run(&format!("step statefulset/db {words}")).await;
        output.ends(exit);
        assert!(output.transcript.contains(message), "{}", output.transcript);
        assert_eq!(hints(&output.transcript), [lower], "{words}");
        assert_eq!(cluster.object(&db)["spec"]["updateStrategy"], spec["updateStrategy"]);
    }
    cluster.editor().patch(&db, &json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}}));
    cluster.advance(60).await;
    cluster.run("step statefulset/db --all").await.ends(0);
}

#[tokio::test(start_paused = true)]
async fn resume_removes_a_hold_that_another_client_ended() {
    let (cluster, db) = Cluster::simulated().stateful_set(2, &json!({})).await;
    cluster.run("pause statefulset/db").await;
    cluster.editor().patch(&db, &json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}}));
    cluster.advance(5).await;
    let output = cluster.run("step statefulset/db").await;
    let resume = "remove the annotation of the hold that another client ended: kubectl rollout2 resume statefulset/db -n default";
    assert_eq!((output.exit, hints(&output.transcript)), (0, vec![resume]), "{}", output.transcript);
    cluster.run("resume statefulset/db").await.ends(0);
    assert_eq!(cluster.object(&db)["metadata"]["annotations"]["kubectl-rollout2/held"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn undo_returns_to_the_revision_before_the_hold() {
    for args in ["", "step statefulset/db"] {
        let (cluster, db) = changed(3, &json!({})).await;
        cluster.editor().set_image(&db, "app:3.0");
        cluster.advance(5).await;
        if !args.is_empty() {
            cluster.run(args).await.ends(0);
            assert_eq!(replicas_on(&cluster, &db, "app:3.0"), 1);
        }
        let undone = cluster.run("undo statefulset/db --wait").await;
        undone.ends(0);
        assert_eq!(replicas_on(&cluster, &db, "app:1.0"), 3, "{args}: {}", undone.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_without_outdated_pods_is_ended_by_resume() {
    let (cluster, db) = Cluster::simulated().stateful_set(2, &json!({})).await;
    cluster.run("pause statefulset/db").await;
    let output = cluster.run("step statefulset/db").await;
    let hint = "hint: it stays held; to end the hold: kubectl rollout2 resume statefulset/db -n default\n";
    assert_eq!((output.exit, output.stderr.as_str()), (0, hint), "{}", output.transcript);
    cluster.run("resume statefulset/db").await.ends(0);
    assert_eq!(cluster.object(&db)["metadata"]["annotations"]["kubectl-rollout2/held"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_plan_without_outdated_pods_is_ended_by_release_all() {
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.run("step statefulset/db").await;
    cluster.editor().set_image(&db, "app:1.0");
    cluster.advance(60).await;
    cluster.run("step statefulset/db").await.ends(5);
    let output = cluster.run("step statefulset/db --new-plan").await;
    let resume = "kubectl rollout2 resume statefulset/db -n default --release-all";
    let hint = format!("hint: it stays held; to end the hold: {resume}\n");
    assert_eq!((output.exit, output.stderr.as_str()), (0, hint.as_str()), "{}", output.transcript);
    output.prints("there is nothing to step");
    cluster.run("resume statefulset/db --release-all").await.ends(0);
    let db = cluster.object(&db);
    assert_eq!(db["metadata"]["annotations"]["kubectl-rollout2/held"], Value::Null);
    assert_eq!(db["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_i64().unwrap_or_default(), 0);
}

/// `step` set the current partition, not the user.
#[tokio::test(start_paused = true)]
async fn the_reported_partition_is_the_one_before_the_hold() {
    let spec = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}});
    let (cluster, db) = Cluster::simulated().stateful_set(3, &spec).await;
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(60).await;
    cluster.run("pause statefulset/db").await;
    let output = cluster.run("step statefulset/db").await;
    output.ends(0).prints("no pod is outdated at or above its own partition 1");
    let below = "hint: to update the pods that it keeps: kubectl patch statefulset/db -n default --type=merge \
                 -p '{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":0}}}}'";
    let ends = "hint: it stays held; to end the hold: kubectl rollout2 resume statefulset/db -n default";
    assert_eq!(output.stderr.lines().collect::<Vec<_>>(), [below, ends], "{}", output.transcript);
}

/// Two commands for one plan: `list` left out the flag without which a plan that another process steps is refused.
#[tokio::test(start_paused = true)]
async fn list_and_status_have_the_command_that_takes_over_a_killed_plan() {
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.run("step statefulset/db").await.ends(0);
    let mut held: Value = serde_json::from_str(
        cluster.object(&db)["metadata"]["annotations"]["kubectl-rollout2/held"].as_str().unwrap(),
    )
    .unwrap();
    held["lock"] = json!({"holder": "another", "by": "ada@laptop"});
    let annotations = json!({"kubectl-rollout2/held": held.to_string()});
    cluster.editor().patch(&db, &json!({"metadata": {"annotations": annotations}}));
    cluster.advance(5).await;
    let step = "kubectl rollout2 step statefulset/db -n default --take-over";
    let status = cluster.run("status statefulset/db --watch=false").await;
    status.reports(&format!("stepped by ada@laptop; if that process has ended: {step}"));
    let list = cluster.command(["list", "--color", "never"]).terminal(160, 24).run_async().await;
    list.prints("step plan, after batch 1, stepped by ada@laptop: 1 of 3 updated");
    list.prints(step);
}

/// A plan whose first revision was deleted. An older one would replace pods that the plan has not touched.
#[tokio::test(start_paused = true)]
async fn a_plan_whose_first_revision_is_gone_is_rolled_back_to_no_other() {
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:1.5");
    cluster.advance(120).await;
    cluster.run("pause statefulset/db").await;
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(5).await;
    cluster.run("step statefulset/db").await.ends(0);
    let held = cluster.object(&db)["metadata"]["annotations"]["kubectl-rollout2/held"].clone();
    let from = serde_json::from_str::<Value>(held.as_str().unwrap()).unwrap()["plan"]["from"].clone();
    let from = from.as_str().unwrap();
    cluster.editor().delete(&Key::new(&CONTROLLERREVISIONS, "default", from));

    let undone = cluster.run("undo statefulset/db").await;
    let error = format!(
        "error: revision {from}, from which the plan of statefulset/db began, is not stored any more\n"
    );
    let choose = "hint: to choose a number: kubectl rollout2 history statefulset/db -n default\n";
    assert_eq!((undone.exit, undone.stderr), (1, error + choose));
    let args = ["step", "statefulset/db", "--check", "false", "--on-failure", "undo"];
    let failed = run_in_shell(&cluster, &args).await;
    failed.ends(4);
    let choose = "to roll back, choose one: kubectl rollout2 undo statefulset/db -n default --to NUMBER";
    assert_eq!(hints(&failed.transcript), [choose], "{}", failed.transcript);
    cluster.advance(60).await;
    assert_eq!((replicas_on(&cluster, &db, "app:1.5"), replicas_on(&cluster, &db, "app:1.0")), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_workload_that_is_being_deleted_is_not_stepped() {
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.editor().patch(&db, &json!({"metadata": {"finalizers": ["example.com/backup"]}}));
    cluster.editor().delete(&db);
    cluster.advance(5).await;
    let before = cluster.object(&db);
    for args in ["statefulset/db --all", "statefulset/db --dry-run"] {
        let output = cluster.run(&format!("step {args}")).await;
        output.ends(1);
        let message = "error: statefulset/db is being deleted, so its controller ignores changes; nothing was written\n";
        assert_eq!(output.transcript, message);
    }
    assert_eq!(cluster.object(&db), before);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_in_the_middle_stops_the_plan() {
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.editor().patch(&db, &json!({"metadata": {"finalizers": ["example.com/backup"]}}));
    let target = db.clone();
    cluster.later(30_000, move |editor| editor.delete(&target));
    let output = cluster.run("step statefulset/db --all --soak 5m").await;
    let message = "error: statefulset/db is being deleted, so its controller ignores changes; no more pods are released\n";
    assert_eq!((output.exit, output.stderr.ends_with(message)), (1, true), "{}", output.transcript);
    assert!(output.stdout.ends_with("batch 1: available, soaking 5m\n"), "{}", output.transcript);
}
