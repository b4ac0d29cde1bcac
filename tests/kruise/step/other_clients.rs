//! Changes by other clients while a plan holds the workload.

use serde_json::json;

use super::setup::{KINDS, Web};

#[tokio::test(start_paused = true)]
async fn scaling_changes_the_batches() {
    for kind in [KINDS[0], KINDS[1]] {
        let web = Web::changed(kind, 6, &json!({}), "app:2.0").await;
        web.run("step --by 2").await.ends(0);
        web.run("step").await.ends(0);
        assert_eq!(web.pods(), "1.0 3/3, 2.0 3/3");
        web.patch(&json!({"spec": {"replicas": 8}}));
        web.cluster.advance(60).await;
        // Ordinals above the partition are updated. Of counted pods the share stays.
        let is_counted = kind == KINDS[0];
        assert_eq!(web.pods(), if is_counted { "1.0 4/4, 2.0 4/4" } else { "1.0 3/3, 2.0 5/5" });
        web.run("step").await.ends(0);
        assert_eq!(web.pods(), if is_counted { "1.0 2/2, 2.0 6/6" } else { "1.0 1/1, 2.0 7/7" });
        web.patch(&json!({"spec": {"replicas": 2}}));
        web.cluster.advance(60).await;
        let output = web.run("step --all").await;
        output.ends(0);
        assert_eq!(web.pods(), "2.0 2/2", "{}", output.transcript);
    }
}

/// A scale-up creates its pods while the released pod waits for its grace period.
#[tokio::test(start_paused = true)]
async fn only_created_pods_are_reported_as_created() {
    let rolling = json!({"inPlaceUpdateStrategy": {"gracePeriodSeconds": 3}});
    let web = Web::changed(KINDS[1], 4, &rolling, "app:2.0").await;
    let old = web.uids();
    let key = web.key.clone();
    web.cluster.later(1000, move |editor| {
        editor.patch(&key, &json!({"spec": {"replicas": 6}}));
    });
    let output = web.run("step --by 1").await;
    output.ends(0);
    let created: Vec<String> = web.uids().into_keys().filter(|name| !old.contains_key(name)).collect();
    let notes: String =
        output.transcript.lines().filter(|line| line.contains("the controller created")).collect();
    assert_eq!(created.len(), 2);
    for name in old.keys() {
        assert!(!notes.contains(name.as_str()), "{name}: {}", output.transcript);
    }
    assert!(created.iter().all(|name| notes.contains(name.as_str())), "{}", output.transcript);
}

/// An autoscaler does it: a number of outdated pods would let every added pod run the new revision.
#[tokio::test(start_paused = true)]
async fn a_scale_up_keeps_the_share_of_a_canary() {
    let web = Web::changed(KINDS[0], 6, &json!({}), "app:2.0").await;
    web.run("step --by 1").await.ends(0);
    assert_eq!((web.pods().as_str(), web.partition()), ("1.0 5/5, 2.0 1/1", json!("83%")));
    web.patch(&json!({"spec": {"replicas": 20}}));
    web.cluster.advance(60).await;
    assert_eq!(web.pods(), "1.0 17/17, 2.0 3/3");
    let status = web.run("status --watch=false").await;
    status.ends(5);
    let held = "after batch 1, until kubectl rollout2 step";
    assert!(status.transcript.contains(held), "{}", status.transcript);
    web.run("step --by 2").await.ends(0);
    assert_eq!((web.pods().as_str(), web.partition()), ("1.0 15/15, 2.0 5/5", json!("75%")));
    web.run("step --all --by 50%").await.ends(0);
    assert_eq!((web.pods().as_str(), web.hold()), ("2.0 20/20", None));
}
