//! Writes: the requests, concurrent changes by other clients, and errors.

use harness::{Output, Recorded};
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS, STATEFULSETS};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{Key, Protocols, Refusal, Resource, Rule, SimCluster, User, Verb};

use crate::setup::{TestServer, run_with};

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

/// Returns a fault that lets another client change an object just before the request arrives.
fn external_change(key: Key, change: impl Fn(&mut Value) + Send + Sync + 'static) -> FaultAction {
    FaultAction::write_before(move |store| {
        store.edit(&key, Part::Object, &Author::new("colleague"), |value| change(value)).unwrap();
    })
}

fn patches(server: &TestServer) -> Vec<simcluster::RecordedRequest> {
    let requests = server.cluster.requests();
    requests.into_iter().filter(|request| request.method == "PATCH").collect()
}

async fn run(server: &TestServer, args: &[&str]) -> Output {
    server.run(args).run_async().await
}

/// stderr without what every undo in the recorded shop prints: `kubectl apply` manages its workloads, a rollback
/// was the last change of `web` and `agent`, and the receipt.
pub(crate) fn messages(output: &Output) -> String {
    let is_usual = |line: &&str| {
        let usual = ["Warning: resource ", "warning: kubectl apply manages ", "to take this back: "];
        let rollback = [" was undone just before; ", " was replaced by an earlier one, "];
        usual.iter().any(|usual| line.starts_with(usual)) || rollback.iter().any(|said| line.contains(said))
    };
    output.stderr.split_inclusive('\n').filter(|line| !is_usual(line)).collect()
}

#[tokio::test]
async fn every_recorded_undo_matches_kubectl_on_a_live_server() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for namespace in ["broken", "many", "quota", "shop"] {
        let server = TestServer::of(namespace);
        for recorded in Recorded::of_verb("undo") {
            if !recorded.name.starts_with(&format!("{namespace}/")) {
                continue;
            }
            let output = server.run(&recorded.args).arg("--compat").run_async().await;
            let ours = (output.stdout.as_str(), output.stderr.as_str(), output.exit);
            let theirs = (recorded.stdout.as_str(), recorded.stderr.as_str(), recorded.exit);
            compared += 1;
            if ours != theirs {
                wrong.push(format!("{}\n--- kubectl\n{theirs:?}\n--- ours\n{ours:?}", recorded.name));
            }
        }
        assert!(
            server
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
        let server = TestServer::of("shop");
        let before = object(&server.cluster, &key);
        let output = run(&server, &["undo", target]).await;
        assert_eq!((messages(&output).as_str(), output.exit), ("", 0), "{target}");
        assert!(output.stdout.ends_with(" rolled back\n"), "{}", output.stdout);
        assert_eq!(server.lines().len(), 4, "{:?}", server.lines());
        let sent = patches(&server).pop().unwrap();
        assert_eq!(sent.header("content-type"), "application/json-patch+json");
        assert_eq!(sent.query.get("fieldManager"), "kubectl-rollout2");
        let operations: Vec<Value> = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(
            operations[0],
            json!({"op": "test", "path": "/metadata/uid", "value": before["metadata"]["uid"]})
        );
        let after = object(&server.cluster, &key);
        assert_eq!(after["spec"]["template"]["spec"]["containers"][0]["image"], image);
        assert_eq!(after["spec"]["template"]["metadata"]["labels"].get("pod-template-hash"), None);
        for kept in ["labels", "uid"] {
            assert_eq!(after["metadata"][kept], before["metadata"][kept]);
        }
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
    let server = TestServer::of("shop");
    edit(&server.cluster, &web(), |web| web["metadata"]["annotations"]["pager"] = "bob".into());
    run(&server, &["undo", "deployment/web", "--to-revision", "3"]).await;
    let annotations = &object(&server.cluster, &web())["metadata"]["annotations"];
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
    for (target, key, change, difference) in conflicts {
        let server = TestServer::of("shop");
        let mut expected = object(&server.cluster, &key);
        change(&mut expected);
        server.cluster.fault(
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
        assert_eq!(object(&server.cluster, &key)["spec"], expected["spec"], "{target}");
    }
}

#[tokio::test]
async fn unrelated_external_changes_are_no_conflict() {
    type Change = fn(&mut Value);
    let changes: [(&str, Key, Change); 4] = [
        ("deployment/web", web(), |web| web["spec"]["replicas"] = 9.into()),
        ("deployment/web", web(), |web| web["metadata"]["annotations"]["other"] = "x".into()),
        ("statefulset/db", db(), |db| db["metadata"]["labels"]["other"] = "x".into()),
        // The other client creates the map of annotations: the test of the patch fails, and the patch is rebuilt.
        ("daemonset/agent", agent(), |agent| agent["metadata"]["annotations"]["other"] = "x".into()),
    ];
    for (target, key, change) in changes {
        let server = TestServer::of("shop");
        if target == "daemonset/agent" {
            edit(&server.cluster, &key, |agent| {
                drop(agent["metadata"].as_object_mut().unwrap().remove("annotations"));
            });
        }
        server.cluster.fault(
            Fault::on(Requests::of(Verb::Patch, resource(target)), external_change(key.clone(), change))
                .once(),
        );
        let output = run(&server, &["undo", target]).await;
        assert_eq!((messages(&output).as_str(), output.exit), ("", 0), "{target}");
        let mut expected = object(&server.cluster, &key);
        change(&mut expected);
        assert_eq!(object(&server.cluster, &key), expected, "{target}");
    }
}

#[tokio::test]
async fn force_continues_after_a_conflict_and_shows_the_effect_again() {
    let server = TestServer::of("shop");
    let change = external_change(web(), |web| {
        web["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/web:9".into();
    });
    server.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), change).once());
    let output = run(&server, &["undo", "deployment/web", "--force", "--diff"]).await;
    assert_eq!(output.exit, 0, "{}", output.stderr);
    assert!(
        messages(&output).contains("; nothing was written: image shop/web:9; trying again (--force)\n"),
        "{}",
        output.stderr
    );
    assert!(output.stdout.contains("image      shop/web:9 -> shop/web:1.1\n"), "{}", output.stdout);
    let image = &object(&server.cluster, &web())["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "shop/web:1.1");
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
        let server = TestServer::of("shop");
        server.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), act).once());
        let output = run(&server, &["undo", "deployment/web", "--force"]).await;
        assert!(messages(&output).starts_with(error), "{}", output.stderr);
        assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
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
            let server = TestServer::of("shop");
            server.cluster.fault(Fault::on(
                Requests::of(Verb::Patch, &DEPLOYMENTS),
                FaultAction::Refuse(refusal.clone()),
            ));
            let before = object(&server.cluster, &web());
            let output = run(&server, args).await;
            assert_eq!((messages(&output).as_str(), output.stdout.as_str(), output.exit), (expected, "", 1));
            assert_eq!(patches(&server).len(), 1, "a write is never retried");
            assert_eq!(object(&server.cluster, &web()), before);
        }
    }
}

