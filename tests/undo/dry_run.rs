//! `--dry-run=client`: the preview, as text and as documents.

use harness::Ended;
use serde_json::Value;

use crate::undo;

fn ended(namespace: &str, args: &[&str]) -> Ended {
    undo(namespace, args).arg("--dry-run=client").run()
}

/// stdout and stderr, without kubectl's warning about the last-applied annotation.
fn printed(namespace: &str, args: &[&str]) -> String {
    let ended = ended(namespace, args);
    let mut printed = ended.stdout;
    for line in ended.stderr.lines().filter(|line| !line.starts_with("warning: kubectl apply manages ")) {
        printed.extend(["stderr: ", line, "\n"]);
    }
    printed + &format!("exit {}\n", ended.exit)
}

fn told_of_each(namespace: &str, targets: &[&str]) -> String {
    let each = |target: &&str| format!("$ undo {target}\n{}", printed(namespace, &[target]));
    targets.iter().map(each).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_workload_of_the_shop() {
    insta::assert_snapshot!(told_of_each(
        "shop",
        &["deployment/web", "sts/db", "ds/agent", "deploy/checkout"]
    ));
}

#[test]
fn every_broken_workload() {
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
    insta::assert_snapshot!(told_of_each("broken", &targets));
}

#[test]
fn the_patch_is_ready_for_kubectl() {
    let ended = ended("shop", &["deployment/web", "-o", "patch"]);
    assert_eq!(ended.stdout.lines().count(), 1);
    let patch: Vec<Value> = serde_json::from_str(&ended.stdout).unwrap();
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
            "replace /spec/template",
            "replace /metadata/annotations/kubernetes.io~1change-cause",
        ]
    );
    assert!(ended.stderr.contains("  replaces 4 of 4 pods\n"), "beside a document the preview is narration");
}

#[test]
fn documents_contain_the_object_after_the_rollback() {
    let json: Value = serde_json::from_str(&ended("shop", &["sts/db", "-o", "json"]).stdout).unwrap();
    assert_eq!(json["spec"]["template"]["spec"]["containers"][0]["image"], "shop/db:1.2");
    assert_eq!(json["metadata"].get("managedFields"), None);
    let both = ended("shop", &["sts/db", "ds/agent", "-o", "yaml"]).stdout;
    assert_eq!(both.matches("\n---\n").count(), 1);
    assert!(both.contains("image: shop/agent:1.2"));
    assert_eq!(ended("shop", &["sts/db", "-o", "name"]).stdout, "statefulset.apps/db\n");
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
        let ended = ended("shop", args);
        assert_eq!((ended.stdout.as_str(), ended.exit), (expected, 0), "{args:?}");
    }
}

#[test]
fn stable_is_found_or_refused_with_the_candidates() {
    assert!(printed("shop", &["sts/db", "--to", "stable"]).contains("revision 4 -> 3"));
    assert!(printed("broken", &["deploy/badimage", "--to-revision", "stable"]).contains("revision 2 -> 1"));
    insta::assert_snapshot!(printed("shop", &["deploy/web", "--to", "stable"]));
}

#[test]
fn a_paused_deployment_may_be_resumed_in_the_same_patch() {
    let patch = ended("broken", &["deploy/paused", "--resume", "-o", "patch"]).stdout;
    assert!(patch.contains(r#"{"op":"remove","path":"/spec/paused"}"#), "{patch}");
}

#[test]
fn last_applied_is_synced_and_no_warning_remains() {
    let ended = ended("shop", &["deploy/web", "--sync-last-applied", "-o", "patch"]);
    assert!(!ended.stderr.contains("Warning:"), "{}", ended.stderr);
    assert!(ended.stdout.contains(r#"\"ports\":[{\"containerPort\":8080}]"#), "{}", ended.stdout);
}

#[test]
fn a_failed_workload_does_not_stop_the_others() {
    let ended =
        undo("shop", &["deploy/web", "deploy/nope", "sts/db", "--dry-run=client", "-o", "name"]).run();
    assert_eq!(ended.stdout, "deployment.apps/web\nstatefulset.apps/db\n");
    assert!(
        ended.stderr.contains("\n1 of 3 workloads failed\nerror: no deployment \"nope\" in namespace"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.exit, 1);
}

#[test]
fn a_selection_prints_its_workloads_first() {
    let ended = undo("shop", &["deploy,sts", "--dry-run=client", "-o", "name"]).run();
    assert!(
        ended.stderr.starts_with(
            "2 deployments and 1 statefulset: deployment/checkout deployment/web statefulset/db\n"
        ),
        "{}",
        ended.stderr
    );
}

#[test]
fn nothing_matched_is_an_error_without_allow_empty() {
    for (args, exit) in [(&[][..], 1), (&["--allow-empty"], 0), (&["--compat"], 0)] {
        let ended = undo("shop", &["deploy", "-l", "app=none", "--dry-run=client"]).args(args).run();
        assert_eq!((ended.stdout.as_str(), ended.exit), ("", exit), "{args:?} {}", ended.stderr);
    }
}

#[test]
fn invalid_combinations_are_refused_before_any_read() {
    for (args, stderr) in [
        (
            &["deploy/web"][..],
            "error: a snapshot cannot be changed\nhint: to see the change: add --dry-run=client\n",
        ),
        (
            &["deploy", "-A", "--dry-run"],
            "error: this verb writes, and -A is allowed only for verbs that read\nhint: select a namespace with -n\n",
        ),
        (
            &["deploy/web", "-o", "patch", "--dry-run=server"],
            "error: -o patch prints the patch instead of sending it\nhint: add --dry-run=client\n",
        ),
        (
            &["deploy/web", "--dry-run=foo"],
            "error: Invalid dry-run value (foo). Must be \"none\", \"server\", or \"client\".\n",
        ),
        (
            &["deploy/web", "--dry-run", "--timeout", "5s"],
            "error: --timeout, --fail-fast and --plain have an effect only with --wait\nhint: add --wait\n",
        ),
    ] {
        let ended = undo("shop", args).run();
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str(), ended.exit), ("", stderr, 2), "{args:?}");
    }
}

#[test]
fn the_whole_help_is_seen_in_review() {
    insta::assert_snapshot!(harness::Run::of(["undo", "--help"]).run().stdout);
}

#[test]
fn revision_0_is_the_default_as_in_kubectl() {
    for target in ["deployment/web", "sts/db"] {
        assert_eq!(printed("shop", &[target, "--to-revision=0"]), printed("shop", &[target]));
    }
}

#[test]
fn a_rollback_hint_by_name_needs_no_changing_number() {
    let printed = printed("broken", &["sts/sts-bad", "--to-revision", "1"]);
    let hint = printed.lines().find(|line| line.contains("--replace-stuck-pods")).unwrap_or_default();
    assert!(hint.contains(" --to-revision sts-bad-"), "{printed}");
}
