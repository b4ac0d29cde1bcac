//! What `undo`, `restart`, `step` and `preview` say of pods that cannot start, before they write.

use harness::cluster::with;
use harness::prelude::*;
use simcluster::resource::{
    CONFIGMAPS, PERSISTENTVOLUMECLAIMS, PRIORITYCLASSES, RESOURCECLAIMS, RESOURCEQUOTAS, RUNTIMECLASSES,
    Resource, SECRETS, SERVICEACCOUNTS,
};
use tokio::time::Instant;

use crate::writes::{observe, web};

/// The members of a pod's spec that name an object, each with the object and its name in output.
fn places() -> [(Value, &'static Resource, &'static str, &'static str); 7] {
    let app = |more: Value| json!({"containers": [with(json!({"name": "app", "image": "app:1.0"}), &more)]});
    [
        (
            app(json!({"envFrom": [{"configMapRef": {"name": "config"}}]})),
            &CONFIGMAPS,
            "config",
            "configmap/config",
        ),
        (json!({"volumes": [{"name": "v", "secret": {"secretName": "tls"}}]}), &SECRETS, "tls", "secret/tls"),
        (
            json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}),
            &PERSISTENTVOLUMECLAIMS,
            "data",
            "persistentvolumeclaim/data",
        ),
        (json!({"serviceAccountName": "robot"}), &SERVICEACCOUNTS, "robot", "serviceaccount/robot"),
        (json!({"priorityClassName": "high"}), &PRIORITYCLASSES, "high", "priorityclass/high"),
        (json!({"runtimeClassName": "gvisor"}), &RUNTIMECLASSES, "gvisor", "runtimeclass/gvisor"),
        (
            json!({"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu-1"}]}),
            &RESOURCECLAIMS,
            "gpu-1",
            "resourceclaim/gpu-1",
        ),
    ]
}

