//! DaemonSets, node by node: six nodes in three zones.

use std::time::Duration;

use harness::Ended;
use harness::lab::{Hands, Lab};
use serde_json::{Value, json};
use simcluster::fault::{Act, Fault, Requests};
use simcluster::patch::Format;
use simcluster::resource::{DAEMONSETS, NODES, PODDISRUPTIONBUDGETS, PODS};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{Controllers, Key, Rule, SimCluster, Store, User, Verb, object};

const ZONE: &str = "topology.kubernetes.io/zone";

/// Six nodes in three zones, and a DaemonSet `agent` on all of them.
struct Nodes {
    lab: Lab,
    agent: Key,
}

impl Nodes {
    async fn new(more: &Value) -> Self {
        let lab = Lab::built(SimCluster::builder().nodes(6), Controllers::new());
        let agent = lab.daemon_set(more);
        lab.pass(30).await;
        Self { lab, agent }
    }

    /// The same with a change that is held.
    async fn held(image: &str) -> Self {
        let nodes = Self::new(&json!({})).await;
        nodes.hold(image).await;
        nodes
    }

    async fn hold(&self, image: &str) {
        let paused = self.lab.run("pause daemonset/agent").await;
        assert_eq!(paused.exit, 0, "{}", paused.transcript);
        self.lab.hands().image(&self.agent, image);
        self.lab.pass(10).await;
        self.lab.cluster.forget_requests();
    }

    async fn step(&self, words: &str) -> Ended {
        self.lab.run(&format!("step daemonset/agent {words}")).await
    }

    fn object(&self) -> Value {
        self.lab.cluster.store(|store| Value::clone(store.find(&self.agent).unwrap()))
    }

    fn strategy(&self) -> Value {
        self.object()["spec"]["updateStrategy"].clone()
    }

    fn is_held(&self) -> bool {
        self.object().pointer("/metadata/annotations/kubectl-rollout2~1held").is_some()
    }

    /// The node and image of every pod that stays, by node.
    fn images(&self) -> Vec<(String, String)> {
        let mut images: Vec<(String, String)> = self.lab.cluster.store(|store| {
            let staying = store.list(&PODS, Some("default")).filter(|(_, pod)| !object::is_terminating(pod));
            let image = |pod: &Value| object::text(&pod["spec"]["containers"][0], &["image"]).to_owned();
            staying
                .map(|(_, pod)| (object::text(pod, &["spec", "nodeName"]).to_owned(), image(pod)))
                .collect()
        });
        images.sort();
        images
    }

    /// The pod on a node.
    fn pod_on(&self, node: &str) -> Key {
        pod_on(&self.lab.hands(), node).unwrap()
    }

    /// How many nodes run an image.
    fn on(&self, image: &str) -> usize {
        self.images().iter().filter(|(_, there)| there == image).count()
    }

    /// The nodes whose pods we took down, in order, with the pods' uids.
    fn removals(&self) -> Vec<String> {
        let removals = self.lab.cluster.requests();
        let removals = removals.iter().filter(|asked| {
            asked.user.as_deref() == Some("admin")
                && asked.path.contains("/pods/")
                && matches!(asked.verb(), Some(Verb::Delete | Verb::Create))
        });
        removals
            .filter_map(|asked| {
                self.lab.cluster.store(|store| {
                    let mut changes = store.changes_after(0).ok()?.filter(|change| {
                        change.key.resource == &PODS && asked.path.contains(&change.key.name)
                    });
                    let bound = changes.find_map(|change| {
                        let node = object::text(change.after.as_deref()?, &["spec", "nodeName"]).to_owned();
                        (!node.is_empty()).then_some(node)
                    });
                    bound
                })
            })
            .collect()
    }

    /// The most pods that were missing at once since a revision.
    fn most_missing(&self, after: u64) -> i64 {
        self.lab.cluster.store(|store| {
            let changes = store.changes_after(after).unwrap().filter(|change| change.key == self.agent);
            let missing =
                changes.filter_map(|change| change.after.as_deref()?["status"]["numberUnavailable"].as_i64());
            missing.max().unwrap_or_default()
        })
    }

    fn budget(&self, name: &str, spec: &Value) {
        let mut spec = spec.clone();
        spec["selector"] = json!({"matchLabels": {"app": "agent"}});
        let budget = json!({"metadata": {"name": name}, "spec": spec});
        self.lab.cluster.store(|store| {
            store.create(&PODDISRUPTIONBUDGETS, "default", budget, &Author::new("test")).unwrap();
        });
    }
}

