//! The number of requests of a command.

use harness::many_workloads::{Shape, WorkloadGenerator};
use harness::prelude::*;

/// Serves this many Deployments in the namespace `shop`. Every third one crashes.
fn serve_deployments(size: usize) -> Cluster {
    let recorded = WorkloadGenerator::from_recording();
    let deployments = (0..size).flat_map(|index| {
        let shape = Shape { revisions: 3, pods: 2, crashing: index % 3 == 2 };
        recorded.deployment("shop", &format!("web-{index:02}"), shape)
    });
    Cluster::of(&json!({ "items": deployments.collect::<Vec<Value>>() })).start()
}

#[tokio::test]
async fn many_workloads_are_read_with_one_list_of_each_type() {
    let server = serve_deployments(20);
    let all = server.command(["status", "deployment", "--watch=false", "-o", "json"]).run_async().await;
    assert_eq!((all.stderr.as_str(), all.stdout.lines().count(), all.exit), ("", 20, 3));
    let lines = ["apis/apps/v1", "apis/apps/v1", "api/v1", "api/v1"]
        .into_iter()
        .zip(["deployments", "replicasets", "pods", "events"])
        .map(|(group, plural)| format!("GET /{group}/namespaces/shop/{plural}"));
    assert_eq!(server.lines(), lines.collect::<Vec<_>>());
    let events = server.sim.requests()[3].query.get("fieldSelector").to_owned();
    assert!(events.split(',').all(|one| one.starts_with("reason!=")), "{events}");
    for (index, line) in all.stdout.lines().enumerate() {
        let target = format!("deployment/web-{index:02}");
        let one =
            server.command(["status", target.as_str(), "--watch=false", "-o", "json"]).run_async().await;
        assert_eq!(one.stdout.trim_end(), line, "{target}");
        assert_eq!(line.contains("crash-loop"), index % 3 == 2, "{line}");
    }
    server.sim.forget_requests();
    let everywhere =
        server.command(["status", "deployment", "--watch=false", "-A", "-o", "json"]).run_async().await;
    assert_eq!((everywhere.stdout == all.stdout, server.lines().len()), (true, 4));
}

#[tokio::test]
async fn few_workloads_are_read_one_by_one() {
    let server = serve_deployments(3);
    let all = server.command(["status", "deployment", "--watch=false"]).run_async().await;
    assert_eq!((all.exit, server.lines().len()), (3, 1 + 3 * 2 + 1), "{}", all.stderr);
    let selected = |request: &simcluster::RecordedRequest| !request.query.get("labelSelector").is_empty();
    assert_eq!(server.sim.requests().iter().filter(|request| selected(request)).count(), 6);
}

#[tokio::test]
async fn a_workload_given_twice_is_printed_once() {
    for size in [1, 12] {
        let server = serve_deployments(size);
        let names = (0..size).chain([0]).map(|index| format!("deployment/web-{index:02}"));
        let output = server.command(["history".to_owned()].into_iter().chain(names)).run_async().await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
        let tables: Vec<_> = output.stdout.split("\n\n").map(str::trim_end).collect();
        assert_eq!(tables.len(), size);
        assert!(tables[0].contains("2/2"), "{}", tables[0]);
    }
}

#[tokio::test]
async fn history_is_three_requests_on_one_connection() {
    let server = Cluster::recorded("shop").served();
    for (target, lines) in [
        (
            "deployment/web",
            [
                "GET /apis/apps/v1/namespaces/shop/deployments/web",
                "GET /apis/apps/v1/namespaces/shop/replicasets",
                "GET /api/v1/namespaces/shop/pods",
            ],
        ),
        (
            "statefulset/db",
            [
                "GET /apis/apps/v1/namespaces/shop/statefulsets/db",
                "GET /apis/apps/v1/namespaces/shop/controllerrevisions",
                "GET /api/v1/namespaces/shop/pods",
            ],
        ),
    ] {
        server.sim.forget_requests();
        let output = server.command(["history", target]).run_async().await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{target}");
        assert_eq!(server.lines(), lines, "{target}");
        let connections: Vec<_> = server.sim.requests().iter().map(|request| request.connection).collect();
        assert!(connections.windows(2).all(|pair| pair[0] == pair[1]), "{connections:?}");
    }
}

#[tokio::test]
async fn managed_fields_are_read_only_when_needed() {
    let server = Cluster::recorded("shop").start();
    for (flag, kept) in [(None, false), (Some("--show-managed-fields"), true)] {
        for target in ["deployment/web", "statefulset/db"] {
            let run = server.command(["history", target, "-o", "json", "--revision=3"]).args(flag);
            let output = run.run_async().await;
            assert_eq!(
                (output.exit, output.stdout.contains("managedFields")),
                (0, kept),
                "{target}: {}",
                output.stderr
            );
        }
    }
}
