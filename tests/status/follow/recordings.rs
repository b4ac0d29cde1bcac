//! `status` on replayed recordings of real nodes: the causes with their times, texts and log lines, and the outcome.
//! Times are seconds of the recording.

#![expect(clippy::panic, reason = "a recording without a description is a failed test")]

use std::fmt::Write as _;

use harness::prelude::*;
use harness::replay::Replay;

const RECORDINGS: [&str; 30] = [
    "good",
    "crash",
    "oom",
    "two",
    "oldcrash",
    "never",
    "net",
    "i404",
    "badname",
    "pulling",
    "notready",
    "sick",
    "live",
    "startup",
    "nocm",
    "nocmvol",
    "nocmd",
    "nodir",
    "poststart",
    "slow",
    "stubborn",
    "prestop",
    "nonode",
    "bigcpu",
    "nopvc",
    "evict",
    "inithang",
    "sysctl",
    "sandbox",
    "restartall",
];

/// Returns what happened in a recording.
fn description(recording: &str) -> &'static str {
    match recording {
        "good" => "every pod starts",
        "crash" => "exits with 1 at once; no readiness probe",
        "oom" => "exceeds its memory limit at once; no readiness probe",
        "two" => "the second container exits with 1",
        "oldcrash" => "crashes twice until 9.2, runs from 20.6 on, readiness probe fails",
        "never" => "imagePullPolicy Never, image not on the node",
        "net" => "no way to the registry",
        "i404" => "the registry has no such image",
        "badname" => "the image name is invalid",
        "pulling" => "the registry never answers",
        "notready" => "readiness probe fails",
        "sick" => "liveness and readiness probe fail after 5s, again and again",
        "live" => "the same; ready at first",
        "startup" => "startup probe fails, killed again and again",
        "nocm" => "a ConfigMap for the environment is missing",
        "nocmvol" => "a ConfigMap for a volume is missing",
        "nocmd" => "the command is missing",
        "nodir" => "the working directory cannot be used",
        "poststart" => "postStart hook exits with 7",
        "slow" => "old pods take 20s to end",
        "stubborn" => "Recreate; old pods ignore SIGTERM, grace period 15s",
        "prestop" => "Recreate; preStop hook of old pods takes 18s",
        "nonode" => "no node has the label",
        "bigcpu" => "no node has 64 CPUs",
        "nopvc" => "the claim is missing",
        "evict" => "emptyDir over its limit, evicted every minute from 18.5 on",
        "inithang" => "an init container never ends",
        "sysctl" => "the kubelet refuses every pod",
        "sandbox" => "the RuntimeClass has no handler",
        "restartall" => "a container exits with 9 every 7s and restarts all of its pod",
        other => panic!("{other} is not described"),
    }
}

/// Runs `status` on a recording from the change under test or from a later second. `REST` in the arguments is the
/// remaining time.
async fn follow(recording: &str, from: Option<f64>, args: &str) -> (Replay, Output) {
    let replay = Replay::of(recording);
    replay.changed().await;
    if let Some(from) = from {
        replay.at(from).await;
    }
    let args = args.replace("REST", &format!("{}s", replay.remaining()));
    let output = replay.status(&args).await;
    (replay, output)
}

/// Returns the causes in the JSON events of a run, one a line: start, end, id, container.
fn cause_periods(stdout: &str, began: f64) -> String {
    let mut cause_periods: Vec<(f64, Option<f64>, String)> = Vec::new();
    let events = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    for event in events.filter(|event| event["event"] == "cause") {
        let at = began + event["elapsedMilliseconds"].as_f64().unwrap() / 1000.0;
        let text = |member: &str| event["cause"][member].as_str().unwrap_or_default();
        let what = format!("{} {}", text("id"), text("container"));
        match event["change"].as_str().unwrap() {
            "appeared" => cause_periods.push((at, None, what)),
            "gone" => {
                let open = cause_periods.iter_mut().rfind(|span| span.1.is_none() && span.2 == what).unwrap();
                open.1 = Some(at);
            }
            _ => {}
        }
    }
    let mut text = String::new();
    for (from, to, what) in cause_periods {
        let to = to.map_or("end".to_owned(), |to| format!("{to:.1}"));
        writeln!(text, "  {from:5.1} - {to:5}  {}", what.trim_end()).unwrap();
    }
    text
}

