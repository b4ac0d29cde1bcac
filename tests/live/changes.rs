//! Writes: the requests, concurrent changes by other clients, and errors.

use harness::{Ended, Recorded};
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS, STATEFULSETS};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{Key, Protocols, Refusal, Resource, Rule, SimCluster, User, Verb};

use crate::setup::{Ground, run_with};

pub(crate) fn web() -> Key {
    Key::new(&DEPLOYMENTS, "shop", "web")
}

pub(crate) fn db() -> Key {
    Key::new(&STATEFULSETS, "shop", "db")
}

fn agent() -> Key {
    Key::new(&DAEMONSETS, "shop", "agent")
}

pub(crate) fn object(cluster: &SimCluster, key: &Key) -> Value {
    cluster.store(|store| Value::clone(store.get(key).unwrap()))
}

fn edit(cluster: &SimCluster, key: &Key, change: impl Fn(&mut Value)) {
    cluster
        .store(|store| store.edit(key, Part::Object, &Author::new("test"), |value| change(value)).unwrap());
}

/// A change by another client just before ours arrives.
fn meanwhile(key: Key, change: impl Fn(&mut Value) + Send + Sync + 'static) -> FaultAction {
    FaultAction::write_before(move |store| {
        store.edit(&key, Part::Object, &Author::new("colleague"), |value| change(value)).unwrap();
    })
}

fn patches(ground: &Ground) -> Vec<simcluster::RecordedRequest> {
    let requests = ground.cluster.requests();
    requests.into_iter().filter(|request| request.method == "PATCH").collect()
}

async fn ran(ground: &Ground, args: &[&str]) -> Ended {
    ground.run(args).run_here().await
}

/// stderr without what every undo in the recorded shop prints: `kubectl apply` manages its workloads, a rollback
/// was the last change of `web`, and the receipt.
pub(crate) fn narration(ended: &Ended) -> String {
    let usual = [
        "warning: kubectl apply manages ",
        "warning: revision 4 was undone just before",
        "to take this back: ",
    ];
    let lines = ended.stderr.split_inclusive('\n');
    lines.filter(|line| !usual.iter().any(|usual| line.starts_with(usual))).collect()
}

#[tokio::test]
async fn every_recorded_undo_matches_kubectl_on_a_live_server() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for namespace in ["broken", "many", "quota", "shop"] {
        let ground = Ground::of(namespace);
        for recorded in Recorded::of_verb("undo") {
            if !recorded.name.starts_with(&format!("{namespace}/")) {
                continue;
            }
            let ended = ground.run(&recorded.args).arg("--compat").run_here().await;
            let ours = (ended.stdout.as_str(), ended.stderr.as_str(), ended.exit);
            let theirs = (recorded.stdout.as_str(), recorded.stderr.as_str(), recorded.exit);
            compared += 1;
            if ours != theirs {
                wrong.push(format!("{}\n--- kubectl\n{theirs:?}\n--- ours\n{ours:?}", recorded.name));
            }
        }
        assert!(
            ground
                .cluster
                .requests()
                .iter()
                .all(|request| request.method != "PATCH" || request.query.get("dryRun") == "All")
        );
    }
    assert!(wrong.is_empty(), "{} of {compared} differ\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(compared, 136);
}

#[tokio::test]
async fn an_undo_is_three_reads_and_one_guarded_patch() {
    for (target, key, image) in [
        ("deployment/web", web(), "shop/web:1.1"),
        ("statefulset/db", db(), "shop/db:1.2"),
        ("daemonset/agent", agent(), "shop/agent:1.2"),
    ] {
        let ground = Ground::of("shop");
        let before = object(&ground.cluster, &key);
        let ended = ran(&ground, &["undo", target]).await;
        assert_eq!((narration(&ended).as_str(), ended.exit), ("", 0), "{target}");
        assert!(ended.stdout.ends_with(" rolled back\n"), "{}", ended.stdout);
        assert_eq!(ground.lines().len(), 4, "{:?}", ground.lines());
        let sent = patches(&ground).pop().unwrap();
        assert_eq!(sent.header("content-type"), "application/json-patch+json");
        assert_eq!(sent.query.get("fieldManager"), "kubectl-rollout2");
        let operations: Vec<Value> = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(
            operations[0],
            json!({"op": "test", "path": "/metadata/uid", "value": before["metadata"]["uid"]})
        );
        let after = object(&ground.cluster, &key);
        assert_eq!(after["spec"]["template"]["spec"]["containers"][0]["image"], image);
        assert_eq!(after["spec"]["template"]["metadata"]["labels"].get("pod-template-hash"), None);
        for kept in ["labels", "uid"] {
            assert_eq!(after["metadata"][kept], before["metadata"][kept]);
        }
        let again = ran(&ground, &["undo", target, "--to-revision", "current"]).await;
        assert_eq!(patches(&ground).len(), 1, "what is live already is not written: {}", again.stdout);
    }
}

