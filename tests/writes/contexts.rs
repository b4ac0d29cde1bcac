//! The writing verbs with `--contexts`: the first cluster is written and awaited before the others.

use harness::cluster::START;
use harness::prelude::*;
use simcluster::resource::CONFIGMAPS;
use tokio::sync::watch;

/// Starts two clusters with the Deployment `web`, and rolls these images out in each, one after another.
async fn two_clusters(images: [&[&str]; 2]) -> ([Cluster; 2], [Key; 2]) {
    let clusters = [Cluster::simulated().start(), Cluster::simulated().start()];
    let keys = clusters.each_ref().map(|cluster| cluster.deployment(2, &json!({})));
    clusters[0].advance(60).await;
    for (index, images) in images.into_iter().enumerate() {
        for image in images {
            clusters[index].editor().set_image(&keys[index], image);
            clusters[0].advance(60).await;
        }
    }
    (clusters, keys)
}

fn run([eu, us]: &[Cluster; 2], words: &str) -> Run {
    let contexts = [("eu", eu), ("us", us)];
    Run::of(words.split_whitespace()).contexts(&contexts).at(START.parse().unwrap())
}

fn images(clusters: &[Cluster; 2], keys: &[Key; 2]) -> [Value; 2] {
    [0, 1].map(|index| {
        let object = clusters[index].sim.store(|store| store.get(&keys[index]).unwrap().clone());
        object["spec"]["template"]["spec"]["containers"][0]["image"].clone()
    })
}

#[tokio::test(start_paused = true)]
async fn the_first_cluster_is_complete_before_the_others_are_written() {
    let (clusters, keys) = two_clusters([&["app:2.0"], &["app:2.0"]]).await;
    let before = tokio::time::Instant::now();
    let output = run(&clusters, "undo deployment/web --contexts *").run_async().await;
    assert!(before.elapsed() >= Duration::from_secs(10), "ready for a moment is not complete");
    assert_eq!(
        (output.exit, images(&clusters, &keys)),
        (0, [json!("app:1.0"), json!("app:1.0")]),
        "{}",
        output.transcript
    );
    let positions: Vec<_> = [
        "eu: deployment.apps/web rolled back\n",
        "eu: deployment \"web\" successfully rolled out\n",
        "us: deployment.apps/web rolled back\n",
        "us: deployment \"web\" successfully rolled out\n",
    ]
    .iter()
    .map(|line| output.stdout.find(line).unwrap_or_else(|| panic!("{line}{}", output.transcript)))
    .collect();
    assert!(positions.is_sorted(), "{}", output.transcript);
    output.reports("CONTEXT  WORKLOAD        REVISION  TEMPLATE  IMAGE\n");
    output.reports("eu       deployment/web  2 -> 1    A         app:1.0\n");
    for context in ["eu", "us"] {
        output
            .reports(&format!("to take this back: kubectl rollout2 undo --context {context} deployment/web"));
    }
}

