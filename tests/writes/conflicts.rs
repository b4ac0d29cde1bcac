//! Changes by other clients between the read and the write of an undo, and patches that are sent again after a 409.

use harness::prelude::*;

use super::{agent, db, edit, external_change, messages, object, observe_in, patches, run, web};

#[tokio::test]
async fn an_external_change_is_never_overwritten() {
    type Change = fn(&mut Value);
    let conflicts: [(&str, Key, Change, &str); 6] = [
        (
            "deployment/web",
            web(),
            |web| web["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/web:9".into(),
            "image shop/web:9",
        ),
        ("deployment/web", web(), |web| web["spec"]["paused"] = true.into(), "paused"),
        (
            "deployment/web",
            web(),
            |web| web["metadata"]["annotations"]["kubernetes.io/change-cause"] = "mine".into(),
            "annotation kubernetes.io/change-cause changed",
        ),
        (
            "statefulset/db",
            db(),
            |db| db["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 1.into(),
            "updateStrategy {\"rollingUpdate\":{\"partition\":3},\"type\":\"RollingUpdate\"} -> {\"rollingUpdate\":{\"partition\":1},\"type\":\"RollingUpdate\"}",
        ),
        (
            "statefulset/db",
            db(),
            |db| db["metadata"]["annotations"]["kubectl-rollout2/held"] = "{\"version\":1}".into(),
            "the hold added",
        ),
        (
            "daemonset/agent",
            agent(),
            |agent| agent["spec"]["updateStrategy"] = json!({"type": "OnDelete"}),
            "updateStrategy {\"rollingUpdate\":{\"maxSurge\":0,\"maxUnavailable\":1},\"type\":\"RollingUpdate\"} -> {\"type\":\"OnDelete\"}",
        ),
    ];
    for (target, key, change, difference) in conflicts {
        let server = Cluster::recorded("shop").start();
        let mut expected = object(&server.sim, &key);
        change(&mut expected);
        server.sim.fault(
            Fault::on(Requests::of(Verb::Patch, resource(target)), external_change(key.clone(), change))
                .once(),
        );
        let output = run(&server, &["undo", target]).await;
        let (kind, name) = target.split_once('/').unwrap();
        let error = format!(
            "error: {kind} {name:?} was changed by colleague while its rollback was prepared; nothing was written: {difference}\n\
             hint: check the change, then repeat the command, with --force to roll back anyway\n"
        );
        assert_eq!((messages(&output), output.stdout.as_str(), output.exit), (error, "", 1));
        assert_eq!(object(&server.sim, &key)["spec"], expected["spec"], "{target}");
    }
}

#[tokio::test]
async fn unrelated_external_changes_are_no_conflict() {
    type Change = fn(&mut Value);
    let changes: [(&str, Key, Change); 4] = [
        ("deployment/web", web(), |web| web["spec"]["replicas"] = 9.into()),
        ("deployment/web", web(), |web| web["metadata"]["annotations"]["other"] = "x".into()),
        ("statefulset/db", db(), |db| db["metadata"]["labels"]["other"] = "x".into()),
        // The other client creates the map of annotations.
        ("daemonset/agent", agent(), |agent| agent["metadata"]["annotations"]["other"] = "x".into()),
    ];
    for (target, key, change) in changes {
        let server = Cluster::recorded("shop").start();
        if target == "daemonset/agent" {
            edit(&server.sim, &key, |agent| {
                drop(agent["metadata"].as_object_mut().unwrap().remove("annotations"));
            });
        }
        server.sim.fault(
            Fault::on(Requests::of(Verb::Patch, resource(target)), external_change(key.clone(), change))
                .once(),
        );
        let output = run(&server, &["undo", target]).await;
        assert_eq!((messages(&output).as_str(), output.exit), ("", 0), "{target}");
        let mut expected = object(&server.sim, &key);
        change(&mut expected);
        assert_eq!(object(&server.sim, &key), expected, "{target}");
    }
}

#[tokio::test]
async fn force_continues_after_a_conflict_and_shows_the_effect_again() {
    let server = Cluster::recorded("shop").start();
    let change = external_change(web(), image_change("shop/web:9"));
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), change).once());
    let output = run(&server, &["undo", "deployment/web", "--force", "--diff"]).await;
    output.ends(0);
    assert!(
        messages(&output).contains("; nothing was written: image shop/web:9; trying again (--force)\n"),
        "{}",
        output.stderr
    );
    output.prints("image      shop/web:9 -> shop/web:1.1\n");
    let image = &object(&server.sim, &web())["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "shop/web:1.1");
}

/// Another client releases between the reads of the Deployment and of its ReplicaSets, so that the release itself seems to
/// be the revision before.
#[tokio::test]
async fn force_finds_the_revision_again() {
    let server = Cluster::recorded("shop").start();
    let before = object(&server.sim, &web())["spec"]["template"]["spec"].clone();
    let release = FaultAction::write_before(|store| {
        let author = Author::new("colleague");
        let image = image_change("shop/web:9");
        store.edit(&web(), Part::Object, &author, image).map(drop).unwrap();
        observe_in(store, &web());
        let sets = store.list(&REPLICASETS, Some("shop")).map(|(_, set)| Value::clone(set));
        let number = "deployment.kubernetes.io/revision";
        let mut set = sets
            .into_iter()
            .find(|set| {
                set["metadata"]["annotations"][number] == "5"
                    && set["spec"]["selector"]["matchLabels"]["app"] == "web"
            })
            .unwrap();
        image(&mut set);
        set["metadata"]["annotations"][number] = "6".into();
        set["metadata"]["name"] = "web-new".into();
        for member in ["resourceVersion", "uid", "creationTimestamp"] {
            set["metadata"].as_object_mut().unwrap().remove(member);
        }
        store.create(&REPLICASETS, "shop", set, &author).map(drop).unwrap();
    });
    server.sim.fault(Fault::on(Requests::of(Verb::List, &REPLICASETS), release).once());
    let output = run(&server, &["undo", "deployment/web", "--force"]).await;
    assert_eq!(
        (output.stdout.as_str(), output.exit),
        ("deployment.apps/web rolled back\n", 0),
        "{}",
        output.stderr
    );
    assert_eq!(object(&server.sim, &web())["spec"]["template"]["spec"], before);
}

