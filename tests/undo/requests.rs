//! `undo`: its requests, its change-cause and its questions.

use harness::prelude::*;

use crate::writes::{agent, db, edit, messages, object, observe, observe_in, patches, run, web};

#[tokio::test]
async fn an_undo_is_its_reads_and_one_guarded_patch() {
    // The LimitRanges are read beside the patch of the Deployment, whose container requests CPU.
    for (target, key, image, requests) in [
        ("deployment/web", web(), "shop/web:1.1", 5),
        ("statefulset/db", db(), "shop/db:1.2", 4),
        ("daemonset/agent", agent(), "shop/agent:1.2", 4),
    ] {
        let server = Cluster::recorded("shop").start();
        let before = object(&server.sim, &key);
        let output = run(&server, &["undo", target]).await;
        assert_eq!((messages(&output).as_str(), output.exit), ("", 0), "{target}");
        assert!(output.stdout.ends_with(" rolled back\n"), "{}", output.stdout);
        assert_eq!(server.lines().len(), requests, "{:?}", server.lines());
        let sent = patches(&server).pop().unwrap();
        assert_eq!(sent.header("content-type"), "application/json-patch+json");
        assert_eq!(sent.query.get("fieldManager"), "kubectl-rollout2");
        let operations: Vec<Value> = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(
            operations[0],
            json!({"op": "test", "path": "/metadata/uid", "value": before["metadata"]["uid"]})
        );
        let after = object(&server.sim, &key);
        assert_eq!(after["spec"]["template"]["spec"]["containers"][0]["image"], image);
        assert_eq!(after["spec"]["template"]["metadata"]["labels"].get("pod-template-hash"), None);
        for kept in ["labels", "uid"] {
            assert_eq!(after["metadata"][kept], before["metadata"][kept]);
        }
        observe(&server.sim, &key);
        let again = run(&server, &["undo", target, "--to-revision", "current"]).await;
        assert_eq!(
            patches(&server).len(),
            1,
            "an undo to the current revision writes nothing: {}",
            again.stdout
        );
    }
}

#[tokio::test]
async fn an_undo_keeps_later_annotations_and_restores_the_change_cause() {
    let server = Cluster::recorded("shop").start();
    edit(&server.sim, &web(), |web| web["metadata"]["annotations"]["pager"] = "bob".into());
    run(&server, &["undo", "deployment/web", "--to-revision", "3"]).await;
    let annotations = &object(&server.sim, &web())["metadata"]["annotations"];
    assert_eq!(annotations["pager"], "bob");
    assert_eq!(annotations["kubernetes.io/change-cause"], "cache on (ticket OPS-42)");
}

#[tokio::test]
async fn a_change_cause_is_recorded_on_the_revision_or_a_warning_is_printed() {
    let server = Cluster::recorded("shop").start();
    let output = run(&server, &["undo", "statefulset/db", "--cause", "OPS-7"]).await;
    assert_eq!((messages(&output).as_str(), output.exit), ("", 0));
    assert_eq!(object(&server.sim, &db())["metadata"]["annotations"]["kubernetes.io/change-cause"], "OPS-7");
    let record = patches(&server).pop().unwrap();
    assert!(record.path.contains("/controllerrevisions/db-"), "{}", record.path);
    assert!(String::from_utf8_lossy(&record.body).contains("; undo: OPS-7\""));

    let rules = [
        Rule::allow(&["get", "list", "patch"], &["statefulsets"]),
        Rule::allow(&["list"], &["controllerrevisions", "pods"]),
    ];
    let server = Cluster::recorded("shop").user(User::limited("gina", rules)).start();
    let args = ["undo", "statefulset/db", "--cause", "OPS-7"];
    let output = server.command_as("gina", args).run_async().await;
    assert!(
        messages(&output).starts_with("warning: cannot record the change-cause on db-"),
        "{}",
        output.stderr
    );
    assert_eq!((messages(&output).lines().count(), output.exit), (1, 0));
}

/// It said what the next `kubectl apply` would revert of a rollback that was then forbidden.
#[tokio::test]
async fn a_forbidden_rollback_has_no_warning_about_what_reverts_it() {
    let read = Rule::allow(&["get", "list"], &["deployments", "replicasets", "pods"]);
    let write = Rule::allow(&["patch"], &["deployments"]);
    for (rules, is_stored) in [(vec![read.clone()], false), (vec![read, write], true)] {
        let server = Cluster::recorded("shop").user(User::limited("gina", rules)).start();
        let output = server.command_as("gina", ["undo", "deployment/web"]).run_async().await;
        assert_eq!(output.exit, u8::from(!is_stored), "{}", output.transcript);
        let warns = output.stderr.contains("the next kubectl apply of the present manifest");
        assert_eq!(warns, is_stored, "{}", output.transcript);
    }
}

#[tokio::test]
async fn interactive_accepts_only_yes() {
    for (answer, exit) in [("y\n", 0), ("yes\n", 0), ("n\n", 1), ("\n", 1), ("", 1), ("yesterday\n", 1)] {
        let server = Cluster::recorded("shop").start();
        let run = server.command(["undo", "deployment/web", "-i"]).stdin(answer);
        let output = run.run_async().await;
        assert!(
            messages(&output).starts_with("roll deployment/web back to revision 4? [y/N] "),
            "{}",
            output.stderr
        );
        assert_eq!(output.exit, exit, "{answer:?}: {}", output.stderr);
        assert_eq!(patches(&server).len(), usize::from(exit == 0));
    }
}

