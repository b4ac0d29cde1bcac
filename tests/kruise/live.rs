//! The three kinds on a simulated cluster: discovery, following, going back, holding.

use std::time::Duration;

use harness::{Ended, Run};
use serde_json::{Value, json};
use simcluster::patch::Format;
use simcluster::resource::{ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS};
use simcluster::rules::{Author, Part};
use simcluster::{Controllers, Finalization, Key, Resource, SimCluster};

const LONG: Duration = Duration::from_secs(3600);

struct Lab {
    cluster: SimCluster,
    controllers: Controllers,
}

impl Lab {
    fn new() -> Self {
        let cluster =
            SimCluster::builder().finalization(Finalization::ByControllers).nodes(3).kruise().build();
        Self { cluster, controllers: Controllers::new() }
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
        let made = self
            .cluster
            .store(|store| store.create(resource, "default", object, &Author::new("kubectl")).unwrap());
        self.settle();
        Key::of(resource, &made)
    }

    fn patch(&self, key: &Key, patch: &Value) {
        self.cluster.store(|store| {
            store.patch(key, Part::Object, Format::Merge, patch, &Author::new("kubectl")).unwrap()
        });
    }

    fn image(&self, key: &Key, image: &str) {
        let containers = json!([{"name": "main", "image": image}]);
        self.patch(key, &json!({"spec": {"template": {"spec": {"containers": containers}}}}));
    }

    fn settle(&mut self) {
        self.controllers.settle(&self.cluster, LONG);
        self.cluster.store(|store| store.clock().advance(Duration::from_secs(10)));
    }

    fn get(&self, key: &Key) -> Value {
        self.cluster.store(|store| Value::clone(store.find(key).unwrap()))
    }

    async fn run(&self, args: &[&str]) -> Ended {
        Run::of(args).run_through(kube::Client::new(self.cluster.service(), "default")).await
    }
}

const KINDS: [(&Resource, &str); 3] =
    [(&CLONESETS, "cloneset/web"), (&ADVANCED_STATEFULSETS, "asts/web"), (&ADVANCED_DAEMONSETS, "ads/web")];

#[tokio::test(start_paused = true)]
async fn the_group_is_discovered_once_and_only_when_it_is_needed() {
    let mut lab = Lab::new();
    for (resource, _) in KINDS {
        lab.create(resource);
    }
    let discoveries = |lab: &Lab| {
        lab.cluster
            .requests()
            .iter()
            .filter(|request| request.line().ends_with("/apis/apps.kruise.io/v1beta1"))
            .count()
    };
    lab.cluster.forget_requests();
    lab.run(&["status", "deployment", "--watch=false"]).await;
    assert_eq!(discoveries(&lab), 0);
    let ended = lab.run(&["status", "all", "--watch=false"]).await;
    assert_eq!((ended.stdout.lines().count(), ended.exit), (3, 0), "{ended:?}");
    assert_eq!(discoveries(&lab), 1);
    lab.cluster.forget_requests();
    lab.run(&["history", "cloneset/web"]).await;
    assert_eq!(discoveries(&lab), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_the_group_says_so() {
    let cluster = SimCluster::builder().build();
    let client = kube::Client::new(cluster.service(), "default");
    let ended = Run::of(["status", "cloneset/web"]).run_through(client.clone()).await;
    assert!(ended.stderr.contains("the server has no clonesets.apps.kruise.io"), "{ended:?}");
    assert_eq!(ended.exit, 1);
    let ended = Run::of(["status", "all", "--watch=false"]).run_through(client).await;
    assert!(!ended.transcript.contains("kruise"), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn each_kind_goes_back_in_place() {
    for (resource, target) in KINDS {
        let mut lab = Lab::new();
        let key = lab.create(resource);
        lab.image(&key, "web:2-bad");
        lab.settle();
        let ended = lab.run(&["status", target, "--watch=false", "-o", "json"]).await;
        let document: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(document["verdict"], "progressing", "{target}: {document:#}");
        let ended = lab.run(&["undo", target]).await;
        assert!(ended.stdout.ends_with("rolled back\n"), "{ended:?}");
        lab.settle();
        let ended = lab.run(&["status", target, "--watch=false"]).await;
        assert_eq!(ended.exit, 0, "{target}: {ended:?}");
        assert_eq!(lab.get(&key)["spec"]["template"]["spec"]["containers"][0]["image"], "web:1");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_and_a_resume_goes_on() {
    for (resource, target) in KINDS {
        let mut lab = Lab::new();
        let key = lab.create(resource);
        let before = lab.get(&key)["spec"]["updateStrategy"].clone();
        assert_eq!(lab.run(&["pause", target]).await.exit, 0);
        lab.image(&key, "web:2");
        lab.settle();
        let ended = lab.run(&["status", target, "--watch=false"]).await;
        assert_eq!(ended.exit, 5, "{target}: {ended:?}");
        assert_eq!(lab.run(&["resume", target]).await.exit, 0);
        lab.settle();
        assert_eq!(lab.run(&["status", target, "--watch=false"]).await.exit, 0, "{target}");
        assert_eq!(lab.get(&key)["spec"]["updateStrategy"], before, "{target}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_followed_to_its_end() {
    for (resource, target) in KINDS {
        let mut lab = Lab::new();
        let key = lab.create(resource);
        lab.image(&key, "web:2-slow");
        let (cluster, mut controllers) = (lab.cluster.clone(), lab.controllers.clone());
        let client = kube::Client::new(cluster.service(), "default");
        let follow = Run::of(["status", target, "--timeout", "5m"]).run_through(client);
        let drive = async {
            loop {
                controllers.run_for(&cluster, Duration::from_secs(1));
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        let ended = tokio::select! { ended = follow => ended, () = drive => return };
        assert_eq!(ended.exit, 0, "{target}: {ended:?}");
        assert!(ended.stdout.lines().count() > 1, "{target}: {ended:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_workload_that_a_rollout_of_kruise_drives_is_warned_of() {
    let mut lab = Lab::new();
    let key = lab.create(&CLONESETS);
    lab.image(&key, "web:2");
    lab.settle();
    let mark = json!({"rollouts.kruise.io/in-progressing": "{\"rolloutName\":\"canary\"}"});
    lab.patch(&key, &json!({"metadata": {"annotations": mark}}));
    for args in [&["undo", "cloneset/web"][..], &["pause", "cloneset/web"]] {
        let ended = lab.run(args).await;
        assert!(ended.stderr.contains("a Kruise Rollout (canary) manages cloneset/web"), "{ended:?}");
    }
}