/// Nothing completes in the first cluster.
#[tokio::test(start_paused = true)]
async fn nothing_is_written_after_a_cluster_that_does_not_complete() {
    let (clusters, keys) = two_clusters([&["app:2.0"], &["app:2.0"]]).await;
    clusters[0].stop_controllers();
    let output = run(&clusters, "undo deployment/web --contexts * --timeout 20s").run_async().await;
    let unchanged = [json!("app:1.0"), json!("app:2.0")];
    assert_eq!((output.exit, images(&clusters, &keys)), (3, unchanged.clone()), "{}", output.transcript);
    output.reports_last("note: nothing was written in us\n");

    let (clusters, keys) = two_clusters([&["app:2.0"], &["app:2.0"]]).await;
    clusters[0].stop_controllers();
    let run_of_undo = run(&clusters, "undo deployment/web --contexts *");
    let output = run_of_undo.interrupted_after(Duration::from_secs(15)).run_async().await;
    assert_eq!((output.exit, images(&clusters, &keys)), (130, unchanged), "{}", output.transcript);

    let (clusters, keys) = two_clusters([&["app:2.0"], &["app:2.0"]]).await;
    clusters[0].stop_controllers();
    let output = run(&clusters, "undo deployment/web --contexts * --at-once").run_async().await;
    assert_eq!(images(&clusters, &keys), [json!("app:1.0"), json!("app:1.0")], "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn different_templates_need_a_yes_in_a_script() {
    let (clusters, keys) = two_clusters([&["app:2.0"], &["app:1.5", "app:2.0"]]).await;
    let output = run(&clusters, "undo deployment/web --contexts *").run_async().await;
    assert_eq!(
        (output.exit, images(&clusters, &keys)),
        (1, [json!("app:2.0"), json!("app:2.0")]),
        "{}",
        output.transcript
    );
    output.reports("warning: the contexts roll back to different templates: deployment/web has 2 templates: A image app:1.0; B image app:1.5");
    output.reports("error: the contexts roll back to different templates; nothing was written\n");
    let unknown = run(&clusters, "undo deployment/web --to stable --contexts *").run_async().await;
    unknown.ends(1).reports("kubectl rollout2 undo --context eu deployment/web -n default");
    assert!(!unknown.stderr.contains("rollout2 undo deployment"), "{}", unknown.transcript);
    let number = run(&clusters, "undo deployment/web --to 1 --contexts *").run_async().await;
    number.ends(2).reports("error: a number is another revision in each cluster\n");
    let output = run(&clusters, "undo deployment/web --contexts * --yes").run_async().await;
    assert_eq!(
        (output.exit, images(&clusters, &keys)),
        (0, [json!("app:1.0"), json!("app:1.5")]),
        "{}",
        output.transcript
    );
}

/// The second cluster is written after the wait for the first one, so that its rollout may be complete by then.
#[tokio::test(start_paused = true)]
async fn what_recovers_during_the_wait_is_not_rolled_back() {
    let (clusters, keys) = two_clusters([&["app:2.0-bad"], &["app:2.0-bad"]]).await;
    clusters[0].advance(1200).await;
    clusters[1].stop_controllers();
    let (sim, key) = (clusters[1].sim.clone(), keys[1].clone());
    let complete_the_other = FaultAction::write_before(move |_| {
        let completed = |object: &mut Value| {
            object["status"] = json!({"observedGeneration": object["metadata"]["generation"].clone(),
                "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
                "conditions": [{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]});
        };
        let author = Author::new("controller");
        sim.store(|store| store.edit(&key, Part::Status, &author, completed).map(drop).unwrap());
    });
    clusters[0].sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), complete_the_other).once());
    let output = run(&clusters, "undo deployment --failed --contexts * --yes").run_async().await;
    assert_eq!(images(&clusters, &keys), [json!("app:1.0"), json!("app:2.0-bad")], "{}", output.transcript);
    output
        .ends(0)
        .reports("note: context us: skipped deployment/web: it is no longer failed or stuck, but complete\n");
}

/// Whoever confirms has to know which clusters are not among those of the question.
#[tokio::test(start_paused = true)]
async fn the_error_of_a_cluster_is_printed_before_the_question() {
    let (clusters, keys) = two_clusters([&["app:2.0"], &["app:2.0"]]).await;
    clusters[1].sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
    let words = "undo deployment/web --contexts * --request-timeout 2s --plain --color=never";
    let output = run(&clusters, words).terminal(120, 50).typed("n\n").run_async().await;
    assert_eq!((output.exit, images(&clusters, &keys)), (1, [json!("app:2.0"), json!("app:2.0")]));
    let [error, question] = ["error: context us: ", "[y/N]"].map(|text| output.transcript.find(text));
    assert!(error.is_some() && error < question, "{}", output.transcript);
    output.reports("not confirmed; nothing was written");
}

