//! `undo --failed`: what it leaves out, with `--since` and without.

use harness::prelude::*;

fn is_rolled_back(cluster: &Cluster, key: &Key) -> bool {
    let image = |object: &Value| object["spec"]["template"]["spec"]["containers"][0]["image"] == "app:1.0";
    cluster.sim.store(|store| store.get(key).is_some_and(|object| image(object)))
}

#[tokio::test(start_paused = true)]
async fn what_failed_before_stays() {
    for (since, exit, rolled_back, skipped) in [
        (
            "--since 1h",
            0,
            [false, true, false],
            Some("skipped 1 failed workload without a change since then: deployment/old"),
        ),
        ("--since 5h", 0, [true, true, false], None),
        ("", 0, [true, true, false], None),
        (
            "--since 1s",
            0,
            [false; 3],
            Some("skipped 2 failed workloads without a change since then: deployment/new, deployment/old"),
        ),
    ] {
        let cluster = Cluster::simulated().start();
        let create = |name| cluster.editor().create_workload(&DEPLOYMENTS, name, &json!({"replicas": 2}));
        let keys = ["old", "new", "well"].map(create);
        cluster.advance(60).await;
        cluster.editor().set_image(&keys[0], "app:2.0-bad");
        cluster.advance(3 * 3600).await;
        cluster.editor().set_image(&keys[1], "app:2.0-bad");
        cluster.editor().set_image(&keys[2], "app:2.0");
        cluster.advance(1200).await;
        let output = cluster.run(&format!("undo --failed {since}")).await;
        let live = keys.each_ref().map(|key| is_rolled_back(&cluster, key));
        assert_eq!((output.exit, live), (exit, rolled_back), "{since}\n{}", output.transcript);
        let notes: Vec<_> = output.stderr.lines().filter_map(|line| line.strip_prefix("note: ")).collect();
        assert_eq!(notes, skipped.into_iter().collect::<Vec<_>>(), "{since}\n{}", output.transcript);
        for (key, is_back) in keys.iter().zip(live) {
            let title = format!("deployment/{}  revision 2 -> 1", key.name);
            assert_eq!(output.stderr.contains(&title), is_back, "{title}\n{}", output.transcript);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_may_still_end_well_is_named() {
    let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(5).await;
    let output = cluster.run("undo --failed").await;
    let note = "note: not rolled back: deployment/web, still progressing for 5s, 2/2 available on revision 1; not stuck yet: crashed, exit 1; to \
                roll it back too: kubectl rollout2 undo deployment/web -n default\n";
    assert!(output.stderr.starts_with(note), "{}", output.transcript);
    output.reports_last("no rollout is failed or stuck: nothing is rolled back\n");
    assert!(!is_rolled_back(&cluster, &web));
}

/// Its pods are not ready, and nothing says why. They have a minute more than a container without a probe needs.
#[tokio::test(start_paused = true)]
async fn a_rollout_whose_pods_stay_unready_is_rolled_back_while_old_pods_serve() {
    let (cluster, agent) = Cluster::simulated().daemon_set(&json!({})).await;
    cluster.editor().set_image(&agent, "app:2.0-notready");
    cluster.advance(60).await;
    let output = cluster.run("undo --failed").await;
    let note =
        "note: not rolled back: daemonset/agent, still progressing for 60s, 2/3 available on revision 1";
    assert!(output.stderr.starts_with(note), "{}", output.transcript);
    cluster.advance(30).await;
    let output = cluster.run("undo --failed").await;
    assert!(output.exit == 0 && is_rolled_back(&cluster, &agent), "{}", output.transcript);
    cluster.advance(5).await;
    let output = cluster.run("undo --failed").await;
    assert!(
        !output.stderr.contains("to roll it back too"),
        "no rollback is taken back: {}",
        output.transcript
    );
}

/// The notes before the rollbacks are far away after a wait.
#[tokio::test(start_paused = true)]
async fn the_last_line_names_what_was_left_out() {
    let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
    let (agent, db) = (cluster.daemon_set(&json!({})), cluster.stateful_set(2, &json!({})));
    cluster.advance(60).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.advance(720).await;
    for key in [&agent, &db] {
        cluster.editor().set_image(key, "app:2.0-notready");
    }
    cluster.advance(20).await;
    let output = cluster.run("undo --failed --wait").await;
    let left_out = "note: not rolled back, because still progressing: daemonset/agent, statefulset/db\n";
    output.ends(0).reports_last(left_out);
    assert!(is_rolled_back(&cluster, &web) && !is_rolled_back(&cluster, &agent), "{}", output.transcript);
}

/// Returns a cluster whose Deployment `web` failed, and ends its controllers. `web` completes while the command reads it the
/// second time, before the question.
async fn recovering() -> (Cluster, Key) {
    let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    cluster.advance(1200).await;
    cluster.stop_controllers();
    cluster.sim.forget_requests();
    (cluster, web)
}

/// Completes the rollout of a Deployment of two replicas, as its controller does.
fn complete(store: &mut simcluster::Store, key: &Key) {
    let completed = |object: &mut Value| {
        let (progressing, generation) = ("NewReplicaSetAvailable", object["metadata"]["generation"].clone());
        object["status"] = json!({"observedGeneration": generation, "replicas": 2, "updatedReplicas": 2,
            "readyReplicas": 2, "availableReplicas": 2, "conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Progressing", "status": "True", "reason": progressing}]});
    };
    store.edit(key, Part::Status, &Author::new("controller"), completed).map(drop).unwrap();
}

const RECOVERED: &str = "note: skipped deployment/web: it is no longer failed or stuck, but complete\n";

fn count(cluster: &Cluster, method: &str) -> usize {
    let is_it = |request: &&simcluster::RecordedRequest| {
        request.method == method && request.path.ends_with("/deployments/web")
    };
    cluster.sim.requests().iter().filter(is_it).count()
}

#[tokio::test(start_paused = true)]
async fn what_recovers_while_the_question_waits_is_not_rolled_back() {
    for (flag, has_terminal, skips) in
        [("--color=never", true, true), ("--interactive", false, true), ("--yes", true, false)]
    {
        let (cluster, web) = recovering().await;
        let key = web.clone();
        let recovery = FaultAction::write_before(move |store| complete(store, &key));
        cluster.sim.fault(Fault::on(Requests::of(Verb::List, &PODS), recovery).after(1).once());
        let run = cluster.command(["undo", "--failed", flag]);
        let run = if has_terminal { run.typed("y\n").terminal(100, 30) } else { run.stdin("y\n") };
        let output = run.run_async().await;
        assert_eq!(output.transcript.contains("[y/N]"), skips, "{flag}: {}", output.transcript);
        assert_eq!(output.transcript.contains(RECOVERED), skips, "{flag}: {}", output.transcript);
        assert_eq!(is_rolled_back(&cluster, &web), !skips, "{flag}: {}", output.transcript);
        // Without a question nothing is read again.
        assert_eq!((output.exit, count(&cluster, "GET")), (0, usize::from(skips)), "{flag}");
        assert_eq!(count(&cluster, "PATCH"), usize::from(!skips), "{flag}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_fixed_before_the_write_is_not_rolled_back_with_force() {
    let (cluster, web) = recovering().await;
    let key = web.clone();
    let fix = FaultAction::write_before(move |store| {
        let image = |object: &mut Value| {
            object["spec"]["template"]["spec"]["containers"][0]["image"] = "app:3.0".into();
        };
        store.edit(&key, Part::Object, &Author::new("colleague"), image).map(drop).unwrap();
        complete(store, &key);
    });
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), fix).once());
    let output = cluster.run("undo --failed --force --yes").await;
    output.reports("; trying again (--force)\n").reports(RECOVERED);
    assert!(output.exit == 0 && !is_rolled_back(&cluster, &web), "{}", output.transcript);
    assert_eq!(count(&cluster, "PATCH"), 1, "{}", output.transcript);
}

