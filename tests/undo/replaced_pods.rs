//! `--replace-stuck-pods`: its messages, and what an undo says of stuck pods without it.

use harness::prelude::*;

/// Returns a StatefulSet of four pods whose second revision cannot start.
async fn broken() -> Cluster {
    let (cluster, db) = Cluster::simulated().stateful_set(4, &json!({})).await;
    cluster.editor().set_image(&db, "app:2.0-bad");
    cluster.advance(120).await;
    assert_eq!(cluster.ready_pods(), "1.0 3/3, 2.0-bad 0/1");
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_stuck_pod_is_replaced_after_the_change() {
    let cluster = broken().await;
    let output = cluster.run("undo statefulset/db --replace-stuck-pods").await;
    output.ends(0);
    let note = "; --replace-stuck-pods deletes it after the undo, because the StatefulSet controller does not replace it\n";
    output.reports(note);
    assert!(output.stdout.starts_with("statefulset.apps/db rolled back\n"), "{}", output.transcript);
    output.reports("deleting pod db-3: not ready, and not on the current revision\n");
    assert_eq!(cluster.ready_pods(), "1.0 4/4");
    let lines = cluster.lines();
    let first = |method: &str| lines.iter().position(|line| line.starts_with(method)).unwrap();
    assert!(first("PATCH") < first("DELETE"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn without_the_flag_stuck_pods_are_reported_and_kept() {
    let cluster = broken().await;
    let output = cluster.run("undo statefulset/db").await;
    output.ends(0).reports("warning: db-3 is not ready: ");
    let hints = "\nhint: to delete it, now or after the undo: kubectl rollout2 undo statefulset/db -n default \
                 --to db-6dc499d476 --replace-stuck-pods\n\
                 hint: or by hand, after the undo: kubectl delete pod db-3 -n default\n";
    output.reports(hints);
    cluster.advance(60).await;
    assert_eq!(cluster.ready_pods(), "1.0 3/3, 2.0-bad 0/1");
}

/// The controller gave the current revision a new number, so the failed revision is the previous one.
#[tokio::test(start_paused = true)]
async fn an_undo_to_a_revision_whose_pods_cannot_start_prints_a_warning() {
    let cluster = broken().await;
    cluster.run("undo statefulset/db").await.ends(0);
    cluster.advance(10).await;
    let output = cluster.run("undo statefulset/db --dry-run").await;
    let warning =
        "warning: revision 2 has pods that cannot start: db-3: ImagePullBackOff, no image app:2.0-bad\n";
    output.reports(warning);
}

/// Another rollback would return to the revision that failed, or to one before both.
#[tokio::test(start_paused = true)]
async fn a_rollback_of_all_that_failed_completes_one_that_a_pod_blocks() {
    let cluster = broken().await;
    cluster.run("undo --failed").await.ends(0);
    cluster.advance(60).await;
    let output = cluster.run("undo --failed").await;
    output.ends(1);
    let error = "error: statefulset/db already runs revision 3, and a stuck pod blocks it\n\
                 hint: to delete the pod: kubectl rollout2 undo statefulset/db -n default --to current \
                 --replace-stuck-pods\n";
    assert_eq!(output.stderr, error);
    cluster.run("undo --failed --replace-stuck-pods").await.ends(0);
    assert_eq!(cluster.ready_pods(), "1.0 4/4");
}

/// Without a revision, the rollback that a pod blocks is completed and not reversed.
#[tokio::test(start_paused = true)]
async fn the_next_undo_completes_a_rollback_that_a_pod_blocks() {
    let cluster = broken().await;
    cluster.run("undo statefulset/db").await.ends(0);
    cluster.advance(10).await;
    let status = cluster.status("statefulset/db --watch=false").await;
    let hint = "hint: kubectl rollout2 undo statefulset/db -n default --to current --replace-stuck-pods\n";
    status.reports_last(hint);
    let output = cluster.run("undo statefulset/db --replace-stuck-pods").await;
    output.ends(0);
    let skipped = "statefulset.apps/db skipped rollback (current template already matches revision 3)\n";
    assert!(output.stdout.starts_with(skipped), "{}", output.transcript);
    assert_eq!(cluster.ready_pods(), "1.0 4/4");
}
