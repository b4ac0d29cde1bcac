//! `kill -9` at every request: the template is unchanged or completely changed, and the same command then completes the
//! change.

use harness::Cluster;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use simcluster::Key;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::DEPLOYMENTS;
use simcluster::rules::{Author, Part};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::writes::{db, object, observe, web};
use harness::files::file;

/// Runs the program and kills it at request number `at` (from 0), before the server processes the request (`done` is
/// false) or before it responds.
async fn run_and_kill(server: &Cluster, args: &[&str], at: usize, done: bool) {
    let act = if done { FaultAction::StallBody(0) } else { FaultAction::Stall };
    server.sim.fault(Fault::on(Requests::any(), act).after(at).once());
    server.sim.forget_requests();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-rollout2"))
        .args(args)
        .env_clear()
        .env("KUBECONFIG", file("kubeconfig", &server.kubeconfig().to_string()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..1000 {
        if server.sim.requests().len() > at || child.try_wait().unwrap().is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await; // the server processes the request now
    child.kill().unwrap();
    child.wait().unwrap();
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
        let output = std::env::temp_dir().join(format!("rollout2-hang-up-{}-{exit}", std::process::id()));
        let script = format!(
            "{before}exec \"$0\" status deployment/paused -n broken --wait-held --plain > \"$1\" 2>&1"
        );
        let mut child = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_kubectl-rollout2")])
            .arg(&output)
            .env("KUBECONFIG", file("kubeconfig", &server.kubeconfig().to_string()))
            .spawn()
            .unwrap();
        let printed = || std::fs::read_to_string(&output).unwrap_or_default();
        for _ in 0..1000 {
            if printed().contains("Waiting for") || child.try_wait().unwrap().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(child.try_wait().unwrap(), None, "{}", printed());
        for signal in signals {
            Command::new("kill").args([*signal, &child.id().to_string()]).status().unwrap();
        }
        let ended = tokio::time::timeout(Duration::from_secs(60), async {
            loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break status.code();
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        let code = ended.await.ok().flatten();
        if code.is_none() {
            child.kill().unwrap();
        }
        let printed = printed();
        std::fs::remove_file(&output).unwrap();
        assert_eq!(code, Some(exit), "{printed}");
        assert!(printed.contains("continues in the cluster"), "{printed}");
    }
}

/// `status | head -1`: a pipe whose reader exits.
#[tokio::test]
async fn a_closed_pipe_ends_a_status_with_a_note() {
    let server = Cluster::recorded("broken").served();
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_kubectl-rollout2"))
        .args(["status", "deployment/paused", "-n", "broken", "--wait-held"])
        .env("KUBECONFIG", file("kubeconfig", &server.kubeconfig().to_string()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
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

/// A log on a full disk: the error says so, and not that a reader exited.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_ends_a_status_with_its_error() {
    let server = Cluster::recorded("broken").served();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_kubectl-rollout2"))
        .args(["status", "deployment/paused", "-n", "broken", "--wait-held"])
        .env("KUBECONFIG", file("kubeconfig", &server.kubeconfig().to_string()))
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output();
    let output = output.await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("error: cannot write the output: No space left on device"), "{stderr}");
    assert!(!stderr.contains("stdout was closed"), "{stderr}");
}
