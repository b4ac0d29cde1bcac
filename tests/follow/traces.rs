//! The traces of reference section 9 on the simulated cluster: kubectl's lines in kubectl's order,
//! and the same outcome.

use harness::Ended;
use serde_json::json;
use simcluster::Key;

use harness::lab::Lab;

/// Compares a run with what kubectl would have printed since a resource version.
fn same_as_kubectl(lab: &Lab, key: &Key, after: u64, ended: &Ended) {
    let ours: Vec<_> = ended.stdout.lines().collect();
    assert_eq!(ours, lab.kubectls_lines(key, after), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_deployment_rolls_forward() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    let from = lab.revision();
    lab.image_when_followed(&web, "app:2.0");
    let ended = lab.status("deployment/web").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    same_as_kubectl(&lab, &web, from, &ended);
    assert_eq!(
        ended.stdout.lines().collect::<Vec<_>>(),
        [
            "Waiting for deployment spec update to be observed...",
            "Waiting for deployment \"web\" rollout to finish: 0 out of 3 new replicas have been updated...",
            "Waiting for deployment \"web\" rollout to finish: 1 out of 3 new replicas have been updated...",
            "Waiting for deployment \"web\" rollout to finish: 2 out of 3 new replicas have been updated...",
            "Waiting for deployment \"web\" rollout to finish: 1 old replicas are pending termination...",
            "deployment \"web\" successfully rolled out",
        ]
    );
    assert_eq!(ended.stderr, "");
}

#[tokio::test(start_paused = true)]
async fn a_bad_image_exceeds_the_deadline_and_its_cause_is_reported() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({"progressDeadlineSeconds": 5}));
    lab.pass(30).await;
    lab.hands().image(&web, "app:2.0-bad");
    let ended = lab.status("deployment/web").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    assert!(ended.stderr.contains("app: ImagePullBackOff, no image app:2.0-bad"), "{}", ended.transcript);
    assert!(
        ended.stderr.contains(
            "error: deployment \"web\" exceeded its progress deadline (progressDeadlineSeconds: 5)"
        ),
        "{}",
        ended.transcript
    );
}

/// Weakness 1: with one replica the condition of the failed revision remains after the undo was
/// observed.
#[tokio::test(start_paused = true)]
async fn a_stale_deadline_condition_after_an_undo_is_ignored() {
    for replicas in [1, 3] {
        let lab = Lab::new();
        let web = lab.deployment(replicas, &json!({"progressDeadlineSeconds": 5}));
        lab.pass(30).await;
        lab.hands().image(&web, "app:2.0-bad");
        lab.pass(30).await;
        lab.hands().image(&web, "app:1.0");
        let from = lab.revision();
        let ended = lab.status("deployment/web").await;
        assert_eq!(ended.exit, 0, "{}", ended.transcript);
        let theirs = lab.kubectls_lines(&web, from);
        let is_fooled = theirs.iter().any(|line| line.starts_with("error: "));
        assert_eq!(is_fooled, replicas == 1, "{theirs:?}");
        assert_eq!(ended.stdout.lines().last(), Some("deployment \"web\" successfully rolled out"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_held_and_a_resume_continues() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    lab.hands().patch(&web, &json!({"spec": {"paused": true}}));
    lab.hands().image(&web, "app:2.0");
    let ended = lab.status("deployment/web").await;
    assert_eq!(ended.exit, 5, "{}", ended.transcript);
    assert!(ended.stderr.contains("paused, until"), "{}", ended.transcript);
    let from = lab.revision();
    lab.later(60_000, move |hands| hands.patch(&web, &json!({"spec": {"paused": false}})));
    let ended = lab.status("deployment/web --wait-held").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    let web = Key::new(&simcluster::resource::DEPLOYMENTS, "default", "web");
    let ours: Vec<_> = ended.stdout.lines().skip(1).collect(); // the first line is that of the pause
    assert_eq!(ours, lab.kubectls_lines(&web, from), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_canary_lowers_the_partition() {
    let lab = Lab::new();
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
    let db = lab.stateful_set(3, &json!({"updateStrategy": strategy}));
    lab.pass(30).await;
    lab.hands().image(&db, "app:2.0");
    lab.pass(30).await;
    for (partition, until_complete) in [(2, 5), (1, 5), (0, 0)] {
        let from = lab.revision();
        let strategy = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": partition}}}});
        lab.patch_when_followed(&db, &strategy);
        let ended = lab.status("statefulset/db").await;
        assert_eq!(ended.exit, 0, "{}", ended.transcript);
        same_as_kubectl(&lab, &db, from, &ended);
        let last = format!("partitioned roll out complete: {} new pods have been updated...", 3 - partition);
        assert_eq!(ended.stdout.lines().last(), Some(last.as_str()));
        assert_eq!(lab.status("statefulset/db --until complete").await.exit, until_complete);
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_pod_blocks_the_rollback_of_a_stateful_set() {
    let lab = Lab::new();
    let db = lab.stateful_set(3, &json!({}));
    lab.pass(30).await;
    lab.hands().image(&db, "app:2.0-bad");
    lab.pass(30).await;
    lab.hands().image(&db, "app:1.0");
    let ended = lab.status("statefulset/db --timeout 2m").await;
    assert_eq!(ended.exit, 3, "{}", ended.transcript);
    assert!(
        ended
            .stderr
            .contains("; the pod runs revision 2 and blocks the rollout until it is ready or deleted"),
        "{}",
        ended.transcript
    );
    assert!(ended.stderr.contains("timed out waiting for the condition"), "{}", ended.transcript);
    let pod = Key::new(&simcluster::resource::PODS, "default", "db-2");
    lab.later(1_000, move |hands| hands.delete(&pod));
    let ended = lab.status("statefulset/db --timeout 2m").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_updates_node_by_node() {
    let lab = Lab::new();
    let agent = lab.daemon_set(&json!({}));
    lab.pass(30).await;
    let from = lab.revision();
    lab.image_when_followed(&agent, "app:2.0");
    let ended = lab.status("daemonset/agent").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    same_as_kubectl(&lab, &agent, from, &ended);
}

#[tokio::test(start_paused = true)]
async fn recreate_deletes_the_old_pods_first() {
    let lab = Lab::new();
    let web = lab.deployment(2, &json!({"strategy": {"type": "Recreate"}}));
    lab.pass(30).await;
    let from = lab.revision();
    lab.image_when_followed(&web, "app:2.0");
    let ended = lab.status("deployment/web").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    same_as_kubectl(&lab, &web, from, &ended);
}

#[tokio::test(start_paused = true)]
async fn compat_prints_a_line_for_every_event() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(30).await;
    let from = lab.revision();
    lab.image_when_followed(&web, "app:2.0");
    let ended = lab.status("deployment/web --compat").await;
    assert_eq!((ended.exit, ended.stderr.as_str()), (0, ""), "{}", ended.transcript);
    let mut ours: Vec<_> = ended.stdout.lines().collect();
    let events = ours.len();
    ours.dedup();
    assert!(events > ours.len(), "{}", ended.transcript);
    assert_eq!(ours, lab.kubectls_lines(&web, from));
}
