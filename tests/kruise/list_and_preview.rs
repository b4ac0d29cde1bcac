//! `list` and `preview` of the kinds of OpenKruise on a simulated cluster: what was foretold is what happens.

use std::collections::BTreeSet;
use std::fmt::Write;

use harness::prelude::*;

/// Returns the uids of all pods.
fn pods(cluster: &Cluster) -> BTreeSet<String> {
    let uid = |pod: &Value| pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    cluster.sim.store(|store| {
        let pods = store.all().filter(|(_, object)| object["kind"] == "Pod");
        pods.map(|(_, pod)| uid(pod)).collect()
    })
}

/// Previews a change of a workload, makes it, and returns what was printed, with the list afterwards.
async fn preview_and_change(cluster: &Cluster, key: &Key, change: &Value) -> (String, Value) {
    let applied = merged(cluster.object(key), &json!({"spec": change})).to_string();
    let preview = async |args: &[&str]| {
        let run = cluster
            .command(["preview", "-f", "-"].iter().chain(args))
            .stdin(applied.clone())
            .kubectl_applies();
        let output = run.run_async().await;
        output.ends(0);
        output.transcript
    };
    let item: Value = serde_json::from_str(&preview(&["-o", "json"]).await).unwrap();
    let mut transcript = format!("$ preview\n{}", preview(&[]).await);
    cluster.editor().patch(key, &json!({"spec": change}));
    cluster.advance(300).await;
    let list = cluster.run("list all --no-headers").await.stdout;
    let words: Vec<_> = list.split_whitespace().take(5).collect();
    writeln!(transcript, "$ list\n{}", words.join("  ")).unwrap();
    (transcript, item["items"][0].clone())
}

#[tokio::test(start_paused = true)]
async fn a_preview_foretells_which_pods_stay() {
    let rolling = |policy: &str| {
        let budget = json!({policy: "InPlaceIfPossible", "maxUnavailable": 1});
        json!({"type": "RollingUpdate", "rollingUpdate": budget})
    };
    let kinds: [(&'static Resource, Value); 3] = [
        (&CLONESETS, rolling("podUpdatePolicy")),
        (&ADVANCED_STATEFULSETS, rolling("podUpdatePolicy")),
        (&ADVANCED_DAEMONSETS, rolling("rollingUpdateType")),
    ];
    let container = |image: &str, value: &str| {
        let containers = json!([{"name": "app", "image": image, "env": [{"name": "A", "value": value}]}]);
        json!({"template": {"spec": {"containers": containers}}})
    };
    let mut transcript = String::new();
    for (resource, strategy) in kinds {
        let cluster = Cluster::simulated().kruise().start();
        let spec = json!({"replicas": 3, "updateStrategy": strategy, "podManagementPolicy": "Parallel"});
        let key = cluster.editor().create_workload(resource, "web", &spec);
        cluster.advance(60).await;
        cluster.editor().patch(&key, &json!({"spec": container("app:1.0", "x")}));
        cluster.advance(300).await;
        for (change, replicas) in
            [(container("app:2.0", "x"), 3), (container("app:2.0", "y"), 3), (container("app:1.0", "x"), 2)]
        {
            let change = if resource.kind == "DaemonSet" {
                change
            } else {
                merged(change, &json!({"replicas": replicas}))
            };
            let before = pods(&cluster);
            let (printed, item) = preview_and_change(&cluster, &key, &change).await;
            write!(transcript, "# {}\n{printed}\n", resource.plural).unwrap();
            let stayed = before.intersection(&pods(&cluster)).count();
            assert_eq!(item["effect"]["update"]["inPlace"], stayed, "{printed}");
            let replaced = item["effect"]["replaced"].as_array().unwrap().len() as u64;
            assert_eq!(
                replaced + item["effect"]["removed"].as_u64().unwrap(),
                before.len() as u64,
                "{printed}"
            );
        }
    }
    insta::assert_snapshot!(transcript);
}
