//! An interrupted command releases the lock, reports what continues in the cluster, and can be repeated.

use harness::files::directory;
use harness::held_pipe::HeldPipe;
use harness::prelude::*;

/// A cluster on a socket with a StatefulSet `db`.
struct SteppedSet {
    cluster: Cluster,
    db: Key,
}

impl SteppedSet {
    /// Returns a cluster whose StatefulSet was paused and then changed.
    async fn new() -> Self {
        let cluster = Cluster::simulated().served();
        let db = cluster.stateful_set(3, &json!({}));
        let stepped = Self { cluster, db };
        while stepped.cluster.object(&stepped.db)["status"]["readyReplicas"] != 3 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(stepped.start("pause statefulset/db").wait().await, Some(0));
        stepped.cluster.editor().set_image(&stepped.db, "app:2.0");
        stepped
    }

    fn hold(&self) -> Value {
        self.cluster.hold(&self.db).unwrap_or_default()
    }

    /// Starts a command as a process.
    fn start(&self, args: &str) -> Process {
        self.start_with(args.split_whitespace())
    }

    fn start_with<'a>(&self, args: impl Iterator<Item = &'a str>) -> Process {
        let mut command = self.cluster.process(args);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        Process::start(command.env("USER", "ada").env("HOSTNAME", "laptop"))
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
        let mut step = served.start("step statefulset/db --by 2 --all --soak 1h");
        step.prints("soaking 1h").await;
        assert_eq!(served.hold()["lock"]["by"], "ada@laptop");
        step.signal(signal);
        assert_eq!(step.wait().await, Some(exit), "{}", step.stderr());
        let message = format!("{word}: statefulset/db: it stays held");
        assert!(step.stderr().contains(&message), "{}", step.stderr());
        let hints = "hint: continue the plan: kubectl rollout2 step statefulset/db -n default\n\
                     hint: to roll back: kubectl rollout2 undo statefulset/db -n default\n";
        assert!(step.stderr().ends_with(hints), "{}", step.stderr());
        let hold = served.hold();
        assert!(hold["plan"].is_object() && hold["lock"].is_null(), "{hold}");
        let mut again = served.start("step statefulset/db --soak 0s");
        assert_eq!(again.wait().await, Some(0), "{}{}", again.stdout(), again.stderr());
        assert!(
            again.stdout().contains("stepped: every pod is updated"),
            "{}{}",
            again.stdout(),
            again.stderr()
        );
        assert_eq!(served.hold(), Value::Null);
    }
}

#[tokio::test]
async fn a_check_is_killed_at_an_interrupt() {
    let served = SteppedSet::new().await;
    let mut held = HeldPipe::new();
    let args = "step statefulset/db --soak 0s --check".split(' ');
    let mut step = served.start_with(args.chain([format!("{}; sleep 1000", held.script()).as_str()]));
    held.is_opened().await;
    step.signal("-INT");
    assert_eq!(step.wait().await, Some(130), "{}", step.stderr());
    assert!(held.is_closed().await, "the check was not killed");
}

/// A holder that runs is reported, and stays. After `kill -9` the next process on its host replaces it.
#[tokio::test]
async fn a_second_step_stops_unless_the_first_has_ended_or_is_taken_over() {
    let served = SteppedSet::new().await;
    let mut first = served.start("step statefulset/db --all --soak 1h");
    first.prints("soaking 1h").await;
    let mut second = served.start("step statefulset/db");
    assert_eq!(second.wait().await, Some(5), "{}", second.stderr());
    let (before, after) =
        second.stderr().split_once(" ago; ").map(|(one, two)| (one.to_owned(), two.to_owned())).unwrap();
    assert!(before.starts_with("held: statefulset/db: ada@laptop steps it, last write "), "{before}");
    let advice = "if that process has ended, use --take-over\n\
                  hint: to take it over: kubectl rollout2 step statefulset/db -n default --take-over\n";
    assert_eq!(after, advice);
    assert_eq!(served.hold()["lock"]["by"], "ada@laptop", "the first process still holds the lock");
    let mut third = served.start("step statefulset/db --take-over");
    third.prints("note: replaced the lock of ada@laptop on statefulset/db, last write ").await;
    assert_eq!(first.wait().await, Some(5), "{}", first.stderr());
    assert!(first.stderr().contains("ada@laptop took the plan over"), "{}", first.stderr());
    third.signal("-KILL");
    third.wait().await;
    assert_eq!(served.hold()["lock"]["by"], "ada@laptop", "it was killed");
    let mut fourth = served.start("step statefulset/db --soak 0s");
    assert_eq!(fourth.wait().await, Some(0), "{}{}", fourth.stdout(), fourth.stderr());
    assert!(fourth.stderr().contains("note: replaced the lock of ada@laptop"), "{}", fourth.stderr());
}

/// A rollback is no longer held, even if `step` is interrupted. No controller runs until then, so that the rollback
/// cannot end before.
#[tokio::test]
async fn an_interrupted_rollback_is_reported() {
    let served = SteppedSet::new().await;
    let fifo = directory().join("fifo");
    let check = format!("mkfifo {0}; cat {0}; false", fifo.display());
    let args = "step statefulset/db --soak 0s --on-failure undo --check".split(' ');
    let mut step = served.start_with(args.chain([check.as_str()]));
    step.prints("checking").await;
    served.cluster.stop_controllers();
    while !fifo.exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    std::fs::write(&fifo, "").unwrap();
    step.prints("rolls back to revision 1").await;
    step.signal("-INT");
    assert_eq!(step.wait().await, Some(130), "{}", step.stderr());
    let last_lines: Vec<String> = step.stderr().lines().rev().take(2).map(str::to_owned).collect();
    assert_eq!(
        last_lines,
        [
            "hint: wait for the rollback: kubectl rollout2 step statefulset/db -n default",
            "interrupted: statefulset/db: the rollback continues in the cluster",
        ],
        "{}",
        step.stderr()
    );
    let hold = served.hold();
    assert!(hold["plan"]["rollingBack"] == true && hold["lock"].is_null(), "{hold}");
    tokio::spawn(Controllers::new().run(served.cluster.sim.clone()));
    let mut on = served.start("step statefulset/db");
    assert_eq!(on.wait().await, Some(4), "{}", on.stderr());
    assert!(on.stderr().contains("the check of batch 1 failed: exit 1"), "{}", on.stderr());
    assert_eq!(served.hold(), Value::Null);
}
