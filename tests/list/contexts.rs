//! `list --contexts`: several clusters.

use harness::prelude::*;

use harness::files::file;

/// Returns a complete Deployment in the namespace `shop` with this image, whose rollout ended at 13:00.
fn complete(name: &str, image: &str) -> Value {
    let condition = json!({"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable",
        "lastUpdateTime": "2026-11-20T13:00:00Z", "lastTransitionTime": "2026-11-20T13:00:00Z"});
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("{name}-{image}"), "generation": 1,
            "creationTimestamp": "2026-11-20T12:00:00Z", "annotations": {"deployment.kubernetes.io/revision": "3"}},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "app", "image": image}]}}},
        "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2,
            "availableReplicas": 2, "conditions": [condition]}})
}

fn serve(objects: &[Value]) -> Cluster {
    let list = json!({"kind": "List", "items": objects});
    Cluster::of(&list).namespace("shop").user(User::limited("nobody", Vec::new())).served()
}

/// Returns a kubeconfig with these contexts, each with its cluster and its user.
fn kubeconfig(contexts: &[(&str, &Cluster, &str)]) -> Value {
    let mut all = json!({"apiVersion": "v1", "kind": "Config", "current-context": contexts[0].0,
        "clusters": [], "users": [], "contexts": []});
    for (context, cluster, user) in contexts {
        let mut one = cluster.kubeconfig_of(user);
        for part in ["clusters", "users", "contexts"] {
            one[part][0]["name"] = (*context).into();
        }
        let user = format!("{user} of {}", one["clusters"][0]["cluster"]["server"]); // each has its own certificate
        one["users"][0]["name"] = user.as_str().into();
        one["contexts"][0]["context"] = json!({"cluster": context, "user": user, "namespace": "shop"});
        for part in ["clusters", "users", "contexts"] {
            all[part].as_array_mut().unwrap().push(one[part][0].clone());
        }
    }
    all
}

async fn list(kubeconfig: &Value, args: &[&str]) -> Output {
    Run::of(["list"].iter().chain(args)).kubeconfig(kubeconfig).run_async().await
}

fn stall(cluster: &Cluster) {
    cluster.sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
}

#[tokio::test]
async fn two_contexts_are_one_table_with_letters_of_templates() {
    let [eu, us] = ["web:1", "web:2"].map(|image| serve(&[complete("web", image), complete("api", "api:1")]));
    let kubeconfig = kubeconfig(&[("prod-eu", &eu, "admin"), ("prod-us", &us, "admin")]);
    let output = list(&kubeconfig, &["deploy", "--contexts", "prod-*"]).await;
    let lines: Vec<_> = output.stdout.lines().collect();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert!(lines[0].starts_with("CONTEXT  WORKLOAD        TEMPLATE  REVISION  STATE"), "{lines:#?}");
    let starts: Vec<Vec<&str>> =
        lines[1..5].iter().map(|line| line.split_whitespace().take(5).collect()).collect();
    assert_eq!(
        starts,
        [
            ["prod-eu", "deployment/api", "A", "3", "complete"],
            ["prod-us", "deployment/api", "A", "3", "complete"],
            ["prod-eu", "deployment/web", "A", "3", "complete"],
            ["prod-us", "deployment/web", "B", "3", "complete"],
        ]
    );
    assert_eq!(
        lines[5..],
        ["2 contexts: 4 complete", "deployment/web has 2 templates: A image web:1; B image web:2"]
    );
    for cluster in [&eu, &us] {
        assert_eq!(
            cluster.lines(),
            ["GET /apis/apps/v1/namespaces/shop/deployments"],
            "one request for each"
        );
    }

    let output = list(&kubeconfig, &["deploy", "--contexts", "prod-*", "--behind", "-o", "name"]).await;
    assert_eq!(output.stdout, "prod-eu/shop/deployment/web\nprod-us/shop/deployment/web\n");

    let output = list(&kubeconfig, &["deploy", "--contexts", "prod-eu,prod-us", "-o", "json"]).await;
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let web = &document["items"][3];
    assert_eq!((&web["context"], &web["template"]), (&json!("prod-us"), &json!("B")));
    assert_eq!(document["contexts"][0]["name"], "prod-eu");
    assert_eq!(document["contexts"][0]["error"], Value::Null);
    assert_eq!(document["contexts"][0]["serverVersion"], "v1.36.2");
    assert!(document["contexts"][0]["clockAheadSeconds"].is_i64());
}