/// The changes are shown by namespace, and one question comes after all of them. A script has to say that it means all.
#[tokio::test]
async fn what_failed_in_all_namespaces_is_one_question() {
    let command = |server: &Cluster| server.command(["undo", "--failed", "-A", "-l", "app=crash"]);
    let server = Cluster::recorded("broken").start();
    let asked = command(&server).typed("n\n").arg("--color=never").terminal(100, 30).run_async().await;
    let places = ["namespace broken:\n", "deployment/crash  revision ", "roll back 1 workload? [y/N] "];
    let places = places.map(|text| asked.transcript.find(text));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{}", asked.transcript);
    asked.ends(1);
    server.sim.forget_requests();
    let script = command(&server).run_async().await;
    script.ends(2).reports("error: -A rolls back in every namespace\n");
    assert!(server.sim.requests().is_empty(), "a usage mistake never reaches the cluster");
    command(&server).arg("--yes").run_async().await.ends(0).prints("deployment.apps/crash rolled back\n");
    server
        .command(["undo", "deployment", "-A", "--yes"])
        .run_async()
        .await
        .ends(2)
        .reports("-A is allowed only for verbs that read and for undo --failed");
}

/// The workloads of a namespace stand together, in the order of the namespaces, below its name.
#[tokio::test(start_paused = true)]
async fn what_failed_in_several_namespaces_is_shown_by_namespace() {
    let namespaces = |builder: simcluster::Builder| builder.namespace("green").namespace("blue");
    let cluster = Cluster::simulated().with(namespaces).start();
    let places = [("green", "api"), ("blue", "web"), ("green", "web"), ("blue", "api")];
    for image in ["app:1.0", "app:2.0-bad"] {
        for (namespace, name) in places {
            let labels = json!({"app": name});
            let object = json!({"metadata": {"name": name}, "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": image}]}}}});
            if image == "app:1.0" {
                let author = Author::new("kubectl-create");
                cluster.sim.store(|store| store.create(&DEPLOYMENTS, namespace, object, &author).unwrap());
            } else {
                cluster.editor().set_image(&Key::new(&DEPLOYMENTS, namespace, name), image);
            }
        }
        cluster.advance(900).await;
    }
    let run = cluster.command(["undo", "--failed", "-A", "--color=never"]).typed("n\n").terminal(100, 60);
    let output = run.run_async().await;
    let heads = output.transcript.lines().filter(|line| {
        line.starts_with("namespace ") || line.starts_with("deployment/") || line.starts_with("roll back ")
    });
    let heads: Vec<_> = heads.map(|line| line.split("  ").next().unwrap()).collect();
    let expected = [
        "namespace blue:",
        "deployment/api",
        "deployment/web",
        "namespace green:",
        "deployment/api",
        "deployment/web",
    ];
    assert_eq!(
        heads.iter().filter(|head| !head.starts_with("roll back ")).copied().collect::<Vec<_>>(),
        expected,
        "{}",
        output.transcript
    );
    assert_eq!(
        heads.last().copied(),
        Some("roll back 4 workloads? [y/N] error: not confirmed; nothing was written"),
        "{}",
        output.transcript
    );
}
