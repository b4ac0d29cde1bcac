//! An interrupted command releases the lock, reports what continues in the cluster, and can be repeated.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use harness::Cluster;
use harness::files::directory;
use serde_json::{Value, json};
use simcluster::Key;

/// A cluster on a socket with a StatefulSet `db`, and a directory for the files of the commands.
struct SteppedSet {
    cluster: Cluster,
    directory: PathBuf,
    db: Key,
}

impl SteppedSet {
    /// Returns a cluster whose StatefulSet was paused and then changed.
    async fn new() -> Self {
        let cluster = Cluster::simulated().served();
        let directory = directory();
        cluster.server().write_kubeconfig(&directory.join("kubeconfig"), "default").unwrap();
        let db = cluster.stateful_set(3, &json!({}));
        let stepped = Self { cluster, directory, db };
        stepped.wait_until(|object| object["status"]["readyReplicas"] == 3).await;
        assert_eq!(stepped.start("pause statefulset/db", "pause").wait().await, Some(0));
        stepped.cluster.editor().set_image(&stepped.db, "app:2.0");
        stepped
    }

    async fn wait_until(&self, is: impl Fn(&Value) -> bool) {
        let mut reads = 0;
        while !is(&self.object()) {
            reads += 1;
            assert!(reads < 600, "timed out: {}", self.object());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn object(&self) -> Value {
        self.cluster.object(&self.db)
    }

    fn hold(&self) -> Value {
        self.cluster.hold(&self.db).unwrap_or_default()
    }

    /// Starts the program as a process.
    fn start(&self, args: &str, name: &str) -> Running {
        let file = |stream: &str| self.directory.join(format!("{name}.{stream}"));
        let child = Command::new(env!("CARGO_BIN_EXE_kubectl-rollout2"))
            .args(args.split_whitespace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("USER", "ada")
            .env("HOSTNAME", "laptop")
            .env("KUBECONFIG", self.directory.join("kubeconfig"))
            .stdin(std::process::Stdio::null())
            .stdout(File::create(file("out")).unwrap())
            .stderr(File::create(file("err")).unwrap())
            .spawn()
            .unwrap();
        Running { child, out: file("out"), err: file("err") }
    }
}

struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Running {
    fn out(&self) -> String {
        fs::read_to_string(&self.out).unwrap()
    }

    fn err(&self) -> String {
        fs::read_to_string(&self.err).unwrap()
    }

    async fn wait_for_text(&mut self, text: &str) {
        let mut reads = 0;
        while !self.out().contains(text) && !self.err().contains(text) {
            reads += 1;
            assert!(reads < 600, "timed out waiting for {text}: {}{}", self.out(), self.err());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    async fn wait(&mut self) -> Option<i32> {
        for _ in 0..600 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let _ = self.child.kill();
        None
    }
}

#[tokio::test]
async fn the_lock_is_released_and_the_same_command_continues() {
    for (signal, exit, word) in
        [("-INT", 130, "interrupted"), ("-TERM", 143, "terminated"), ("-HUP", 129, "hung up")]
    {
        if signal == "-HUP" && harness::ignores_sighup() {
            continue;
        }
        let served = SteppedSet::new().await;
        let mut step = served.start("step statefulset/db --by 2 --all --soak 1h", "first");
        step.wait_for_text("soaking 1h").await;
        assert_eq!(served.hold()["lock"]["by"], "ada@laptop");
        step.signal(signal);
        assert_eq!(step.wait().await, Some(exit), "{}", step.err());
        let message = format!("{word}: statefulset/db: it stays held");
        assert!(step.err().contains(&message), "{}", step.err());
        let hints = "hint: continue the plan: kubectl rollout2 step statefulset/db -n default\n\
                     hint: to roll back: kubectl rollout2 undo statefulset/db -n default\n";
        assert!(step.err().ends_with(hints), "{}", step.err());
        assert_eq!((&served.hold()["reason"], &served.hold()["lock"]), (&json!("plan"), &Value::Null));
        let mut again = served.start("step statefulset/db --soak 0s", "again");
        assert_eq!(again.wait().await, Some(0), "{}{}", again.out(), again.err());
        assert!(again.out().contains("stepped: every pod is updated"), "{}{}", again.out(), again.err());
        assert_eq!(served.hold(), Value::Null);
    }
}

#[tokio::test]
async fn a_check_is_killed_at_an_interrupt() {
    let served = SteppedSet::new().await;
    let mark = served.directory.join("mark");
    let check = format!("sleep${{IFS}}2;touch${{IFS}}{}", mark.display());
    let mut step = served.start(&format!("step statefulset/db --soak 0s --check {check}"), "broken-off");
    step.wait_for_text("checking").await;
    step.signal("-INT");
    assert_eq!(step.wait().await, Some(130), "{}", step.err());
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert!(!mark.exists(), "the check was not killed");
}

/// A holder that runs is reported, and stays. After `kill -9` the next process on its host replaces it.
#[tokio::test]
async fn a_second_step_stops_unless_the_first_has_ended_or_is_taken_over() {
    let served = SteppedSet::new().await;
    let mut first = served.start("step statefulset/db --all --soak 1h", "first");
    first.wait_for_text("soaking 1h").await;
    let mut second = served.start("step statefulset/db", "second");
    assert_eq!(second.wait().await, Some(5), "{}", second.err());
    let (before, after) =
        second.err().split_once(" ago; ").map(|(one, two)| (one.to_owned(), two.to_owned())).unwrap();
    assert!(before.starts_with("held: statefulset/db: ada@laptop steps it, last write "), "{before}");
    let advice = "if that process has ended, use --take-over\n\
                  hint: to take it over: kubectl rollout2 step statefulset/db -n default --take-over\n";
    assert_eq!(after, advice);
    assert_eq!(served.hold()["lock"]["by"], "ada@laptop", "the first process still holds the lock");
    let mut third = served.start("step statefulset/db --take-over", "third");
    third.wait_for_text("note: replaced the lock of ada@laptop on statefulset/db, last write ").await;
    assert_eq!(first.wait().await, Some(5), "{}", first.err());
    assert!(first.err().contains("ada@laptop took the plan over"), "{}", first.err());
    third.signal("-KILL");
    third.wait().await;
    assert_eq!(served.hold()["lock"]["by"], "ada@laptop", "it was killed");
    let mut fourth = served.start("step statefulset/db --soak 0s", "fourth");
    assert_eq!(fourth.wait().await, Some(0), "{}{}", fourth.out(), fourth.err());
    assert!(fourth.err().contains("note: replaced the lock of ada@laptop"), "{}", fourth.err());
}

/// A rollback is no longer held, even if `step` is interrupted.
#[tokio::test]
async fn an_interrupted_rollback_is_reported() {
    let served = SteppedSet::new().await;
    let mut step = served.start("step statefulset/db --soak 0s --check false --on-failure undo", "step");
    step.wait_for_text("rolls back to revision 1").await;
    step.signal("-INT");
    assert_eq!(step.wait().await, Some(130), "{}", step.err());
    let last_lines: Vec<String> = step.err().lines().rev().take(3).map(str::to_owned).collect();
    assert_eq!(
        last_lines,
        [
            "hint: wait for the rollback: kubectl rollout2 step statefulset/db -n default",
            "interrupted: statefulset/db: the rollback to revision 1 continues in the cluster",
            "error: statefulset/db: the check of batch 1 failed: exit 1",
        ],
        "{}",
        step.err()
    );
    assert_eq!(
        (&served.hold()["plan"]["phase"], &served.hold()["lock"]),
        (&json!("rollingBack"), &Value::Null)
    );
    let mut on = served.start("step statefulset/db", "on");
    assert_eq!(on.wait().await, Some(4), "{}", on.err());
    assert!(on.err().contains("the check of batch 1 failed: exit 1"), "{}", on.err());
    assert_eq!(served.hold(), Value::Null);
}