#[tokio::test]
async fn a_preview_is_printed_on_a_terminal_and_in_every_dry_run() {
    let server = Cluster::recorded("shop").start();
    for dry_run in ["--dry-run=server", "--dry-run=client"] {
        let undo = || server.command(["undo", "statefulset/db", dry_run]);
        for output in [undo().terminal(100, 30).run_async().await, undo().run_async().await] {
            output.prints("replaces 2 of 5 pods: db-4 db-3");
        }
    }
    let output = run(&server, &["undo", "statefulset/db"]).await;
    assert_eq!(output.stdout, "statefulset.apps/db rolled back\n");
}

#[tokio::test]
async fn an_undo_that_replaces_no_pod_prints_a_note() {
    for (strategy, reason) in [
        (
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 5}}),
            "partition 5 keeps all of them on their revision",
        ),
        (json!({"type": "OnDelete"}), "updateStrategy OnDelete: each pod is rolled back when it is deleted"),
    ] {
        let server = Cluster::recorded("shop").start();
        edit(&server.sim, &db(), |db| {
            db["spec"]["updateStrategy"] = strategy.clone();
        });
        let output = run(&server, &["undo", "statefulset/db"]).await;
        let note = format!(
            "statefulset.apps/db rolled back\nnote: no pod of statefulset/db is replaced: {reason}\n"
        );
        assert!(output.transcript.contains(&note), "{}", output.transcript);
    }
    let output = run(&Cluster::recorded("shop").start(), &["undo", "statefulset/db"]).await;
    assert!(!output.transcript.contains("no pod of"), "{}", output.transcript);
}

/// The new template has no revision while the Deployment is paused, so that the pods run the newest one.
#[tokio::test]
async fn previous_is_the_default_while_the_live_template_has_no_revision() {
    let server = Cluster::recorded("shop").start();
    let before = object(&server.sim, &web())["spec"]["template"].clone();
    edit(&server.sim, &web(), |web| {
        web["spec"]["paused"] = true.into();
        web["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/web:7".into();
    });
    let undo = ["undo", "deployment/web", "--resume", "--dry-run=client", "-o", "json"];
    for word in [&[][..], &["--to", "previous"], &["--to=-1"]] {
        let output = server.command(undo).args(word).run_async().await;
        let after: Value = output.stdout.parse().unwrap();
        assert_eq!(after["spec"]["template"]["spec"], before["spec"], "{word:?}: {}", output.stderr);
    }
}

#[tokio::test]
async fn flags_without_an_effect_are_reported_where_nothing_is_rolled_back() {
    let server = Cluster::recorded("shop").start();
    edit(&server.sim, &web(), |web| web["spec"]["paused"] = true.into());
    let undo = ["undo", "deployment/web", "--to", "current"];
    assert_eq!(run(&server, &undo).await.stderr, "");
    let output = server.command(undo).args(["--resume", "--cause", "x"]).run_async().await;
    let note = "note: ignored --resume, --cause: deployment/web already has the template of the revision\n\
                hint: kubectl rollout2 resume deployment/web -n shop\n";
    assert_eq!((output.stderr.as_str(), output.exit), (note, 0));
    assert!(output.stdout.contains("skipped rollback"), "{}", output.stdout);
}

#[tokio::test]
async fn undo_waits_for_a_slow_controller() {
    let server = Cluster::recorded("shop").start();
    server.sim.store(|store| {
        let author = Author::new("test");
        let change = image_change("shop/web:7");
        store.edit(&web(), Part::Object, &author, change).map(drop).unwrap();
    });
    let caught_up = FaultAction::write_before(|store| observe_in(store, &web()));
    server.sim.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), caught_up).after(2).once());
    let output = run(&server, &["undo", "deployment/web", "--diff"]).await;
    assert!(
        output.stdout.contains("image   shop/web:7 -> shop/web:1.1\n"),
        "{}{}",
        output.stdout,
        output.stderr
    );
    assert_eq!(
        server
            .lines()
            .iter()
            .filter(|line| line.ends_with("/deployments/web") && line.starts_with("GET"))
            .count(),
        3
    );
}

/// No controller runs. Each wait lasts 10 s.
#[tokio::test(start_paused = true)]
async fn the_controllers_of_several_workloads_are_awaited_together() {
    let server = Cluster::recorded("shop").start();
    for key in [web(), db()] {
        let release = image_change("shop/new:7");
        server
            .sim
            .store(|store| store.edit(&key, Part::Object, &Author::new("test"), release).map(drop).unwrap());
    }
    let begun = tokio::time::Instant::now();
    let output = run(&server, &["undo", "deployment/web", "statefulset/db", "--dry-run"]).await;
    let notes = |words: &str| output.stderr.matches(words).count();
    assert_eq!(
        notes("note: waiting for the controller to observe the last change of "),
        2,
        "{}",
        output.stderr
    );
    assert_eq!(notes("note: the controller has not observed the last change of "), 2, "{}", output.stderr);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

/// kubectl refuses both, which docs/history.md says.
#[tokio::test(start_paused = true)]
async fn what_is_done_already_is_no_error() {
    let (cluster, _) = Cluster::simulated().deployment(1, &json!({})).await;
    for words in ["restart", "restart", "pause", "undo --to-revision 3"] {
        cluster.run(&format!("{words} deployment/web")).await.ends(0);
    }
}