#[tokio::test]
async fn a_422_without_causes_or_conflict_is_our_error() {
    let server = TestServer::of("shop");
    server.cluster.fault(Fault::on(
        Requests::of(Verb::Patch, &DEPLOYMENTS),
        FaultAction::Refuse(Refusal::patch_failed()),
    ));
    let output = run(&server, &["undo", "deployment/web"]).await;
    assert!(messages(&output).contains("returned 422 Unprocessable Entity"), "{}", output.stderr);
    assert_eq!((patches(&server).len(), output.exit), (1, 1));
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
    for (protocols, (act, applied, stderr)) in
        Protocols::EACH.into_iter().flat_map(|protocols| moments.clone().map(|moment| (protocols, moment)))
    {
        let server = TestServer::over(protocols, "shop");
        let before = object(&server.cluster, &web());
        server.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), act.clone()));
        let output = run(&server, &["undo", "deployment/web", "--request-timeout=1s"]).await;
        assert!(messages(&output).contains(stderr), "{protocols:?} {act:?}: {}", output.stderr);
        assert_eq!(output.exit, u8::from(!applied), "{protocols:?} {act:?}: {}", output.stderr);
        assert_eq!(output.stdout.is_empty(), !applied, "{protocols:?} {act:?}");
        assert_eq!(object(&server.cluster, &web()) != before, applied, "{protocols:?} {act:?}");
        assert_eq!(patches(&server).len(), 1, "{protocols:?} {act:?}");
    }
}

/// The server stores nothing in a dry run, so that reading the object again shows nothing.
#[tokio::test]
async fn a_dry_run_without_an_answer_is_an_error() {
    let server = TestServer::of("shop");
    server.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::LoseAnswer));
    let output = run(&server, &["undo", "deployment/web", "--dry-run=server"]).await;
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1), "{}", output.stderr);
    assert!(!output.stderr.contains("read it again"), "{}", output.stderr);
    assert_eq!(server.lines().last().map(|line| line.starts_with("PATCH")), Some(true));
}

#[tokio::test]
async fn an_unknown_result_that_cannot_be_resolved_is_an_error() {
    let server = TestServer::of("shop");
    server.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::LoseAnswer));
    let forbidden = FaultAction::Refuse(Refusal::with_status(403, "no"));
    server.cluster.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), forbidden).after(1));
    let output = run(&server, &["undo", "deployment/web"]).await;
    assert!(
        messages(&output).starts_with("error: cannot tell whether deployment \"web\" was changed: "),
        "{}",
        output.stderr
    );
    assert_eq!(output.exit, 1);
}

