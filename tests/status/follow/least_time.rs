//! The least time of a rollout, and a `--timeout` below it.

use harness::prelude::*;

/// Creates a Deployment of four pods that are updated one by one, and each must be available for five minutes.
async fn slow_deployment(cluster: &Cluster) -> Key {
    let rolling = json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
    let deadline = 3600;
    let web = cluster.deployment(
        4,
        &json!({"minReadySeconds": 300, "progressDeadlineSeconds": deadline, "strategy": rolling}),
    );
    cluster.advance(400).await;
    web
}

const LEAST: &str = "at least 20m: 4 waves, minReadySeconds 5m";

#[tokio::test(start_paused = true)]
async fn a_followed_rollout_begins_with_its_least_time() {
    let note = format!("note: deployment/web: {LEAST}\n");
    let warning =
        "warning: --timeout 10m ends before the rollout of deployment/web can; --timeout 24m fits\n";
    for (flags, exit, expected) in [
        ("", 0, note.clone()),
        ("--timeout 24m", 0, note.clone()),
        ("--timeout 10m", 3, format!("{note}{warning}")),
    ] {
        let cluster = Cluster::simulated().start();
        let web = slow_deployment(&cluster).await;
        cluster.set_image_on_first_read(&web, "app:2.0");
        let output = cluster.status(&format!("deployment/web {flags}")).await;
        assert_eq!(output.exit, exit, "{flags}\n{}", output.transcript);
        assert!(output.stderr.contains(&expected), "{flags}\n{}", output.transcript);
        assert_eq!(output.stderr.contains("warning"), exit == 3, "{}", output.transcript);
        assert_eq!(output.transcript.matches("at least").count(), 1, "{}", output.transcript);
    }
}

/// In JSON it is an event, and no line on stderr.
#[tokio::test(start_paused = true)]
async fn the_least_time_is_an_event_in_json() {
    let cluster = Cluster::simulated().start();
    let web = slow_deployment(&cluster).await;
    cluster.editor().set_image(&web, "app:2.0");
    let output = cluster.status("deployment/web -o json --timeout 10m").await;
    assert_eq!((output.exit, output.stderr.as_str()), (3, ""), "{}", output.transcript);
    let events: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let least: Vec<&Value> = events.iter().filter(|event| event["event"] == "least-time").collect();
    assert_eq!(least.len(), 1, "{}", output.stdout);
    assert_eq!(least[0]["leastTime"], json!({"seconds": 1200.0, "waves": 4, "minReadySeconds": 300}));
    assert_eq!(least[0]["shortTimeout"], json!({"seconds": 600.0, "fittingSeconds": 1440.0}));
}

#[tokio::test(start_paused = true)]
async fn the_rest_of_a_rollout_counts() {
    let cluster = Cluster::simulated().start();
    let web = slow_deployment(&cluster).await;
    cluster.editor().set_image(&web, "app:2.0");
    cluster.advance(400).await; // the first wave is available
    let output = cluster.status("deployment/web --timeout 20m").await;
    output.ends(0);
    let note = "note: deployment/web: at least 10m: 2 waves, minReadySeconds 5m\n";
    output.reports(note);
    let complete = cluster.status("deployment/web --timeout 1m").await;
    assert_eq!((complete.exit, complete.stderr.as_str()), (0, ""), "{}", complete.transcript);
}

#[tokio::test(start_paused = true)]
async fn every_verb_that_updates_has_the_least_time() {
    let cluster = Cluster::simulated().start();
    let web = slow_deployment(&cluster).await;
    cluster.editor().set_image(&web, "app:2.0");
    cluster.advance(2000).await;
    for args in ["undo deployment/web --dry-run", "restart deployment/web --dry-run"] {
        let output = cluster.run(args).await;
        assert!(output.transcript.contains(&format!("  {LEAST}\n")), "{args}\n{}", output.transcript);
    }
    let output = cluster.run("restart deployment/web --wait --timeout 10m").await;
    output.ends(3).reports(LEAST).reports("--timeout 24m fits");
    cluster.run("undo deployment/web").await;
    cluster.advance(2000).await;
    cluster.run("pause deployment/web").await;
    cluster.editor().set_image(&web, "app:3.0");
    let output = cluster.run("step deployment/web --by 2 --soak 10s --dry-run").await;
    output.prints("  at least 20m: 4 waves, minReadySeconds 5m, soaks ");
}

/// Every document has the numbers of the line.
#[tokio::test(start_paused = true)]
async fn every_document_has_the_least_time() {
    let cluster = Cluster::simulated().start();
    let web = slow_deployment(&cluster).await;
    let least = json!({"seconds": 900.0, "waves": 3, "minReadySeconds": 300}); // the first wave began
    let documents = async |args: &str| {
        let output = cluster.run(args).await;
        let documents = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        documents.collect::<Vec<_>>()
    };
    let complete = documents("status deployment/web --watch=false -o json").await;
    assert_eq!(complete[0]["leastTime"], Value::Null);
    cluster.editor().set_image(&web, "app:2.0");
    cluster.advance(5).await;
    let shown = documents("status deployment/web --watch=false -o json").await;
    assert_eq!(shown[0]["leastTime"], least);
    let followed = documents("status deployment/web -o json").await;
    let of_status: Vec<&Value> =
        followed.iter().filter(|one| one["event"] == "status").map(|one| &one["leastTime"]).collect();
    assert_eq!((of_status[0], *of_status.last().unwrap()), (&least, &Value::Null));
    cluster.run("pause deployment/web").await;
    cluster.editor().set_image(&web, "app:3.0");
    let plan = documents("step deployment/web --by 2 --soak 10s --dry-run -o json").await;
    let seconds = plan[0]["leastTime"]["seconds"].as_f64().unwrap();
    assert!((1200.0..1300.0).contains(&seconds), "{}", plan[0]["leastTime"]);
}
