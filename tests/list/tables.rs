//! The table: its order, its columns, the last line, and how it fits a terminal.

use harness::prelude::*;

use crate::list::objects::{complete, deployment, every_state, list, listing, partly_updated_set};

const ALL: &str = "\
NAMESPACE  WORKLOAD             REVISION  STATE        UPDATED  AVAILABLE   SINCE  CAUSE
shop       deployment/checkout  2         failed       1/2      0/2 outage  10m    app: CrashLoopBackOff, exit 1
test       deployment/cart      2         progressing  1/2      1/2         30m    app: CrashLoopBackOff, exit 1
shop       statefulset/db       2         held         0/2      2/2         120m   partition 2 keeps db-0..db-1 on revision 1
shop       deployment/paid      2         paused       1/2      1/2         10m    paused, until kubectl rollout2 resume deployment/paid -n shop
shop       deployment/api       2         progressing  1/2      1/2         30m
test       deployment/late      2         unobserved   -/2      2/2         -      Waiting for deployment spec update to be observed...
shop       deployment/web       2         complete     2/2      2/2         120m
7 workloads: 1 failed, 1 paused, 1 held, 2 progressing, 1 unobserved, 1 complete
";

#[test]
fn trouble_comes_first_in_all_namespaces() {
    let output = list(&every_state(), &["-A"]);
    assert_eq!((output.stdout.as_str(), output.exit), (ALL, 0));
    assert_eq!(output.stderr, "note: standard input has no daemonsets\n");
}

/// It stood below workloads with all of their pods.
#[test]
fn an_outage_comes_before_a_failure() {
    let status = |available: i64, reason: &str, status: &str| {
        json!({"status": {
            "updatedReplicas": 1, "readyReplicas": available, "availableReplicas": available,
            "conditions": [{"type": "Progressing", "status": status, "reason": reason,
                "lastTransitionTime": "2026-11-20T13:50:00Z", "lastUpdateTime": "2026-11-20T13:50:00Z"}],
        }})
    };
    let mut objects = deployment("n", "failed", &status(2, "ProgressDeadlineExceeded", "False"));
    objects.extend(deployment("n", "queue", &status(0, "ReplicaSetUpdated", "True")));
    let output = list(&objects, &["deploy", "--no-headers"]);
    let rows: Vec<_> = output.stdout.lines().collect();
    assert!(rows[0].starts_with("deployment/queue") && rows[0].contains(" 0/2 outage "), "{rows:#?}");
    assert!(rows[1].starts_with("deployment/failed") && rows[1].contains(" failed "), "{rows:#?}");
}

/// `list --watch` kept a column that was only `…`.
#[test]
fn a_column_that_does_not_fit_is_left_out() {
    for width in [20, 30, 36, 40, 44, 50, 54] {
        let run = listing(&every_state(), &["-A", "deploy,sts", "--color", "never"]).terminal(width, 24);
        let output = run.run().stdout;
        let rows = output.lines().filter(|line| line.contains("deploy") && !line.starts_with(' ')).count();
        let is_cut = |line: &str| line.ends_with('…') && !line.contains('/');
        assert!(!output.lines().any(is_cut), "{width}: {output}");
        assert!(output.lines().all(|line| !line.trim_end().ends_with(" …")), "{width}: {output}");
        assert!(width < 30 || rows >= 6, "{width}: {output}");
        let header = output.lines().next().unwrap_or_default();
        let known = ["NAMESPACE", "WORKLOAD", "REVISION", "STATE", "UPDATED", "AVAILABLE", "SINCE"];
        assert!(header.split_whitespace().all(|word| known.contains(&word)), "{width}: {header:?}");
    }
}

#[test]
fn markdown_has_every_column() {
    let output = list(&every_state(), &["-A", "-o", "markdown", "--state", "failed"]);
    let expected = "\
| NAMESPACE | WORKLOAD | REVISION | STATE | UPDATED | AVAILABLE | SINCE | CAUSE |
| --- | --- | --- | --- | --- | --- | --- | --- |
| shop | deployment/checkout | 2 | failed | 1/2 | 0/2 outage | 10m | `app: CrashLoopBackOff, exit 1` |

7 workloads: 1 failed, 1 paused, 1 held, 2 progressing, 1 unobserved, 1 complete
";
    assert_eq!((output.stdout.as_str(), output.exit), (expected, 0));
    let output = list(&every_state(), &["-A", "-o", "markdown", "--state", "failed", "--no-headers"]);
    assert_eq!(output.stdout.lines().count(), 3, "{}", output.stdout);
}

