//! The output formats of `diff`, and its exit codes.

use serde_json::{Value, json};

use crate::diff::{diff, diff_of, web};

fn text(namespace: &str, args: &[&str]) -> String {
    let output = diff(namespace, args).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{args:?}");
    output.stdout
}

#[test]
fn the_default_compares_the_previous_and_the_current_revision() {
    let expected = text("shop", &["deployment/web", "4", "5"]);
    assert_eq!(text("shop", &["deployment/web"]), expected);
    assert_eq!(text("shop", &["deployment", "web"]), expected);
    assert_eq!(text("shop", &["deploy", "web", "previous"]), expected);
    assert_eq!(text("shop", &["deploy/web", "-1", "current"]), expected);
}

#[test]
fn stat_prints_only_the_summary() {
    insta::assert_snapshot!(text("shop", &["deploy/checkout", "--stat"]), @"
    deployment/checkout  revision 1 -> 2
      container checkout   image        shop/checkout:1.0.0 -> shop/checkout:1.1.0
                           env          MODE=production -> canary
                           env          FEATURE_X=on added
                           limits       memory 256Mi -> 512Mi
      pod                  annotation   prometheus.io/port=9090 added
    ");
}

#[test]
fn unified_sets_the_number_of_context_lines() {
    insta::assert_snapshot!(text("shop", &["sts/db", "3", "live", "-U", "0"]), @"
    statefulset/db  revision 3 -> live (revision 4)
      container db   image   shop/db:1.2 -> shop/db:2.0
    --- revision 3
    +++ live
    @@ spec.containers[db] @@
    -  - image: shop/db:1.2
    +  - image: shop/db:2.0
    ");
    let whole = text("shop", &["sts/db", "-U", "18446744073709551615"]);
    assert!(
        whole.contains("\n metadata:\n") && whole.ends_with("\n   terminationGracePeriodSeconds: 30\n"),
        "{whole}"
    );
}

#[test]
fn another_order_of_a_keyed_list_is_not_a_change() {
    let env = |name: &str| json!({"name": name, "value": "1"});
    let from =
        web(&json!({"env": [env("A"), env("B")], "ports": [{"containerPort": 1}, {"containerPort": 2}]}));
    let to =
        web(&json!({"ports": [{"containerPort": 2}, {"containerPort": 1}], "env": [env("A"), env("B")]}));
    for args in [&[][..], &["--stat"], &["--exit-code"]] {
        let output = diff_of(&[from.clone(), to.clone()], args).run();
        let stdout =
            "deployment/a  revision 1 -> 2\nno differences except the order of spec.containers[web].ports\n";
        assert_eq!(
            (output.stdout.as_str(), output.stderr.as_str(), output.exit),
            (stdout, "", 0),
            "{args:?}"
        );
    }
    let document: Value = serde_json::from_str(&diff_of(&[from, to], &["-o", "json"]).run().stdout).unwrap();
    assert_eq!(
        (&document["changes"], &document["reordered"]),
        (&json!([]), &json!(["spec.containers[web].ports"]))
    );
}

/// An env can refer to those before it.
#[test]
fn another_order_of_the_env_is_a_difference() {
    let with = |image: &str, names: [&str; 2]| {
        web(&json!({"image": image, "env": names.map(|name| json!({"name": name, "value": "$(A)"}))}))
    };
    let diff =
        |image: &str| diff_of(&[with("x:1", ["A", "B"]), with(image, ["B", "A"])], &["--exit-code"]).run();
    let output = diff("x:1");
    let rows = "deployment/a  revision 1 -> 2\n  container web   order of env\n";
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit), (rows, "", 1));
    let output = diff("x:2");
    output.ends(1).prints(
        "  container web   image          x:1 -> x:2\n                  order of env\n--- revision 1\n",
    );
}

#[test]
fn a_template_equals_itself() {
    for args in [&["deploy/web", "5", "live"][..], &["deploy/web", "3", "3", "--exit-code"]] {
        let output = diff("shop", args).run();
        assert!(output.stdout.ends_with("\nno differences\n"), "{}", output.stdout);
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    }
}

#[test]
fn a_restart_is_one_summary_line() {
    let restarted = |at: &str| {
        let mut template = web(&json!({"image": "web:1"}));
        template["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/restartedAt": at});
        template
    };
    let output =
        diff_of(&[restarted("2026-11-19T10:00:00Z"), restarted("2026-11-20T10:00:00Z")], &["--stat"]).run();
    insta::assert_snapshot!(output.stdout, @"
    deployment/a  revision 1 -> 2
      pod   restarted   2026-11-19T10:00:00Z -> 2026-11-20T10:00:00Z
    ");
}

#[test]
fn exit_code_reports_differences_only_with_the_flag() {
    for (args, exit) in [
        (&["deploy/web", "3", "5"][..], 0),
        (&["deploy/web", "3", "5", "--exit-code"], 1),
        (&["deploy/web", "3", "5", "--exit-code", "--stat"], 1),
        (&["deploy/web", "3", "5", "--exit-code", "-o", "json"], 1),
        (&["deploy/web", "5", "live", "--exit-code"], 0),
    ] {
        assert_eq!(diff("shop", args).run().exit, exit, "{args:?}");
    }
}

#[test]
fn colour_marks_the_changed_lines() {
    let output =
        diff("shop", &["deploy/web", "1", "3", "-U", "0"]).terminal(80, 24).env("TERM", "xterm").run();
    output.prints("\u{1b}[31m-\u{1b}[0m\u{1b}[31m    image: shop/web:1.0\u{1b}[0m\n");
    let plain = diff("shop", &["deploy/web", "1", "3", "--color", "never"]).terminal(80, 24).run();
    assert!(!plain.stdout.contains('\u{1b}'));
}

/// The live template of a paused Deployment has no revision. The pods run the newest one.
#[test]
fn the_default_is_current_and_live_when_they_differ() {
    let default = text("broken", &["deploy/paused"]);
    assert!(default.starts_with("deployment/paused  revision 1 -> live (no revision yet)\n"), "{default}");
    assert_eq!(default, text("broken", &["deploy/paused", "current", "live"]));
    let released = text("shop", &["deploy/web"]);
    assert!(released.starts_with("deployment/web  revision 4 -> 5\n"), "{released}");
    let equal = text("shop", &["deploy/web", "5", "live"]);
    assert!(equal.starts_with("deployment/web  revision 5 -> live (revision 5)\n"), "{equal}");
}