#[tokio::test(start_paused = true)]
async fn one_question_names_each_context() {
    let (clusters, keys) = two_clusters([&["app:2.0"], &["app:2.0"]]).await;
    for (answer, exit, image) in [("n\n", 1, "app:2.0"), ("y\n", 0, "app:1.0")] {
        let run = run(&clusters, "undo deployment/web --contexts * --plain").terminal(120, 50).typed(answer);
        let output = run.run_async().await;
        assert_eq!(
            (output.exit, images(&clusters, &keys)),
            (exit, [json!(image), json!(image)]),
            "{}",
            output.transcript
        );
        assert_eq!(output.transcript.matches("[y/N]").count(), 1, "{}", output.transcript);
        output.reports("roll back 2 workloads in eu, us? [y/N] ");
    }
}

/// A cluster that cannot be read is an error, and the others are written.
#[tokio::test(start_paused = true)]
async fn the_other_verbs_write_in_the_same_order() {
    let (clusters, _) = two_clusters([&[], &[]]).await;
    let output = run(&clusters, "restart deployment/web --contexts *").run_async().await;
    assert_eq!(output.exit, 0, "{}", output.transcript);
    let [eu, us] = ["eu: deployment \"web\" successfully", "us: deployment.apps/web restarted"];
    assert!(output.stdout.find(eu).unwrap() < output.stdout.find(us).unwrap(), "{}", output.transcript);
    let output = run(&clusters, "pause deployment/web --contexts * -o name").run_async().await;
    let names = "eu/default/deployment/web\nus/default/deployment/web\n";
    assert_eq!((output.stdout.as_str(), output.exit), (names, 0), "{}", output.transcript);
    let output = run(&clusters, "resume deployment/web --contexts * --dry-run").run_async().await;
    output.ends(0).prints("us: deployment.apps/web resumed (dry run)\n");
    clusters[0].sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
    let output = run(&clusters, "resume deployment/web --contexts * --request-timeout 2s").run_async().await;
    output.ends(1).prints("us: deployment.apps/web resumed\n").reports("error: context eu: ");
    for (words, message) in [
        (
            "pause deployment/web --contexts * -o json",
            "error: with several contexts, only lines and -o name are printed\n",
        ),
        ("pause deployment/web --at-once", "error: --at-once is for several contexts\n"),
        ("step deployment/web --contexts *", "hint: docs/step.md, \"Several clusters\": "),
    ] {
        run(&clusters, words).run_async().await.ends(2).reports(message);
    }
}

/// Two contexts differ in what does not choose the workload: the namespace that -n overrides, and the user.
#[tokio::test(start_paused = true)]
async fn a_workload_is_written_once() {
    let (clusters, _) = two_clusters([&[], &[]]).await;
    let context = |name: &str, cluster: &str, user: &str, namespace: &str| {
        let context = json!({"cluster": cluster, "user": user, "namespace": namespace});
        json!({"name": name, "context": context})
    };
    let cluster = |name| json!({"name": name, "cluster": {"server": format!("https://{name}")}});
    let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "clusters": [cluster("eu"), cluster("us")],
        "contexts": [context("eu", "eu", "admin", "default"), context("eu-shop", "eu", "admin", "shop"),
            context("eu-dev", "eu", "dev", "default"), context("us", "us", "admin", "default")],
    });
    let run = |words: &str| {
        let [eu, us] = &clusters;
        let contexts = [("eu", eu), ("eu-shop", eu), ("eu-dev", eu), ("us", us)];
        Run::of(words.split_whitespace())
            .contexts(&contexts)
            .kubeconfig(&kubeconfig)
            .at(START.parse().unwrap())
    };
    let output = run("restart deployment/web -n default --contexts * --at-once").run_async().await;
    assert_eq!(clusters.each_ref().map(Cluster::writes), [1, 1], "{}", output.transcript);
    output.reports("note: context eu-shop: left out, because eu has the same server\n");
    let output = run("restart deployment/web --contexts *,!eu-shop").run_async().await;
    assert_eq!(clusters.each_ref().map(Cluster::writes), [2, 2], "{}", output.transcript);
    output.reports("note: context eu-dev: left out, because eu has the same server and namespace\n");
    let output = run("status deployment/web -n default --watch=false --contexts *").run_async().await;
    output.ends(0).reports("note: context eu-shop: left out, because eu has the same server and user\n");
    assert_eq!(output.stdout.lines().count(), 3, "{}", output.transcript);
    let output = run("list -A --contexts *,!eu-dev -o name").run_async().await;
    assert_eq!(
        output.stdout, "eu/default/deployment/web\nus/default/deployment/web\n",
        "{}",
        output.transcript
    );
}