#[tokio::test(start_paused = true)]
async fn every_recording_shows_its_cause_while_it_lasts_in_few_lines() {
    let (mut table, mut transcripts) = (String::new(), String::new());
    for recording in RECORDINGS {
        let replay = Replay::of(recording);
        replay.changed().await;
        let (began, name) = (replay.elapsed().as_secs_f64(), description(recording));
        let args = format!("--stable {0}s --timeout {0}s", replay.remaining());
        let json = format!("-o json {args}");
        let (json, text) = tokio::join!(replay.status(&json), replay.status(&args));
        writeln!(table, "{recording}: {name}\n{}", cause_periods(&json.stdout, began)).unwrap();
        writeln!(transcripts, "# {recording}: {name}\n{}", text.transcript).unwrap();
        let lines = text.transcript.lines().count();
        assert!(lines <= 32, "{lines} lines: {}", text.transcript);
        for answer in ["unable to retrieve container logs", "failed to try resolving symlinks"] {
            assert!(!text.transcript.contains(answer), "{}", text.transcript);
        }
    }
    insta::assert_snapshot!("every_recording_shows_its_cause_while_it_lasts", table);
    insta::assert_snapshot!("every_recording_prints_few_lines", transcripts);
}

#[tokio::test(start_paused = true)]
async fn fail_fast_fails_a_recording_only_for_its_own_cause() {
    let mut table = String::new();
    for (recording, from) in [
        ("good", None),
        ("slow", None),
        ("prestop", None),
        ("stubborn", None),
        ("crash", None),
        ("crash", Some(9.8)),   // briefly ready after the first crash
        ("crash", Some(11.55)), // briefly ready after the second crash
        ("oom", Some(15.5)),
        ("two", Some(5.3)),
        ("oldcrash", None),
        ("oldcrash", Some(50.0)), // it has run for 30s
        ("sick", Some(20.0)),
        ("live", Some(12.05)),
        ("startup", None),
        ("never", None),
        ("i404", None),
        ("badname", None),
        ("nocm", None),
        ("nocmvol", None),
        ("nocmd", None),
        ("nopvc", None),
        ("poststart", None),
        ("net", None),
        ("pulling", None),
        ("notready", None),
        ("inithang", None),
        ("nonode", None),
        ("sandbox", None),
        ("restartall", Some(17.0)),
    ] {
        let (replay, output) = follow(recording, from, "--fail-fast --timeout REST").await;
        let at = replay.elapsed().as_secs_f64();
        let from = from.map(|from| format!(" from {from} on")).unwrap_or_default();
        let why = output.stderr.lines().last().filter(|line| line.starts_with("error: ")).unwrap_or("done");
        let why = why.split(": Waiting").next().unwrap_or_default();
        writeln!(table, "{recording}{from}: exit {} at {at:.1}, {why}", output.exit).unwrap();
    }
    let (_, output) = follow("sysctl", None, "--fail-fast=5s --timeout REST").await;
    output.ends(4);
    insta::assert_snapshot!(table);
}

#[tokio::test(start_paused = true)]
async fn old_gone_waits_until_no_old_pod_is_listed() {
    let (replay, output) = follow("slow", None, "--until old-gone --timeout REST").await;
    output.ends(0).reports("note: deployment/web: waiting for old pods to end");
    let is_old = |pod: &Value| pod["spec"]["containers"][0]["image"] == "app:1-slow";
    let old = replay.cluster.store(|store| {
        store.list(&simcluster::resource::PODS, Some("slow")).filter(|(_, pod)| is_old(pod)).count()
    });
    assert_eq!(old, 0, "{}", output.transcript);
}

/// The kubelet reports the first crash with `Error` and exit 137, and the next one with `OOMKilled`.
#[tokio::test(start_paused = true)]
async fn error_137_and_oom_killed_are_one_cause() {
    let (_, output) = follow("oom", Some(14.0), "-o json --stable REST --timeout REST").await;
    let causes = cause_periods(&output.stdout, 14.0);
    assert_eq!(causes.lines().count(), 1, "{causes}");
    assert!(causes.contains("out-of-memory app"), "{causes}");
}

/// A pod that runs briefly between two crashes prints nothing. The next line is printed at the next restart.
#[tokio::test(start_paused = true)]
async fn a_crash_loop_prints_one_line_for_each_restart() {
    let (_, output) = follow("crash", Some(20.0), "--stable REST --timeout REST").await;
    let lines: Vec<_> = output.stderr.lines().filter(|line| line.contains("app: crashed, exit 1")).collect();
    assert!(lines.iter().all(|line| line.contains(" and 1 more ")), "{}", output.transcript);
}
