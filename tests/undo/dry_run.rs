//! `--dry-run=client`: the preview as text, and the output formats.

use harness::prelude::*;

use crate::undo::undo;

fn undo_dry_run(namespace: &str, args: &[&str]) -> Output {
    undo(namespace, args).arg("--dry-run=client").run()
}

/// Returns stdout, stderr and the exit code, without kubectl's warning about the last-applied annotation.
fn printed(namespace: &str, args: &[&str]) -> String {
    let output = undo_dry_run(namespace, args);
    let mut printed = output.stdout;
    for line in output
        .stderr
        .lines()
        .filter(|line| !line.starts_with("warning: the next kubectl apply of the present manifest "))
    {
        printed.extend(["stderr: ", line, "\n"]);
    }
    printed + &format!("exit {}\n", output.exit)
}

fn outputs(namespace: &str, targets: &[&str]) -> String {
    let each = |target: &&str| format!("$ undo {target}\n{}", printed(namespace, &[target]));
    targets.iter().map(each).collect::<Vec<_>>().join("\n")
}

#[test]
fn previews_of_the_shop_match_their_snapshot() {
    insta::assert_snapshot!(outputs("shop", &["deployment/web", "sts/db", "ds/agent", "deploy/checkout"]));
}

#[test]
fn previews_of_broken_workloads_match_their_snapshot() {
    let targets = [
        "deploy/badimage",
        "deploy/fresh",
        "deploy/paused",
        "deploy/recreate",
        "deploy/undone",
        "deploy/zero",
        "sts/sts-bad",
        "sts/sts-ondelete",
        "sts/sts-parallel",
        "ds/ds-bad",
        "ds/ds-ondelete",
        "ds/ds-surge",
    ];
    insta::assert_snapshot!(outputs("broken", &targets));
}

#[test]
fn the_printed_patch_can_be_applied_with_kubectl() {
    let output = undo_dry_run("shop", &["deployment/web", "-o", "patch"]);
    assert_eq!(output.stdout.lines().count(), 1);
    let patch: Vec<Value> = serde_json::from_str(&output.stdout).unwrap();
    let steps: Vec<String> = patch
        .iter()
        .map(|step| format!("{} {}", step["op"].as_str().unwrap(), step["path"].as_str().unwrap()))
        .collect();
    assert_eq!(
        steps,
        [
            "test /metadata/uid",
            "test /spec/paused",
            "test /metadata/annotations/kubectl-rollout2~1held",
            "test /spec/template",
            "test /metadata/annotations/kubernetes.io~1change-cause",
            "test /metadata/annotations/kubectl-rollout2~1undone",
            "replace /spec/template",
            "replace /metadata/annotations/kubernetes.io~1change-cause",
            "add /metadata/annotations/kubectl-rollout2~1undone",
        ]
    );
    assert!(
        output.stderr.contains("  replaces 4 of 4 pods\n"),
        "with a document on stdout the preview goes to stderr"
    );
}

#[test]
fn documents_contain_the_object_after_the_rollback() {
    let json: Value = serde_json::from_str(&undo_dry_run("shop", &["sts/db", "-o", "json"]).stdout).unwrap();
    assert_eq!(json["spec"]["template"]["spec"]["containers"][0]["image"], "shop/db:1.2");
    assert_eq!(json["metadata"].get("managedFields"), None);
    let both = undo_dry_run("shop", &["sts/db", "ds/agent", "-o", "yaml"]).stdout;
    assert_eq!(both.matches("\n---\n").count(), 1);
    assert!(both.contains("image: shop/agent:1.2"));
    assert_eq!(undo_dry_run("shop", &["sts/db", "-o", "name"]).stdout, "statefulset.apps/db\n");
}

