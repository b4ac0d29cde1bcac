//! The cases of Kubernetes' own tests of `kubectl rollout status`, in the order of the upstream files: 19 to 23 are
//! integration tests, 52 to 67 are unit tests.
//!
//! Cases 24 to 51 are about the other verbs. In 61 and 62 kubectl refuses the status of `OnDelete`, which is a hold here. Cases 19 to 21 differ only in how the target is selected (a name, a selector,
//! `--watch=false`), which `kubectl_lines` and `exit_codes` test with recorded objects.

use harness::prelude::*;

use crate::status::objects::{status, workload};

/// The line of a workload with these fields.
fn line(kind: &str, changes: &Value) -> String {
    let bare = merged(workload(kind), &json!({"metadata": {"generation": 1}, "status": null}));
    status(kind, &[merged(bare, changes)], &["--watch=false"]).stdout
}

fn deployment(generation: i64, [observed, wanted, total, updated, available]: [i64; 5]) -> String {
    let changes = json!({
        "metadata": {"generation": generation}, "spec": {"replicas": wanted},
        "status": {
            "observedGeneration": observed, "replicas": total, "updatedReplicas": updated,
            "availableReplicas": available,
        },
    });
    line("Deployment", &changes)
}

fn daemon_set(generation: i64, [observed, updated, desired, available]: [i64; 4]) -> String {
    let changes = json!({
        "metadata": {"generation": generation},
        "status": {
            "observedGeneration": observed, "updatedNumberScheduled": updated,
            "desiredNumberScheduled": desired, "numberAvailable": available,
        },
    });
    line("DaemonSet", &changes)
}

fn stateful_set(changes: &Value) -> String {
    let observed = json!({"spec": {"replicas": 3}, "status": {"observedGeneration": 1}});
    line("StatefulSet", &merged(observed, changes))
}

#[test]
fn case_19_to_21_a_deployment_that_is_complete_is_rolled_out() {
    assert_eq!(deployment(1, [1, 1, 1, 1, 1]), "deployment \"web\" successfully rolled out\n");
}

#[test]
fn case_22_one_evaluation_of_an_unavailable_deployment_prints_its_line() {
    let waiting =
        "Waiting for deployment \"web\" rollout to finish: 0 of 1 updated replicas are available...\n";
    assert_eq!(deployment(1, [1, 1, 1, 1, 0]), waiting);
}

#[test]
fn negative_timeouts_are_refused() {
    let snapshot = json!({"kind": "List", "items": [workload("Deployment")]}).to_string();
    let words = ["status", "deployment/web", "-n", "n", "--from", "-", "--watch=false", "--timeout=-5s"];
    let refused = harness::Run::of(words).stdin(snapshot).run();
    assert_eq!((refused.exit, refused.stdout.as_str()), (2, ""));
    let why =
        "invalid value '-5s' for '--timeout <DURATION>': it cannot be negative; for no limit: --timeout 0";
    assert!(refused.stderr.starts_with(&format!("error: {why}\n")), "{}", refused.stderr);
}

#[test]
fn one_observation_does_not_show_stability() {
    let run = |args: &[&str]| {
        let snapshot = harness::snapshot_path("shop");
        harness::Run::of(["status", "deployment/web", "--from"]).arg(snapshot).args(args).run()
    };
    assert_eq!(run(&[]).exit, 0);
    let stable = run(&["--stable", "30s"]);
    stable.ends(3);
    assert_eq!(stable.stderr, "note: --stable needs more than one observation, so stability is not shown\n");
}

#[test]
fn case_23_a_selector_without_matches_prints_kubectls_message() {
    for (args, exit) in [(&["-l", "app=none"][..], 1), (&["-l", "app=none", "--allow-empty"], 0)] {
        let snapshot = json!({"kind": "List", "items": [workload("Deployment")]}).to_string();
        let run = harness::Run::of(["status", "deployment", "-n", "n", "--from", "-"].iter().chain(args));
        let output = run.stdin(snapshot).run();
        assert_eq!(output.stdout, "");
        assert_eq!(
            (output.stderr.as_str(), output.exit),
            ("No resources found in n namespace.\n", exit),
            "{args:?}"
        );
    }
}

