//! What `history --revision` and `undo` print as kubectl does, for every recording of a command on a real cluster.

use harness::{Output, Recorded};

use crate::connection::setup::TestServer;

#[tokio::test]
async fn every_recorded_revision_is_printed_as_kubectl_prints_it() {
    let printed = Recorded::of_verb("history").into_iter().filter(|recorded| recorded.exit == 0).collect();
    assert_eq!(compare_with_kubectl(printed, |output| output.stdout.clone(), |_| {}).await, 49);
}

/// With `-o yaml` kubectl prints the object without the rollback.
#[tokio::test]
async fn the_last_line_of_every_recorded_undo_is_kubectls() {
    let last_line =
        |output: &Output| output.stdout.lines().last().map_or_else(String::new, |line| format!("{line}\n"));
    let mut recorded = Recorded::of_verb("undo");
    recorded.retain(|recorded| recorded.args.last().is_some_and(|word| word != "yaml"));
    let compared = compare_with_kubectl(recorded, last_line, |server| {
        let requests = server.cluster.requests();
        assert!(
            requests.iter().all(|request| request.method != "PATCH" || request.query.get("dryRun") == "All")
        );
    });
    assert_eq!(compared.await, 93);
}

/// Compares a part of our stdout with kubectl's stdout for each recording, and checks the server of each namespace
/// afterwards. Returns the number of recordings.
async fn compare_with_kubectl(
    recorded: Vec<Recorded>,
    part: impl Fn(&Output) -> String,
    check: impl Fn(&TestServer),
) -> usize {
    let mut compared = 0;
    for namespace in ["broken", "many", "quota", "shop"] {
        let server = TestServer::of(namespace);
        let of_namespace = format!("{namespace}/");
        for recorded in recorded.iter().filter(|recorded| recorded.name.starts_with(&of_namespace)) {
            let output = server.run(&recorded.args).run_async().await;
            let ours = (part(&output), output.exit);
            assert_eq!(
                ours,
                (recorded.stdout.clone(), recorded.exit),
                "{}: {}",
                recorded.name,
                output.transcript
            );
            assert_eq!(output.stderr.contains("error: "), recorded.exit != 0, "{}", output.transcript);
            compared += 1;
        }
        check(&server);
    }
    compared
}
