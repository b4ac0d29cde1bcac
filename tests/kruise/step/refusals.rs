//! Flags that do not apply, and workloads that another controller drives.

use serde_json::json;

use super::setup::{KINDS, Web};

#[tokio::test(start_paused = true)]
async fn flags_that_do_not_apply_are_refused() {
    for kind in KINDS {
        let web = Web::changed(kind, 3, &json!({}), "app:2.0").await;
        let before = web.object();
        for flag in ["--order zone", "--evict", "--node-selector a=b", "--surge 1"] {
            web.run(&format!("step {flag}")).await.ends(2);
        }
        assert_eq!(web.object(), before);
    }
}

#[tokio::test(start_paused = true)]
async fn a_workload_that_a_kruise_rollout_drives_is_refused_with_its_command() {
    for kind in KINDS {
        let web = Web::changed(kind, 3, &json!({}), "app:2.0").await;
        web.patch(&json!({"metadata": {"annotations": {"rollouts.kruise.io/in-progressing": "{\"rolloutName\":\"demo\"}"}}}));
        let output = web.run("step").await;
        output.ends(1).reports("kubectl kruise rollout approve rollout/demo");
        assert_eq!(web.hold(), None);
    }
}

/// `v1beta1` of a `CloneSet` accepts the change, and its controller keeps the pods.
#[tokio::test(start_paused = true)]
async fn a_change_that_the_policy_forbids_is_refused() {
    let web = Web::new(KINDS[0], 4, &json!({"podUpdatePolicy": "InPlaceOnly"})).await;
    web.run("pause").await.ends(0);
    let container = json!({"name": "app", "image": "app:2.0", "env": [{"name": "A", "value": "1"}]});
    web.patch(&json!({"spec": {"template": {"spec": {"containers": [container]}}}}));
    web.cluster.advance(10).await;
    let before = web.object();
    for args in ["step --all", "step --dry-run"] {
        let output = web.run(args).await;
        output.ends(1);
        for text in [
            "error: cloneset/web cannot be stepped: its policy InPlaceOnly keeps the outdated pods: \
             spec.containers[app].env[A] cannot change in place\n",
            "hint: to go back: kubectl rollout2 undo cloneset/web",
        ] {
            output.reports(text);
        }
        assert_eq!(web.object(), before);
    }
    let container = json!({"name": "app", "image": "app:2.0", "env": null});
    web.patch(&json!({"spec": {"template": {"spec": {"containers": [container]}}}}));
    web.cluster.advance(10).await;
    web.run("step --all").await.ends(0);
    assert_eq!(web.pods(), "2.0 4/4");
}

/// A name from an annotation that a shell could take for more than one word is not part of a command.
#[tokio::test(start_paused = true)]
async fn a_name_with_quotes_is_no_part_of_a_hint() {
    let web = Web::changed(KINDS[0], 3, &json!({}), "app:2.0").await;
    let driver = json!({"rolloutName": "a\\'; touch owned; '"}).to_string();
    web.patch(&json!({"metadata": {"annotations": {"rollouts.kruise.io/in-progressing": driver}}}));
    let output = web.run("step").await;
    output.ends(1).reports("kubectl kruise rollout approve rollout/ROLLOUT -n default\n");
}
