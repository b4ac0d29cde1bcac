//! The kinds of OpenKruise on a simulated cluster: discovery, status, rollback and pause.

use std::time::Duration;

use harness::{Output, Run};
use serde_json::{Value, json};
use simcluster::patch::Format;
use simcluster::resource::{ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS};
use simcluster::rules::{Author, Part};
use simcluster::{Controllers, Finalization, Key, Resource, SimCluster};

const LONG: Duration = Duration::from_secs(3600);

struct KruiseCluster {
    sim: SimCluster,
    controllers: Controllers,
}

impl KruiseCluster {
    fn new() -> Self {
        let sim = SimCluster::builder().finalization(Finalization::ByControllers).nodes(3).kruise().build();
        Self { sim, controllers: Controllers::new() }
    }

    /// Creates a workload with three pods that are updated in place.
    fn create(&mut self, resource: &'static Resource) -> Key {
        let template = json!({
            "metadata": {"labels": {"app": resource.kind}},
            "spec": {"containers": [{"name": "main", "image": "web:1"}]},
        });
        let policy = if resource.kind == "DaemonSet" { "rollingUpdateType" } else { "podUpdatePolicy" };
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {policy: "InPlaceIfPossible", "maxUnavailable": 1}});
        let spec = json!({
            "replicas": 3, "selector": {"matchLabels": {"app": resource.kind}}, "template": template,
            "updateStrategy": strategy, "revisionHistoryLimit": 10, "podManagementPolicy": "Parallel",
        });
        let object = json!({"metadata": {"name": "web"}, "spec": spec});
        let created = self
            .sim
            .store(|store| store.create(resource, "default", object, &Author::new("kubectl")).unwrap());
        self.settle();
        Key::of(resource, &created)
    }

    fn patch(&self, key: &Key, patch: &Value) {
        self.sim.store(|store| {
            store.patch(key, Part::Object, Format::Merge, patch, &Author::new("kubectl")).unwrap()
        });
    }

    fn set_image(&self, key: &Key, image: &str) {
        let containers = json!([{"name": "main", "image": image}]);
        self.patch(key, &json!({"spec": {"template": {"spec": {"containers": containers}}}}));
    }

    fn settle(&mut self) {
        self.controllers.settle(&self.sim, LONG);
        self.sim.store(|store| store.clock().advance(Duration::from_secs(10)));
    }

    fn get(&self, key: &Key) -> Value {
        self.sim.store(|store| Value::clone(store.find(key).unwrap()))
    }

    async fn run(&self, args: &[&str]) -> Output {
        Run::of(args).run_against(kube::Client::new(self.sim.service(), "default")).await
    }
}

const KINDS: [(&Resource, &str); 3] =
    [(&CLONESETS, "cloneset/web"), (&ADVANCED_STATEFULSETS, "asts/web"), (&ADVANCED_DAEMONSETS, "ads/web")];

#[tokio::test(start_paused = true)]
async fn the_api_group_is_discovered_once_and_only_if_needed() {
    let mut cluster = KruiseCluster::new();
    for (resource, _) in KINDS {
        cluster.create(resource);
    }
    let discoveries = |cluster: &KruiseCluster| {
        cluster
            .sim
            .requests()
            .iter()
            .filter(|request| request.line().ends_with("/apis/apps.kruise.io/v1beta1"))
            .count()
    };
    cluster.sim.forget_requests();
    cluster.run(&["status", "deployment", "--watch=false"]).await;
    assert_eq!(discoveries(&cluster), 0);
    let output = cluster.run(&["status", "all", "--watch=false"]).await;
    assert_eq!((output.stdout.lines().count(), output.exit), (3, 0), "{output:?}");
    assert_eq!(discoveries(&cluster), 1);
    cluster.sim.forget_requests();
    cluster.run(&["history", "cloneset/web"]).await;
    assert_eq!(discoveries(&cluster), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_the_api_group_is_an_error_for_a_named_kind_only() {
    let cluster = SimCluster::builder().build();
    let client = kube::Client::new(cluster.service(), "default");
    let output = Run::of(["status", "cloneset/web"]).run_against(client.clone()).await;
    assert!(output.stderr.contains("the server has no clonesets.apps.kruise.io"), "{output:?}");
    assert_eq!(output.exit, 1);
    let output = Run::of(["status", "all", "--watch=false"]).run_against(client).await;
    assert!(!output.transcript.contains("kruise"), "{output:?}");
}

#[tokio::test(start_paused = true)]
async fn each_kind_is_rolled_back() {
    for (resource, target) in KINDS {
        let mut cluster = KruiseCluster::new();
        let key = cluster.create(resource);
        cluster.set_image(&key, "web:2-bad");
        cluster.settle();
        let output = cluster.run(&["status", target, "--watch=false", "-o", "json"]).await;
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(document["verdict"], "progressing", "{target}: {document:#}");
        let output = cluster.run(&["undo", target]).await;
        assert!(output.stdout.ends_with("rolled back\n"), "{output:?}");
        cluster.settle();
        let output = cluster.run(&["status", target, "--watch=false"]).await;
        assert_eq!(output.exit, 0, "{target}: {output:?}");
        assert_eq!(cluster.get(&key)["spec"]["template"]["spec"]["containers"][0]["image"], "web:1");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_the_rollout_until_resume() {
    for (resource, target) in KINDS {
        let mut cluster = KruiseCluster::new();
        let key = cluster.create(resource);
        let before = cluster.get(&key)["spec"]["updateStrategy"].clone();
        assert_eq!(cluster.run(&["pause", target]).await.exit, 0);
        cluster.set_image(&key, "web:2");
        cluster.settle();
        let output = cluster.run(&["status", target, "--watch=false"]).await;
        assert_eq!(output.exit, 5, "{target}: {output:?}");
        assert_eq!(cluster.run(&["resume", target]).await.exit, 0);
        cluster.settle();
        assert_eq!(cluster.run(&["status", target, "--watch=false"]).await.exit, 0, "{target}");
        assert_eq!(cluster.get(&key)["spec"]["updateStrategy"], before, "{target}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_followed_to_its_end() {
    for (resource, target) in KINDS {
        let mut cluster = KruiseCluster::new();
        let key = cluster.create(resource);
        cluster.set_image(&key, "web:2-slow");
        let (sim, mut controllers) = (cluster.sim.clone(), cluster.controllers.clone());
        let client = kube::Client::new(sim.service(), "default");
        let follow = Run::of(["status", target, "--timeout", "5m"]).run_against(client);
        let drive = async {
            loop {
                controllers.run_for(&sim, Duration::from_secs(1));
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        let output = tokio::select! { output = follow => output, () = drive => return };
        assert_eq!(output.exit, 0, "{target}: {output:?}");
        assert!(output.stdout.lines().count() > 1, "{target}: {output:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_workload_that_a_kruise_rollout_controls_prints_a_warning() {
    let mut cluster = KruiseCluster::new();
    let key = cluster.create(&CLONESETS);
    cluster.set_image(&key, "web:2");
    cluster.settle();
    let mark = json!({"rollouts.kruise.io/in-progressing": "{\"rolloutName\":\"canary\"}"});
    cluster.patch(&key, &json!({"metadata": {"annotations": mark}}));
    for args in [&["undo", "cloneset/web"][..], &["pause", "cloneset/web"]] {
        let output = cluster.run(args).await;
        assert!(output.stderr.contains("a Kruise Rollout (canary) manages cloneset/web"), "{output:?}");
    }
}