#[test]
fn a_namespace_has_no_column_for_itself() {
    let output = list(&every_state(), &["-n", "test"]);
    assert_eq!(
        output.stdout,
        "WORKLOAD         REVISION  STATE        UPDATED  AVAILABLE  SINCE  CAUSE\n\
         deployment/cart  2         progressing  1/2      1/2        30m    app: CrashLoopBackOff, exit 1\n\
         deployment/late  2         unobserved   -/2      2/2        -      Waiting for deployment spec update to be observed...\n\
         2 workloads: 1 progressing, 1 unobserved\n"
    );
}

/// It is not repeated as spaces in each other row.
#[test]
fn a_long_image_is_shortened() {
    let mut objects = complete("shop", "web");
    for object in objects.iter_mut().filter(|object| object["kind"] != "Pod") {
        object["spec"]["template"]["spec"]["containers"][0]["image"] = "x".repeat(1_000_000).into();
    }
    let output = list(&objects, &["deploy", "-n", "shop", "-o", "wide"]);
    assert!(output.stdout.contains(&format!(" {}... ", "x".repeat(600))) && output.stdout.len() < 3_000);
}

#[test]
fn a_pause_that_holds_the_next_change_is_in_the_row() {
    let mut objects = complete("shop", "web");
    for object in objects.iter_mut().filter(|object| object["kind"] == "Deployment") {
        object["spec"]["paused"] = json!(true);
    }
    let output = list(&objects, &["deploy", "-n", "shop"]);
    let row = output.stdout.lines().nth(1).unwrap_or_default();
    let cause = "paused, which holds the next change until kubectl rollout2 resume deployment/web -n shop";
    assert!(row.contains(" complete ") && row.ends_with(cause), "{}", output.stdout);
    for (states, is_shown) in [("paused", true), ("held", true), ("complete", true), ("progressing", false)] {
        let filtered = list(&objects, &["deploy", "-n", "shop", "--state", states]).stdout;
        assert_eq!(filtered.contains(cause), is_shown, "{states}: {filtered}");
    }
    let document = list(&objects, &["deploy", "-n", "shop", "-o", "json"]).stdout;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["items"][0]["nextChangeHold"], cause);
}

#[test]
fn states_are_filtered_and_all_are_counted() {
    for (states, shown) in [
        ("failed", &["checkout"][..]),
        ("held", &["db", "paid"]),
        ("paused", &["paid"]),
        ("progressing,unobserved", &["cart", "api", "late"]),
        ("progressing,held", &["cart", "db", "paid", "api"]),
        ("Complete", &["web"]),
    ] {
        let output = list(&every_state(), &["deploy,sts", "-A", "--state", states]);
        let lines: Vec<_> = output.stdout.lines().collect();
        let names: Vec<_> = lines[1..lines.len() - 1]
            .iter()
            .map(|line| line.split(['/', ' ']).filter(|word| !word.is_empty()).nth(2).unwrap())
            .collect();
        assert_eq!(names, shown, "{states}");
        assert!(lines[lines.len() - 1].starts_with("7 workloads: 1 failed"), "{states}");
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    }
    let none = list(&complete("n", "web"), &["deploy", "--state", "failed"]);
    assert_eq!((none.stdout.as_str(), none.exit), ("1 workload: 1 complete\n", 0));
}

#[test]
fn without_headers_only_rows_are_printed() {
    let output = list(&every_state(), &["deploy,sts", "-A", "--no-headers"]);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<_> = ALL.lines().skip(1).take(7).map(words).collect();
    assert_eq!(output.stdout.lines().map(words).collect::<Vec<_>>(), rows);
}

#[test]
fn the_wide_table_has_images_and_the_last_change() {
    let writer = json!({"metadata": {"managedFields": [{
        "manager": "helm", "time": "2026-11-20T13:30:00Z", "fieldsV1": {"f:spec": {"f:template": {}}},
    }]}});
    let output = list(&deployment("n", "web", &writer), &["deploy", "-o", "wide"]);
    let lines: Vec<_> = output.stdout.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "WORKLOAD        REVISION  STATE     UPDATED  AVAILABLE  SINCE  IMAGES  CHANGED  BY    CAUSE",
            "deployment/web  2         complete  2/2      2/2        -      x:2     0s       helm",
        ]
    );
}

#[test]
fn a_terminal_colours_states_and_does_not_cut_the_wide_table() {
    let run = |width, args: &[&str]| listing(&every_state(), args).terminal(width, 24).run().stdout;
    let wide = run(80, &["-n", "shop", "deploy,sts", "-o", "wide", "--color", "never"]);
    assert!(wide.contains("until kubectl rollout2 resume deployment/paid -n shop\n"), "{wide}");
    assert!(wide.lines().all(|line| line.chars().count() <= 120), "{wide}");
    let colored = run(120, &["-n", "shop", "deploy,sts"]);
    for text in [
        "\x1b[31mfailed\x1b[0m",
        "\x1b[31m0/2 outage\x1b[0m",
        "\x1b[33mheld\x1b[0m",
        "\x1b[32mcomplete\x1b[0m",
    ] {
        assert!(colored.contains(text), "{text:?}: {colored:?}");
    }
}

