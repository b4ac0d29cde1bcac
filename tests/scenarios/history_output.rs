//! The output of `history`, reduced to lines without generated names and ages.

use serde_json::Value;
use tokio::time::Instant;

use crate::scenarios::setup::{POLL_INTERVAL, ScenarioCluster, WAIT_TIMEOUT};

/// One line for each revision: number, state, pods, changes, and past numbers.
pub(crate) async fn history(cluster: &ScenarioCluster, target: &str) -> Vec<String> {
    let output = cluster.rollout2(&["history", target, "-o", "json"]).await;
    assert_eq!(output.exit, 0, "{}", output.transcript);
    let printed: Value = serde_json::from_str(&output.stdout).unwrap();
    printed["items"][0]["revisions"].as_array().unwrap().iter().map(line).collect()
}

/// Returns kubectl's table.
pub(crate) async fn kubectl_history(cluster: &ScenarioCluster, target: &str) -> String {
    let output = cluster.rollout2(&["history", target, "--compat"]).await;
    assert_eq!(output.exit, 0, "{}", output.transcript);
    output.stdout
}

/// Waits until kubectl's table has these rows.
pub(crate) async fn wait_for_kubectl_history(cluster: &ScenarioCluster, target: &str, rows: &str) {
    let begun = Instant::now();
    loop {
        let table = kubectl_history(cluster, target).await;
        if table
            .split_once("CHANGE-CAUSE\n")
            .is_some_and(|(_, printed)| printed.trim_end() == rows.trim_end())
        {
            return;
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{table}");
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