/// Returns a cluster whose Deployment `web` had the members of a pod's spec in its first revision, and has them no more.
async fn cluster_with_earlier(members: &Value) -> Cluster {
    let reader = Rule::allow(&["*"], &["deployments", "replicasets", "pods", "events"]);
    let cluster = Cluster::simulated().user(User::limited("gina", [reader])).start();
    let template = json!({"metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "app:1.0"}]}});
    let mut earlier = template.clone();
    earlier["spec"] = with(template["spec"].clone(), members);
    let strategy = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    cluster.deployment(2, &json!({"template": earlier, "strategy": strategy}));
    cluster.advance(30).await;
    let removed: serde_json::Map<_, _> =
        members.as_object().unwrap().keys().map(|member| (member.clone(), Value::Null)).collect();
    let spec = with(Value::Object(removed), &json!({"containers": [{"name": "app", "image": "app:2.0"}]}));
    cluster.editor().patch(&key(&DEPLOYMENTS, "web"), &json!({"spec": {"template": {"spec": spec}}}));
    cluster.advance(30).await;
    cluster
}

fn create(cluster: &Cluster, resource: &'static Resource, object: Value) {
    let namespace = if resource.namespaced { "default" } else { "" };
    cluster.sim.store(|store| store.create(resource, namespace, object, &Author::new("kubectl")).unwrap());
}

fn image(cluster: &Cluster) -> Value {
    let object = cluster.sim.store(|store| Value::clone(store.get(&key(&DEPLOYMENTS, "web")).unwrap()));
    object["spec"]["template"]["spec"]["containers"][0]["image"].clone()
}

fn assert_ends(output: &Output, stderr: &str, exit: u8, context: &str) {
    let warnings = output.stderr.split_inclusive('\n').filter(|line| !line.starts_with("to take"));
    let warnings = warnings.collect::<String>();
    assert_eq!((warnings.as_str(), output.exit), (stderr, exit), "{context}: {}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_the_target_names_and_that_is_missing_is_a_warning() {
    for (members, resource, name, target) in places() {
        let cluster = cluster_with_earlier(&members).await;
        let why = format!("the template names {target}, which does not exist");
        let warning = format!("warning: new pods of deployment/web cannot start: {why}\n");
        let refused = format!(
            "error: new pods of deployment/web cannot start; nothing was written: {why}\n\
             hint: remove the cause, or leave out --strict\n"
        );
        for dry_run in ["--dry-run=client", "--dry-run=server"] {
            let output = cluster.run(&format!("undo deployment/web {dry_run}")).await;
            assert!(output.stderr.contains(&warning) && output.exit == 0, "{}", output.transcript);
            let output = cluster.run(&format!("undo deployment/web --strict {dry_run}")).await;
            output.reports_last(&refused).ends(1);
        }
        assert_ends(&cluster.run("undo deployment/web --strict").await, &refused, 1, target);
        assert_eq!(image(&cluster), "app:2.0");
        assert_ends(&cluster.run("undo deployment/web").await, &warning, 0, target);
        assert_eq!(image(&cluster), "app:1.0");
        cluster.advance(5).await;
        assert_ends(&cluster.run("restart deployment/web --strict").await, &refused, 1, target);
        assert_ends(&cluster.run("step deployment/web --strict").await, &refused, 1, target);
        assert_ends(&cluster.run("restart deployment/web").await, &warning, 0, target);
        let step = cluster.run("step deployment/web --dry-run").await;
        step.reports(&warning);
        create(&cluster, resource, json!({"metadata": {"name": name}}));
        assert_ends(&cluster.run("restart deployment/web --strict").await, "", 0, target);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_optional_is_no_obstacle() {
    let volumes = json!([{"name": "v", "configMap": {"name": "maybe", "optional": true}}]);
    let cluster = cluster_with_earlier(&json!({ "volumes": volumes })).await;
    assert_ends(&cluster.run("undo deployment/web --strict").await, "", 0, "optional");
}

/// The kubelet pulls without it.
#[tokio::test(start_paused = true)]
async fn a_missing_secret_for_image_pulls_is_no_obstacle() {
    let note = "note: the images of deployment/web are pulled without secret/pull, which does not exist\n";
    let cluster = cluster_with_earlier(&json!({"imagePullSecrets": [{"name": "pull"}]})).await;
    assert_ends(&cluster.run("undo deployment/web --strict").await, note, 0, "it does not exist");
    cluster.editor().create_workload(&DEPLOYMENTS, "api", &json!({"replicas": 1}));
    cluster.advance(30).await;
    cluster.run("restart deployment/web deployment/api --strict").await.reports(note).ends(0);
    create(&cluster, &SECRETS, json!({"metadata": {"name": "pull"}}));
    cluster.advance(30).await;
    assert_ends(&cluster.run("restart deployment/web --strict").await, "", 0, "it exists");
}

#[tokio::test(start_paused = true)]
async fn a_used_up_quota_leaves_no_room_for_a_surge_pod() {
    let cluster = cluster_with_earlier(&json!({})).await;
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}},
        "status": {"hard": {"pods": "2"}, "used": {"pods": "2"}}});
    create(&cluster, &RESOURCEQUOTAS, quota.clone());
    let place = key(&RESOURCEQUOTAS, "q");
    let author = Author::new("kube-controller-manager");
    cluster.sim.store(|store| store.patch(&place, Part::Status, Format::Merge, &quota, &author).unwrap());
    let why = "quota \"q\" leaves 0 of pods, and a surge pod needs 1";
    let output = cluster.run("undo deployment/web --strict").await;
    assert!(output.stderr.contains(why) && output.exit == 1, "{}", output.transcript);
    let output = cluster.run("undo deployment/web").await;
    assert_ends(&output, &format!("warning: new pods of deployment/web cannot start: {why}\n"), 0, "quota");
}

/// The value of a Secret or ConfigMap is never sent to this program.
#[tokio::test(start_paused = true)]
async fn only_the_metadata_of_an_object_is_requested() {
    for (members, resource, name, target) in places() {
        let cluster = cluster_with_earlier(&members).await;
        create(&cluster, resource, json!({"metadata": {"name": name}}));
        cluster.sim.forget_requests();
        assert_ends(&cluster.run("undo deployment/web --strict").await, "", 0, target);
        let requests = cluster.sim.requests();
        let path = format!("/{}/{name}", resource.plural);
        let read: Vec<_> = requests.iter().filter(|request| request.line().ends_with(&path)).collect();
        assert_eq!(read.len(), 1, "{target}: {requests:?}");
        assert_eq!(read[0].header("accept"), "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    }
}

/// The changes and the obstacle are shown, and the question comes after them, also of a named workload.
#[tokio::test]
async fn a_terminal_asks_before_a_rollback_whose_pods_cannot_start() {
    for (verb, answer, exit, written) in
        [("undo", "n\n", 1, 0), ("undo", "y\n", 0, 1), ("restart", "n\n", 1, 0), ("restart", "y\n", 0, 1)]
    {
        let server = Cluster::recorded("shop").start();
        let gone = json!({"spec": {"template": {"spec": {"priorityClassName": "gone"}}}});
        server.sim.store(|store| {
            let sets = store.list(&REPLICASETS, Some("shop")).map(|(key, _)| key.clone());
            for key in sets.chain([web()]).collect::<Vec<_>>() {
                store.patch(&key, Part::Object, Format::Merge, &gone, &Author::new("kubectl")).unwrap();
            }
        });
        observe(&server.sim, &web());
        let run: Run =
            server.command([verb, "deployment/web", "--to-revision=3"].into_iter().take(if verb == "undo" {
                3
            } else {
                2
            }));
        let output = run.typed(answer).arg("--color=never").terminal(140, 30).run_async().await;
        let warning = output
            .transcript
            .find("cannot start: the template names priorityclass/gone, which does not exist");
        let question = output.transcript.find("? [y/N] ");
        assert!(warning.is_some() && warning < question, "{verb} {}", output.transcript);
        let patches = server.sim.requests().iter().filter(|request| request.method == "PATCH").count();
        assert_eq!((output.exit, patches), (exit, written), "{verb} {answer:?} {}", output.transcript);
    }
}

/// What the same manifests create is not missing.
#[tokio::test(start_paused = true)]
async fn a_preview_knows_what_is_applied_together() {
    let cluster = cluster_with_earlier(&json!({})).await;
    let mut applied = cluster.sim.store(|store| Value::clone(store.get(&key(&DEPLOYMENTS, "web")).unwrap()));
    applied["spec"]["template"]["spec"]["containers"][0]["image"] = "app:3.0".into();
    applied["spec"]["template"]["spec"]["containers"][0]["envFrom"] =
        json!([{"configMapRef": {"name": "new"}}]);
    let config =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new", "namespace": "default"}});
    for (items, expected) in [(json!([applied]), true), (json!([applied, config]), false)] {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        let run =
            cluster.command(["preview", "-f", "-", "-o", "json"]).stdin(list.to_string()).kubectl_applies();
        let output = run.run_async().await;
        let warnings = &serde_json::from_str::<Value>(&output.stdout).unwrap()["items"][0]["warnings"];
        let message =
            "new pods of deployment/web cannot start: the template names configmap/new, which does not exist";
        let all = warnings.as_array().unwrap();
        let found = all.contains(&json!({
            "severity": "warning", "reason": "pods-cannot-start", "message": message, "hint": null,
        }));
        assert_eq!((found, output.exit), (expected, 0), "{}", output.transcript);
    }
}

/// Several workloads of a release often read the same object.
#[tokio::test(start_paused = true)]
async fn an_object_that_several_templates_name_is_asked_for_once() {
    let cluster = cluster_with_earlier(&json!({})).await;
    let web = cluster.sim.store(|store| Value::clone(store.get(&key(&DEPLOYMENTS, "web")).unwrap()));
    let named = ["web", "api"].map(|name| {
        let mut applied = web.clone();
        applied["metadata"]["name"] = name.into();
        applied["spec"]["template"]["spec"]["containers"][0]["envFrom"] =
            json!([{"configMapRef": {"name": "shared"}}]);
        applied
    });
    cluster.sim.forget_requests();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": named});
    let output =
        cluster.command(["preview", "-f", "-"]).stdin(list.to_string()).kubectl_applies().run_async().await;
    let warnings = output.stderr.matches("configmap/shared, which does not exist").count();
    assert_eq!((warnings, output.exit), (2, 0), "{}", output.transcript);
    let requests = cluster.sim.requests();
    let asked = requests.iter().filter(|request| request.line().ends_with("/configmaps/shared"));
    assert_eq!(asked.count(), 1, "{requests:?}");
}

/// With `--strict` nothing is written that was not checked. Without it the change is made, and one note says so.
#[tokio::test(start_paused = true)]
async fn strict_refuses_what_cannot_be_checked() {
    let status = |code| FaultAction::Refuse(Refusal::with_status(code, "no"));
    for act in [
        FaultAction::Stall,
        FaultAction::Delay(Duration::from_secs(20)),
        FaultAction::LoseRequest,
        FaultAction::Html(200),
        status(403),
        status(429),
        status(500),
    ] {
        for command in ["undo deployment/web", "restart deployment/web", "step deployment/web"] {
            let cluster = cluster_with_earlier(&places()[0].0).await;
            create(&cluster, &CONFIGMAPS, json!({"metadata": {"name": "config"}}));
            if !command.starts_with("undo") {
                cluster.run("undo deployment/web").await.ends(0);
                cluster.advance(30).await;
            }
            let before =
                cluster.sim.store(|store| Value::clone(store.get(&key(&DEPLOYMENTS, "web")).unwrap()));
            cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &CONFIGMAPS), act.clone()));
            let begun = Instant::now();
            let output = cluster.run(&format!("{command} --strict")).await;
            let refused = "error: new pods of deployment/web could not be checked; nothing was written: ";
            let is_denied = output.stderr.contains("no right to read configmaps\n");
            assert!(is_denied || output.stderr.contains(": configmap/config: "), "{}", output.transcript);
            output.ends(1).reports(refused).reports_last("hint: repeat the command, or leave out --strict\n");
            assert!(begun.elapsed() < Duration::from_secs(6), "{command} {act:?} {:?}", begun.elapsed());
            let after =
                cluster.sim.store(|store| Value::clone(store.get(&key(&DEPLOYMENTS, "web")).unwrap()));
            assert_eq!(after["spec"], before["spec"], "{command} {act:?}");
            if !command.starts_with("step") {
                let output = cluster.run(command).await;
                let note = "note: new pods of deployment/web could not be checked: ";
                output.ends(0);
                assert_eq!(output.stderr.matches(note).count(), 1, "{command} {act:?} {}", output.transcript);
            }
        }
    }
}

