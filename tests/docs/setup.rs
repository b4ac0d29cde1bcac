//! Clusters for tests of rights, and runs by a user with some rights only.

use harness::cluster::SavedCluster;
use harness::prelude::*;
use simcluster::{Builder, Finalization};
use tokio::sync::OnceCell;

/// One verb of the API on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Right {
    pub(crate) verb: String,
    pub(crate) resource: String,
}

impl Right {
    /// Whether one of these requests needs this right.
    pub(crate) fn is_used(&self, requests: &[String]) -> bool {
        let method = match self.verb.as_str() {
            "patch" => "PATCH",
            "delete" => "DELETE",
            "create" => "POST",
            _ => "GET",
        };
        // In the path of a subresource the name of the object is between the two: pods/db-1/log.
        let (plural, group) = self.resource.split_once('.').unwrap_or((&self.resource, ""));
        let words: Vec<_> = plural.split('/').map(|word| format!("/{word}")).collect();
        let is_for = |request: &String| {
            words.iter().all(|word| request.contains(word))
                && request.contains("/apps.kruise.io/") != group.is_empty()
        };
        requests.iter().any(|request| request.starts_with(method) && is_for(request))
    }
}

/// The cluster that a command line runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestedCluster {
    /// The recorded shop.
    Shop,
    /// The recorded shop with every workload paused.
    PausedShop,
    /// The recorded shop, with a Deployment whose plan has lost its annotation.
    LostPlan,
    /// A StatefulSet that waits for a pod that cannot start, with running controllers.
    StuckSet,
    /// A StatefulSet that waits for a crashing pod, without running controllers.
    CrashingSet,
    /// A Job one of whose pods crashed, without running controllers.
    Migration,
    /// The kinds of OpenKruise, after one rollout.
    Kruise,
    /// The same, with every workload paused.
    PausedKruise,
    /// Workloads that were paused and then changed, with running controllers.
    Changed,
    /// The kinds of OpenKruise, paused and then changed, with running controllers.
    ChangedKruise,
    /// Workloads that were paused and then changed to a crashing image, with running controllers.
    ChangedToCrash,
}

