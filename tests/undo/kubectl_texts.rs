//! What `undo` prints as kubectl does, for every recording of a command on a real cluster.

use harness::{Cluster, Recorded};

/// With `-o yaml` kubectl prints the object without the rollback.
#[tokio::test]
async fn the_last_line_of_every_recorded_undo_is_kubectls() {
    let mut recorded = Recorded::of_verb("undo");
    recorded.retain(|recorded| recorded.args.last().is_some_and(|word| word != "yaml"));
    let mut compared = 0;
    for namespace in ["broken", "many", "quota", "shop"] {
        let server = Cluster::recorded(namespace).start();
        let of_namespace = format!("{namespace}/");
        for recorded in recorded.iter().filter(|recorded| recorded.name.starts_with(&of_namespace)) {
            let output = server.command(&recorded.args).run_async().await;
            let last = output.stdout.lines().last().map_or_else(String::new, |line| format!("{line}\n"));
            let kubectls = (recorded.stdout.clone(), recorded.exit);
            assert_eq!((last, output.exit), kubectls, "{}: {}", recorded.name, output.transcript);
            assert_eq!(output.stderr.contains("error: "), recorded.exit != 0, "{}", output.transcript);
            compared += 1;
        }
        let requests = server.sim.requests();
        let writes = requests.iter().filter(|request| request.method == "PATCH");
        assert!(writes.into_iter().all(|write| write.query.get("dryRun") == "All"));
    }
    assert_eq!(compared, 93);
}
