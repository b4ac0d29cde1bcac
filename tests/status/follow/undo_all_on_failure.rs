//! `--undo-on-failure=all`: the failure of one target rolls back the other rollouts of the command.

use harness::prelude::*;

/// Creates complete Deployments, and then changes the images of those that have another one.
async fn release<const N: usize>(cluster: &Cluster, images: [(&str, &str); N]) -> [Key; N] {
    let create = |(name, _): (&str, &str)| {
        cluster.editor().create_workload(&DEPLOYMENTS, name, &json!({"replicas": 2}))
    };
    let keys = images.map(create);
    cluster.advance(60).await;
    for (key, (_, image)) in keys.iter().zip(images).filter(|(_, (_, image))| *image != "app:1.0") {
        cluster.editor().set_image(key, image);
    }
    keys
}

fn live_images<const N: usize>(cluster: &Cluster, keys: &[Key; N]) -> [String; N] {
    keys.each_ref().map(|key| {
        let template = cluster.sim.store(|store| store.get(key).unwrap()["spec"]["template"].clone());
        template["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
    })
}

#[tokio::test(start_paused = true)]
async fn the_failure_of_one_rolls_back_the_whole_release() {
    for (scope, expected) in [
        ("=all", ["app:1.0", "app:1.0", "app:1.0", "app:1.0"]),
        ("=failed", ["app:1.0", "app:2.0-slow", "app:2.0", "app:1.0"]),
        ("", ["app:1.0", "app:2.0-slow", "app:2.0", "app:1.0"]),
    ] {
        let cluster = Cluster::simulated().start();
        let images =
            [("web", "app:2.0-bad"), ("api", "app:2.0-slow"), ("cart", "app:2.0"), ("mail", "app:1.0")];
        let keys = release(&cluster, images).await;
        let output = cluster.status(&format!("deployment --undo-on-failure{scope}")).await;
        assert_eq!((output.exit, live_images(&cluster, &keys)), (4, expected.map(str::to_owned)), "{scope}");
        let writes = cluster.writes();
        let others = ["api", "cart"].map(|name| {
            let end =
                format!("error: deployment/web failed; deployment/{name}: rolled back to revision 1 (now 3)");
            output.stderr.lines().filter(|line| *line == end).count()
        });
        let is_all = usize::from(scope == "=all");
        assert_eq!((writes, others), (1 + 2 * is_all, [is_all; 2]), "{scope}\n{}", output.transcript);
        assert!(!output.stderr.contains("mail: rolling back"), "{}", output.transcript);
        if is_all == 1 {
            insta::assert_snapshot!(output.stderr);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_target_has_one_end_in_json() {
    let cluster = Cluster::simulated().start();
    let keys = release(&cluster, [("web", "app:2.0-bad"), ("cart", "app:2.0")]).await;
    let output = cluster.status("deployment --undo-on-failure=all -o json").await;
    assert_eq!(live_images(&cluster, &keys), ["app:1.0"; 2].map(str::to_owned), "{}", output.transcript);
    let events: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_cart = |name: &str| {
        let is_it = |event: &&Value| event["event"] == name && event["workload"]["name"] == "cart";
        events.iter().filter(is_it).collect::<Vec<_>>()
    };
    assert_eq!((of_cart("rolling-back").len(), of_cart("ended").len()), (1, 1), "{}", output.stdout);
    let end = of_cart("ended")[0];
    assert_eq!((&end["outcome"], &end["reason"]), (&json!("other-target-failed"), &Value::Null));
    assert_eq!(end["error"], "deployment/web failed");
    assert_eq!(end["rollback"], json!({"toRevision": 1, "outcome": "reached", "reason": null}));
    assert_eq!(events.last().unwrap()["exitCode"], 4);
}
