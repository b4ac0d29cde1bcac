//! Flags in every form that kubectl accepts.

use harness::Run;

use crate::history::history;

/// Returns the output for `deployment/web` of the shop with these flags.
fn shown(args: &[&str]) -> String {
    let output = history("shop", &[&["deploy/web"], args].concat()).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{args:?}");
    output.stdout
}

#[test]
fn the_last_of_a_repeated_flag_is_used() {
    for args in [
        &["-n", "nowhere", "-n", "shop"][..],
        &["--namespace=nowhere", "-n", "shop"],
        &["--context", "a", "--context", "b"],
        &["--color", "always", "--color", "never"],
        &["--show-managed-fields", "--show-managed-fields"],
    ] {
        assert_eq!(shown(args), shown(&[]), "{args:?}");
    }
    assert_eq!(shown(&["--revision=1", "--revision=0"]), shown(&[]));
    assert_eq!(shown(&["--revision=1", "--revision=3"]), shown(&["--revision=3"]));
    assert_eq!(shown(&["-o", "json", "-o", "yaml"]), shown(&["-o", "yaml"]));
    let around = Run::of(["-n", "nowhere", "history", "deploy/web", "-n", "shop", "--from"]);
    let around = around.arg(harness::data().join("shop/snapshot.json")).run();
    assert_eq!((around.stdout, around.exit), (shown(&[]), 0), "{}", around.stderr);
}

/// As `list -A -o name` prints them. The last namespace would be that of all, and `undo` would roll back another workload.
#[test]
fn targets_with_a_namespace_each_are_refused() {
    let line = ["status", "deployment.apps/web", "-n", "shop", "deployment.apps/api", "-n", "prod"];
    let output = Run::of(line).run();
    output.ends(2).reports("error: the targets have two namespaces, shop and prod");
    let line = ["status", "deploy/web", "-nshop", "deploy/api", "--namespace=prod"];
    Run::of(line).run().ends(2).reports("error: the targets have two namespaces, shop and prod");
}

#[test]
fn the_value_of_a_flag_is_no_target_with_a_namespace() {
    let line =
        ["undo", "deploy/web", "-n", "prod", "--cause", "fix a/b", "-n", "shop", "--dry-run", "--from"];
    let output = Run::of(line).arg(harness::data().join("shop/snapshot.json")).run();
    output.ends(0);
}

#[test]
fn all_namespaces_overrides_namespace() {
    let all = history("shop", &["deploy", "-A"]).run();
    all.prints(" -n shop  ");
    assert_eq!(history("shop", &["deploy", "-A", "-n", "nowhere"]).run(), all);
    assert_eq!(history("shop", &["deploy", "--namespace", "nowhere", "-A"]).run(), all);
}

#[test]
fn output_formats_ignore_case() {
    assert_eq!(shown(&["-o", "JSON"]), shown(&["-o", "json"]));
    assert_eq!(shown(&["-o", "Wide"]), shown(&["-o", "wide"]));
    assert_eq!(shown(&["-o", "YAML"]), shown(&["-o", "yaml"]));
    for args in [
        &["diff", "deploy/web", "-o", "Json"][..],
        &["status", "deploy/web", "--watch=false", "-o", "JSON"],
        &["restart", "deploy/web", "--dry-run", "-o", "NAME"],
    ] {
        let run = |args: Vec<String>| {
            Run::of(args).arg("--from").arg(harness::data().join("shop/snapshot.json")).run()
        };
        let lower = args.iter().map(|word| word.to_lowercase()).collect();
        let output = run(args.iter().map(ToString::to_string).collect());
        assert_eq!(output, run(lower), "{args:?}");
        assert_ne!(output.stdout, "", "{args:?}: {}", output.stderr);
    }
}

#[test]
fn an_empty_namespace_is_the_default() {
    assert_eq!(shown(&["-n", ""]), shown(&[]));
    assert_eq!(shown(&["--namespace="]), shown(&[]));
}

#[test]
fn invalid_names_in_manifests_are_refused_too() {
    let refused = |metadata: &str| {
        let manifest = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{{metadata}}}");
        let output = history("shop", &["-f", "-"]).stdin(manifest).run();
        assert_eq!((output.stdout.as_str(), output.exit), ("", 2), "{metadata}: {}", output.stderr);
        output.stderr
    };
    assert_eq!(refused("name: .."), "error: invalid resource name \"..\": [may not be '..']\n");
    assert_eq!(refused("name: a/b"), "error: invalid resource name \"a/b\": [may not contain '/']\n");
    assert_eq!(refused("name: web, namespace: .."), "error: invalid namespace \"..\": [may not be '..']\n");
}

#[test]
fn revision_0_means_all_revisions_as_in_kubectl() {
    let all = history("shop", &["deployment/web"]).run();
    assert_eq!(history("shop", &["deployment/web", "--revision=0"]).run(), all);
}
