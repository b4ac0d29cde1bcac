//! The output formats, the exit codes, and the warnings.

#![cfg(unix)]

use harness::prelude::*;

use crate::preview::setup::{
    Directory, MANIFEST, changed, cluster, cluster_with, list, preview_with, run_on, shop,
};

/// `preview -f - ARGS...` of these objects against the recorded shop.
async fn preview(objects: &[Value], args: &[&str]) -> harness::Output {
    let run = Run::of(["preview", "-f", "-"].iter().chain(args)).kubectl_applies();
    run_on(&cluster(), run.stdin(list(objects))).await
}

#[tokio::test]
async fn every_outcome_has_its_words() {
    let several = [
        changed("Deployment", "web", image_change("shop/web:2.0")),
        changed("Deployment", "checkout", |object| object["spec"]["replicas"] = 5.into()),
        changed("StatefulSet", "db", image_change("shop/db:3.0")),
        changed("DaemonSet", "agent", image_change("shop/agent:1.0")),
        changed("Deployment", "web", |object| object["metadata"]["name"] = "cart".into()),
        changed("Deployment", "web", |_| ()),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "db"}}),
    ];
    let ended = preview(&several, &[]).await;
    insta::assert_snapshot!(ended.transcript, @"
    deployment/web  revision 5 -> new revision 6
      container web   image   shop/web:1.1 -> shop/web:2.0
      replaces 4 of 4 pods
      at most 1 unavailable and 1 surge pod at a time
    deployment/checkout  no rollout
      spec.replicas   3 -> 5
    warning: Helm (checkout) manages deployment/checkout too and may revert the change
    statefulset/db  revision 4 -> new revision 5 (db-b44cdf6df)
      container db   image   shop/db:2.0 -> shop/db:3.0
      replaces 2 of 5 pods: db-4 db-3 (partition 3 keeps db-0..db-2)
      at most 1 unavailable at a time, the highest ordinal first
    daemonset/agent  revision 4 -> returns to revision 1, which becomes 5
      container agent   image   shop/agent:1.1 -> shop/agent:1.0
      replaces 3 of 3 pods: those on node-0..node-2
      at most 1 unavailable at a time
    deployment/cart  is created with 4 pods
    deployment/web  no change
    4 of 6 workloads roll out; without rollouts: 1 configmap, 2 services
    ");
    ended.ends(0);
}

#[tokio::test]
async fn an_object_without_a_namespace_is_in_that_of_the_command() {
    let web = || {
        changed("Deployment", "web", |object| {
            object["metadata"].as_object_mut().unwrap().remove("namespace");
        })
    };
    assert_eq!(preview(&[web()], &[]).await.stdout, "deployment/web  no change\n");
    assert_eq!(preview(&[web()], &["-n", "other"]).await.stdout, "deployment/web  is created with 4 pods\n");
    let json: Value = serde_json::from_str(&preview(&[web()], &["-o", "json"]).await.stdout).unwrap();
    assert_eq!(json["items"][0]["workload"]["namespace"], "shop");
}

#[tokio::test]
async fn a_paused_deployment_gets_its_pods_when_it_is_resumed() {
    let cart = changed("Deployment", "web", |object| {
        object["metadata"]["name"] = "cart".into();
        object["spec"]["paused"] = true.into();
    });
    let ended = preview(std::slice::from_ref(&cart), &[]).await;
    assert_eq!(ended.stdout, "deployment/cart  is created paused, with 4 pods when it is resumed\n");
    let json: Value = serde_json::from_str(&preview(&[cart], &["-o", "json"]).await.stdout).unwrap();
    assert_eq!(
        (&json["items"][0]["outcome"], &json["items"][0]["afterPause"]),
        (&json!("created"), &json!(true))
    );
}

#[tokio::test]
async fn a_unified_diff_is_printed_on_request() {
    let ended =
        preview(&[changed("Deployment", "web", image_change("shop/web:2.0"))], &["--diff", "-U", "1"]).await;
    insta::assert_snapshot!(ended.transcript, @"
    deployment/web  revision 5 -> new revision 6
      container web   image   shop/web:1.1 -> shop/web:2.0
      replaces 4 of 4 pods
      at most 1 unavailable and 1 surge pod at a time
    --- live
    +++ applied
    @@ spec.containers[web] @@
           value: prod
    -    image: shop/web:1.1
    +    image: shop/web:2.0
         imagePullPolicy: IfNotPresent
    ");
}

#[tokio::test]
async fn the_exit_code_depends_on_a_rollout() {
    let web = || changed("Deployment", "web", |_| ());
    for (objects, exit) in [
        (vec![web()], 0),
        (vec![changed("Deployment", "web", |object| object["spec"]["replicas"] = 9.into())], 0),
        (vec![changed("Deployment", "web", image_change("shop/web:2.0"))], 1),
        (vec![web(), changed("DaemonSet", "agent", image_change("shop/agent:1.0"))], 1),
        (vec![changed("Deployment", "web", |object| object["metadata"]["name"] = "cart".into())], 1),
        (vec![json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}})], 0),
    ] {
        assert_eq!(preview(&objects, &["--exit-code"]).await.exit, exit, "{objects:?}");
        assert_eq!(preview(&objects, &[]).await.exit, 0);
    }
}

#[tokio::test]
async fn json_and_yaml_have_the_same_facts() {
    let objects = [
        changed("StatefulSet", "db", image_change("shop/db:3.0")),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}),
    ];
    let json: Value = serde_json::from_str(&preview(&objects, &["-o", "json"]).await.stdout).unwrap();
    let page = std::fs::read_to_string(data().join("../../docs/json.md")).unwrap();
    let (_, section) = page.split_once("## `PreviewList`").unwrap();
    let example = section.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(json, serde_json::from_str::<Value>(example).unwrap(), "docs/json.md has this example");
    let yaml: Value = serde_saphyr::from_str(&preview(&objects, &["-o", "yaml"]).await.stdout).unwrap();
    assert_eq!(json, yaml);
}

