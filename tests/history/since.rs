//! `history --since`: what several clients changed on the simulated cluster, and recorded objects.

use harness::prelude::*;

use crate::history::history;

fn container(fields: &Value) -> Value {
    let mut container = json!({"name": "app"});
    container.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"spec": {"template": {"spec": {"containers": [container]}}}})
}

/// A Deployment that four clients changed and one restarted, and a StatefulSet that a client changed.
async fn changed() -> Cluster {
    let cluster = Cluster::simulated().start();
    let (web, db) = (cluster.deployment(3, &json!({})), cluster.stateful_set(2, &json!({})));
    cluster.advance(3600).await;
    let editor = cluster.editor();
    let set = |key: &Key, manager: &str, fields: &Value| {
        editor.patch_as(manager, Format::Strategic, key, &container(fields));
    };
    set(&web, "argocd-controller", &json!({"image": "app:2.0", "workingDir": "/srv"}));
    cluster.advance(60).await;
    set(&web, "helm", &json!({"env": [{"name": "CACHE", "value": "on"}]}));
    cluster.advance(60).await;
    set(&web, "kubectl-set", &json!({"image": "app:3.0"}));
    cluster.advance(60).await;
    cluster.run("undo deployment/web").await.ends(0);
    cluster.advance(60).await;
    set(&db, "kubectl-edit", &json!({"image": "app:2.0-crash"}));
    cluster.advance(60).await;
    // What is no rollout: a scale, a label of the workload, and the status.
    editor.patch_as("kubectl-scale", Format::Merge, &web, &json!({"spec": {"replicas": 4}}));
    editor.patch_as("kubectl-label", Format::Merge, &web, &json!({"metadata": {"labels": {"team": "shop"}}}));
    cluster.advance(60).await;
    cluster
}

#[tokio::test(start_paused = true)]
async fn every_change_of_a_template_is_a_row() {
    let cluster = changed().await;
    let output = cluster.run("history --since 10m").await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    insta::assert_snapshot!(output.stdout);
}

