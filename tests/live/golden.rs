//! kubectl's output for every recorded history and every recorded undo, over HTTP.

use harness::Recorded;

use crate::live::setup::TestServer;

#[tokio::test]
async fn every_recorded_history_matches_kubectl_over_http() {
    let compared = compare_with_kubectl("history", |_| {}).await;
    assert!(compared > 100, "only {compared} recordings were found");
}

#[tokio::test]
async fn every_recorded_undo_matches_kubectl_on_a_live_server() {
    let compared = compare_with_kubectl("undo", |server| {
        let requests = server.cluster.requests();
        assert!(
            requests.iter().all(|request| request.method != "PATCH" || request.query.get("dryRun") == "All")
        );
    });
    assert_eq!(compared.await, 136);
}

/// Compares each recording of a verb, and checks the server of each namespace afterwards. Returns the number of
/// recordings.
async fn compare_with_kubectl(verb: &str, check: impl Fn(&TestServer)) -> usize {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for namespace in ["broken", "many", "quota", "shop"] {
        let server = TestServer::of(namespace);
        for recorded in Recorded::of_verb(verb) {
            if !recorded.name.starts_with(&format!("{namespace}/")) {
                continue;
            }
            let output = server.run(&recorded.args).arg("--compat").run_async().await;
            let ours = (output.stdout.as_str(), output.stderr.as_str(), output.exit);
            let theirs = (recorded.stdout.as_str(), recorded.stderr.as_str(), recorded.exit);
            compared += 1;
            if ours != theirs {
                wrong.push(format!("{}\n--- kubectl\n{theirs:?}\n--- ours\n{ours:?}", recorded.name));
            }
        }
        check(&server);
    }
    assert!(wrong.is_empty(), "{} of {compared} differ\n{}", wrong.len(), wrong.join("\n"));
    compared
}