#[tokio::test]
async fn secret_values_are_masked_unless_shown() {
    let secret = changed("Deployment", "web", |object| {
        object["spec"]["template"]["spec"]["containers"][0]["env"] =
            json!([{"name": "DB_PASSWORD", "value": "hunter2"}]);
        object["metadata"]["annotations"]["note"] = "token: hunter2".into();
    });
    for args in [&[][..], &["--diff"], &["-o", "json"], &["-o", "yaml"]] {
        let ended = preview(std::slice::from_ref(&secret), args).await;
        assert!(!ended.transcript.contains("hunter2"), "{}", ended.transcript);
    }
    assert!(preview(&[secret], &["--show-values"]).await.stdout.contains("hunter2"));
}

#[tokio::test]
async fn warnings_go_to_stderr() {
    let owned = async |change: fn(&mut Value)| {
        let mut shop = shop();
        let items = shop["items"].as_array_mut().unwrap();
        let web =
            items.iter_mut().find(|item| item["kind"] == "Deployment" && item["metadata"]["name"] == "web");
        let web = web.unwrap();
        web["metadata"]["labels"]["app.kubernetes.io/managed-by"] = "Helm".into();
        web["spec"]["paused"] = true.into();
        web["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/web".into();
        let mut after = web.clone();
        change(&mut after);
        let cluster = SimCluster::builder().snapshot(&shop).unwrap().build();
        let run = Run::of(["preview", "-f", "-"]).kubectl_applies().stdin(after.to_string());
        run_on(&cluster, run).await
    };
    let ended = owned(|object| {
        object["spec"]["paused"] = false.into();
        object["spec"]["revisionHistoryLimit"] = 1.into();
    })
    .await;
    insta::assert_snapshot!(ended.stderr, @"
    warning: it ends the pause of deployment/web
    warning: Helm manages deployment/web too and may revert the change
    warning: revisionHistoryLimit 1 of deployment/web removes revisions 1, 3, 4
    ");
    let ended = owned(|_| ()).await;
    insta::assert_snapshot!(ended.transcript, @"
    deployment/web  no change
    warning: the tag of image shop/web is not fixed: applying deployment/web again replaces no pod
    hint: to pull it again: kubectl rollout2 restart deployment/web -n shop
    ");
}

#[tokio::test]
async fn forbidden_pods_are_left_out_with_a_note() {
    let directory = Directory::new();
    let program = directory.printing(&[changed("Deployment", "web", image_change("shop/web:2.0"))]);
    let rules = [Rule::allow(&["get", "list"], &["deployments", "replicasets"])];
    let cluster = cluster_with(User::limited("gina", rules));
    let run = preview_with(&program, &["-f", MANIFEST]);
    let ended = run.in_process(cluster.service_for("gina"), "shop").run_async().await;
    assert!(ended.stderr.starts_with("note: pods are not counted: "), "{}", ended.stderr);
    ended.prints("  replaces up to 4 pods (cannot list pods)\n").ends(0);
    let cluster = cluster_with(User::limited("gina", []));
    let run = preview_with(&program, &["-f", MANIFEST, "--exit-code"]);
    let ended = run.in_process(cluster.service_for("gina"), "shop").run_async().await;
    assert!(ended.stderr.starts_with("error: forbidden: User \"gina\" cannot get"), "{}", ended.stderr);
    ended.ends(3);
    // No other item has this error, so that it is one itself.
    let run = preview_with(&program, &["-f", MANIFEST, "-o", "json"]);
    let ended = run.in_process(cluster.service_for("gina"), "shop").run_async().await;
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let last = document["items"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["kind"], &last["exitCode"]), (&json!("Error"), &json!(1)), "{}", ended.stdout);
    ended.ends(1);
}

#[tokio::test]
async fn workloads_of_several_namespaces_are_told_apart() {
    let directory = Directory::new();
    let elsewhere = changed("Deployment", "web", |object| object["metadata"]["namespace"] = "prod".into());
    let program = directory.printing(&[changed("Deployment", "web", |_| ()), elsewhere]);
    let ended = run_on(&cluster(), preview_with(&program, &["-f", MANIFEST])).await;
    assert_eq!(
        ended.stdout,
        "deployment/web -n shop  no change\ndeployment/web -n prod  is created with 4 pods\n\
         1 of 2 workloads rolls out\n"
    );
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
}

#[test]
fn mistakes_of_usage_are_refused() {
    let help = "hint: kubectl rollout2 preview --help\n";
    for (args, error) in [
        (&[][..], format!("no manifest is given: use -f or -k\n{help}")),
        (
            &["-f", "x", "--from", "y"],
            format!("kubectl cannot apply to recorded objects: preview needs a cluster\n{help}"),
        ),
        (&["-f", "-", "-f", "-"], "standard input cannot be used for multiple arguments\n".to_owned()),
        (
            &["-f", "x", "-k", "y"],
            format!("the argument '--filename <FILE|DIR|->' cannot be used with '--kustomize <DIR>'\n{help}"),
        ),
        (
            &["--applied", "x", "--field-manager", "ci"],
            "unexpected argument '--applied' found\n\
             hint: to compare a manifest: kubectl rollout2 preview -f FILE, or kubectl diff -f FILE\n"
                .to_owned(),
        ),
    ] {
        let ended = Run::of(["preview"].iter().chain(args)).run();
        assert_eq!((ended.stdout.as_str(), ended.exit), ("", 2), "{args:?}");
        assert_eq!(ended.stderr, format!("error: {error}"), "{args:?}");
    }
}