/// Its row had `replaced`, although all ready pods run it.
#[tokio::test(start_paused = true)]
async fn the_revision_that_serves_while_a_later_one_fails_is_stable() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(3, &json!({}));
    cluster.advance(60).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(120).await;
    let output = cluster.run("history --since 10m").await;
    let rows: Vec<_> = output.stdout.lines().collect();
    assert!(rows[1].contains("stuck: ") && rows[2].ends_with("stable, 3/3 ready"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn wide_and_markdown_have_the_same_rows() {
    let cluster = changed().await;
    for form in ["wide", "markdown"] {
        let output = cluster.run(&format!("history deployment/web --since 14:27 -o {form}")).await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
        insta::assert_snapshot!(output.stdout);
    }
}

#[tokio::test(start_paused = true)]
async fn only_changes_since_the_time_are_rows() {
    let cluster = changed().await;
    for (words, rows, last) in [
        ("--since 10m", 5, "5 rollouts of 2 workloads changed since 14:21 UTC"),
        ("sts --since 10m", 1, "1 rollout of 1 workload changed since 14:21 UTC"),
        ("deployment/web --since 4m", 2, "2 rollouts of 1 workload changed since 14:27 UTC"),
        ("deployment/web deploy/web --since 4m", 2, "2 rollouts of 1 workload changed since 14:27 UTC"),
        ("--since 14:28:00 -A", 2, "2 rollouts of 2 workloads changed since 14:28 UTC"),
        ("--since 30s", 0, "no rollout changed since 14:30 UTC"),
        ("--since 23:00", 7, "7 rollouts of 2 workloads changed since 2026-11-19 23:00 UTC"),
        (
            "--since 2026-11-20T14:27:00+00:00 -l team=shop",
            2,
            "2 rollouts of 1 workload changed since 14:27 UTC",
        ),
    ] {
        let output = cluster.run(&format!("history {words}")).await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{words}");
        let lines: Vec<_> = output.stdout.lines().collect();
        assert_eq!(lines.len(), if rows == 0 { 1 } else { rows + 2 }, "{words}\n{}", output.stdout);
        assert_eq!(
            lines.last(),
            Some(&format!("{last}; revisions that were pruned are not listed").as_str()),
            "{words}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn json_and_yaml_are_the_same_document() {
    let cluster = changed().await;
    let output = cluster.run("history --since 10m -o json").await;
    let json: Value = serde_json::from_str(&output.stdout).unwrap();
    let yaml: Value =
        serde_saphyr::from_str(&cluster.run("history --since 10m -o yaml").await.stdout).unwrap();
    assert_eq!(json, yaml);
    let facts: Vec<_> = json["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            json!([item["workload"]["name"], item["revision"], item["was"], item["by"], item["state"]])
        })
        .collect();
    let expected = [
        json!(["db", 2, null, "kubectl-edit", "stuck"]),
        json!(["web", 5, 3, "kubectl-rollout2", "current"]),
        json!(["web", 4, null, "kubectl-set", "undone"]),
        json!(["web", 3, null, "helm", "replaced"]),
        json!(["web", 2, null, "argocd-controller", "replaced"]),
    ];
    assert_eq!(facts, expected, "{}", output.stdout);
    let names = cluster.run("history --since 10m -o jsonpath={.items[*].workload.name}").await;
    assert_eq!(names.stdout, "db web web web web");
    let none: Value = serde_json::from_str(&cluster.run("history --since 1s -o json").await.stdout).unwrap();
    assert_eq!(none["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn each_type_is_listed_once() {
    let cluster = changed().await;
    cluster.sim.forget_requests();
    cluster.run("history --since 10m deploy,sts").await.ends(0);
    let mut lines: Vec<_> = cluster.sim.requests().iter().map(simcluster::RecordedRequest::line).collect();
    lines.sort();
    let path = |rest: &str| format!("GET /apis/apps/v1/namespaces/default/{rest}");
    let expected = [
        "GET /api/v1/namespaces/default/events".to_owned(),
        "GET /api/v1/namespaces/default/pods".to_owned(),
        path("controllerrevisions"),
        path("deployments"),
        path("replicasets"),
        path("statefulsets"),
    ];
    assert_eq!(lines, expected);
}

/// The Deployment itself shows that its template has not changed.
#[tokio::test(start_paused = true)]
async fn nothing_is_read_of_a_deployment_without_a_change() {
    let cluster = Cluster::simulated().start();
    cluster.deployment(3, &json!({}));
    cluster.advance(3600).await;
    for command in
        ["history deploy --since 10m", "list deploy --since 10m", "undo deploy --failed --since 10m"]
    {
        cluster.sim.forget_requests();
        let output = cluster.run(command).await;
        assert!(output.exit == 0 || command.starts_with("undo"), "{}", output.transcript);
        let lines: Vec<_> = cluster.sim.requests().iter().map(simcluster::RecordedRequest::line).collect();
        assert_eq!(lines, ["GET /apis/apps/v1/namespaces/default/deployments"], "{command}");
    }
}

/// The time of a return without a stamp takes the room of the other columns.
#[tokio::test(start_paused = true)]
async fn rows_of_returns_fit_the_terminal() {
    let cluster = Cluster::simulated().start();
    let editor = cluster.editor();
    let checkout = editor.create_workload(&DEPLOYMENTS, "checkout", &json!({"replicas": 2}));
    cluster.advance(3600).await;
    let env = container(&json!({"env": [{"name": "A", "value": "1"}]}));
    editor.patch_as("helm", Format::Strategic, &checkout, &env);
    cluster.advance(600).await;
    editor.patch_as("kubectl-patch", Format::Strategic, &checkout, &container(&json!({"env": null})));
    cluster.advance(600).await;
    let image = container(&json!({"image": "app:2.0"}));
    editor.patch_as("kubectl-client-side-apply", Format::Strategic, &checkout, &image);
    cluster.advance(600).await;
    let command = cluster.command(["history", "--since", "1h", "--color=never"]).terminal(80, 24);
    let output = command.run_async().await;
    let rows = || output.stdout.lines().take_while(|line| !line.contains(" changed since "));
    assert!(rows().any(|row| row.starts_with("at most 30m  deployment/checkout  ")), "{}", output.transcript);
    assert!(output.stdout.lines().all(|row| row.chars().count() <= 80), "{}", output.transcript);
    assert!(rows().any(|row| row == "    current, 2/2 available"), "it was cut: {}", output.transcript);
}

/// A client that only removes a field owns nothing, so that no stamp shows when it did. A restart is a rollout.
#[tokio::test(start_paused = true)]
async fn a_return_by_a_removal_has_no_stamp() {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(2, &json!({}));
    cluster.advance(3600).await;
    let editor = cluster.editor();
    let env = container(&json!({"env": [{"name": "A", "value": "1"}]}));
    editor.patch_as("helm", Format::Strategic, &web, &env);
    cluster.advance(120).await;
    editor.patch_as("kubectl-patch", Format::Strategic, &web, &container(&json!({"env": null})));
    cluster.advance(300).await;
    let rows = cluster.run("history --since 1h").await.stdout;
    insta::assert_snapshot!("a_removal", rows);
    // The rollout was complete soon after the removal, so that it is not later.
    let later = cluster.run("history --since 4m").await.stdout;
    assert!(later.starts_with("no rollout changed since "), "{later}");
    cluster.run("restart deployment/web").await.ends(0);
    cluster.advance(60).await;
    insta::assert_snapshot!("a_restart", cluster.run("history --since 4m").await.stdout);
}

/// Nothing shows a return to a ReplicaSet by a removal. The controller of a StatefulSet writes the number of its revision.
#[tokio::test(start_paused = true)]
async fn a_return_of_a_stateful_set_has_the_time_of_its_controller() {
    let cluster = Cluster::simulated().start();
    let db = cluster.stateful_set(2, &json!({}));
    cluster.advance(3600).await;
    let editor = cluster.editor();
    let env = container(&json!({"env": [{"name": "A", "value": "1"}]}));
    editor.patch_as("helm", Format::Strategic, &db, &env);
    cluster.advance(600).await;
    editor.patch_as("kubectl-patch", Format::Strategic, &db, &container(&json!({"env": null})));
    cluster.advance(300).await;
    let rows = cluster.run("history --since 6m").await;
    assert!(rows.stdout.lines().nth(1).is_some_and(|row| row.starts_with("5m ")), "{}", rows.transcript);
    assert_eq!(rows.stdout.lines().count(), 3, "{}", rows.transcript);
}

/// The rollback takes over the stamp of the client that made the change.
#[tokio::test(start_paused = true)]
async fn an_undone_change_keeps_its_author() {
    let cluster = Cluster::simulated().start();
    for key in [cluster.deployment(2, &json!({})), cluster.stateful_set(2, &json!({}))] {
        cluster.advance(3600).await;
        cluster.editor().patch_as("helm", Format::Strategic, &key, &container(&json!({"image": "app:2.0"})));
        cluster.advance(60).await;
        cluster.run(&format!("undo {}/{}", key.resource.singular, key.name)).await.ends(0);
        cluster.advance(60).await;
        let json = cluster.run("history --since 10m -o json").await.stdout;
        let json: Value = serde_json::from_str(&json).unwrap();
        let rows: Vec<_> =
            json["items"].as_array().unwrap().iter().map(|one| json!([one["by"], one["state"]])).collect();
        assert_eq!(rows[..2], [json!(["kubectl-rollout2", "current"]), json!(["helm", "undone"])], "{json}");
    }
}

/// A list without revisions would say that nothing changed.
#[tokio::test(start_paused = true)]
async fn forbidden_revisions_are_an_error() {
    let rights = ["deployments", "pods", "events"];
    let user = User::limited("gina", [Rule::allow(&["list"], &rights)]);
    let (cluster, _) = Cluster::simulated().user(user).deployment(1, &json!({})).await;
    let output = cluster.run_as("gina", "history deploy --since 1h").await;
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
    assert!(output.stderr.starts_with("error: cannot read replicasets: forbidden"), "{}", output.stderr);
}

#[test]
fn recorded_objects_end_at_their_newest_stamp() {
    let output = history("shop", &["--since", "70s"]).run();
    let note = format!(
        "note: changes of ConfigMaps and Secrets are not listed: {} has no configmaps\n",
        harness::snapshot_path("shop").display()
    );
    assert_eq!((output.stderr, output.exit), (note, 0));
    insta::assert_snapshot!(output.stdout);
}

#[test]
fn a_change_during_a_pause_is_a_note() {
    let output = history("broken", &["deployment/paused", "--since", "5m"]).run();
    let note = "note: the live template of deployment/paused has no revision yet: it is paused; its pods run revision 1\n";
    assert_eq!((output.stderr.as_str(), output.exit), (note, 0));
    assert_eq!(history("broken", &["deployment/paused", "--since", "1s"]).run().stderr, "");
}

#[test]
fn a_terminal_shortens_the_changes() {
    let output = history("shop", &["--since", "1h", "--color", "never"]).terminal(110, 40).run();
    let widest = output.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|widest| widest <= 110), "{}", output.stdout);
}

/// CHANGES was cut to eight characters or fewer for the longest OBJECT.
#[test]
fn changes_go_below_their_row_before_they_are_cut_to_nothing() {
    for width in [40, 60, 80, 90] {
        let run = history("shop", &["--since", "1h", "--color", "never"]).terminal(width, 40);
        let output = run.run().stdout;
        assert!(output.lines().all(|line| line.chars().count() <= width.into()), "{width}: {output}");
        let words = output.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("image shop/"), "{width}: {output}");
        if width == 80 {
            insta::assert_snapshot!(output);
        }
    }
}

#[test]
fn nothing_found_is_an_error_and_an_empty_document() {
    let output = history("shop", &["--since", "1h", "-l", "app=none"]).run();
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
    let json = Run::of(["history", "--since", "1h", "-l", "app=none", "-o", "json", "--allow-empty"]);
    let output = json.arg("--from").arg(harness::snapshot_path("shop")).run();
    output.ends(0);
    assert_eq!(serde_json::from_str::<Value>(&output.stdout).unwrap()["items"], json!([]));
}

/// One Deployment crashes after a ConfigMap changed, another one was undone, and a third one was never in trouble.
#[tokio::test(start_paused = true)]
async fn an_incident_note_has_what_was_in_trouble() {
    let cluster = crate::status::stale_configuration::reading().await;
    let editor = cluster.editor();
    let [api, shop] =
        ["api", "shop"].map(|name| editor.create_workload(&DEPLOYMENTS, name, &json!({"replicas": 2})));
    cluster.advance(3600).await;
    let set = |key: &Key, manager: &str, image: &str| {
        editor.patch_as(manager, Format::Strategic, key, &container(&json!({"image": image})));
    };
    let config = key(&simcluster::resource::CONFIGMAPS, "web-config");
    editor.patch_as("kubectl-edit", Format::Strategic, &config, &json!({"data": {"a": "2"}}));
    cluster.advance(60).await;
    set(&key(&DEPLOYMENTS, "web"), "helm", "app:3.0-crash");
    set(&api, "argocd-controller", "app:2.0-bad");
    set(&shop, "kubectl-set", "app:2.0");
    cluster.advance(120).await;
    cluster.run("undo deployment/api").await.ends(0);
    cluster.advance(60).await;
    cluster.sim.forget_requests();
    let output = cluster.run("history --since 10m --incident").await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    insta::assert_snapshot!(output.stdout);
    let logs = cluster.lines().iter().filter(|line| line.ends_with("/log")).count();
    assert_eq!(logs, 1, "{:?}", cluster.lines());
    let output = cluster.run("history --since 10m --incident -o json").await;
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let names: std::collections::BTreeSet<_> = document["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["workload"]["name"])
        .map(Value::to_string)
        .collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["\"api\"", "\"web\""]);
    assert_eq!(document["configuration"].as_array().unwrap().len(), 1);
    let output = cluster.run("history --since 1s --incident deployment/shop").await;
    output.ends(0).prints("No rollout was in trouble since ");
}
