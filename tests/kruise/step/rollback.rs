//! Plans that are rolled back.

use harness::prelude::*;

use super::setup::{KINDS, Web};

/// The original partition would keep the pods that the plan released on the failed revision.
#[tokio::test(start_paused = true)]
async fn pods_are_rolled_back_although_the_original_partition_counts_pods() {
    for (kind, undo) in [(KINDS[0], false), (KINDS[0], true), (KINDS[2], false), (KINDS[2], true)] {
        let web = Web::new(kind, 6, &json!({"partition": 3})).await;
        let before = web.strategy();
        web.cluster.editor().set_image(&web.key, "app:2.0");
        web.run("step --to 2 --by 2").await.ends(0);
        assert_eq!(web.pods(), "1.0 4/4, 2.0 2/2");
        if undo {
            let output = web.run("undo").await;
            output.ends(0).reports("until every pod is rolled back; then the original strategy is restored");
            web.cluster.advance(60).await;
            web.run("step").await.ends(4);
        } else {
            web.cluster.advance(10).await;
            web.run("step --to 3 --on-failure undo --check false").await.ends(4);
        }
        assert_eq!((web.pods().as_str(), web.strategy(), web.hold()), ("1.0 6/6", before, None), "{undo}");
    }
}

/// An earlier plan released the canary, and a later change makes it crash.
#[tokio::test(start_paused = true)]
async fn a_crash_outside_a_batch_is_rolled_back() {
    for kind in [KINDS[0], KINDS[1], KINDS[2]] {
        for minutes in [0, 60] {
            let web = Web::changed(kind, 6, &json!({}), "app:2.0").await;
            web.run("step").await.ends(0);
            web.cluster.editor().set_image(&web.key, "app:3.0-crash");
            web.cluster.advance(10 + minutes * 60).await;
            let output = web.run("step --new-plan --all --on-failure undo").await;
            output.ends(4);
            let failed = "error: rolled back to revision 1; it is neither held nor paused\n";
            assert!(output.stderr.ends_with(failed), "{minutes}: {}", output.transcript);
            assert_eq!((web.pods().as_str(), web.hold()), ("1.0 6/6", None), "{}", output.transcript);
        }
    }
}

/// Returns a workload with an original partition of half of its pods, whose plan `undo` rolled back.
async fn undone(kind: (&'static Resource, &'static str), undo: &str) -> (Web, Value) {
    let web = Web::new(kind, 6, &json!({"partition": "50%"})).await;
    let before = web.strategy();
    web.pause_and_change("app:2.0").await;
    web.run("step --by 3 --no-canary --max-unavailable 3 --check false").await.ends(4);
    web.run(undo).await.ends(0);
    (web, before)
}

#[tokio::test(start_paused = true)]
async fn whoever_finds_a_completed_rollback_restores_the_partition() {
    for kind in [KINDS[0], KINDS[2]] {
        for (finisher, exit) in [("pause", 0), ("resume", 0), ("undo", 0), ("step", 4)] {
            let (web, before) = undone(kind, "undo").await;
            web.cluster.advance(60).await;
            assert_eq!(web.pods(), "1.0 6/6");
            let status = web.run("status --watch=false").await;
            status.ends(0);
            let target = web.target;
            let words = format!(
                "rolled back, and its own partition 50% is not restored until kubectl rollout2 step {target}"
            );
            assert!(status.transcript.contains(&words), "{}", status.transcript);
            let output = web.run(finisher).await;
            output.ends(exit);
            let mut expected = before.clone();
            if finisher == "pause" {
                expected["rollingUpdate"]["paused"] = true.into();
            }
            assert_eq!((web.strategy(), web.hold()), (expected, None), "{finisher}: {}", output.transcript);
            web.cluster.editor().set_image(&web.key, "app:3.0");
            web.cluster.advance(120).await;
            let pods = if finisher == "pause" { "1.0 6/6" } else { "1.0 3/3, 3.0 3/3" };
            assert_eq!(web.pods(), pods, "{target} {finisher}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_undo_that_waits_restores_the_partition() {
    for kind in [KINDS[0], KINDS[2]] {
        let (web, before) = undone(kind, "undo --wait").await;
        assert_eq!((web.pods().as_str(), web.strategy(), web.hold()), ("1.0 6/6", before, None));
    }
}

/// The partition of a rollback keeps no pod, so the kind's own field pauses it.
#[tokio::test(start_paused = true)]
async fn a_pause_during_a_rollback_holds_every_pod() {
    for kind in [KINDS[0], KINDS[2]] {
        let (web, before) = undone(kind, "undo").await;
        web.run("pause").await.ends(0);
        web.cluster.advance(20).await;
        let pods = web.pods();
        assert_ne!(pods, "1.0 6/6", "it is still under way");
        web.cluster.advance(60).await;
        assert_eq!((web.pods(), &web.strategy()["rollingUpdate"]["paused"]), (pods, &json!(true)));
        web.run("step").await.ends(5);
        web.run("resume").await.ends(0);
        web.run("step").await.ends(4);
        assert_eq!((web.pods().as_str(), web.strategy(), web.hold()), ("1.0 6/6", before, None));
    }
}
