//! Errors of `diff`: the message, the hint, and the exit code with and without `--exit-code`.

use crate::diff::diff;

const HISTORY: &str = "hint: kubectl rollout2 history deployment/web -n shop\n";
const HELP: &str = "hint: kubectl rollout2 diff --help\n";

#[test]
fn a_usage_error_exits_with_2() {
    for (args, error, hint) in [
        (&[][..], "required resource not specified", "hint: write it as deployment/web\n"),
        (&["deploy"], "exactly one workload must be named", "hint: write it as deployment/web\n"),
        (&["deploy,sts", "web"], "exactly one workload must be named", "hint: write it as deployment/web\n"),
        (
            &["pods/x"],
            "\"pods\" is not a type with rollouts",
            "hint: use deployment, daemonset or statefulset\n",
        ),
        (&["deploy/web", "1", "3", "5"], "diff compares two revisions, unexpected argument \"5\"", HELP),
        (
            &["deploy/web", "3!"],
            "\"3!\" is not a revision",
            "hint: use a number from kubectl rollout2 history, current, previous, stable (undo), -N, the name of its object, hash:HASH or sha256:DIGEST\n",
        ),
        (
            &["deploy/web", "-U", "x"],
            "invalid value 'x' for '--unified <N>': expected a whole number, such as 3",
            HELP,
        ),
        (
            &["deploy/web", "-o", "pdf"],
            "invalid value 'pdf' for '--output <FORM>' [possible values: json, yaml]",
            HELP,
        ),
        (
            &["deploy/web", "--stat", "-o", "json"],
            "the argument '--stat' cannot be used with '--output <FORM>'",
            HELP,
        ),
        (&["deploy/web", "--bogus"], "unexpected argument '--bogus' found", HELP),
    ] {
        for more in [&[][..], &["--exit-code"]] {
            let output = diff("shop", &[args, more].concat()).run();
            assert_eq!((output.stdout.as_str(), output.exit), ("", 2), "{args:?}");
            assert_eq!(output.stderr, format!("error: {error}\n{hint}"), "{args:?}");
        }
    }
}

#[test]
fn a_missing_revision_exits_with_1_or_with_3_under_exit_code() {
    for (namespace, args, stderr) in [
        ("shop", &["deploy/nope"][..], "error: no deployment \"nope\" in namespace \"shop\"\n".to_owned()),
        ("shop", &["deploy/web", "2"], "error: no revision 2 in the history; it has number 5 now\nhint: use 5\n".to_owned()),
        ("shop", &["deploy/web", "1", "-9"], format!("error: no revision -9 in the history; there are 1, 3, 4, 5\n{HISTORY}")),
        ("broken", &["deploy/fresh"], "error: deployment/fresh has only one revision: there is no earlier one to compare\nhint: kubectl rollout2 diff deployment/fresh -n broken current live\n".to_owned()),
    ] {
        for (more, exit) in [(&[][..], 1), (&["--exit-code"], 3)] {
            let output = diff(namespace, &[args, more].concat()).run();
            assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit), ("", stderr.as_str(), exit));
        }
    }
}

#[test]
fn an_unreadable_file_exits_with_2() {
    let output = harness::Run::of(["diff", "deploy/web", "--exit-code", "--from", "nowhere.yaml"]).run();
    assert!(output.stderr.starts_with("error: cannot read nowhere.yaml: "), "{}", output.stderr);
    assert_eq!((output.stdout.as_str(), output.exit), ("", 2));
}
