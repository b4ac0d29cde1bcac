//! Types, selectors, exit codes and usage errors.

use crate::list::objects::{complete, every_state, list};

#[test]
fn types_are_words_or_lists_and_each_is_listed_once() {
    let all = list(&every_state(), &["deploy,sts,deployment", "statefulset", "-A"]).stdout;
    assert!(
        all.ends_with("7 workloads: 1 failed, 1 paused, 1 held, 2 progressing, 1 unobserved, 1 complete\n")
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
fn fields_select() {
    let web = list(&every_state(), &["deploy", "-A", "--field-selector", "metadata.name=web"]);
    assert!(
        web.stdout.contains("deployment/web ") && web.stdout.contains("\n1 workload: "),
        "{}",
        web.stdout
    );
    let elsewhere = list(&every_state(), &["deploy", "-A", "--field-selector", "metadata.namespace!=shop"]);
    assert!(!elsewhere.stdout.contains("deployment/web "), "{}", elsewhere.stdout);
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

/// It was accepted, and always ended with 0.
#[test]
fn complete_cannot_fail_the_command() {
    for states in ["complete", "failed,complete"] {
        let output = list(&every_state(), &["deploy,sts", "-A", "--fail-on-state", states]);
        assert_eq!((output.stdout.as_str(), output.exit), ("", 2), "{}", output.stderr);
        output.reports("complete").reports("failed, progressing, held, paused");
    }
}

#[test]
fn trouble_is_short_for_the_states_to_look_at() {
    let long = list(&every_state(), &["deploy,sts", "-A", "--state", "failed,stuck,held,progressing"]);
    let short = list(&every_state(), &["deploy,sts", "-A", "--trouble"]);
    assert_eq!(short.stdout, long.stdout);
    assert_eq!(short.exit, 0, "{}", short.stderr);
    assert!(!short.stdout.contains("deployment/web"), "{}", short.stdout);
    list(&every_state(), &["-A", "--trouble", "--state", "failed"]).ends(2);
}

/// As `kubectl get --sort-by`, by a field of the items of `-o json`.
#[test]
fn rows_are_sorted_by_a_field_of_the_document() {
    let names = |args: &[&str]| {
        let args = [&["deploy,sts", "-n", "shop", "-o", "name"], args].concat();
        let output = list(&every_state(), &args);
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{args:?}");
        output.stdout.lines().filter_map(|line| line.split('/').nth(1).map(str::to_owned)).collect::<Vec<_>>()
    };
    for expression in ["{.workload.name}", ".workload.name", "workload.name"] {
        assert_eq!(names(&["--sort-by", expression]), ["api", "checkout", "db", "paid", "web"]);
    }
    let by_number = names(&["--sort-by", ".pods.available"]);
    assert_eq!(
        by_number[..3],
        ["checkout", "paid", "api"],
        "numbers, and the order of the list if they are equal"
    );
    let by_change = list(&every_state(), &["deploy", "-A", "--sort-by", ".images[0]", "-o", "json"]);
    by_change.ends(0);
    let document: serde_json::Value = serde_json::from_str(&by_change.stdout).unwrap();
    assert_eq!(document["items"].as_array().unwrap().len(), 6);
    let missing = list(&every_state(), &["deploy", "-A", "--sort-by", ".metadata.name"]);
    missing.ends(2).reports("error: no item has the field {.metadata.name}");
    list(&every_state(), &["deploy", "--sort-by", "{.a"]).ends(2).reports("error parsing jsonpath");
    list(&every_state(), &["deploy", "--sort-by", ".since", "--watch"]).ends(2);
}

#[test]
fn labels_are_columns_before_the_cause() {
    let rows = |args: &[&str]| {
        let output = list(&every_state(), &[&["deploy,sts", "-n", "shop"], args].concat());
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{args:?}");
        output.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let of = |rows: &[String], name: &str| rows.iter().find(|row| row.contains(name)).unwrap().clone();
    let one = rows(&["-L", "app,shop.example/team"]);
    assert!(one[0].ends_with("SINCE  APP       TEAM  CAUSE"), "{one:#?}");
    assert!(of(&one, "/web").ends_with("  web"), "{one:#?}");
    assert!(of(&one, "/checkout").ends_with("  checkout        app: CrashLoopBackOff, exit 1"), "{one:#?}");
    let all = rows(&["--show-labels"]);
    assert!(all[0].ends_with("SINCE  LABELS        CAUSE"), "{all:#?}");
    assert!(of(&all, "/web").ends_with("  app=web"), "{all:#?}");
    let both = rows(&["--show-labels", "--label-columns", "app", "--label-columns", "tier"]);
    assert!(both[0].ends_with("SINCE  APP       TIER  LABELS        CAUSE"), "{both:#?}");
    let markdown = rows(&["-L", "app", "-o", "markdown"]);
    assert!(markdown[0].ends_with("| SINCE | APP | CAUSE |"), "{markdown:#?}");
}

/// It said "the last progress", but the age grows while a StatefulSet goes on.
#[test]
fn since_is_the_age_of_the_rollout_and_the_help_says_so() {
    let help = harness::Run::of(["list", "--help"]).run().stdout;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "SINCE is the age of the state: of a rollout that progresses or is stuck, since it began"
        ),
        "{words}"
    );
    assert!(!words.contains("last progress"), "{words}");
}
