//! `kill -9` at every request: the template is unchanged or completely changed, and the same command then completes the
//! change.

use std::process::{Command, Stdio};

use harness::prelude::*;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::writes::{db, object, observe, web};

/// Runs the program and kills it at request number `at` (from 0), before the server processes the request (`done` is
/// false) or before it responds. The server records a request and processes it without a pause in between.
async fn run_and_kill(server: &Cluster, args: &[&str], at: usize, done: bool) {
    let act = if done { FaultAction::StallBody(0) } else { FaultAction::Stall };
    server.sim.fault(Fault::on(Requests::any(), act).after(at).once());
    server.sim.forget_requests();
    let mut process = Process::start(&mut server.process(args));
    while server.sim.requests().len() <= at && !process.has_ended() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    process.kill();
    server.sim.clear_faults();
}

fn spec_and_annotations(object: &Value) -> (Value, Value) {
    (object["spec"].clone(), object["metadata"]["annotations"].clone())
}

async fn assert_repeatable_after_kill(args: &[&str], key: Key, requests: usize) {
    let server = Cluster::recorded("shop").served();
    let before = object(&server.sim, &key);
    server.command(args).run_async().await.ends(0);
    assert_eq!(server.lines().len(), requests, "{:?}", server.lines());
    let after = spec_and_annotations(&object(&server.sim, &key));
    for at in 0..requests {
        for done in [false, true] {
            let server = Cluster::recorded("shop").served();
            run_and_kill(&server, args, at, done).await;
            observe(&server.sim, &key);
            let now = spec_and_annotations(&object(&server.sim, &key));
            let context = format!("{args:?} killed at request {at}, done: {done}");
            assert!(
                now == spec_and_annotations(&before) || now == after,
                "{context}: the change is incomplete"
            );
            let again = server.command(args).run_async().await;
            assert_eq!(again.exit, 0, "{context}: {}", again.stderr);
            assert_eq!(spec_and_annotations(&object(&server.sim, &key)), after, "{context}");
        }
    }
}

#[tokio::test]
async fn a_killed_undo_of_a_deployment_can_be_repeated() {
    assert_repeatable_after_kill(&["undo", "deployment/web", "--to-revision", "4"], web(), 5).await;
}

#[tokio::test]
async fn a_killed_undo_of_a_stateful_set_with_a_cause_can_be_repeated() {
    assert_repeatable_after_kill(
        &["undo", "statefulset/db", "--to-revision", "3", "--cause", "OPS-1"],
        db(),
        5,
    )
    .await;
}

#[tokio::test]
async fn a_killed_resume_can_be_repeated() {
    // The annotation of a pause has a timestamp; a resume restores the original object.
    assert_repeatable_after_kill(&["resume", "deployment/web"], web(), 1).await;
    assert_repeatable_after_kill(
        &["undo", "statefulset/db", "--to-revision", "1", "--sync-last-applied"],
        db(),
        4,
    )
    .await;
}

/// A closed terminal ends `status` as SIGTERM does, unless the process ignores SIGHUP.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn sighup_ends_status_unless_it_is_ignored() {
    let ignored = ("trap '' HUP; ", &["-HUP", "-TERM"][..], 143);
    // Under `nohup` this process and its children ignore SIGHUP.
    let default = if harness::ignores_sighup() { ("", ignored.1, 143) } else { ("", &["-HUP"][..], 129) };
    for (before, signals, exit) in [default, ignored] {
        let server = Cluster::recorded("broken").served();
        let script = format!("{before}exec \"$@\"");
        let args = ["status", "deployment/paused", "-n", "broken", "--wait-held", "--plain"];
        let status = server.process(args);
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh"]).arg(status.get_program()).args(status.get_args());
        shell.envs(status.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut process = Process::start(&mut shell);
        process.prints("Waiting for").await;
        for signal in signals {
            process.signal(signal);
        }
        assert_eq!(process.wait().await, Some(exit), "{}", process.printed());
        assert!(process.printed().contains("continues in the cluster"), "{}", process.printed());
    }
}

/// `status | head -1`: a pipe whose reader exits.
#[tokio::test]
async fn a_closed_pipe_ends_a_status_with_a_note() {
    let server = Cluster::recorded("broken").served();
    let command = server.process(["status", "deployment/paused", "-n", "broken", "--wait-held"]);
    let mut child =
        tokio::process::Command::from(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    first.read_line(&mut line).await.unwrap();
    assert!(line.starts_with("Waiting for deployment \"paused\""), "{line}");
    drop(first);
    let key = Key::new(&DEPLOYMENTS, "broken", "paused");
    let controller = async {
        let mut updated = 0;
        loop {
            updated = 1 - updated; // changes the line that `status` prints
            server.sim.store(|store| {
                let change = |web: &mut Value| web["status"]["updatedReplicas"] = updated.into();
                store.edit(&key, Part::Status, &Author::new("controller"), change).map(drop).unwrap();
            });
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let output = tokio::select! {
        output = child.wait_with_output() => output.unwrap(),
        () = controller => unreachable!("the controller never ends"),
    };
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    let note = "note: stdout was closed; the rollout of deployment/paused continues in the cluster\n";
    assert!(stderr.ends_with(note), "{stderr}");
}

/// It was noticed at the next write, which of a stuck rollout can be ten minutes later.
#[tokio::test]
async fn a_closed_pipe_ends_a_command_that_prints_nothing() {
    let server = Cluster::recorded("broken").served();
    for args in [&["status", "deployment/paused", "--wait-held"][..], &["list", "--watch"]] {
        let command = server.process(args.iter().chain(&["-n", "broken"]));
        let mut command = tokio::process::Command::from(command);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output()).await;
        let output = ended.expect("it does not end").unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A log on a full disk: the error says so, and not that a reader exited.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_ends_a_status_with_its_error() {
    let server = Cluster::recorded("broken").served();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let command = server.process(["status", "deployment/paused", "-n", "broken", "--wait-held"]);
    let child = tokio::process::Command::from(command).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("error: cannot write the output: No space left on device"), "{stderr}");
    assert!(!stderr.contains("stdout was closed"), "{stderr}");
}