fn pod_on(hands: &Hands, node: &str) -> Option<Key> {
    hands.cluster.store(|store| {
        let mut pods = store.list(&PODS, Some("default"));
        pods.find(|(_, pod)| object::text(pod, &["spec", "nodeName"]) == node).map(|(key, _)| key.clone())
    })
}

fn unready(hands: &Hands, node: &str, status: &str) {
    hands.cluster.store(|store| set_ready(store, node, status));
}

fn set_ready(store: &mut Store, node: &str, status: &str) {
    let conditions = json!([{"type": "Ready", "status": status}]);
    let (node, author) = (Key::new(&NODES, "", node), Author::new("node-controller"));
    store.edit(&node, Part::Status, &author, |node| node["status"]["conditions"] = conditions).unwrap();
}

#[track_caller]
fn ends(ended: &Ended, exit: u8) {
    assert_eq!(ended.exit, exit, "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn zone_by_zone_to_the_end_and_the_strategy_is_what_it_was() {
    let nodes = Nodes::new(&json!({"updateStrategy":
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "40%"}}}))
    .await;
    let before = nodes.strategy();
    nodes.hold("app:2.0").await;
    let begun = nodes.lab.revision();
    let ended = nodes.step(&format!("--all --by 2 --soak 10s --order {ZONE}")).await;
    ends(&ended, 0);
    assert_eq!(nodes.removals(), ["node-0", "node-3", "node-1", "node-4", "node-2", "node-5"]);
    assert_eq!(nodes.on("app:2.0"), 6);
    assert_eq!(nodes.most_missing(begun), 1);
    assert_eq!((nodes.strategy(), nodes.is_held()), (before, false));
}

