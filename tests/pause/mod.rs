//! `pause`, `resume` and `restart`: their effects, and the warnings about them.

use harness::prelude::*;

use crate::writes::{agent, db, edit, object, observe, patches, run, web};

#[tokio::test]
async fn resume_restores_the_fields_before_the_pause() {
    for (target, key) in [("deployment/web", web()), ("statefulset/db", db()), ("daemonset/agent", agent())] {
        let server = Cluster::recorded("shop").start();
        let before = object(&server.sim, &key);
        run(&server, &["pause", target]).await.ends(0);
        assert_ne!(object(&server.sim, &key), before, "{target}");
        let twice = run(&server, &["pause", target]).await;
        assert!(twice.stdout.ends_with(" already paused\n") && twice.exit == 0, "{}", twice.stdout);
        let resumed = run(&server, &["resume", target]).await;
        assert!(resumed.stdout.ends_with(" resumed\n"), "{}{}", resumed.stdout, resumed.stderr);
        let after = object(&server.sim, &key);
        assert_eq!(
            (&after["spec"], &after["metadata"]["annotations"]),
            (&before["spec"], &before["metadata"]["annotations"])
        );
    }
}

#[tokio::test]
async fn the_effect_of_a_pause_is_printed_only_after_the_write() {
    let server = Cluster::recorded("shop").start();
    let forbidden = Refusal::with_status(403, "statefulsets.apps \"db\" is forbidden");
    server
        .sim
        .fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), FaultAction::Refuse(forbidden)).once());
    let refused = run(&server, &["pause", "statefulset/db"]).await;
    refused.ends(1);
    assert!(!refused.stderr.contains("held"), "{}", refused.transcript);
    for dry_run in ["--dry-run", "--dry-run=server"] {
        let dry = run(&server, &["pause", "statefulset/db", dry_run]).await;
        let effect = "note: statefulset/db would be held at partition 3: ";
        assert!(dry.stderr.contains(effect) && !dry.stderr.contains("is held"), "{}", dry.transcript);
    }
    let paused = run(&server, &["pause", "statefulset/db"]).await;
    let effect = "statefulset.apps/db paused\nnote: statefulset/db is held at partition 3: ";
    assert!(paused.transcript.contains(effect), "{}", paused.transcript);
}

#[tokio::test]
async fn a_change_of_a_workload_that_is_being_deleted_prints_a_warning() {
    for verb in ["undo", "restart", "pause", "resume"] {
        let server = Cluster::recorded("shop").start();
        edit(&server.sim, &db(), |db| db["metadata"]["finalizers"] = json!(["example.com/backup"]));
        server.sim.store(|store| {
            store.delete(&db(), &Deletion::default(), &Author::new("colleague")).map(drop).unwrap();
        });
        observe(&server.sim, &db());
        let output = run(&server, &[verb, "statefulset/db"]).await;
        let warning = "warning: statefulset/db is being deleted, so its controller ignores changes\n";
        assert!(output.stderr.starts_with(warning), "{verb}: {}", output.transcript);
    }
}