/// Beside its row if the terminal is wide enough, and else below it. At 60 columns SINCE and parts of each name were cut.
#[test]
fn a_terminal_wraps_causes_and_cuts_nothing() {
    let snapshot = |width: u16| {
        let run = listing(&every_state(), &["-A", "deploy,sts", "--color", "never"]).terminal(width, 24);
        let output = run.run().stdout;
        assert!(output.lines().all(|line| line.chars().count() <= width.into()), "{width}: {output}");
        let words = output.split_whitespace().collect::<Vec<_>>().join(" ");
        for cause in
            ["keeps db-0..db-1 on revision 1", "until kubectl rollout2 resume deployment/paid -n shop"]
        {
            assert!(words.contains(cause), "{width}: {output}");
        }
        insta::assert_snapshot!(format!("width_{width}"), output);
    };
    [145, 80, 60].into_iter().for_each(snapshot);
}

/// `status` ends with 0 for it, as kubectl does, so its state is `complete`.
#[test]
fn pods_that_a_partition_keeps_are_shown_for_a_complete_rollout() {
    let objects = partly_updated_set("shop", "db");
    let all = "\
WORKLOAD        REVISION  STATE     UPDATED      AVAILABLE  SINCE  CAUSE
statefulset/db  2         complete  1/3, 2 held  3/3        0s     partition 2 keeps db-0..db-1 on revision 1
1 workload: 1 complete (1 with held pods)
";
    for (states, exit) in [("held", 0), ("complete", 0), ("paused,held", 0)] {
        let output = list(&objects, &["sts", "--state", states, "--fail-on-state", "held"]);
        assert_eq!((output.stdout.as_str(), output.exit), (all, exit), "{states}");
    }
    let other = list(&objects, &["sts", "--state", "failed,progressing,paused"]).stdout;
    assert_eq!(other, "1 workload: 1 complete (1 with held pods)\n");
    let colored = listing(&objects, &["sts"]).terminal(120, 24).run().stdout;
    assert!(colored.contains("\x1b[33mcomplete\x1b[0m"), "{colored:?}");
    let status = Run::of(["status", "sts/db", "-n", "shop", "--watch=false", "--from", "-"]);
    let status = status.stdin(json!({"kind": "List", "items": objects}).to_string()).run();
    status.ends(0);
}

#[test]
fn a_failure_without_a_known_cause_has_the_line_of_its_verdict() {
    let late = json!({"status": {"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]}});
    let output = list(&deployment("n", "web", &late)[..1], &["deploy"]);
    let row = "deployment/web  -         failed  2/2      2/2        -      deployment \"web\" exceeded its progress deadline";
    assert_eq!(output.stdout.lines().nth(1), Some(row));
    let missing = ["replicasets", "pods", "events"].map(|plural| format!("standard input has no {plural}"));
    for missing in missing {
        assert_eq!(output.stderr.matches(&missing).count(), 1, "{}", output.stderr);
    }
}

/// Recorded from a real cluster.
#[test]
fn a_recorded_namespace_is_listed() {
    for (namespace, types) in [("shop", "all"), ("broken", "deploy,sts,ds"), ("quota", "deploy")] {
        let run = Run::of(["list", types]).arg("--from").arg(snapshot_path(namespace));
        let output = run.run();
        insta::assert_snapshot!(namespace, output.stdout);
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{namespace}");
    }
}

/// The recorded sets have no progress deadline, so only the duration of their causes shows the trouble.
#[test]
fn a_cause_that_lasts_makes_a_rollout_stuck() {
    let broken = || Run::of(["list"]).arg("--from").arg(snapshot_path("broken"));
    let stuck = broken().arg("--state").arg("stuck").arg("-o").arg("name").run();
    let names = [
        "statefulset.apps/sts-bad",
        "daemonset.apps/ds-bad",
        "daemonset.apps/ds-surge",
        "statefulset.apps/sts-parallel",
    ];
    let expected = names.map(|name| format!("{name}\n")).concat();
    assert_eq!(stuck.stdout, expected, "{}", stuck.stderr);
    assert_eq!(broken().arg("--fail-on-state").arg("stuck").run().exit, 3);
    let states: Vec<_> = broken().run().stdout.lines().skip(1).map(str::to_owned).collect();
    let first_not_failed = states.iter().find(|row| !row.contains(" failed ")).unwrap();
    assert!(first_not_failed.contains(" stuck "), "{states:#?}");
}