#[tokio::test]
async fn later_annotations_are_kept() {
    let ground = Ground::of("shop");
    edit(&ground.cluster, &web(), |web| web["metadata"]["annotations"]["pager"] = "bob".into());
    ran(&ground, &["undo", "deployment/web", "--to-revision", "3"]).await;
    let annotations = &object(&ground.cluster, &web())["metadata"]["annotations"];
    assert_eq!(annotations["pager"], "bob");
    assert_eq!(annotations["kubernetes.io/change-cause"], "cache on (ticket OPS-42)");
}

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
            |db| db["metadata"]["annotations"]["kubectl-rollout2/held"] = "{\"reason\":\"pause\"}".into(),
            "the hold added",
        ),
        (
            "daemonset/agent",
            agent(),
            |agent| agent["spec"]["updateStrategy"] = json!({"type": "OnDelete"}),
            "updateStrategy {\"rollingUpdate\":{\"maxSurge\":0,\"maxUnavailable\":1},\"type\":\"RollingUpdate\"} -> {\"type\":\"OnDelete\"}",
        ),
    ];
    for (target, key, change, words) in conflicts {
        let ground = Ground::of("shop");
        let mut expected = object(&ground.cluster, &key);
        change(&mut expected);
        ground.cluster.fault(
            Fault::on(Requests::of(Verb::Patch, resource(target)), meanwhile(key.clone(), change)).once(),
        );
        let ended = ran(&ground, &["undo", target]).await;
        let (kind, name) = target.split_once('/').unwrap();
        let error = format!(
            "error: {kind} {name:?} was changed by colleague while its rollback was prepared; nothing was written: {words}\n\
             hint: check the change, then repeat the command, with --force to roll back anyway\n"
        );
        assert_eq!((narration(&ended), ended.stdout.as_str(), ended.exit), (error, "", 1));
        assert_eq!(object(&ground.cluster, &key)["spec"], expected["spec"], "{target}");
    }
}

#[tokio::test]
async fn unrelated_external_changes_are_no_conflict() {
    type Change = fn(&mut Value);
    let changes: [(&str, Key, Change); 4] = [
        ("deployment/web", web(), |web| web["spec"]["replicas"] = 9.into()),
        ("deployment/web", web(), |web| web["metadata"]["annotations"]["other"] = "x".into()),
        ("statefulset/db", db(), |db| db["metadata"]["labels"]["other"] = "x".into()),
        // A map that was absent: the server's own test fails, and the patch is sent in another
        // form.
        ("daemonset/agent", agent(), |agent| agent["metadata"]["annotations"]["other"] = "x".into()),
    ];
    for (target, key, change) in changes {
        let ground = Ground::of("shop");
        if target == "daemonset/agent" {
            edit(&ground.cluster, &key, |agent| {
                drop(agent["metadata"].as_object_mut().unwrap().remove("annotations"));
            });
        }
        ground.cluster.fault(
            Fault::on(Requests::of(Verb::Patch, resource(target)), meanwhile(key.clone(), change)).once(),
        );
        let ended = ran(&ground, &["undo", target]).await;
        assert_eq!((narration(&ended).as_str(), ended.exit), ("", 0), "{target}");
        let mut expected = object(&ground.cluster, &key);
        change(&mut expected);
        assert_eq!(object(&ground.cluster, &key), expected, "{target}");
    }
}