/// The wait does not depend on how many contexts a pattern matches.
#[tokio::test(start_paused = true)]
async fn one_context_is_awaited_too() {
    for words in ["undo deployment/web --contexts e*", "restart deployment/web --contexts e*"] {
        let (clusters, _) = two_clusters([&["app:2.0"], &[]]).await;
        let output = run(&clusters, words).run_async().await;
        output.ends(0).prints("deployment \"web\" successfully rolled out\n");
        assert!(!output.transcript.contains("eu: "), "{}", output.transcript);

        let (clusters, _) = two_clusters([&["app:2.0"], &[]]).await;
        clusters[0].stop_controllers();
        let output = run(&clusters, &format!("{words} --timeout 20s")).run_async().await;
        output.ends(3).reports("error: timed out waiting for the condition");
        let output = run(&clusters, &format!("{words} --at-once --timeout 20s")).run_async().await;
        output.ends(2).reports("have an effect only with --wait");
    }
}

/// What a restart reads in the second cluster comes after writes in the first one, from which on no signal ends the process.
#[tokio::test(start_paused = true)]
async fn a_signal_during_reads_of_the_second_cluster_is_obeyed() {
    for flag in ["--stale-config", "--strict"] {
        let clusters = [Cluster::simulated().start(), Cluster::simulated().start()];
        let config = json!({"metadata": {"name": "config"}, "data": {"a": "1"}});
        let source = json!([{"configMapRef": {"name": "config"}}]);
        let container = json!([{"name": "app", "image": "app:1.0", "envFrom": source}]);
        for cluster in &clusters {
            let author = Author::new("helm");
            cluster.sim.store(|store| {
                store.create(&CONFIGMAPS, "default", config.clone(), &author).map(drop).unwrap();
            });
            for name in ["api", "web"] {
                let template =
                    json!({"metadata": {"labels": {"app": name}}, "spec": {"containers": container}});
                let spec =
                    json!({"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template});
                cluster.editor().create_workload(&DEPLOYMENTS, name, &spec);
            }
        }
        clusters[0].advance(60).await;
        for cluster in &clusters {
            let (key, change) = (key(&CONFIGMAPS, "config"), json!({"data": {"a": "2"}}));
            cluster.editor().patch_as("kubectl-edit", Format::Strategic, &key, &change);
        }
        clusters[0].advance(60).await;
        let us = clusters[1].sim.clone();
        us.fault(Fault::on(Requests::of(Verb::Get, &CONFIGMAPS), FaultAction::Delay(Duration::from_secs(1))));
        let (sender, receiver) = watch::channel(0);
        tokio::spawn(async move {
            while !us.requests().iter().any(|request| request.path.contains("configmaps")) {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            let _ = sender.send(2);
            std::future::pending::<()>().await;
        });
        let run = run(&clusters, &format!("restart deployments {flag} --contexts *")).signals(receiver);
        let output = run.run_async().await;
        output.ends(130).reports("interrupted; not changed: deployment/api, deployment/web\n");
        assert_eq!(clusters.each_ref().map(Cluster::writes), [2, 0], "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn the_context_is_in_the_head_of_a_dry_run() {
    let (clusters, _) = two_clusters([&["app:2.0"], &["app:2.0"]]).await;
    for context in ["eu", "us"] {
        let output = run(&clusters, "undo deployment/web --contexts * --dry-run").run_async().await;
        output.ends(0).prints(&format!("{context}: deployment/web  revision 2 -> 1"));
        let output = run(&clusters, "restart deployment/web --contexts * --dry-run").run_async().await;
        output.ends(0).prints(&format!("{context}: deployment/web  restart\n"));
    }
}