/// A Deployment is held by `spec.paused`, not by its update strategy.
#[tokio::test]
async fn a_pause_warns_about_the_owner_of_the_manifest_and_the_field_that_ends_it() {
    for (target, key, field) in
        [("deployment/web", web(), "spec.paused"), ("statefulset/db", db(), "spec.updateStrategy")]
    {
        let server = Cluster::recorded("shop").start();
        edit(&server.sim, &key, |object| {
            object["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = "shop:apps/x".into();
        });
        let output = run(&server, &["pause", target]).await;
        let warning = format!("manages {target} and ends the pause if its manifest sets {field}\n");
        output.reports(&warning).ends(0);
    }
}

/// Below a partition, the controller creates pods from the revision that it recorded before the set had one.
#[tokio::test(start_paused = true)]
async fn a_pause_warns_about_pods_that_come_back_on_an_earlier_revision() {
    let partition = |partition: i64| json!({"updateStrategy": {"rollingUpdate": {"partition": partition}}});
    let (cluster, db) = Cluster::simulated().stateful_set(3, &partition(1)).await;
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(60).await;
    cluster.editor().patch(&db, &json!({"spec": partition(3)}));
    cluster.editor().set_image(&db, "app:3.0");
    cluster.advance(5).await;
    let warning = "warning: the controller of statefulset/db still records revision 1 as the current one: an \
                   evicted pod comes back on it until it is released: ";
    for dry_run in [" --dry-run", ""] {
        let output = cluster.run(&format!("pause statefulset/db{dry_run}")).await;
        output.reports(warning).ends(0);
        let pods = output.stderr.lines().find_map(|line| line.strip_prefix(warning)).unwrap();
        assert!(pods.contains("db-1") && pods.contains("db-2") && !pods.contains("db-0"), "{pods}");
    }
}

#[tokio::test]
async fn a_workload_given_twice_is_changed_once() {
    for verb in ["undo", "restart", "pause"] {
        let server = Cluster::recorded("shop").start();
        let output = run(&server, &[verb, "deployment/web", "deploy/web"]).await;
        assert_eq!((output.exit, patches(&server).len()), (0, 1), "{verb}: {}", output.transcript);
        assert_eq!(output.stdout.lines().count(), 1, "{verb}: {}", output.transcript);
    }
}

#[tokio::test]
async fn a_pause_ended_by_another_client_is_reported_and_removed() {
    let server = Cluster::recorded("shop").start();
    run(&server, &["pause", "statefulset/db"]).await;
    edit(&server.sim, &db(), |db| {
        db["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    });
    let dry = run(&server, &["resume", "statefulset/db", "--dry-run"]).await;
    assert!(dry.stderr.contains("; resume removes its annotation, "), "nothing is removed: {}", dry.stderr);
    let output = run(&server, &["resume", "statefulset/db"]).await;
    assert!(
        output.stderr.starts_with("note: the pause of statefulset/db was already ended by test, "),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("; removed its annotation, "), "{}", output.stderr);
    let after = object(&server.sim, &db());
    assert_eq!(after["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 0);
    assert_eq!(after["metadata"]["annotations"].get("kubectl-rollout2/held"), None);
}

/// A partition that the user set is no hold of `pause`.
#[tokio::test]
async fn resume_reports_a_partition_that_it_does_not_end() {
    let server = Cluster::recorded("shop").start();
    let output = run(&server, &["resume", "statefulset/db"]).await;
    assert_eq!((output.stdout.as_str(), output.exit), ("statefulset.apps/db not paused\n", 0));
    assert_eq!(
        output.stderr,
        "note: partition 3 of statefulset/db is not a hold of pause or step, so resume does not end it\n\
         hint: to update the other pods: kubectl patch statefulset/db -n shop --type=merge \
         -p '{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":0}}}}'\n"
    );
    let output = run(&server, &["resume", "deployment/web"]).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

#[tokio::test]
async fn a_second_restart_within_one_second_works() {
    let server = Cluster::recorded("shop").start();
    let stamp = || {
        object(&server.sim, &web())["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"].clone()
    };
    let first = run(&server, &["restart", "deployment/web"]).await;
    assert_eq!((first.stdout.as_str(), first.exit), ("deployment.apps/web restarted\n", 0));
    let before = stamp();
    run(&server, &["restart", "deployment/web"]).await.ends(0);
    assert_ne!(stamp(), before);
}

#[tokio::test]
async fn a_restart_that_restarts_no_pods_prints_a_warning() {
    let server = Cluster::recorded("shop").start();
    let output = run(&server, &["restart", "statefulset/db"]).await;
    let effect = "statefulset/db  restart\n  replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)\n  \
        at most 1 unavailable at a time, the highest ordinal first\nto take this back: ";
    assert!(output.stderr.starts_with(effect), "{}", output.stderr);
    let server = Cluster::recorded("broken").start();
    let output = server.command(["restart", "ds/ds-ondelete", "-n", "broken"]).run_async().await;
    output.reports("  replaces no pod: OnDelete keeps those on ");
}

/// The effect alone says that every pod is replaced.
#[tokio::test(start_paused = true)]
async fn a_restart_that_a_stuck_pod_blocks_prints_a_warning() {
    let cluster = Cluster::simulated().start();
    let db = cluster.stateful_set(3, &json!({}));
    cluster.advance(120).await;
    let healthy = cluster.run("restart statefulset/db").await;
    assert!(!healthy.stderr.contains("warning: "), "{}", healthy.transcript);
    cluster.advance(120).await;
    cluster.editor().set_image(&db, "app:2.0-bad");
    cluster.advance(60).await;
    let output = cluster.run("restart statefulset/db").await;
    output.ends(0).reports(
        "warning: db-2 is not ready: the StatefulSet controller waits for it and does not replace it\n\
         hint: after the restart: kubectl delete pod db-2 -n default\n",
    );
}

/// The role of `restart` has no right to list ReplicaSets.
#[tokio::test]
async fn a_restart_needs_no_right_to_show_its_effect() {
    let rules = [Rule::allow(&["get", "patch"], &["deployments"])];
    let server = Cluster::recorded("shop").user(User::limited("gina", rules)).start();
    for more in [&["--dry-run"][..], &[]] {
        let run = server.command_as("gina", ["restart", "deployment/web"]).args(more);
        let output = run.terminal(100, 30).run_async().await;
        output.reports(" the effect on the pods is not shown: cannot read replicasets: forbidden");
        output.ends(0);
    }
    assert_eq!(patches(&server).len(), 1);
}

/// The role of `resume` has no right to list pods and ControllerRevisions.
#[tokio::test(start_paused = true)]
async fn a_resume_during_a_rollback_needs_no_right_to_read_it() {
    let rules = [Rule::allow(&["get", "patch"], &["statefulsets"])];
    let cluster = Cluster::simulated().user(User::limited("gina", rules)).start();
    let db = cluster.stateful_set(3, &json!({}));
    cluster.advance(120).await;
    cluster.run("pause statefulset/db").await.ends(0);
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(5).await;
    cluster.run("step statefulset/db --soak 0s").await.ends(0);
    edit(&cluster.sim, &db, |db| {
        let hold = &mut db["metadata"]["annotations"]["kubectl-rollout2/held"];
        let mut members: Value = hold.as_str().unwrap().parse().unwrap();
        members["plan"]["rollingBack"] = true.into();
        members["paused"] = true.into();
        *hold = members.to_string().into();
    });
    let output = cluster.run_as("gina", "resume statefulset/db").await;
    output.reports(
        "note: whether the rollback is complete is not known: cannot read controllerrevisions: forbidden",
    );
    assert_eq!(
        (output.stdout.as_str(), output.exit),
        ("statefulset.apps/db resumed\n", 0),
        "{}",
        output.stderr
    );
}

/// A partition that another client replaced is no hold any more, although the annotation is left.
#[tokio::test]
async fn an_undo_releases_no_hold_that_another_client_ended() {
    let server = Cluster::recorded("shop").start();
    run(&server, &["pause", "statefulset/db"]).await;
    let undo = ["undo", "statefulset/db", "--dry-run"];
    let release = "  releases the hold and restores the update strategy\n";
    run(&server, &undo).await.prints(release);
    edit(&server.sim, &db(), |db| {
        db["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    });
    let ended = run(&server, &undo).await;
    assert!(!ended.stdout.contains(release) && ended.exit == 0, "{}", ended.transcript);
}

#[tokio::test]
async fn no_result_is_printed_before_the_write() {
    let server = Cluster::recorded("shop").start();
    let asked = server.command(["pause", "statefulset/db", "-i"]).stdin("n\n").run_async().await;
    asked.reports("note: statefulset/db would be held at partition 3: ").ends(1);
    assert!(!asked.stderr.contains("is held"), "{}", asked.stderr);
    run(&server, &["pause", "statefulset/db"]).await.ends(0);
    edit(&server.sim, &db(), |db| {
        db["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    });
    let asked = server.command(["resume", "statefulset/db", "-i"]).stdin("n\n").run_async().await;
    asked.reports("; resume removes its annotation, ").ends(1);
    let forbidden = FaultAction::Refuse(Refusal::with_status(403, "statefulsets.apps \"db\" is forbidden"));
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), forbidden).once());
    let refused = run(&server, &["resume", "statefulset/db"]).await;
    assert!(!refused.stderr.contains("annotation") && refused.exit == 1, "{}", refused.stderr);
}