#[tokio::test]
async fn force_continues_after_a_conflict_and_shows_the_effect_again() {
    let ground = Ground::of("shop");
    let change = meanwhile(web(), |web| {
        web["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/web:9".into();
    });
    ground.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), change).once());
    let ended = ran(&ground, &["undo", "deployment/web", "--force", "--diff"]).await;
    assert_eq!(ended.exit, 0, "{}", ended.stderr);
    assert!(
        narration(&ended).contains("; nothing was written: image shop/web:9; trying again (--force)\n"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("image      shop/web:9 -> shop/web:1.1\n"), "{}", ended.stdout);
    let image = &object(&ground.cluster, &web())["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "shop/web:1.1");
}

#[tokio::test]
async fn a_recreated_object_is_left_alone() {
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
        let ground = Ground::of("shop");
        ground.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), act).once());
        let ended = ran(&ground, &["undo", "deployment/web", "--force"]).await;
        assert!(narration(&ended).starts_with(error), "{}", ended.stderr);
        assert_eq!((ended.stdout.as_str(), ended.exit), ("", 1));
    }
}

#[tokio::test]
async fn each_refusal_has_its_own_message() {
    for (refusal, error, compat) in [
        (
            Refusal::with_status(
                403,
                "deployments.apps \"web\" is forbidden: User \"gina\" cannot patch resource",
            ),
            "error: forbidden: User \"gina\" cannot patch resource\nhint: to see what is allowed: kubectl auth can-i --list\n",
            "error: failed restoring revision 0: deployments.apps \"web\" is forbidden: User \"gina\" cannot patch resource\n",
        ),
        (
            Refusal::invalid(
                &DEPLOYMENTS,
                "web",
                &[simcluster::refusal::Cause::required("spec.template.spec.containers", "")],
            ),
            "error: the server rejected the change: spec.template.spec.containers: Required value\n",
            "error: failed restoring revision 0: Deployment.apps \"web\" is invalid: spec.template.spec.containers: Required value\n",
        ),
    ] {
        for (args, expected) in
            [(&["undo", "deployment/web"][..], error), (&["undo", "deployment/web", "--compat"], compat)]
        {
            let ground = Ground::of("shop");
            ground.cluster.fault(Fault::on(
                Requests::of(Verb::Patch, &DEPLOYMENTS),
                FaultAction::Refuse(refusal.clone()),
            ));
            let before = object(&ground.cluster, &web());
            let ended = ran(&ground, args).await;
            assert_eq!((narration(&ended).as_str(), ended.stdout.as_str(), ended.exit), (expected, "", 1));
            assert_eq!(patches(&ground).len(), 1, "a write is never tried again");
            assert_eq!(object(&ground.cluster, &web()), before);
        }
    }
}

#[tokio::test]
async fn a_422_without_causes_or_conflict_is_our_error() {
    let ground = Ground::of("shop");
    ground.cluster.fault(Fault::on(
        Requests::of(Verb::Patch, &DEPLOYMENTS),
        FaultAction::Refuse(Refusal::patch_failed()),
    ));
    let ended = ran(&ground, &["undo", "deployment/web"]).await;
    assert!(narration(&ended).contains("returned 422 Unprocessable Entity"), "{}", ended.stderr);
    assert_eq!((patches(&ground).len(), ended.exit), (1, 1));
}

#[tokio::test]
async fn an_unknown_result_is_resolved_by_reading_the_object() {
    let moments = [
        (FaultAction::LoseAnswer, true, "read deployment \"web\" again: the change was applied\n"),
        (
            FaultAction::LoseRequest,
            false,
            "error: no answer to the change of deployment \"web\"; read it again: it is unchanged: ",
        ),
        (FaultAction::ResetStream, false, "read it again: it is unchanged: "),
        (FaultAction::Html(502), false, "read it again: it is unchanged: "),
        (FaultAction::Stall, false, "read it again: it is unchanged: "),
        (FaultAction::CutBody(10), true, "the change was applied\n"),
    ];
    for (protocols, (act, made, stderr)) in
        Protocols::EACH.into_iter().flat_map(|protocols| moments.clone().map(|moment| (protocols, moment)))
    {
        let ground = Ground::over(protocols, "shop");
        let before = object(&ground.cluster, &web());
        ground.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), act.clone()));
        let ended = ran(&ground, &["undo", "deployment/web", "--request-timeout=1s"]).await;
        assert!(narration(&ended).contains(stderr), "{protocols:?} {act:?}: {}", ended.stderr);
        assert_eq!(ended.exit, u8::from(!made), "{protocols:?} {act:?}: {}", ended.stderr);
        assert_eq!(ended.stdout.is_empty(), !made, "{protocols:?} {act:?}");
        assert_eq!(object(&ground.cluster, &web()) != before, made, "{protocols:?} {act:?}");
        assert_eq!(patches(&ground).len(), 1, "{protocols:?} {act:?}");
    }
}