/// A silent, a forbidden and a second context of one server beside two that answer.
#[tokio::test]
async fn a_cluster_that_cannot_be_read_is_a_row_and_hides_nothing() {
    let [eu, us, silent, closed] =
        ["web:1", "web:1", "web:1", "web:1"].map(|image| serve(&[complete("web", image)]));
    stall(&silent);
    let kubeconfig = kubeconfig(&[
        ("eu", &eu, "admin"),
        ("eu-again", &eu, "admin"),
        ("silent", &silent, "admin"),
        ("closed", &closed, "nobody"),
        ("us", &us, "admin"),
    ]);
    let args = ["deploy", "--contexts", "*", "--request-timeout", "1s"];
    let output = list(&kubeconfig, &args).await;
    assert_eq!(
        (output.stderr.as_str(), output.exit),
        ("note: context eu-again: left out, because eu has the same server, user and namespace\n", 1)
    );
    let lines: Vec<_> = output.stdout.lines().collect();
    assert!(lines[1].starts_with("silent ") && lines[1].contains("  unreachable "), "{lines:#?}");
    assert!(lines[2].starts_with("closed ") && lines[2].contains("  unreadable "), "{lines:#?}");
    assert!(lines[3].starts_with("eu ") && lines[4].starts_with("us "), "{lines:#?}");
    assert_eq!(lines[5], "4 contexts: 1 unreachable, 1 unreadable, 2 complete");
    let output = list(&kubeconfig, &[&args[..], &["-o", "json"]].concat()).await;
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let errors: Vec<_> =
        document["contexts"].as_array().unwrap().iter().map(|one| one["error"]["reason"].clone()).collect();
    assert_eq!(errors, [Value::Null, json!("unreachable"), json!("refused"), Value::Null]);
    assert_eq!((document["items"].as_array().unwrap().len(), output.exit), (2, 1));
    let names = list(&kubeconfig, &[&args[..], &["-o", "name"]].concat()).await;
    names.ends(1).reports("error: context silent: ").reports("error: context closed: ");
}

/// More clusters than are read at the same time; those that never answer come first.
#[tokio::test]
async fn silent_clusters_take_as_long_as_one() {
    let (answers, silent) = (serve(&[complete("web", "web:1")]), serve(&[]));
    stall(&silent);
    let names: Vec<String> = (0..30).map(|index| format!("c{index:02}")).collect();
    let mut contexts = kubeconfig(
        &names
            .iter()
            .enumerate()
            .map(|(index, name)| (name.as_str(), if index < 3 { &silent } else { &answers }, "admin"))
            .collect::<Vec<_>>(),
    );
    for (index, name) in names.iter().enumerate() {
        contexts["users"][index]["name"] = name.as_str().into(); // contexts with the same user are listed once
        contexts["contexts"][index]["context"]["user"] = name.as_str().into();
    }
    let begun = std::time::Instant::now();
    let output = list(&contexts, &["deploy", "--contexts", "c*", "--request-timeout", "5s"]).await;
    assert!(begun.elapsed() < Duration::from_millis(9_900), "{:?}", begun.elapsed());
    assert_eq!(output.exit, 1);
    assert!(output.stdout.contains("\n30 contexts: 3 unreachable, 27 complete\n"), "{}", output.stdout);
}