#[test]
fn a_live_revision_is_skipped_with_its_number() {
    for (args, expected) in [
        (
            &["deploy/web", "--to-revision", "5"][..],
            "deployment.apps/web skipped rollback (current template already matches revision 5) (dry run)\n",
        ),
        (
            &["deploy/web", "--to-revision", "current"],
            "deployment.apps/web skipped rollback (current template already matches revision 5) (dry run)\n",
        ),
        (&["deploy/web", "--to-revision", "5", "-o", "patch"], "[]\n"),
        (&["deploy/web", "--to-revision", "5", "-o", "name"], "deployment.apps/web\n"),
    ] {
        let output = undo_dry_run("shop", args);
        assert_eq!((output.stdout.as_str(), output.exit), (expected, 0), "{args:?}");
    }
}

#[test]
fn stable_selects_a_revision_or_lists_the_candidates() {
    assert!(printed("shop", &["sts/db", "--to", "stable"]).contains("revision 4 -> 3"));
    assert!(printed("broken", &["deploy/badimage", "--to-revision", "stable"]).contains("revision 2 -> 1"));
    insta::assert_snapshot!(printed("shop", &["deploy/web", "--to", "stable"]));
}

#[test]
fn resume_adds_the_end_of_the_pause_to_the_patch() {
    let patch = undo_dry_run("broken", &["deploy/paused", "--resume", "-o", "patch"]).stdout;
    assert!(patch.contains(r#"{"op":"remove","path":"/spec/paused"}"#), "{patch}");
}

#[test]
fn last_applied_is_synced_and_no_warning_remains() {
    let output = undo_dry_run("shop", &["deploy/web", "--sync-last-applied", "-o", "patch"]);
    assert!(!output.stderr.contains("Warning:"), "{}", output.stderr);
    output.prints(r#"\"ports\":[{\"containerPort\":8080}]"#);
}

#[test]
fn a_failed_workload_does_not_stop_the_others() {
    let output =
        undo("shop", &["deploy/web", "deploy/nope", "sts/db", "--dry-run=client", "-o", "name"]).run();
    assert_eq!(output.stdout, "deployment.apps/web\nstatefulset.apps/db\n");
    output.reports("\n1 of 3 workloads failed\nerror: no deployment \"nope\" in namespace").ends(1);
}

#[test]
fn a_selector_prints_its_workloads_before_the_previews() {
    let output = undo("shop", &["deploy,sts", "--dry-run=client", "-o", "name"]).run();
    assert!(
        output.stderr.starts_with(
            "2 deployments and 1 statefulset: deployment/checkout, deployment/web, statefulset/db\n"
        ),
        "{}",
        output.stderr
    );
}

#[test]
fn nothing_matched_is_an_error_without_allow_empty() {
    for (args, exit) in [(&[][..], 1), (&["--allow-empty"], 0)] {
        let output = undo("shop", &["deploy", "-l", "app=none", "--dry-run=client"]).args(args).run();
        assert_eq!((output.stdout.as_str(), output.exit), ("", exit), "{args:?} {}", output.stderr);
    }
}

#[test]
fn revision_0_is_the_default_as_in_kubectl() {
    for target in ["deployment/web", "sts/db"] {
        assert_eq!(printed("shop", &[target, "--to-revision=0"]), printed("shop", &[target]));
    }
}

#[test]
fn a_rollback_hint_names_the_revision_object_instead_of_its_number() {
    let printed = printed("broken", &["sts/sts-bad", "--to-revision", "1"]);
    let hint = printed.lines().find(|line| line.contains("--replace-stuck-pods")).unwrap_or_default();
    assert!(hint.contains(" --to sts-bad-"), "{printed}");
}

/// A plain update to an image that ran before is no rollback: nothing is asked.
#[tokio::test(start_paused = true)]
async fn an_update_to_an_earlier_image_was_not_undone() {
    use harness::cluster::Cluster;
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(2, &serde_json::json!({}));
    for image in ["app:2.0", "app:1.0"] {
        cluster.advance(30).await;
        cluster.editor().set_image(&web, image);
    }
    cluster.advance(30).await;
    for (expected, args) in [
        ("", "undo deployment/web"),
        (
            "warning: revision 3 was just rolled back (to 4, was 2); this brings it back\n",
            "undo deployment/web --dry-run",
        ),
    ] {
        let output = cluster.run(args).await;
        cluster.advance(30).await;
        output.ends(0);
        let warnings: String =
            output.stderr.split_inclusive('\n').filter(|line| line.starts_with("warning")).collect();
        assert_eq!(warnings, expected, "{}", output.transcript);
    }
}

/// A script must not take a change whose object cannot be printed for one that was not made.
#[tokio::test(start_paused = true)]
async fn a_change_is_reported_although_its_object_cannot_be_printed() {
    use harness::cluster::Cluster;
    let (cluster, _) = Cluster::simulated().deployment(2, &serde_json::json!({})).await;
    let output = cluster.run("pause deployment/web -o jsonpath={.spec.template.spec.containers[7]}").await;
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1), "{}", output.transcript);
    output.reports("error: cannot write the output: jsonpath");
    let note = "note: the change was made: deployment.apps/web paused\n";
    output.reports_last(note);
}

/// With the words of `undo`, `restart` and `preview`.
#[test]
fn pause_and_resume_show_their_effect_on_the_pods() {
    let run = |args: &[&str]| {
        let run = Run::of(args.iter().chain(&["--dry-run=client"]));
        run.arg("--from").arg(data().join("shop/snapshot.json")).run()
    };
    let paused = run(&["pause", "statefulset/db"]);
    assert_eq!(
        paused.stdout,
        "statefulset/db  pause\n  replaces no pod: partition 3 keeps db-0..db-2\nstatefulset.apps/db paused (dry run)\n"
    );
    let name = run(&["pause", "statefulset/db", "-o", "name"]);
    assert_eq!(name.stdout, "statefulset.apps/db\n");
    let alone = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default", "uid": "u"}, "spec": {"paused": true}}"#;
    let unknown = Run::of(["resume", "deployment/web", "--dry-run=client", "--from", "-"]).stdin(alone).run();
    assert_eq!((unknown.stdout.as_str(), unknown.exit), ("deployment.apps/web resumed (dry run)\n", 0));
    let note = "note: the effect on the pods is not shown: ";
    unknown.reports(note);
    let snapshot = data().join("broken/snapshot.json");
    let resumed = Run::of(["resume", "deployment/paused", "--dry-run=client", "--from"]).arg(snapshot).run();
    assert_eq!(
        resumed.stdout,
        "deployment/paused  resume\n  replaces 3 of 3 pods\n  at most 1 surge pod and none unavailable at a time\n\
         deployment.apps/paused resumed (dry run)\n"
    );
}

/// The template keeps the resources that it had, and the pods have those that a client gave them.
#[test]
fn pods_that_were_resized_in_place_are_counted() {
    use crate::status::objects::{pod, revision, workload};
    let resized = json!({"metadata": {"managedFields": [{"manager": "vpa", "subresource": "resize"}]}});
    for (count, line) in [
        (0, ""),
        (1, "  resets the resources of 1 pod resized in place\n"),
        (2, "  resets the resources of 2 pods resized in place\n"),
    ] {
        let pods = (0..3).map(|index| {
            let pod = pod("Deployment", &format!("web-2-{index}"), 2);
            if index < count { merged(pod, &resized) } else { pod }
        });
        let items: Vec<_> = [workload("Deployment"), revision("Deployment", 1), revision("Deployment", 2)]
            .into_iter()
            .chain(pods)
            .collect();
        let snapshot = json!({"kind": "List", "items": items}).to_string();
        for verb in ["undo", "restart"] {
            let args = [verb, "deployment/web", "-n", "n", "--dry-run=client", "--from", "-"];
            let output = Run::of(args).stdin(snapshot.clone()).run();
            output.ends(0).prints(line);
            assert_eq!(output.stdout.contains("resized in place"), count > 0, "{}", output.transcript);
        }
    }
}