#[tokio::test]
async fn a_change_cause_is_recorded_on_the_revision_or_a_warning_is_printed() {
    let server = TestServer::of("shop");
    let output = run(&server, &["undo", "statefulset/db", "--cause", "OPS-7"]).await;
    assert_eq!((messages(&output).as_str(), output.exit), ("", 0));
    assert_eq!(
        object(&server.cluster, &db())["metadata"]["annotations"]["kubernetes.io/change-cause"],
        "OPS-7"
    );
    let record = patches(&server).pop().unwrap();
    assert!(record.path.contains("/controllerrevisions/db-"), "{}", record.path);
    assert!(String::from_utf8_lossy(&record.body).contains("; undo: OPS-7\""));

    let rules = [
        Rule::allow(&["get", "list", "patch"], &["statefulsets"]),
        Rule::allow(&["list"], &["controllerrevisions", "pods"]),
    ];
    let server =
        TestServer::with("shop", simcluster::ServerCertificate::Good, &[User::limited("gina", rules)]);
    let kubeconfig = server.served.kubeconfig("gina", "shop").unwrap();
    let output = run_with(&kubeconfig, ["undo", "statefulset/db", "--cause", "OPS-7"]).run_async().await;
    assert!(
        messages(&output).starts_with("warning: cannot record the change-cause on db-"),
        "{}",
        output.stderr
    );
    assert_eq!((messages(&output).lines().count(), output.exit), (1, 0));
}

#[tokio::test]
async fn interactive_accepts_only_yes() {
    for (answer, exit) in [("y\n", 0), ("yes\n", 0), ("n\n", 1), ("\n", 1), ("", 1), ("yesterday\n", 1)] {
        let server = TestServer::of("shop");
        let run = server.run(["undo", "deployment/web", "-i"]).stdin(answer);
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
async fn a_preview_is_printed_on_a_terminal_only() {
    let server = TestServer::of("shop");
    let output =
        server.run(["undo", "statefulset/db", "--dry-run=server"]).terminal(100, 30).run_async().await;
    assert!(output.stdout.contains("replaces 2 of 5 pods: db-4 db-3"), "{}", output.stdout);
    let output = run(&server, &["undo", "statefulset/db", "--dry-run=server"]).await;
    assert_eq!(output.stdout, "statefulset.apps/db rolled back (server dry run)\n");
}

#[tokio::test]
async fn resume_restores_the_fields_before_the_pause() {
    for (target, key) in [("deployment/web", web()), ("statefulset/db", db()), ("daemonset/agent", agent())] {
        let server = TestServer::of("shop");
        let before = object(&server.cluster, &key);
        assert_eq!(run(&server, &["pause", target]).await.exit, 0);
        assert_ne!(object(&server.cluster, &key), before, "{target}");
        let twice = run(&server, &["pause", target]).await;
        assert!(twice.stdout.ends_with(" already paused\n") && twice.exit == 0, "{}", twice.stdout);
        let resumed = run(&server, &["resume", target]).await;
        assert!(resumed.stdout.ends_with(" resumed\n"), "{}{}", resumed.stdout, resumed.stderr);
        let after = object(&server.cluster, &key);
        assert_eq!(
            (&after["spec"], &after["metadata"]["annotations"]),
            (&before["spec"], &before["metadata"]["annotations"])
        );
    }
}

#[tokio::test]
async fn the_effect_of_a_pause_is_printed_only_after_the_write() {
    let server = TestServer::of("shop");
    let forbidden = Refusal::with_status(403, "statefulsets.apps \"db\" is forbidden");
    server
        .cluster
        .fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), FaultAction::Refuse(forbidden)).once());
    let refused = run(&server, &["pause", "statefulset/db"]).await;
    assert_eq!(refused.exit, 1, "{}", refused.transcript);
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
        let server = TestServer::of("shop");
        edit(&server.cluster, &db(), |db| db["metadata"]["finalizers"] = json!(["example.com/backup"]));
        server.cluster.store(|store| {
            store.delete(&db(), &Deletion::default(), &Author::new("colleague")).map(drop).unwrap();
        });
        let output = run(&server, &[verb, "statefulset/db"]).await;
        let warning = "warning: statefulset/db is being deleted, so its controller ignores changes\n";
        assert!(output.stderr.starts_with(warning), "{verb}: {}", output.transcript);
    }
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
        let server = TestServer::of("shop");
        edit(&server.cluster, &db(), |db| {
            db["spec"]["updateStrategy"] = strategy.clone();
            let generation = db["metadata"]["generation"].as_i64().unwrap() + 1;
            db["status"]["observedGeneration"] = generation.into();
        });
        let output = run(&server, &["undo", "statefulset/db"]).await;
        let note = format!(
            "statefulset.apps/db rolled back\nnote: no pod of statefulset/db is replaced: {reason}\n"
        );
        assert!(output.transcript.contains(&note), "{}", output.transcript);
    }
    let output = run(&TestServer::of("shop"), &["undo", "statefulset/db"]).await;
    assert!(!output.transcript.contains("no pod of"), "{}", output.transcript);
}

