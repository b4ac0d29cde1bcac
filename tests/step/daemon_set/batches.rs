//! Plans for a DaemonSet that complete, that stop after one batch, and that are rolled back.

use serde_json::{Value, json};

use super::setup::{Nodes, ZONE};

#[tokio::test(start_paused = true)]
async fn selected_nodes_are_stepped_and_the_others_stay_held() {
    let nodes = Nodes::held("app:2.0").await;
    let output = nodes.step(&format!("--all --node-selector {ZONE}=z1")).await;
    output.ends(0);
    let updated: Vec<_> = nodes.images().into_iter().filter(|(_, image)| image == "app:2.0").collect();
    assert_eq!(updated.iter().map(|(node, _)| node.as_str()).collect::<Vec<_>>(), ["node-1", "node-4"]);
    assert!(nodes.is_held() && nodes.strategy()["type"] == "OnDelete", "{}", output.transcript);
    output.reports("step daemonset/agent -n default --node-selector=");
    let again = nodes.step("").await;
    again.ends(5); // a script that repeats the command stops
    again.reports("--node-selector=");
    nodes.cluster.run("step daemonset/agent --all --node-selector=").await.ends(0);
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (6, false));
}

/// Returns the number and the nodes of each batch in the last JSON document.
fn batches_in_last_document(output: &harness::Output) -> Vec<String> {
    let last: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
    let batches = last["batches"].as_array().unwrap().iter().map(|batch| {
        let names: Vec<&str> =
            batch["slots"].as_array().unwrap().iter().map(|slot| slot["name"].as_str().unwrap()).collect();
        format!("{}: {}", batch["number"], names.join(" "))
    });
    batches.collect()
}

#[tokio::test(start_paused = true)]
async fn the_documents_list_the_nodes_of_each_batch() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.step(&format!("--node-selector {ZONE}=z1")).await.ends(0); // node-1 goes first
    let on = nodes.step("--node-selector= --by 2 --to 5 -o json").await;
    on.ends(0);
    assert_eq!(batches_in_last_document(&on)[..3], ["1: node-1", "2: node-0 node-2", "3: node-3 node-4"]);
    let last = nodes.step("-o json").await;
    last.ends(0);
    assert_eq!(
        batches_in_last_document(&last),
        ["3: node-3 node-4", "4: node-5"],
        "the plan stores only its last batch"
    );
}

#[tokio::test(start_paused = true)]
async fn a_gradual_rollback_is_a_plan_for_the_old_template() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.step("--to 3 --by 2").await.ends(0);
    nodes.cluster.run("undo daemonset/agent --keep-hold").await.ends(0);
    nodes.cluster.advance(30).await;
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.strategy()["type"].as_str()), (3, Some("OnDelete")));
    let changed = nodes.step("").await;
    changed.ends(5).reports("--new-plan");
    let begun = nodes.cluster.revision();
    nodes.step("--new-plan --by 2 --all").await.ends(0);
    assert_eq!(
        (nodes.nodes_with("app:1.0"), nodes.is_held(), nodes.max_unavailable_since(begun)),
        (6, false, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_with_on_delete_is_stepped_and_keeps_on_delete() {
    let strategy = json!({"type": "OnDelete"});
    let nodes = Nodes::new(&json!({"updateStrategy": strategy})).await;
    nodes.cluster.editor().set_image(&nodes.agent, "app:2.0");
    nodes.cluster.advance(5).await;
    nodes.step("--all --by 50%").await.ends(0);
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held(), nodes.strategy()), (6, false, strategy));
}

#[tokio::test(start_paused = true)]
async fn a_preview_lists_the_nodes() {
    let nodes = Nodes::held("app:2.0").await;
    let held = nodes.object();
    let plan = nodes.step(&format!("--dry-run --all --by 2 --soak 5m --order {ZONE}")).await;
    plan.ends(0);
    insta::assert_snapshot!(plan.stdout);
    assert_eq!(nodes.object(), held);
}

#[tokio::test(start_paused = true)]
async fn a_preview_of_a_running_rollout_lists_the_nodes() {
    let nodes = Nodes::new(&json!({})).await;
    nodes.cluster.editor().set_image(&nodes.agent, "app:2.0-slow");
    nodes.cluster.advance(1).await;
    let plan = nodes.step("--dry-run --all --by 2").await;
    plan.ends(0);
    insta::assert_snapshot!(plan.stdout);
}