#[test]
fn case_52_replicas_are_not_updated_yet() {
    assert_eq!(
        deployment(0, [1, 1, 1, 0, 1]),
        "Waiting for deployment \"web\" rollout to finish: 0 out of 1 new replicas have been updated...\n"
    );
}

#[test]
fn case_53_old_replicas_are_not_deleted_yet() {
    assert_eq!(
        deployment(1, [1, 1, 2, 1, 2]),
        "Waiting for deployment \"web\" rollout to finish: 1 old replicas are pending termination...\n"
    );
}

#[test]
fn case_54_updated_replicas_are_not_available_yet() {
    assert_eq!(
        deployment(1, [1, 2, 2, 2, 1]),
        "Waiting for deployment \"web\" rollout to finish: 1 of 2 updated replicas are available...\n"
    );
}

#[test]
fn case_55_all_replicas_are_updated_and_available() {
    assert_eq!(deployment(1, [1, 2, 2, 2, 2]), "deployment \"web\" successfully rolled out\n");
}

#[test]
fn case_56_a_deployment_is_not_observed_yet() {
    assert_eq!(deployment(2, [1, 2, 2, 2, 2]), "Waiting for deployment spec update to be observed...\n");
}

#[test]
fn case_57_daemon_set_pods_are_not_updated_yet() {
    assert_eq!(
        daemon_set(0, [1, 0, 1, 0]),
        "Waiting for daemon set \"web\" rollout to finish: 0 out of 1 new pods have been updated...\n"
    );
}

#[test]
fn case_58_daemon_set_pods_are_not_available_yet() {
    assert_eq!(
        daemon_set(1, [1, 2, 2, 1]),
        "Waiting for daemon set \"web\" rollout to finish: 1 of 2 updated pods are available...\n"
    );
}

#[test]
fn case_59_all_daemon_set_pods_are_available() {
    assert_eq!(daemon_set(1, [1, 2, 2, 2]), "daemon set \"web\" successfully rolled out\n");
}

#[test]
fn case_60_a_daemon_set_is_not_observed_yet() {
    assert_eq!(daemon_set(2, [1, 2, 2, 2]), "Waiting for daemon set spec update to be observed...\n");
}

#[test]
fn case_63_a_stateful_set_is_not_observed_yet() {
    let unobserved = "Waiting for statefulset spec update to be observed...\n";
    assert_eq!(stateful_set(&json!({"metadata": {"generation": 2}})), unobserved);
    // A workload that the controller never observed, even without a generation.
    let never = json!({"metadata": {"generation": 0}, "status": {"observedGeneration": 0}});
    assert_eq!(stateful_set(&never), unobserved);
}

#[test]
fn case_64_stateful_set_pods_are_not_ready_yet() {
    assert_eq!(stateful_set(&json!({"status": {"readyReplicas": 2}})), "Waiting for 1 pods to be ready...\n");
}

#[test]
fn case_65_a_partition_is_complete() {
    assert_eq!(partitioned(2, 1), "partitioned roll out complete: 1 new pods have been updated...\n");
}

#[test]
fn case_66_a_partition_is_not_complete_yet() {
    assert_eq!(
        partitioned(2, 0),
        "Waiting for partitioned roll out to finish: 0 out of 1 new pods have been updated...\n"
    );
}

#[test]
fn case_67_without_a_rolling_update_the_revision_names_decide() {
    let status = |current: &str, updated: i64| {
        json!({
            "spec": {"updateStrategy": {"rollingUpdate": null}},
            "status": {
                "readyReplicas": 3, "currentReplicas": 3 - updated, "updatedReplicas": updated,
                "currentRevision": current, "updateRevision": "foo",
            },
        })
    };
    assert_eq!(
        stateful_set(&status("foo", 0)),
        "statefulset rolling update complete 3 pods at revision foo...\n"
    );
    assert_eq!(
        stateful_set(&status("old", 2)),
        "waiting for statefulset rolling update to complete 2 pods at revision foo...\n"
    );
}

fn partitioned(partition: i64, updated: i64) -> String {
    stateful_set(&json!({
        "spec": {"updateStrategy": {"rollingUpdate": {"partition": partition}}},
        "status": {"readyReplicas": 3, "updatedReplicas": updated},
    }))
}
