//! Batches whose pods are updated in place.

use serde_json::json;

use super::setup::{KINDS, Web};

#[tokio::test(start_paused = true)]
async fn pods_that_are_updated_in_place_stay() {
    for kind in KINDS {
        let web = Web::changed(kind, 4, &json!({}), "app:2.0").await;
        let before = web.uids();
        web.run("step --all --by 2").await.ends(0);
        assert_eq!((web.pods().as_str(), web.uids()), ("2.0 4/4", before), "{}", web.target);
    }
}

/// A container that ran before the update has ended for the update.
#[tokio::test(start_paused = true)]
async fn a_restart_in_place_needs_no_settling_time() {
    let web = Web::changed(KINDS[0], 3, &json!({}), "app:2.0").await;
    let begun = tokio::time::Instant::now();
    web.run("step --all --by 2 --soak 0s").await.ends(0);
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_batch_waits_for_the_grace_period() {
    let rolling = json!({"inPlaceUpdateStrategy": {"gracePeriodSeconds": 60}});
    let web = Web::changed(KINDS[0], 3, &rolling, "app:2.0").await;
    let begun = tokio::time::Instant::now();
    web.run("step --all --by 3 --soak 0s").await.ends(0);
    assert!(begun.elapsed().as_secs() >= 180, "{:?}", begun.elapsed());
    assert_eq!(web.pods(), "2.0 3/3");
}

#[tokio::test(start_paused = true)]
async fn an_update_that_is_not_possible_in_place_recreates_pods() {
    for kind in KINDS {
        let web = Web::new(kind, 3, &json!({})).await;
        web.run("pause").await.ends(0);
        let containers = json!([{"name": "app", "image": "app:2.0", "env": [{"name": "A", "value": "1"}]}]);
        web.patch(&json!({"spec": {"template": {"spec": {"containers": containers}}}}));
        web.cluster.advance(10).await;
        let before = web.uids();
        web.run("step --dry-run").await.ends(0).prints("pods are recreated");
        web.run("step --all").await.ends(0);
        assert_eq!(web.pods(), "2.0 3/3");
        assert!(web.uids().values().all(|uid| before.values().all(|old| old != uid)), "{}", web.target);
    }
}