/// What was shown for all is not what is written.
#[tokio::test]
async fn after_a_conflict_the_changes_of_the_workload_are_shown_again() {
    let server = Cluster::recorded("shop").start();
    let change = external_change(web(), image_change("shop/web:9"));
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), change).once());
    let run = server.command(["undo", "deployment/web", "statefulset/db", "--force", "--color=never"]);
    let output = run.typed("y\ny\n").terminal(100, 30).run_async().await;
    output.ends(0);
    let (_, after) = output.transcript.split_once("trying again (--force)").unwrap();
    assert!(after.contains("image      shop/web:9 -> shop/web:1.1"), "{}", output.transcript);
}

#[tokio::test]
async fn a_recreated_object_is_not_changed() {
    let again = FaultAction::write_before(|store| {
        let mut value = Value::clone(store.get(&web()).unwrap());
        store.delete(&web(), &Deletion::default(), &Author::new("colleague")).unwrap();
        value["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        store.create(&DEPLOYMENTS, "shop", value, &Author::new("colleague")).unwrap();
    });
    let gone = FaultAction::write_before(|store| {
        drop(store.delete(&web(), &Deletion::default(), &Author::new("colleague")).unwrap());
    });
    for (act, error) in [
        (
            again,
            "error: deployment \"web\" was deleted and created again while its rollback was prepared; nothing was written\n",
        ),
        (gone, "error: deployment \"web\" was deleted meanwhile; nothing was written\n"),
    ] {
        let server = Cluster::recorded("shop").start();
        server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), act).once());
        let output = run(&server, &["undo", "deployment/web", "--force"]).await;
        assert!(messages(&output).starts_with(error), "{}", output.stderr);
        assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
    }
}

/// Refuses this many patches of the Deployment with a 409, and undoes its last change. The other writers get time before each
/// new attempt.
async fn undo_despite_conflicts(count: usize) -> (Cluster, Output) {
    let (server, begun) = (Cluster::recorded("shop").start(), tokio::time::Instant::now());
    let conflict = Refusal::conflict(&DEPLOYMENTS, "web", "the object has been modified");
    let refuse = FaultAction::Refuse(conflict);
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), refuse).times(count));
    let output = run(&server, &["undo", "deployment/web"]).await;
    assert_eq!(patches(&server).len(), 3);
    assert!((600..1300).contains(&begun.elapsed().as_millis()), "two pauses: {:?}", begun.elapsed());
    (server, output)
}

#[tokio::test(start_paused = true)]
async fn three_conflicts_in_a_row_are_an_error_and_leave_the_object_unchanged() {
    let (server, output) = undo_despite_conflicts(3).await;
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1), "{}", output.stderr);
    output.reports("error: deployment \"web\" ").reports("nothing was written");
    let before = Cluster::recorded("shop").start();
    assert_eq!(object(&server.sim, &web()), object(&before.sim, &web()));
}

#[tokio::test(start_paused = true)]
async fn two_conflicts_in_a_row_are_retried_and_succeed() {
    let (server, output) = undo_despite_conflicts(2).await;
    output.ends(0);
    let image = &object(&server.sim, &web())["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "shop/web:1.1");
}

/// A pause of a StatefulSet creates the map of annotations, because the workload had none. Another client creates
/// that map first, so the server refuses the patch although no field of the change differs.
#[tokio::test]
async fn a_patch_is_rebuilt_after_an_unrelated_annotation_was_added() {
    let server = Cluster::recorded("shop").start();
    edit(&server.sim, &db(), |db| drop(db["metadata"].as_object_mut().unwrap().remove("annotations")));
    let annotate = external_change(db(), |db| db["metadata"]["annotations"]["pager"] = "bob".into());
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), annotate).once());
    run(&server, &["pause", "statefulset/db"]).await.ends(0);
    let after = object(&server.sim, &db());
    assert_eq!(after["metadata"]["annotations"]["pager"], "bob");
    assert_eq!(after["metadata"]["annotations"].as_object().unwrap().len(), 2, "{}", after["metadata"]);
    let [first, second] = patches(&server).try_into().unwrap();
    assert_ne!(first.body, second.body);
}

fn resource(target: &str) -> &'static Resource {
    match target.split('/').next() {
        Some("deployment") => &DEPLOYMENTS,
        Some("statefulset") => &STATEFULSETS,
        Some("daemonset") => &DAEMONSETS,
        _ => &CONTROLLERREVISIONS,
    }
}

/// Another client releases before each attempt.
#[tokio::test]
async fn force_gives_up_where_every_attempt_meets_a_change() {
    let server = Cluster::recorded("shop").start();
    let release = external_change(web(), |web| {
        let tag = web["metadata"]["generation"].clone();
        web["spec"]["template"]["spec"]["containers"][0]["image"] = format!("shop/web:{tag}-new").into();
    });
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), release));
    let output = run(&server, &["undo", "deployment/web", "--to", "4", "--force"]).await;
    let error = "error: deployment/web keeps changing; not rolled back after 10 attempts\n";
    output.ends(1).reports_last(error);
    assert_eq!((patches(&server).len(), output.stderr.matches("trying again (--force)").count()), (10, 10));
}
