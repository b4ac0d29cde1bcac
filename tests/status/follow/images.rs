//! `--image`: the live template must name an image, which a controller may apply later.

use harness::prelude::*;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn another_image_fails_the_command() {
    let (cluster, _) = Cluster::simulated().deployment(2, &json!({})).await;
    for (image, exit, text) in [
        ("app:1.0", 0, "successfully rolled out"),
        ("app=app:1.0", 0, "successfully rolled out"),
        ("app=app:2.0", 4, "container app has the image app:1.0, and not app:2.0"),
        ("app:2.0", 4, "no container has the image app:2.0, but app:1.0"),
        ("web=app:1.0", 4, "the live template has no container \"web\""),
        ("app", 2, "use IMAGE:TAG or IMAGE@DIGEST"),
    ] {
        for flags in ["", "--watch=false"] {
            let output = cluster.status(&format!("deployment/web --image {image} {flags}")).await;
            assert_eq!(output.exit, exit, "{image} {flags}\n{}", output.transcript);
            assert!(output.transcript.contains(text), "{image} {flags}\n{}", output.transcript);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_that_is_applied_later_is_awaited() {
    for (applied, exit, seconds) in [(Some(20), 0, 20), (None, 4, 60)] {
        let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
        if let Some(seconds) = applied {
            cluster.later(seconds * 1_000, move |editor| editor.set_image(&web, "app:2.0"));
        }
        let begun = Instant::now();
        let output = cluster.status("deployment/web --image app=app:2.0 --wait-for-creation 60s").await;
        output.ends(exit).reports(
            "note: deployment/web: container app has the image app:1.0, and not app:2.0; waiting for up to 1m0s",
        );
        let (elapsed, expected) = (begun.elapsed(), Duration::from_secs(seconds));
        assert!((expected..expected + Duration::from_secs(10)).contains(&elapsed), "{elapsed:?}");
        assert_eq!(output.stderr.matches("waiting for up to").count(), 1, "{}", output.transcript);
    }
}

/// Another client applies another image while the rollout is followed.
#[tokio::test(start_paused = true)]
async fn an_image_that_is_replaced_fails_the_command() {
    let (cluster, web) = Cluster::simulated().deployment(2, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-slow");
    cluster.later(3_000, move |editor| editor.set_image(&web, "app:3.0"));
    let output = cluster.status("deployment/web --image app:2.0-slow").await;
    output.ends(4).reports("error: deployment/web: no container has the image app:2.0-slow, but app:3.0");
}
