//! kubectl's output for every recorded history, over HTTP.

use harness::Recorded;

use crate::setup::TestServer;

#[tokio::test]
async fn every_recorded_history_matches_kubectl_over_http() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for namespace in ["broken", "many", "quota", "shop"] {
        let server = TestServer::of(namespace);
        for recorded in Recorded::of_verb("history") {
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
    }
    assert!(wrong.is_empty(), "{} of {compared} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 100, "only {compared} recordings were found");
}