#[tokio::test]
async fn an_unknown_result_that_cannot_be_resolved_is_an_error() {
    let ground = Ground::of("shop");
    ground.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::LoseAnswer));
    let forbidden = FaultAction::Refuse(Refusal::with_status(403, "no"));
    ground.cluster.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), forbidden).after(1));
    let ended = ran(&ground, &["undo", "deployment/web"]).await;
    assert!(
        narration(&ended).starts_with("error: cannot tell whether deployment \"web\" was changed: "),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.exit, 1);
}

#[tokio::test]
async fn a_change_cause_is_recorded_on_the_revision_or_a_warning_is_printed() {
    let ground = Ground::of("shop");
    let ended = ran(&ground, &["undo", "statefulset/db", "--cause", "OPS-7"]).await;
    assert_eq!((narration(&ended).as_str(), ended.exit), ("", 0));
    assert_eq!(
        object(&ground.cluster, &db())["metadata"]["annotations"]["kubernetes.io/change-cause"],
        "OPS-7"
    );
    let noted = patches(&ground).pop().unwrap();
    assert!(noted.path.contains("/controllerrevisions/db-"), "{}", noted.path);
    assert!(String::from_utf8_lossy(&noted.body).contains("; undo: OPS-7\""));

    let rules = [
        Rule::allow(&["get", "list", "patch"], &["statefulsets"]),
        Rule::allow(&["list"], &["controllerrevisions", "pods"]),
    ];
    let ground = Ground::with("shop", simcluster::ServerCertificate::Good, &[User::limited("gina", rules)]);
    let kubeconfig = ground.served.kubeconfig("gina", "shop").unwrap();
    let ended = run_with(&kubeconfig, ["undo", "statefulset/db", "--cause", "OPS-7"]).run_here().await;
    assert!(
        narration(&ended).starts_with("warning: cannot record the change-cause on db-"),
        "{}",
        ended.stderr
    );
    assert_eq!((narration(&ended).lines().count(), ended.exit), (1, 0));
}

#[tokio::test]
async fn interactive_accepts_only_yes() {
    for (answer, exit) in [("y\n", 0), ("yes\n", 0), ("n\n", 1), ("\n", 1), ("", 1), ("yesterday\n", 1)] {
        let ground = Ground::of("shop");
        let run = ground.run(["undo", "deployment/web", "-i"]).stdin(answer);
        let ended = run.run_here().await;
        assert!(
            narration(&ended).starts_with("roll deployment/web back to revision 4? [y/N] "),
            "{}",
            ended.stderr
        );
        assert_eq!(ended.exit, exit, "{answer:?}: {}", ended.stderr);
        assert_eq!(patches(&ground).len(), usize::from(exit == 0));
    }
}

#[tokio::test]
async fn a_terminal_gets_the_preview_and_a_pipe_only_the_line() {
    let ground = Ground::of("shop");
    let ended = ground.run(["undo", "statefulset/db", "--dry-run=server"]).terminal(100, 30).run_here().await;
    assert!(ended.stdout.contains("replaces 2 of 5 pods: db-4 db-3"), "{}", ended.stdout);
    let ended = ran(&ground, &["undo", "statefulset/db", "--dry-run=server"]).await;
    assert_eq!(ended.stdout, "statefulset.apps/db rolled back (server dry run)\n");
}

