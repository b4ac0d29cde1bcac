//! Flags that do not apply, and workloads that another controller drives.

use serde_json::json;

use super::setup::{KINDS, Web, ends};

#[tokio::test(start_paused = true)]
async fn flags_that_do_not_apply_are_refused() {
    for kind in KINDS {
        let web = Web::changed(kind, 3, &json!({}), "app:2.0").await;
        let before = web.object();
        let node_flags: &[&str] = if web.target == "ads/web" {
            &["--order zone", "--evict"]
        } else {
            &["--order zone", "--evict", "--node-selector a=b"]
        };
        for flag in node_flags.iter().chain(&["--surge 1"]) {
            let output = web.run(&format!("step {flag}")).await;
            ends(&output, 2);
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
        ends(&output, 1);
        assert!(
            output.stderr.contains("kubectl kruise rollout approve rollout/demo"),
            "{}",
            output.transcript
        );
        assert_eq!(web.hold(), None);
    }
}
