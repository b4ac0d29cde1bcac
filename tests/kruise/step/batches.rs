//! Plans that complete, that stop after one batch, and what they write.

use harness::prelude::*;

use super::setup::{KINDS, Web};

#[tokio::test(start_paused = true)]
async fn every_event_of_a_plan_is_a_line() {
    for kind in KINDS {
        let web = Web::changed(kind, 4, &json!({}), "app:2.0").await;
        let output = web.run("step --all --by 2").await;
        output.ends(0);
        insta::assert_snapshot!(web.target.replace('/', "-"), output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn dry_run_prints_how_pods_are_updated_and_what_holds() {
    for (name, kind, rolling) in [
        ("dry-run-in-place", KINDS[0], json!({"maxUnavailable": "50%"})),
        ("dry-run-recreate", KINDS[1], json!({"podUpdatePolicy": "ReCreate"})),
        ("dry-run-surge", KINDS[0], json!({"maxUnavailable": 0, "maxSurge": 2})),
        ("dry-run-nodes", KINDS[2], json!({})),
    ] {
        let web = Web::changed(kind, 4, &rolling, "app:2.0").await;
        let before = web.object();
        let plan = web.run("step --dry-run --all --by 2 --max-unavailable 3").await;
        plan.ends(0);
        insta::assert_snapshot!(name, plan.transcript);
        assert_eq!(web.object(), before);
    }
}

/// Pods of several old revisions: one of them cannot be updated in place.
#[tokio::test(start_paused = true)]
async fn dry_run_prints_how_many_pods_are_updated_in_place() {
    let env = |value: &str| {
        let container = json!({"name": "app", "image": "app:2.0", "env": [{"name": "A", "value": value}]});
        json!({"spec": {"template": {"spec": {"containers": [container]}}}})
    };
    for kind in KINDS {
        let web = Web::new(kind, 4, &json!({"partition": 2})).await;
        web.patch(&env("1"));
        web.cluster.advance(120).await;
        web.patch(
            &json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": null, "paused": true}}}}),
        );
        let mut after = env("1");
        after["spec"]["template"]["spec"]["containers"][0]["image"] = "app:3.0".into();
        web.patch(&after);
        web.cluster.advance(10).await;
        assert_eq!(web.pods(), "1.0 2/2, 2.0 2/2");
        let dry_run = "step --dry-run --all --by 2 --no-canary";
        let plan = web.run(dry_run).await;
        plan.ends(0);
        let of_plan = "2 pods recreated: 2 pods in place: restarts app; spec.containers[app].env[A] cannot";
        assert!(plan.transcript.contains(of_plan), "{}", plan.transcript);
        let document = web.run(&format!("{dry_run} -o json")).await;
        let document: serde_json::Value = serde_json::from_str(&document.stdout).unwrap();
        assert_eq!(document["podUpdate"]["kind"], "mixed");
    }
}

#[tokio::test(start_paused = true)]
async fn dry_run_prints_every_reason_why_pods_are_recreated() {
    let container = |more: serde_json::Value| {
        let container = harness::merged(json!({"name": "app", "image": "app:1.0"}), &more);
        json!({"spec": {"template": {"spec": {"containers": [container]}}}})
    };
    let env = json!({"env": [{"name": "A", "value": "1"}]});
    let web = Web::new(KINDS[1], 4, &json!({"partition": 2})).await;
    web.patch(&container(env.clone()));
    web.cluster.advance(120).await;
    web.patch(&json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": null, "paused": true}}}}));
    web.patch(&container(harness::merged(env, &json!({"args": ["-v"]}))));
    web.cluster.advance(10).await;
    let plan = web.run("step --dry-run --all --by 2 --no-canary").await;
    plan.ends(0);
    let (args, env) = ("spec.containers[app].args", "spec.containers[app].env[A]");
    let reasons = format!("pods are recreated: {args}, {env} cannot change in place");
    plan.prints(&reasons);
}

/// Then the controller keeps more pods available than its surge adds.
#[tokio::test(start_paused = true)]
async fn a_smaller_limit_of_the_plan_needs_no_surge() {
    let web = Web::changed(KINDS[0], 6, &json!({"maxUnavailable": 3, "maxSurge": 2}), "app:2.0").await;
    for (limit, has_surge) in [(1, false), (4, true)] {
        let plan = web.run(&format!("step --dry-run --max-unavailable {limit}")).await;
        plan.ends(0);
        assert_eq!(
            plan.stdout.contains(", 2 surge pods (its own maxSurge)"),
            has_surge,
            "{}",
            plan.transcript
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_goal_below_the_original_partition_is_not_reached() {
    for (kind, own) in [(KINDS[0], json!("50%")), (KINDS[1], json!(3)), (KINDS[2], json!(3))] {
        let web = Web::new(kind, 6, &json!({"partition": own})).await;
        let before = web.strategy();
        web.cluster.editor().set_image(&web.key, "app:2.0");
        web.cluster.advance(2).await;
        for again in [false, true] {
            let output = web.run("step --to 5 --by 3").await;
            output.ends(5);
            let held = "its own partition 3 keeps 3 pods outdated\nhint: to update the pods that it keeps: kubectl patch ";
            assert!(output.stderr.contains(held), "{again}: {}", output.transcript);
            assert_eq!((web.pods().as_str(), web.strategy()), ("1.0 3/3, 2.0 3/3", before.clone()));
        }
        web.run("step --to 3").await.ends(0);
    }
}

/// The plan takes over the pause, and the partition comes back.
#[tokio::test(start_paused = true)]
async fn a_pause_with_an_original_partition_is_taken_over() {
    let web = Web::changed(KINDS[0], 10, &json!({"partition": "20%"}), "app:2.0").await;
    let output = web.run("step --to 8 --by 3").await;
    output.ends(0);
    let last = "every pod at or above its own partition 2 is updated, 2 pods below it stay outdated; the original \
                update strategy is restored; it is neither held nor paused\n";
    assert!(output.transcript.contains(last), "{}", output.transcript);
}

/// The controller updates the pods in the order of their nodes, and skips none.
#[tokio::test(start_paused = true)]
async fn a_plan_stops_before_an_unready_node_until_it_is_ready() {
    let ads = (&ADVANCED_DAEMONSETS, "ads/web");
    let own = json!({"matchLabels": {"kubernetes.io/os": "linux"}});
    let web = Web::new(ads, 4, &json!({"rollingUpdateType": "Standard", "selector": own})).await;
    let before = web.strategy();
    web.pause_and_change("app:2.0").await;
    web.node_is_ready("node-2", false);
    for again in [false, true] {
        let output = web.run("step --all --by 2 --no-canary --force").await;
        output.ends(5).reports("pod 2 is next, its node node-2 is NotReady, and the controller skips no pod");
        assert_eq!(web.pods(), "1.0 2/3, 2.0 1/1", "{again}");
        assert_eq!(web.strategy()["rollingUpdate"]["selector"], own);
    }
    web.node_is_ready("node-2", true);
    web.cluster.advance(60).await;
    let output = web.run("step --all").await;
    output.ends(0);
    assert_eq!((web.pods().as_str(), web.strategy()), ("2.0 4/4", before), "{}", output.transcript);
}

/// The pods of the nodes that the strategy itself leaves out stay outdated, and the lines say so.
#[tokio::test(start_paused = true)]
async fn nodes_beyond_the_own_selector_stay_outdated() {
    let ads = (&ADVANCED_DAEMONSETS, "ads/web");
    let own = json!({"selector": {"matchLabels": {"pool": "canary"}}});
    let web = Web::new(ads, 4, &own).await;
    let key = simcluster::Key::new(&simcluster::resource::NODES, "", "node-0");
    web.cluster.editor().patch(&key, &json!({"metadata": {"labels": {"pool": "canary"}}}));
    web.pause_and_change("app:2.0").await;
    for expected in [
        "every pod within its own node selector and partition is updated, 3 pods beyond stay outdated",
        "no pod is outdated within its own node selector and partition",
    ] {
        let output = web.run("step --all").await;
        output.ends(0);
        assert!(output.transcript.contains(expected), "{}", output.transcript);
        assert_eq!(web.pods(), "1.0 3/3, 2.0 1/1");
    }
}
