//! Plans that are rolled back.

use serde_json::json;

use super::setup::{KINDS, Web, ends};

#[tokio::test(start_paused = true)]
async fn a_failed_batch_is_rolled_back() {
    for kind in KINDS {
        for rolling in [json!({}), json!({"podUpdatePolicy": "ReCreate", "rollingUpdateType": "Standard"})] {
            let web = Web::changed(kind, 5, &rolling, "app:2.0-crash").await;
            let begun = web.cluster.revision();
            let output = web.run("step --all --by 2 --on-failure undo").await;
            ends(&output, 4);
            assert_eq!((web.pods().as_str(), web.hold()), ("1.0 5/5", None), "{}", output.transcript);
            assert!(output.stderr.ends_with("error: rolled back to revision 1\n"), "{}", output.transcript);
            assert!(web.fewest_ready(begun) >= 4);
            assert_eq!(web.strategy()["rollingUpdate"].get("paused"), None, "as after undo");
        }
    }
}

/// The original partition would keep the pods that the plan released on the failed revision.
#[tokio::test(start_paused = true)]
async fn pods_are_rolled_back_although_the_original_partition_counts_pods() {
    for (kind, undo) in [(KINDS[0], false), (KINDS[0], true), (KINDS[2], false), (KINDS[2], true)] {
        let web = Web::new(kind, 6, &json!({"partition": 3})).await;
        let before = web.strategy();
        web.cluster.editor().set_image(&web.key, "app:2.0");
        ends(&web.run("step --to 2 --by 2").await, 0);
        assert_eq!(web.pods(), "1.0 4/4, 2.0 2/2");
        if undo {
            let output = web.run("undo").await;
            ends(&output, 0);
            assert!(output.stderr.contains("partition is 0"), "{}", output.transcript);
            web.cluster.advance(60).await;
            ends(&web.run("step").await, 4);
        } else {
            web.cluster.advance(10).await;
            let output = web.run("step --to 3 --on-failure undo --check false").await;
            ends(&output, 4);
        }
        assert_eq!((web.pods().as_str(), web.strategy(), web.hold()), ("1.0 6/6", before, None), "{undo}");
    }
}

#[tokio::test(start_paused = true)]
async fn undo_of_a_plan_restores_the_strategy_without_the_pause() {
    for kind in KINDS {
        let web = Web::new(kind, 4, &json!({})).await;
        let before = web.strategy();
        web.pause_and_change("app:2.0").await;
        ends(&web.run("step --to 2").await, 0);
        let output = web.run("undo --wait").await;
        ends(&output, 0);
        assert_eq!(
            (web.pods().as_str(), web.strategy(), web.hold()),
            ("1.0 4/4", before, None),
            "{}",
            output.transcript
        );
    }
}

#[tokio::test(start_paused = true)]
async fn release_all_ends_the_plan() {
    for kind in KINDS {
        let web = Web::new(kind, 4, &json!({})).await;
        let before = web.strategy();
        web.pause_and_change("app:2.0").await;
        ends(&web.run("step").await, 0);
        ends(&web.run("resume --release-all").await, 0);
        assert_eq!((web.strategy(), web.hold()), (before, None));
        web.cluster.advance(120).await;
        assert_eq!(web.pods(), "2.0 4/4");
    }
}
