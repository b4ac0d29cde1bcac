//! Bookmarks and ends of watches.

use std::time::Duration;

use crate::simulation::api::support::{Watch, app, scale, shop};
use harness::snapshot;
use serde_json::json;
use simcluster::{SimCluster, object};

#[tokio::test(start_paused = true)]
async fn a_watch_ends_after_its_timeout() {
    let service = shop().service();
    let started = tokio::time::Instant::now();
    let mut watch =
        Watch::open(&service, &app("deployments?watch=true&resourceVersion=1588&timeoutSeconds=5")).await;
    assert_eq!(watch.printed().await, "end");
    assert_eq!(started.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn bookmarks_arrive_every_minute() {
    let service = shop().service();
    let uri = app("deployments?watch=true&resourceVersion=1588&allowWatchBookmarks=true&timeoutSeconds=150");
    let mut watch = Watch::open(&service, &uri).await;
    let started = tokio::time::Instant::now();
    scale(&service, "statefulsets/db", 7).await;
    let bookmark = watch.next().await.unwrap();
    assert_eq!(
        (&bookmark["type"], object::resource_version(&bookmark["object"])),
        (&json!("BOOKMARK"), 1591),
        "it moves on without events"
    );
    assert_eq!(started.elapsed(), Duration::from_secs(60));
    // Another minute later, and shortly before the timeout.
    for elapsed in [120, 148] {
        assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
        assert_eq!(started.elapsed(), Duration::from_secs(elapsed));
    }
    assert_eq!(watch.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_compacted_revision_is_refused() {
    let cluster = SimCluster::builder().snapshot(&snapshot("shop")).unwrap().history(2).build();
    let service = cluster.service();
    let mut behind = Watch::open(&service, &app("deployments?watch=true&resourceVersion=1590")).await;
    for replicas in 5..10 {
        scale(&service, "deployments/web", replicas).await;
    }
    let mut late = Watch::open(&service, &app("deployments?watch=true&resourceVersion=1590")).await;
    for watch in [&mut behind, &mut late] {
        let error = watch.next().await.unwrap();
        assert_eq!(
            (&error["type"], &error["object"]["code"], &error["object"]["reason"]),
            (&json!("ERROR"), &json!(410), &json!("Expired"))
        );
        assert_eq!(error["object"]["message"], "too old resource version: 1590 (1593)");
        assert_eq!(watch.next().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_sees_what_a_test_writes_to_the_store() {
    let cluster = shop();
    let mut watch =
        Watch::open(&cluster.service(), &app("deployments?watch=true&resourceVersion=1590")).await;
    let key = simcluster::Key::new(&simcluster::resource::DEPLOYMENTS, "shop", "web");
    let author = simcluster::rules::Author::new("test");
    let edited = cluster.store(|store| {
        store.edit(&key, simcluster::rules::Part::Object, &author, |web| {
            web["spec"]["replicas"] = 9.into();
        })
    });
    assert_eq!(edited.unwrap()["spec"]["replicas"], 9);
    assert_eq!(watch.printed().await, "MODIFIED web");
}