#[tokio::test]
async fn resume_restores_exactly_what_pause_found() {
    for (target, key) in [("deployment/web", web()), ("statefulset/db", db()), ("daemonset/agent", agent())] {
        let ground = Ground::of("shop");
        let before = object(&ground.cluster, &key);
        assert_eq!(ran(&ground, &["pause", target]).await.exit, 0);
        assert_ne!(object(&ground.cluster, &key), before, "{target}");
        let twice = ran(&ground, &["pause", target]).await;
        assert!(twice.stdout.ends_with(" already paused\n") && twice.exit == 0, "{}", twice.stdout);
        let resumed = ran(&ground, &["resume", target]).await;
        assert!(resumed.stdout.ends_with(" resumed\n"), "{}{}", resumed.stdout, resumed.stderr);
        let after = object(&ground.cluster, &key);
        assert_eq!(
            (&after["spec"], &after["metadata"]["annotations"]),
            (&before["spec"], &before["metadata"]["annotations"])
        );
    }
}

#[tokio::test]
async fn what_a_pause_holds_is_printed_only_after_the_write() {
    let ground = Ground::of("shop");
    let forbidden = Refusal::with_status(403, "statefulsets.apps \"db\" is forbidden");
    ground
        .cluster
        .fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), FaultAction::Refuse(forbidden)).once());
    let refused = ran(&ground, &["pause", "statefulset/db"]).await;
    assert_eq!(refused.exit, 1, "{}", refused.transcript);
    assert!(!refused.stderr.contains("held"), "{}", refused.transcript);
    for dry_run in ["--dry-run", "--dry-run=server"] {
        let dry = ran(&ground, &["pause", "statefulset/db", dry_run]).await;
        let effect = "note: statefulset/db would be held at partition 3: ";
        assert!(dry.stderr.contains(effect) && !dry.stderr.contains("is held"), "{}", dry.transcript);
    }
    let paused = ran(&ground, &["pause", "statefulset/db"]).await;
    let effect = "statefulset.apps/db paused\nnote: statefulset/db is held at partition 3: ";
    assert!(paused.transcript.contains(effect), "{}", paused.transcript);
}

#[tokio::test]
async fn a_workload_that_is_being_deleted_is_warned_of_before_it_is_changed() {
    for verb in ["undo", "restart", "pause", "resume"] {
        let ground = Ground::of("shop");
        edit(&ground.cluster, &db(), |db| db["metadata"]["finalizers"] = json!(["example.com/backup"]));
        ground.cluster.store(|store| {
            store.delete(&db(), &Deletion::default(), &Author::new("colleague")).map(drop).unwrap();
        });
        let ended = ran(&ground, &[verb, "statefulset/db"]).await;
        let warning = "warning: statefulset/db is being deleted, so its controller ignores changes\n";
        assert!(ended.stderr.starts_with(warning), "{verb}: {}", ended.transcript);
    }
}

#[tokio::test]
async fn an_undo_that_moves_no_pod_says_so() {
    for (strategy, reason) in [
        (
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 5}}),
            "partition 5 keeps all of them on their revision",
        ),
        (json!({"type": "OnDelete"}), "updateStrategy OnDelete: each pod is rolled back when it is deleted"),
    ] {
        let ground = Ground::of("shop");
        edit(&ground.cluster, &db(), |db| {
            db["spec"]["updateStrategy"] = strategy.clone();
            let generation = db["metadata"]["generation"].as_i64().unwrap() + 1;
            db["status"]["observedGeneration"] = generation.into();
        });
        let ended = ran(&ground, &["undo", "statefulset/db"]).await;
        let note = format!(
            "statefulset.apps/db rolled back\nnote: no pod of statefulset/db is replaced: {reason}\n"
        );
        assert!(ended.transcript.contains(&note), "{}", ended.transcript);
    }
    let moves = ran(&Ground::of("shop"), &["undo", "statefulset/db"]).await;
    assert!(!moves.transcript.contains("no pod of"), "{}", moves.transcript);
}

