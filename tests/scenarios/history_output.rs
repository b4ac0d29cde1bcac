//! The output of `history`, reduced to lines without generated names and ages.

use serde_json::Value;
use tokio::time::Instant;

use harness::real::{POLL_INTERVAL, RealCluster, WAIT_TIMEOUT};

/// One line for each revision: number, state, pods, changes, and past numbers.
pub(crate) async fn history(cluster: &RealCluster, target: &str) -> Vec<String> {
    revisions(cluster, target).await.iter().map(line).collect()
}

async fn revisions(cluster: &RealCluster, target: &str) -> Vec<Value> {
    let output = cluster.rollout2(&["history", target, "-o", "json"]).await;
    output.ends(0);
    let printed: Value = serde_json::from_str(&output.stdout).unwrap();
    printed["items"][0]["revisions"].as_array().unwrap().clone()
}

/// The number and the change-cause of each revision.
pub(crate) async fn change_causes(cluster: &RealCluster, target: &str) -> Vec<String> {
    let words = |one: &Value| format!("{} {}", one["revision"], one["changeCause"].as_str().unwrap_or("-"));
    revisions(cluster, target).await.iter().map(words).collect()
}

/// Waits until the revisions have these numbers and change-causes.
pub(crate) async fn wait_for_change_causes(cluster: &RealCluster, target: &str, expected: &[&str]) {
    let begun = Instant::now();
    loop {
        let causes = change_causes(cluster, target).await;
        if causes == expected {
            return;
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{causes:?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn line(revision: &Value) -> String {
    let words = |member: &str| match &revision[member] {
        Value::Array(words) => {
            words.iter().map(|word| word.as_str().map_or(word.to_string(), str::to_owned)).collect()
        }
        _ => vec![format!("first: {}", revision["images"][0].as_str().unwrap())],
    };
    let past = words("pastRevisions");
    let past = if past.is_empty() { String::new() } else { format!("; was {}", past.join(",")) };
    format!(
        "{} {} {}/{} {}{past}",
        revision["revision"],
        revision["state"].as_str().unwrap_or("-"),
        revision["pods"]["ready"],
        revision["pods"]["total"],
        words("changes").join(", "),
    )
}