#[tokio::test]
async fn the_worst_state_of_all_contexts_is_the_exit_code() {
    let mut failed = complete("web", "web:2");
    failed["status"]["conditions"][0] = json!({"type": "Progressing", "status": "False",
        "reason": "ProgressDeadlineExceeded", "lastUpdateTime": "2026-11-20T13:00:00Z"});
    failed["status"]["updatedReplicas"] = 1.into();
    let (eu, us) = (serve(&[complete("web", "web:1")]), serve(&[failed]));
    let kubeconfig = kubeconfig(&[("eu", &eu, "admin"), ("us", &us, "admin")]);
    let output = list(&kubeconfig, &["deploy", "--contexts", "*", "--fail-on-state", "failed"]).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 4), "{}", output.stdout);
    assert!(output.stdout.lines().nth(1).unwrap().starts_with("us "), "trouble first: {}", output.stdout);
    let lists = us.sim.requests().iter().filter(|one| one.line().contains("replicasets")).count();
    assert_eq!(lists, 1, "only the cluster with a failed rollout is read further");
    assert!(eu.sim.requests().iter().all(|one| !one.line().contains("replicasets")));

    let output = list(&kubeconfig, &["sts", "--contexts", "*"]).await;
    output.reports_last("error: no workload found in 2 contexts\n");
    assert_eq!((output.exit, output.stdout.as_str()), (1, "2 contexts\n"));
    assert_eq!(list(&kubeconfig, &["sts", "--contexts", "*", "--allow-empty"]).await.exit, 0);
}

#[tokio::test]
async fn flags_for_one_cluster_are_refused() {
    let eu = serve(&[]);
    let kubeconfig = kubeconfig(&[("eu", &eu, "admin")]);
    for args in [
        &["--context", "eu"][..],
        &["--server", "https://x"],
        &["--token", "t"],
        &["--as", "boss"],
        &["--from", "-"],
        &["--watch"],
    ] {
        let output = list(&kubeconfig, &[&["--contexts", "eu"], args].concat()).await;
        assert_eq!(output.exit, 2, "{args:?}: {}", output.transcript);
    }
    let output = list(&kubeconfig, &["--contexts", "eu,asia-*"]).await;
    assert_eq!(
        (output.stderr.as_str(), output.exit),
        ("error: the kubeconfig has no context \"asia-*\"\nhint: kubectl config get-contexts\n", 2)
    );
    assert!(eu.sim.requests().is_empty());
}

/// A command without the context would change another cluster.
#[test]
fn the_commands_in_a_row_have_its_context() {
    let mut paused = complete("web", "web:1");
    paused["spec"]["paused"] = true.into();
    let objects = json!({"kind": "List", "items": [paused]}).to_string();
    let from = ["eu", "us"].map(|name| format!("{name}={}", file("paused.json", &objects).display()));
    let output = Run::of(["list", "deploy", "--from", &from[0], "--from", &from[1], "-o", "wide"]).run();
    for context in ["eu", "us"] {
        output.prints(&format!("kubectl rollout2 resume --context {context} deployment/web -n shop"));
    }
}

/// A context that the patterns select alone is as `--context`: no column, no field and no request more.
#[tokio::test]
async fn one_context_is_listed_as_with_its_name() {
    let mut held = complete("web", "web:1");
    held["spec"]["paused"] = true.into();
    held["status"]["updatedReplicas"] = 1.into();
    let [eu, us] = [serve(&[held]), serve(&[])];
    let kubeconfig = kubeconfig(&[("eu", &eu, "admin"), ("us", &us, "admin")]);
    for form in [&[][..], &["-o", "json"], &["-o", "name"]] {
        let one = list(&kubeconfig, &[&["deploy", "--contexts", "e*"], form].concat()).await;
        let requests = eu.lines();
        eu.sim.forget_requests();
        let named = list(&kubeconfig, &[&["deploy", "--context", "eu"], form].concat()).await;
        assert_eq!((&one.transcript, one.exit), (&named.transcript, named.exit), "{form:?}");
        assert!(one.transcript.contains("web") && !one.transcript.contains("CONTEXT"), "{}", one.transcript);
        assert_eq!(requests, eu.lines(), "{form:?}");
        eu.sim.forget_requests();
    }
    assert!(us.sim.requests().is_empty());
}