/// A Deployment is held by `spec.paused`, not by its update strategy.
#[tokio::test]
async fn an_owner_of_the_manifest_is_warned_of_with_the_field_that_ends_the_pause() {
    for (target, key, field) in
        [("deployment/web", web(), "spec.paused"), ("statefulset/db", db(), "spec.updateStrategy")]
    {
        let ground = Ground::of("shop");
        edit(&ground.cluster, &key, |object| {
            object["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = "shop:apps/x".into();
        });
        let ended = ran(&ground, &["pause", target]).await;
        let warning = format!("manages {target} and ends the pause if its manifest sets {field}\n");
        assert!(ended.stderr.contains(&warning), "{}", ended.transcript);
        assert_eq!(ended.exit, 0);
    }
}

#[tokio::test]
async fn a_workload_that_is_named_twice_is_changed_once() {
    for verb in ["undo", "restart", "pause"] {
        let ground = Ground::of("shop");
        let ended = ran(&ground, &[verb, "deployment/web", "deploy/web"]).await;
        assert_eq!((ended.exit, patches(&ground).len()), (0, 1), "{verb}: {}", ended.transcript);
        assert_eq!(ended.stdout.lines().count(), 1, "{verb}: {}", ended.transcript);
    }
}

#[tokio::test]
async fn a_pause_ended_by_another_client_is_reported_and_removed() {
    let ground = Ground::of("shop");
    ran(&ground, &["pause", "statefulset/db"]).await;
    edit(&ground.cluster, &db(), |db| {
        db["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    });
    let ended = ran(&ground, &["resume", "statefulset/db"]).await;
    assert!(
        ended.stderr.starts_with("note: the pause of statefulset/db was already ended by test, "),
        "{}",
        ended.stderr
    );
    let after = object(&ground.cluster, &db());
    assert_eq!(after["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 0);
    assert_eq!(after["metadata"]["annotations"].get("kubectl-rollout2/held"), None);
}

#[tokio::test]
async fn a_second_restart_within_one_second_works() {
    let ground = Ground::of("shop");
    let stamp = || {
        object(&ground.cluster, &web())["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"].clone()
    };
    let first = ran(&ground, &["restart", "deployment/web"]).await;
    assert_eq!(
        (first.stdout.as_str(), first.stderr.as_str(), first.exit),
        ("deployment.apps/web restarted\n", "", 0)
    );
    let before = stamp();
    assert_eq!(ran(&ground, &["restart", "deployment/web"]).await.exit, 0);
    assert_ne!(stamp(), before);
}

#[tokio::test]
async fn a_restart_that_restarts_no_pods_prints_a_warning() {
    let ground = Ground::of("shop");
    let ended = ran(&ground, &["restart", "statefulset/db"]).await;
    assert_eq!(
        ended.stderr,
        "statefulset.apps/db  restart\n  replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)\n"
    );
    let ground = Ground::of("broken");
    let ended = ground.run(["restart", "ds/ds-ondelete", "-n", "broken"]).run_here().await;
    assert!(ended.stderr.contains("  replaces no pod: OnDelete keeps those on "), "{}", ended.stderr);
}

#[tokio::test]
async fn undo_waits_for_a_slow_controller() {
    let ground = Ground::of("shop");
    edit(&ground.cluster, &web(), |web| {
        web["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/web:7".into();
    });
    let caught_up = FaultAction::write_before(|store| {
        store
            .edit(&web(), Part::Status, &Author::new("controller"), |web| {
                let generation = web["metadata"]["generation"].clone();
                web["status"]["observedGeneration"] = generation;
            })
            .unwrap();
    });
    ground.cluster.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), caught_up).after(2).once());
    let ended = ran(&ground, &["undo", "deployment/web", "--diff"]).await;
    assert!(
        ended.stdout.contains("image   shop/web:7 -> shop/web:1.1\n"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    assert_eq!(
        ground
            .lines()
            .iter()
            .filter(|line| line.ends_with("/deployments/web") && line.starts_with("GET"))
            .count(),
        3
    );
}

fn resource(target: &str) -> &'static Resource {
    match target.split('/').next() {
        Some("deployment") => &DEPLOYMENTS,
        Some("statefulset") => &STATEFULSETS,
        Some("daemonset") => &DAEMONSETS,
        _ => &CONTROLLERREVISIONS,
    }
}