/// Runs a command line as a user with some rights, and returns its output and its requests.
pub(crate) async fn run_as_user(
    line: &str,
    cluster: TestedCluster,
    rights: Option<&[Right]>,
) -> (Output, Vec<String>) {
    let user = match rights {
        None => User::admin("gina"),
        Some(rights) => User::limited(
            "gina",
            rights.iter().map(|right| {
                let rule = Rule::allow(&[&right.verb], &[&right.resource]);
                if right.resource == "nodes" { rule } else { rule.in_namespace("shop") }
            }),
        ),
    };
    let (cluster, mut controllers) = match cluster {
        TestedCluster::Shop => (shop(user).build(), None),
        TestedCluster::PausedShop => (paused(shop(user)).await, None),
        TestedCluster::Kruise => (kruise(user).build(), None),
        TestedCluster::PausedKruise => (paused(kruise(user)).await, None),
        TestedCluster::LostPlan => (lost_plan(user), None),
        TestedCluster::StuckSet => broken_set(user, "db:2.0-bad"),
        TestedCluster::CrashingSet => (broken_set(user, "db:2.0-crash").0, None),
        TestedCluster::Migration => (migration(user), None),
        TestedCluster::Changed => {
            static SAVED: OnceCell<SavedCluster> = OnceCell::const_new();
            running(SAVED.get_or_init(|| changed("app:2.0")).await, user)
        }
        TestedCluster::ChangedKruise => {
            static SAVED: OnceCell<SavedCluster> = OnceCell::const_new();
            running(SAVED.get_or_init(changed_kruise).await, user)
        }
        TestedCluster::ChangedToCrash => {
            static SAVED: OnceCell<SavedCluster> = OnceCell::const_new();
            running(SAVED.get_or_init(|| changed("app:2.0-crash")).await, user)
        }
    };
    cluster.forget_requests();
    let run = Run::of(line.split(' '))
        .kubectl_applies()
        .in_process(cluster.service_for("gina"), "shop")
        .run_async();
    let work = async {
        loop {
            if let Some(controllers) = &mut controllers {
                controllers.run_for(&cluster, Duration::from_secs(1));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let output = tokio::select! {
        output = run => output,
        () = work => unreachable!("controllers never end"),
    };
    (output, cluster.requests().iter().map(simcluster::RecordedRequest::line).collect())
}

fn shop(user: User) -> Builder {
    SimCluster::builder().snapshot(&snapshot("shop")).unwrap().user(user)
}

fn kruise(user: User) -> Builder {
    harness::kruise::shop().user(user)
}

async fn paused(builder: Builder) -> SimCluster {
    let cluster = builder.user(User::admin("admin")).build();
    Run::of(["pause", "all"]).in_process(cluster.service(), "shop").run_async().await.ends(0);
    cluster
}

/// The fields of a plan are left on the Deployment `web`, and a copy of its annotation on its ReplicaSets.
fn lost_plan(user: User) -> SimCluster {
    let cluster = shop(user).build();
    let author = Author::new("kubectl-rollout2");
    let set = json!({"minReadySeconds": 2_147_483_646, "progressDeadlineSeconds": 2_147_483_647});
    let plan = json!({"template": "ab", "pace": {"by": "1", "canary": true, "soak": "10s", "finalSoak": "0s", "batchTimeout": "10m0s", "onFailure": "hold"}});
    let hold = json!({"version": 1, "set": set, "strategy": {"progressDeadlineSeconds": 600}, "plan": plan});
    cluster.store(|store| {
        let web = Key::new(&DEPLOYMENTS, "shop", "web");
        let hold_web = |web: &mut Value| {
            web["spec"]["minReadySeconds"] = set["minReadySeconds"].clone();
            web["spec"]["progressDeadlineSeconds"] = set["progressDeadlineSeconds"].clone();
        };
        store.edit(&web, Part::Object, &author, hold_web).map(drop).unwrap();
        let sets: Vec<Key> = store.list(&REPLICASETS, Some("shop")).map(|(key, _)| key.clone()).collect();
        for key in sets.iter().filter(|key| key.name.starts_with("web-")) {
            let copy = |set: &mut Value| {
                set["metadata"]["annotations"]["kubectl-rollout2/held"] = hold.to_string().into();
            };
            store.edit(key, Part::Object, &author, copy).map(drop).unwrap();
        }
    });
    cluster
}

/// Starts a saved cluster with running controllers.
fn running(saved: &SavedCluster, user: User) -> (SimCluster, Option<Controllers>) {
    let builder = saved.builder().kruise().finalization(Finalization::ByControllers);
    (builder.user(user).build(), Some(Controllers::new()))
}

/// Creates workloads that an administrator pauses and then changes.
async fn changed(image: &str) -> SavedCluster {
    let builder = SimCluster::builder().finalization(Finalization::ByControllers).nodes(2).namespace("shop");
    let cluster = builder.user(User::admin("admin")).build();
    let author = Author::new("kubectl-create");
    let template = |image: &str| json!({"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "app", "image": image}]}});
    let mut controllers = Controllers::new();
    for (resource, name) in [(&DEPLOYMENTS, "web"), (&STATEFULSETS, "db"), (&DAEMONSETS, "agent")] {
        let mut object = json!({"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template("app:1.0")}});
        if name == "db" {
            object["spec"]["replicas"] = 2.into();
            object["spec"]["serviceName"] = "db".into();
        }
        cluster.store(|store| store.create(resource, "shop", object, &author).map(drop).unwrap());
    }
    controllers.run_for(&cluster, Duration::from_secs(30));
    Run::of(["pause", "deploy,sts,ds"]).in_process(cluster.service(), "shop").run_async().await.ends(0);
    for (resource, name) in [(&DEPLOYMENTS, "web"), (&STATEFULSETS, "db"), (&DAEMONSETS, "agent")] {
        let change = |object: &mut Value| object["spec"]["template"] = template(image);
        let key = Key::new(resource, "shop", name);
        cluster.store(|store| store.edit(&key, Part::Object, &author, change).map(drop).unwrap());
    }
    controllers.run_for(&cluster, Duration::from_secs(5));
    SavedCluster::of(&cluster)
}

async fn changed_kruise() -> SavedCluster {
    let builder = harness::kruise::shop().finalization(Finalization::ByControllers).nodes(2);
    let cluster = paused(builder).await;
    let author = Author::new("kubectl-create");
    for (resource, name) in harness::kruise::WORKLOADS {
        let change = image_change("app:3.0");
        let key = Key::new(resource, "shop", name);
        cluster.store(|store| store.edit(&key, Part::Object, &author, change).map(drop).unwrap());
    }
    Controllers::new().run_for(&cluster, Duration::from_secs(5));
    SavedCluster::of(&cluster)
}

/// A Job `migrate` with a pod that crashed.
fn migration(user: User) -> SimCluster {
    let builder = SimCluster::builder().finalization(Finalization::ByControllers).nodes(1).namespace("shop");
    let cluster = builder.user(user).build();
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1.0-crash"}]});
    let job = json!({"metadata": {"name": "migrate"}, "spec": {"template": {"spec": pod}}});
    let author = Author::new("kubectl-create");
    cluster.store(|store| store.create(&JOBS, "shop", job, &author).map(drop).unwrap());
    Controllers::new().run_for(&cluster, Duration::from_secs(5));
    cluster
}

fn broken_set(user: User, image: &str) -> (SimCluster, Option<Controllers>) {
    let builder = SimCluster::builder().finalization(Finalization::ByControllers).nodes(1).namespace("shop");
    let cluster = builder.user(user).build();
    let author = Author::new("kubectl-create");
    let template = |image: &str| json!({"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "app", "image": image}]}});
    let set = json!({
        "metadata": {"name": "db"},
        "spec": {"replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
            "template": template("db:1.0")},
    });
    cluster.store(|store| store.create(&STATEFULSETS, "shop", set, &author).map(drop).unwrap());
    let mut controllers = Controllers::new();
    controllers.run_for(&cluster, Duration::from_secs(30));
    let key = Key::new(&STATEFULSETS, "shop", "db");
    let bad = |set: &mut Value| set["spec"]["template"] = template(image);
    cluster.store(|store| store.edit(&key, Part::Object, &author, bad).map(drop).unwrap());
    controllers.run_for(&cluster, Duration::from_secs(30));
    (cluster, Some(controllers))
}