/// A Deployment is held by `spec.paused`, not by its update strategy.
#[tokio::test]
async fn a_pause_warns_about_the_owner_of_the_manifest_and_the_field_that_ends_it() {
    for (target, key, field) in
        [("deployment/web", web(), "spec.paused"), ("statefulset/db", db(), "spec.updateStrategy")]
    {
        let server = TestServer::of("shop");
        edit(&server.cluster, &key, |object| {
            object["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = "shop:apps/x".into();
        });
        let output = run(&server, &["pause", target]).await;
        let warning = format!("manages {target} and ends the pause if its manifest sets {field}\n");
        assert!(output.stderr.contains(&warning), "{}", output.transcript);
        assert_eq!(output.exit, 0);
    }
}

#[tokio::test]
async fn a_workload_given_twice_is_changed_once() {
    for verb in ["undo", "restart", "pause"] {
        let server = TestServer::of("shop");
        let output = run(&server, &[verb, "deployment/web", "deploy/web"]).await;
        assert_eq!((output.exit, patches(&server).len()), (0, 1), "{verb}: {}", output.transcript);
        assert_eq!(output.stdout.lines().count(), 1, "{verb}: {}", output.transcript);
    }
}

#[tokio::test]
async fn a_pause_ended_by_another_client_is_reported_and_removed() {
    let server = TestServer::of("shop");
    run(&server, &["pause", "statefulset/db"]).await;
    edit(&server.cluster, &db(), |db| {
        db["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    });
    let output = run(&server, &["resume", "statefulset/db"]).await;
    assert!(
        output.stderr.starts_with("note: the pause of statefulset/db was already ended by test, "),
        "{}",
        output.stderr
    );
    let after = object(&server.cluster, &db());
    assert_eq!(after["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 0);
    assert_eq!(after["metadata"]["annotations"].get("kubectl-rollout2/held"), None);
}

/// A partition that the user set is no hold of `pause`.
#[tokio::test]
async fn resume_reports_a_partition_that_it_does_not_end() {
    let server = TestServer::of("shop");
    let output = run(&server, &["resume", "statefulset/db"]).await;
    assert_eq!((output.stdout.as_str(), output.exit), ("statefulset.apps/db not paused\n", 0));
    assert_eq!(
        output.stderr,
        "note: partition 3 of statefulset/db is not a hold of pause or step, so resume does not end it\n\
         hint: to update the other pods: kubectl rollout2 step statefulset/db -n shop --to 100%\n"
    );
    let output = run(&server, &["resume", "deployment/web"]).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

#[tokio::test]
async fn a_second_restart_within_one_second_works() {
    let server = TestServer::of("shop");
    let stamp = || {
        object(&server.cluster, &web())["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"].clone()
    };
    let first = run(&server, &["restart", "deployment/web"]).await;
    assert_eq!((first.stdout.as_str(), first.exit), ("deployment.apps/web restarted\n", 0));
    let before = stamp();
    assert_eq!(run(&server, &["restart", "deployment/web"]).await.exit, 0);
    assert_ne!(stamp(), before);
}

#[tokio::test]
async fn a_restart_that_restarts_no_pods_prints_a_warning() {
    let server = TestServer::of("shop");
    let output = run(&server, &["restart", "statefulset/db"]).await;
    let effect = "statefulset.apps/db  restart\n  replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)\n  \
        at most 1 unavailable at a time, the highest ordinal first\nto take this back: ";
    assert!(output.stderr.starts_with(effect), "{}", output.stderr);
    let server = TestServer::of("broken");
    let output = server.run(["restart", "ds/ds-ondelete", "-n", "broken"]).run_async().await;
    assert!(output.stderr.contains("  replaces no pod: OnDelete keeps those on "), "{}", output.stderr);
}

#[tokio::test]
async fn undo_waits_for_a_slow_controller() {
    let server = TestServer::of("shop");
    edit(&server.cluster, &web(), |web| {
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
    server.cluster.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), caught_up).after(2).once());
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

fn resource(target: &str) -> &'static Resource {
    match target.split('/').next() {
        Some("deployment") => &DEPLOYMENTS,
        Some("statefulset") => &STATEFULSETS,
        Some("daemonset") => &DAEMONSETS,
        _ => &CONTROLLERREVISIONS,
    }
}
