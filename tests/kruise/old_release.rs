//! OpenKruise 1.8: `v1alpha1` of CloneSets and Advanced DaemonSets, `v1beta1` of Advanced StatefulSets.

use harness::prelude::*;
use simcluster::Builder;

use crate::kruise::cluster::{OLD_KINDS, create};

fn old_cluster() -> Cluster {
    Cluster::simulated().with(Builder::kruise_1_8).start()
}

/// Returns the paths of the requests for the kinds of OpenKruise, without those of discovery.
fn paths(cluster: &Cluster) -> Vec<String> {
    let lines = cluster.sim.requests();
    let paths = lines.iter().filter_map(|request| request.path.split_once("/apis/apps.kruise.io/"));
    paths.map(|(_, path)| path.to_owned()).filter(|path| path.contains('/')).collect()
}

#[tokio::test(start_paused = true)]
async fn every_verb_uses_the_served_version() {
    for (resource, target) in OLD_KINDS {
        let cluster = old_cluster();
        let key = create(&cluster, resource).await;
        cluster.editor().set_image(&key, "web:2");
        cluster.advance(300).await;
        let object = format!("{}/namespaces/default/{}/web", resource.version, resource.plural);
        let version = format!("apps.kruise.io/{}", resource.version);
        for args in [
            &["history", target, "-o", "json"][..],
            &["status", target, "--watch=false", "-o", "json"],
            &["diff", target, "-o", "json"],
            &["pause", target, "-o", "json"],
            &["resume", target, "-o", "json"],
            &["undo", target, "-o", "json"],
        ] {
            cluster.sim.forget_requests();
            let output = cluster.run(&args.join(" ")).await;
            assert_eq!(output.exit, 0, "{args:?}: {output:?}");
            let paths = paths(&cluster);
            assert!(!paths.is_empty() && paths.iter().all(|path| *path == object), "{args:?}: {paths:?}");
            assert!(output.stdout.contains(&version), "{args:?}: {output:?}");
            cluster.advance(300).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_watched_list_uses_the_served_version() {
    let cluster = old_cluster();
    create(&cluster, OLD_KINDS[0].0).await;
    let output = cluster.run("list cloneset --watch --timeout 20s").await;
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stdout.contains("cloneset/web"), "{output:?}");
}

#[tokio::test(start_paused = true)]
async fn all_kinds_are_listed_in_their_versions() {
    let cluster = old_cluster();
    for (resource, _) in OLD_KINDS {
        create(&cluster, resource).await;
    }
    for args in
        [&["list"][..], &["status", "all", "--watch=false"], &["status", "all", "-A", "--watch=false"]]
    {
        cluster.sim.forget_requests();
        let output = cluster.run(&args.join(" ")).await;
        assert_eq!(output.exit, 0, "{output:?}");
        for (resource, target) in OLD_KINDS {
            let named = [target, &format!("{} \"web\"", resource.singular), "partitioned roll out complete"];
            assert!(named.iter().any(|name| output.stdout.contains(name)), "{args:?} {target}: {output:?}");
        }
        assert!(output.stdout.lines().count() >= 3, "{args:?}: {output:?}");
        let discoveries = cluster.sim.requests();
        let discoveries =
            discoveries.iter().filter(|request| request.path.ends_with("/apps.kruise.io/v1beta1"));
        assert_eq!(discoveries.count(), 1, "{args:?}");
    }
}

/// In `v1alpha1` of a CloneSet the fields of an update are in the strategy itself.
#[tokio::test(start_paused = true)]
async fn a_pause_writes_the_field_of_the_served_version() {
    for (resource, target) in OLD_KINDS {
        let cluster = old_cluster();
        let key = create(&cluster, resource).await;
        let is_flat = resource.kind == "CloneSet";
        let paused = |value: Value| {
            if is_flat { json!({"paused": value}) } else { json!({"rollingUpdate": {"paused": value}}) }
        };
        for before in [Value::Null, false.into()] {
            cluster.editor().patch(&key, &json!({"spec": {"updateStrategy": paused(before)}}));
            cluster.advance(300).await;
            let output = cluster.run(&format!("pause {target}")).await;
            assert_eq!(output.exit, 0, "{output:?}");
            let path = if is_flat { "/paused" } else { "/rollingUpdate/paused" };
            let held = cluster.object(&key)["spec"]["updateStrategy"].clone();
            let mut resumed = held.clone();
            *resumed.pointer_mut(path).unwrap() = false.into();
            assert_eq!(held.pointer(path), Some(&true.into()), "{target}: {held}");
            cluster.editor().set_image(&key, "web:2");
            cluster.advance(300).await;
            let output = cluster.run(&format!("status {target} --watch=false")).await;
            assert_eq!(output.exit, 5, "{target}: {output:?}");
            let output = cluster.run(&format!("resume {target}")).await;
            assert_eq!(output.exit, 0, "{output:?}");
            assert_eq!(cluster.object(&key)["spec"]["updateStrategy"], resumed, "{target}");
            cluster.advance(300).await;
            assert_eq!(cluster.run(&format!("status {target} --watch=false")).await.exit, 0, "{target}");
            let output = cluster.run(&format!("undo {target}")).await;
            assert_eq!(output.exit, 0, "{output:?}");
            cluster.advance(300).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_workload_is_not_found() {
    let cluster = Cluster::built(SimCluster::builder().kruise_1_8()).namespace("default").start();
    let output = cluster.run("status cloneset/web").await;
    assert!(output.stderr.contains("no cloneset \"web\" in namespace"), "{output:?}");
    output.ends(1);
}