/// What one read finds is kept although another one fails.
#[tokio::test(start_paused = true)]
async fn what_was_found_stays_although_another_read_fails() {
    let members = json!({"serviceAccountName": "robot", "priorityClassName": "high"});
    let cluster = cluster_with_earlier(&members).await;
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &PRIORITYCLASSES), FaultAction::Stall));
    cluster.run("undo deployment/web --strict").await.ends(1).reports(
        "error: new pods of deployment/web cannot start; nothing was written: the template names serviceaccount/robot, \
         which does not exist\n",
    );
    let output = cluster.run("undo deployment/web").await;
    output.ends(0).reports(
        "warning: new pods of deployment/web cannot start: the template names serviceaccount/robot, ",
    );
    output.reports("note: new pods of deployment/web could not be checked: priorityclass/high: ");
}

/// One note, also for what the user may not read at all.
#[tokio::test(start_paused = true)]
async fn missing_rights_are_one_note_and_a_refusal_of_strict() {
    let cluster = cluster_with_earlier(&places()[0].0).await;
    let output = cluster.run_as("gina", "undo deployment/web --strict").await;
    output.ends(1).reports("error: new pods of deployment/web could not be checked; nothing was written: ");
    let output = cluster.run_as("gina", "undo deployment/web").await;
    output.ends(0);
    let note = "note: new pods of deployment/web could not be checked: no right to read configmaps and resourcequotas\n";
    assert_eq!(output.stderr.matches(note).count(), 1, "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn interactive_asks_after_the_obstacles_are_shown() {
    let cluster = cluster_with_earlier(&places()[0].0).await;
    let output = cluster.command(["undo", "deployment/web", "-i"]).stdin("n\n").run_async().await;
    let obstacle = output.transcript.find("configmap/config, which does not exist");
    assert!(obstacle.is_some() && obstacle < output.transcript.find("[y/N]"), "{}", output.transcript);
    output.ends(1);
}

#[tokio::test(start_paused = true)]
async fn the_errors_of_other_targets_are_printed_although_strict_refuses() {
    let cluster = cluster_with_earlier(&json!({"serviceAccountName": "robot"})).await;
    cluster.editor().create_workload(&DEPLOYMENTS, "api", &json!({"replicas": 1}));
    cluster.advance(30).await;
    for verb in ["undo", "restart"] {
        let output =
            cluster.run(&format!("{verb} deployment/web deployment/api deployment/typo --strict")).await;
        output.reports("error: new pods of deployment/web cannot start; nothing was written: ");
        output.reports("error: no deployment \"typo\" in namespace ").ends(1);
        cluster.run("undo deployment/web").await.ends(0);
        cluster.advance(30).await;
    }
}
