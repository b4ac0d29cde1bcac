//! What a command costs.

use crate::ground::Ground;

#[tokio::test]
async fn history_is_three_requests_on_one_connection() {
    let ground = Ground::of("shop");
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
        ground.cluster.forget_requests();
        let ended = ground.run(["history", target]).run_here().await;
        assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0), "{target}");
        assert_eq!(ground.lines(), lines, "{target}");
        let connections: Vec<_> =
            ground.cluster.requests().iter().map(|request| request.connection).collect();
        assert!(connections.windows(2).all(|pair| pair[0] == pair[1]), "{connections:?}");
    }
}