#[tokio::test(start_paused = true)]
async fn one_command_releases_the_canary_node_and_the_next_one_goes_on() {
    let nodes = Nodes::held("app:2.0").await;
    ends(&nodes.step("--by 2").await, 0);
    assert_eq!(nodes.images()[0], ("node-0".to_owned(), "app:2.0".to_owned()));
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (1, true));
    assert_eq!(nodes.lab.status("daemonset/agent --watch=false").await.exit, 5);
    ends(&nodes.step("").await, 0);
    assert_eq!(nodes.on("app:2.0"), 3, "the pace is kept in the plan");
    ends(&nodes.step("--all").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_runs_is_held_first() {
    let nodes = Nodes::new(&json!({})).await;
    nodes.lab.hands().image(&nodes.agent, "app:2.0");
    let ended = nodes.step("--all").await;
    ends(&ended, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

#[tokio::test(start_paused = true)]
async fn selected_nodes_are_stepped_and_the_rest_stays_held() {
    let nodes = Nodes::held("app:2.0").await;
    let ended = nodes.step(&format!("--all --node-selector {ZONE}=z1")).await;
    ends(&ended, 0);
    let updated: Vec<_> = nodes.images().into_iter().filter(|(_, image)| image == "app:2.0").collect();
    assert_eq!(updated.iter().map(|(node, _)| node.as_str()).collect::<Vec<_>>(), ["node-1", "node-4"]);
    assert!(nodes.is_held() && nodes.strategy()["type"] == "OnDelete", "{}", ended.transcript);
    assert!(
        ended.stderr.contains("step daemonset/agent -n default --node-selector="),
        "{}",
        ended.transcript
    );
    let on = nodes.lab.run("step daemonset/agent --all --node-selector=").await;
    ends(&on, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

#[tokio::test(start_paused = true)]
async fn a_bad_release_is_held_at_the_canary_and_undone() {
    let nodes = Nodes::held("app:2.0-bad").await;
    let before = nodes.lab.revision();
    let ended = nodes.step("--all --by 2").await;
    ends(&ended, 4);
    assert_eq!((nodes.on("app:2.0-bad"), nodes.on("app:1.0"), nodes.most_missing(before)), (1, 5, 1));
    ends(&nodes.lab.run("undo daemonset/agent --wait").await, 0);
    assert_eq!((nodes.on("app:1.0"), nodes.is_held()), (6, false));
    assert_eq!(nodes.strategy()["type"], "RollingUpdate");
}

#[tokio::test(start_paused = true)]
async fn a_bad_release_goes_back_by_itself_when_that_was_asked_for() {
    let nodes = Nodes::held("app:2.0-crash").await;
    ends(&nodes.step("--all --on-failure undo").await, 4);
    nodes.lab.pass(5).await;
    assert_eq!((nodes.on("app:1.0"), nodes.is_held()), (6, false));
    assert_eq!(nodes.strategy()["type"], "RollingUpdate");
}

#[tokio::test(start_paused = true)]
async fn releasing_everything_gives_the_strategy_back_as_it_was() {
    let strategy =
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "34%"}});
    let nodes = Nodes::new(&json!({"updateStrategy": strategy})).await;
    nodes.hold("app:2.0").await;
    ends(&nodes.step("").await, 0);
    ends(&nodes.lab.run("resume daemonset/agent --release-all").await, 0);
    assert_eq!((nodes.strategy(), nodes.is_held()), (strategy, false));
    nodes.lab.pass(60).await;
    assert_eq!(nodes.on("app:2.0"), 6);
}

#[tokio::test(start_paused = true)]
async fn a_surge_is_refused_unless_one_unavailable_node_at_a_time_is_accepted() {
    let surge = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    let nodes = Nodes::new(&json!({"updateStrategy": surge})).await;
    nodes.hold("app:2.0").await;
    let held = nodes.object();
    let refused = nodes.step("--all").await;
    ends(&refused, 2);
    assert!(refused.stderr.contains("maxSurge"), "{}", refused.transcript);
    assert_eq!(nodes.object(), held, "nothing was written");
    let begun = nodes.lab.revision();
    ends(&nodes.step("").await, 2);
    ends(&nodes.step("--force").await, 0);
    ends(&nodes.step("--all").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.most_missing(begun)), (6, 1));
    assert_eq!((nodes.strategy(), nodes.is_held()), (surge, false));
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_list_nodes_their_labels_are_refused_before_any_write() {
    let nodes = Nodes::held("app:2.0").await;
    let rules = [
        Rule::allow(&["get", "list", "watch", "patch"], &["daemonsets"]),
        Rule::allow(&["list", "watch"], &["controllerrevisions", "events"]),
        Rule::allow(&["list", "watch", "delete"], &["pods"]),
    ];
    nodes.lab.cluster.users(|users| users.add(User::limited("gina", rules)));
    let held = nodes.object();
    for words in [format!("--order {ZONE}"), format!("--node-selector {ZONE}=z1")] {
        let refused = nodes.lab.run_as("gina", &format!("step daemonset/agent {words}")).await;
        ends(&refused, 1);
        assert!(refused.stderr.contains("nodes may not be read"), "{}", refused.transcript);
        assert_eq!(nodes.object(), held);
    }
    let ended = nodes.lab.run_as("gina", "step daemonset/agent --all").await;
    ends(&ended, 0);
    assert_eq!(ended.stderr.matches("nodes may not be read").count(), 1, "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_not_ready_is_left_out_and_stays_held() {
    let nodes = Nodes::held("app:2.0").await;
    unready(&nodes.lab.hands(), "node-1", "Unknown");
    nodes.lab.pass(5).await;
    let ended = nodes.step("--all --ignore-unready-nodes").await;
    ends(&ended, 5);
    assert!(ended.transcript.contains("node-1"), "{}", ended.transcript);
    assert!(!nodes.removals().contains(&"node-1".to_owned()));
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (5, true));
    unready(&nodes.lab.hands(), "node-1", "True");
    nodes.lab.pass(5).await;
    ends(&nodes.step("--all").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

#[tokio::test(start_paused = true)]
async fn pods_that_die_and_new_nodes_are_told_and_counted() {
    let nodes = Nodes::held("app:2.0").await;
    ends(&nodes.step("").await, 0);
    let dying = nodes.images()[4].0.clone();
    nodes.lab.later(3_000, move |hands| hands.delete(&pod_on(hands, &dying).unwrap()));
    nodes.lab.later(20_000, |hands| {
        let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
        let node = json!({"metadata": {"name": "node-9", "labels": {"kubernetes.io/os": "linux", ZONE: "z0"}},
            "spec": {}, "status": ready});
        hands.cluster.store(|store| store.create(&NODES, "", node, &Author::new("test")).unwrap());
    });
    let ended = nodes.step("--all --soak 15s").await;
    ends(&ended, 0);
    assert!(
        ended.transcript.contains("node-4") && ended.transcript.contains("node-9"),
        "{}",
        ended.transcript
    );
    let removals = nodes.removals();
    assert!(
        !removals.contains(&"node-4".to_owned()) && !removals.contains(&"node-9".to_owned()),
        "{removals:?}"
    );
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (7, false));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_between_two_removals_of_a_batch_is_gone_on_for() {
    let nodes = Nodes::held("app:2.0").await;
    let deletions = Requests::of(Verb::Delete, &PODS);
    nodes.lab.cluster.fault(Fault::on(deletions, Act::Stall).after(1).once());
    let words = "step daemonset/agent --all --no-canary --by 3 --max-unavailable 2";
    let killed = tokio::time::timeout(Duration::from_secs(20), nodes.lab.run(words)).await;
    assert!(killed.is_err(), "the second deletion is never answered");
    assert_eq!(nodes.removals().len(), 2);
    let begun = nodes.lab.revision();
    ends(&nodes.step("").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false), "the same reach, and the same pace");
    assert!(nodes.most_missing(begun) <= 2);
    let mut removals = nodes.removals();
    assert_eq!(removals.len(), 7, "one was asked for twice, and never done the first time: {removals:?}");
    removals.sort();
    removals.dedup();
    assert_eq!(removals.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_pause_between_two_removals_stops_the_second() {
    let nodes = Nodes::held("app:2.0").await;
    let pausing = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        nodes.lab.run("pause daemonset/agent").await
    };
    let (ended, paused) = tokio::join!(nodes.step("--all --no-canary --by 6"), pausing);
    ends(&paused, 0);
    ends(&ended, 5);
    assert!(nodes.removals().len() < 6, "{}", ended.transcript);
    ends(&nodes.lab.run("resume daemonset/agent").await, 0);
    ends(&nodes.step("").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

#[tokio::test(start_paused = true)]
async fn evictions_keep_to_budgets_that_let_pods_go_later() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.budget("agent", &json!({"minAvailable": 5}));
    nodes.lab.pass(5).await;
    let begun = nodes.lab.revision();
    let ended = nodes.step("--all --by 3 --max-unavailable 3 --evict").await;
    ends(&ended, 0);
    assert!(
        ended.transcript.contains("The disruption budget agent needs 5 healthy pods"),
        "{}",
        ended.transcript
    );
    assert_eq!((nodes.on("app:2.0"), nodes.most_missing(begun)), (6, 1));
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_refuses_for_ever_is_named_before_anything_is_written() {
    for (spec, words) in [
        (json!({"maxUnavailable": 1}), "daemonsets.apps does not implement the scale subresource"),
        (json!({"minAvailable": 6}), "wants 6 healthy pods"),
    ] {
        let nodes = Nodes::held("app:2.0").await;
        nodes.budget("agent", &spec);
        nodes.lab.pass(5).await;
        let held = nodes.object();
        let refused = nodes.step("--all --evict").await;
        ends(&refused, 1);
        assert!(refused.stderr.contains(words) && refused.stderr.contains("agent"), "{}", refused.transcript);
        assert_eq!(nodes.object(), held);
        ends(&nodes.step("--all").await, 0); // deleted they may be
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_fails_in_the_middle_of_its_batch_is_passed_over() {
    let nodes = Nodes::held("app:2.0").await;
    let act = Act::interfere(|store| set_ready(store, "node-2", "Unknown"));
    nodes.lab.cluster.fault(Fault::on(Requests::of(Verb::Delete, &PODS), act).after(1).once());
    let ended = nodes.step("--all --no-canary --by 3 --soak 5s --ignore-unready-nodes").await;
    ends(&ended, 5);
    assert!(!nodes.removals().contains(&"node-2".to_owned()), "{}", ended.transcript);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (5, true));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_vanishes_in_the_middle_of_its_batch_is_not_waited_for() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.lab.later(1_500, |hands| {
        hands.delete(&Key::new(&NODES, "", "node-1"));
        let pod = pod_on(hands, "node-1");
        if let Some(pod) = pod {
            hands
                .cluster
                .store(|store| {
                    store.delete(
                        &pod,
                        &Deletion { grace_seconds: Some(0), ..Deletion::default() },
                        &Author::new("gc"),
                    )
                })
                .unwrap();
        }
    });
    let ended = nodes.step("--all --no-canary --by 3 --soak 5s").await;
    ends(&ended, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (5, false), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn the_plan_is_foreseen_with_the_very_nodes() {
    let nodes = Nodes::held("app:2.0").await;
    let held = nodes.object();
    let plan = nodes.step(&format!("--dry-run --all --by 2 --soak 5m --order {ZONE}")).await;
    ends(&plan, 0);
    insta::assert_snapshot!(plan.stdout);
    assert_eq!(nodes.object(), held);
}

#[tokio::test(start_paused = true)]
async fn a_plan_of_a_rollout_that_runs_is_foreseen_too() {
    let nodes = Nodes::new(&json!({})).await;
    nodes.lab.hands().image(&nodes.agent, "app:2.0-slow");
    nodes.lab.pass(1).await;
    let plan = nodes.step("--dry-run --all --by 2").await;
    ends(&plan, 0);
    insta::assert_snapshot!(plan.stdout);
}

#[tokio::test(start_paused = true)]
async fn every_step_is_a_line() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.budget("agent", &json!({"minAvailable": 5}));
    nodes.lab.pass(5).await;
    let ended =
        nodes.step(&format!("--all --by 2 --soak 10s --max-unavailable 2 --evict --order {ZONE}")).await;
    ends(&ended, 0);
    insta::assert_snapshot!(ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn going_back_at_our_pace_is_a_plan_for_the_old_template() {
    let nodes = Nodes::held("app:2.0").await;
    ends(&nodes.step("--to 3 --by 2").await, 0);
    ends(&nodes.lab.run("undo daemonset/agent --keep-hold").await, 0);
    nodes.lab.pass(30).await;
    assert_eq!((nodes.on("app:2.0"), nodes.strategy()["type"].as_str()), (3, Some("OnDelete")));
    let changed = nodes.step("").await;
    ends(&changed, 5);
    assert!(changed.stderr.contains("--new-plan"), "{}", changed.transcript);
    let begun = nodes.lab.revision();
    ends(&nodes.step("--new-plan --by 2 --all").await, 0);
    assert_eq!((nodes.on("app:1.0"), nodes.is_held(), nodes.most_missing(begun)), (6, false, 1));
}

/// The write that begins the plan is made, its answer is lost, and before anybody looks again somebody
/// applies another template.
#[tokio::test(start_paused = true)]
async fn a_template_that_changes_behind_a_lost_answer_is_not_taken_for_the_plans() {
    let nodes = Nodes::held("app:2.0").await;
    let (cluster, agent) = (&nodes.lab.cluster, nodes.agent.clone());
    cluster.fault(Fault::on(Requests::of(Verb::Patch, &DAEMONSETS), Act::LoseAnswer).once());
    let act = Act::interfere(move |store| {
        if object::at(&store.find(&agent).unwrap(), &["metadata", "annotations", "kubectl-rollout2/held"])
            .is_some_and(|held| held.as_str().unwrap().contains("\"lease\""))
        {
            let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:3.0"}]}}}});
            store.patch(&agent, Part::Object, Format::Merge, &image, &Author::new("kubectl")).unwrap();
        }
    });
    cluster.fault(Fault::on(Requests::of(Verb::Get, &DAEMONSETS), act));
    let ended = nodes.step("--all").await;
    ends(&ended, 5);
    assert!(ended.stderr.contains("image app:3.0"), "{}", ended.transcript);
    assert_eq!(nodes.removals(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_not_ready_counts_as_unavailable_unless_somebody_says_otherwise() {
    let nodes = Nodes::held("app:2.0").await;
    unready(&nodes.lab.hands(), "node-1", "Unknown");
    let on_it = nodes.pod_on("node-1");
    nodes.lab.cluster.store(|store| {
        let not_ready = json!([{"type": "Ready", "status": "False", "reason": "NodeNotReady"}]);
        store
            .edit(&on_it, Part::Status, &Author::new("node-controller"), |pod| {
                pod["status"]["conditions"] = not_ready
            })
            .unwrap();
    });
    nodes.lab.pass(5).await;
    let ended = nodes.step("--all").await;
    ends(&ended, 5);
    insta::assert_snapshot!(ended.transcript);
    assert_eq!(nodes.removals(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn one_that_is_on_delete_by_itself_is_stepped_and_stays_so() {
    let strategy = json!({"type": "OnDelete"});
    let nodes = Nodes::new(&json!({"updateStrategy": strategy})).await;
    nodes.lab.hands().image(&nodes.agent, "app:2.0");
    nodes.lab.pass(5).await;
    ends(&nodes.step("--all --by 50%").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held(), nodes.strategy()), (6, false, strategy));
}
