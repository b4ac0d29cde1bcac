//! Types, selectors, exit codes and usage errors.

use crate::list::objects::{complete, every_state, list};

#[test]
fn types_are_words_or_lists_and_each_is_listed_once() {
    let all = list(&every_state(), &["deploy,sts,deployment", "statefulset", "-A"]).stdout;
    assert!(
        all.ends_with("7 workloads: 1 failed, 2 progressing, 1 paused, 1 held, 1 unobserved, 1 complete\n")
    );
    let sets = list(&every_state(), &["sts", "-A"]).stdout;
    assert!(sets.ends_with("1 workload: 1 held\n"), "{sets}");
}

#[test]
fn labels_select() {
    let web = list(&every_state(), &["deploy", "-n", "shop", "-l", "app in (web,api)"]);
    assert!(web.stdout.ends_with("2 workloads: 1 progressing, 1 complete\n"), "{}", web.stdout);
}

#[test]
fn nothing_is_an_error_unless_it_is_allowed() {
    let args = ["deploy", "-n", "shop", "-l", "app=nope"];
    let none = list(&every_state(), &args);
    assert_eq!((none.stdout.as_str(), none.exit), ("", 1));
    assert_eq!(none.stderr, "No resources found in shop namespace.\n");
    let allowed = list(&every_state(), &[&args[..], &["--allow-empty"]].concat());
    assert_eq!((allowed.stdout.as_str(), allowed.exit), ("", 0));
    let json = list(&every_state(), &[&args[..], &["--allow-empty", "-o", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["items"], serde_json::json!([]));
}

#[test]
fn the_worst_of_the_named_states_is_the_exit_code() {
    for (states, exit) in [
        ("failed", 4),
        ("held", 5),
        ("paused", 5),
        ("progressing", 3),
        ("unobserved", 3),
        ("complete", 0),
        ("failed,held", 4),
        ("held,progressing", 3),
    ] {
        let output = list(&every_state(), &["deploy,sts", "-A", "--fail-on-state", states]);
        assert_eq!(output.exit, exit, "{states}");
        let filtered =
            list(&every_state(), &["deploy,sts", "-A", "--state", "complete", "--fail-on-state", states]);
        assert_eq!(filtered.exit, exit, "{states}: --state only filters the output");
    }
    let done =
        list(&complete("n", "web"), &["deploy", "--fail-on-state", "failed,held,progressing,unobserved"]);
    done.ends(0);
}