/// Each recording stands for a context. Its ages are relative to its own newest stamp, and it has no clock.
#[test]
fn recorded_objects_of_several_clusters_are_listed_as_contexts() {
    let recordings = [("eu", "web:1"), ("us", "web:2")].map(|(name, image)| {
        let objects = json!({"kind": "List", "items": [complete("web", image), complete("api", "api:1")]});
        format!("{name}={}", file(&format!("{name}.json"), &objects.to_string()).display())
    });
    let list = |args: &[&str]| {
        let from = recordings.iter().flat_map(|recording| ["--from", recording]);
        Run::of(["list", "deploy"].into_iter().chain(from).chain(args.iter().copied())).run()
    };
    let output = list(&[]);
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    insta::assert_snapshot!(output.stdout, @"
    CONTEXT  WORKLOAD        TEMPLATE  REVISION  STATE     UPDATED  AVAILABLE  SINCE  CAUSE
    eu       deployment/api  A         3         complete  2/2      2/2        0s
    us       deployment/api  A         3         complete  2/2      2/2        0s
    eu       deployment/web  A         3         complete  2/2      2/2        0s
    us       deployment/web  B         3         complete  2/2      2/2        0s
    2 contexts: 4 complete
    deployment/web has 2 templates: A image web:1; B image web:2
    ");
    let output = list(&["--behind", "-o", "name"]);
    assert_eq!(
        (output.stdout.as_str(), output.exit),
        ("eu/shop/deployment/web\nus/shop/deployment/web\n", 0)
    );
    let document: Value = serde_json::from_str(&list(&["-o", "json"]).stdout).unwrap();
    assert_eq!(
        (&document["items"][3]["context"], &document["items"][3]["template"]),
        (&json!("us"), &json!("B"))
    );
    assert_eq!(document["contexts"][0]["clockAheadSeconds"], Value::Null);

    list(&["--watch"]).ends(2).reports("error: --watch and --sort-by need one cluster\n");
    list(&["--from", "asia=nofile.json"]).ends(2).reports("context asia: cannot read nofile.json");
    list(&["--from", "more.json"]).ends(2).reports("error: each of several --from needs a name of its own\n");
    list(&["--from", &recordings[0]])
        .ends(2)
        .reports("error: each of several --from needs a name of its own\n");
    let one = |from: &str| Run::of(["list", "--from", from]).run();
    let (name, path) = recordings[0].split_once('=').unwrap();
    assert_eq!((name, one(&recordings[0])), ("eu", one(path)), "one recording is listed as without a name");
    Run::of(["step", "deployment/web", "--dry-run", "--from", &recordings[0], "--from", &recordings[1]])
        .run()
        .ends(2)
        .reports("error: this command works on one cluster\n");
}

/// One server is an hour ahead. An age is relative to the clock of the server that wrote the stamp.
#[tokio::test]
async fn ages_are_by_the_clock_of_each_server() {
    let at = |time: &str| {
        let objects = json!({"kind": "List", "items": [complete("web", "web:1")]});
        let clock = simcluster::Clock::stepped(time.parse().unwrap());
        Cluster::built(simcluster::SimCluster::builder().snapshot(&objects).unwrap().clock(clock)).start()
    };
    let (eu, us) = (at("2026-11-20T13:05:00Z"), at("2026-11-20T14:05:00Z"));
    let run = |args: &[&str]| {
        let run = Run::of(["list", "deploy", "--contexts", "*"].iter().chain(args));
        run.contexts(&[("eu", &eu), ("us", &us)]).at("2026-11-20T13:05:00Z".parse().unwrap()).run_async()
    };
    let output = run(&[]).await;
    let rows: Vec<Vec<&str>> =
        output.stdout.lines().skip(1).take(2).map(|row| row.split_whitespace().collect()).collect();
    assert_eq!((rows[0][0], rows[0].last()), ("eu", Some(&"5m")), "{}", output.transcript);
    assert_eq!((rows[1][0], rows[1].last()), ("us", Some(&"65m")), "{}", output.transcript);
    let document: Value = serde_json::from_str(&run(&["-o", "json"]).await.stdout).unwrap();
    let ahead: Vec<_> =
        document["contexts"].as_array().unwrap().iter().map(|one| one["clockAheadSeconds"].clone()).collect();
    assert_eq!(ahead, [json!(0), json!(3600)]);
}
