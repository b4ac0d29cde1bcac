//! What `undo` asks on a terminal, and the command that takes it back.

use harness::{Ended, Run};
use simcluster::Key;
use simcluster::resource::DEPLOYMENTS;

use crate::changes::{object, web};
use crate::setup::Ground;

fn patches(ground: &Ground) -> usize {
    ground.cluster.requests().iter().filter(|request| request.method == "PATCH").count()
}

/// Runs it for a user at a terminal, who types the answer.
async fn at_terminal(run: Run, answer: &str) -> Ended {
    run.typed(answer).terminal(100, 30).run_here().await
}

#[tokio::test]
async fn several_workloads_are_listed_and_confirmed_once() {
    let args = ["undo", "deployment/web", "statefulset/db"];
    // The rollback of `web` asks once more: a rollback was its last change.
    for (answer, exit, written) in [("y\ny\n", 0, 2), ("n\n", 1, 0), ("", 1, 0)] {
        let ground = Ground::of("shop");
        let ended = at_terminal(ground.run(args), answer).await;
        let listed = "  deployment/web\n  statefulset/db\nroll these 2 workloads back? [y/N] ";
        assert!(ended.stderr.starts_with(listed), "{}", ended.stderr);
        assert_eq!((ended.exit, patches(&ground)), (exit, written), "{answer:?} {}", ended.stderr);
        assert_eq!(ended.stderr.ends_with("error: not confirmed; nothing was written\n"), exit == 1);
    }
}

#[tokio::test]
async fn nothing_asks_without_a_terminal_with_yes_and_with_compat() {
    let args = ["undo", "deployment/web", "statefulset/db"];
    for (more, has_terminal) in
        [(&[][..], false), (&["--yes"], true), (&["--compat"], true), (&["-y"], false)]
    {
        let ground = Ground::of("shop");
        let run = ground.run(args).args(more);
        let ended = if has_terminal { at_terminal(run, "n\n").await } else { run.run_here().await };
        assert!(!ended.transcript.contains("[y/N]"), "{}", ended.transcript);
        assert_eq!((ended.exit, patches(&ground)), (0, 2), "{more:?} {}", ended.transcript);
    }
}

#[tokio::test]
async fn restart_pause_and_resume_never_ask() {
    for verb in ["restart", "pause", "resume"] {
        let ground = Ground::of("shop");
        let ended = at_terminal(ground.run([verb, "deployment/web", "statefulset/db"]), "n\n").await;
        assert!(!ended.transcript.contains("[y/N]"), "{}", ended.transcript);
        assert_eq!(ended.exit, 0, "{}", ended.transcript);
    }
}

/// Revision 2 was rolled back to revision 1, which is revision 3 now.
#[tokio::test]
async fn what_was_undone_just_before_is_confirmed() {
    let undone = Key::new(&DEPLOYMENTS, "broken", "undone");
    let args = ["undo", "deployment/undone", "-n", "broken"];
    let warning = "warning: revision 2 was undone just before; revision 3 (was 1) replaced it\n";
    for (more, answer, exit) in [(&[][..], "n\n", 1), (&[], "y\n", 0), (&["--yes"], "", 0)] {
        let ground = Ground::of("broken");
        let before = object(&ground.cluster, &undone);
        let ended = at_terminal(ground.run(args).args(more), answer).await;
        assert!(ended.stderr.starts_with(warning), "{}", ended.stderr);
        let asks = ended.stderr.contains("roll deployment/undone back to revision 2? [y/N] ");
        assert_eq!((asks, ended.exit), (more.is_empty(), exit), "{}", ended.stderr);
        assert_eq!(object(&ground.cluster, &undone) == before, exit == 1);
    }
    let ground = Ground::of("broken");
    let ended = ground.run(args).run_here().await;
    assert!(ended.stderr.starts_with(warning) && !ended.stderr.contains("[y/N]"), "{}", ended.stderr);
    let ended = at_terminal(ground.run(["undo", "deployment/undone", "-n", "broken", "--to", "3"]), "").await;
    assert_eq!(ended.exit, 0, "a revision that was named: {}", ended.stderr);
}

/// No pod of revision 2 of `crash` is ready.
#[tokio::test]
async fn a_revision_without_a_ready_pod_is_confirmed() {
    let ground = Ground::of("broken");
    assert_eq!(ground.run(["undo", "deployment/crash", "-n", "broken"]).run_here().await.exit, 0);
    let ended =
        at_terminal(ground.run(["undo", "deployment/crash", "-n", "broken", "--to", "2"]), "n\n").await;
    assert!(ended.stderr.contains("warning: no pod of revision 2 is ready (1 pod)\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("roll deployment/crash back to revision 2? [y/N] "), "{}", ended.stderr);
    assert_eq!(ended.exit, 1);
}

/// The receipt also works after the rollback got another number.
#[tokio::test]
async fn the_receipt_takes_the_rollback_back() {
    for target in ["deployment/web", "statefulset/db", "daemonset/agent"] {
        let ground = Ground::of("shop");
        let ended = ground.run(["undo", target]).run_here().await;
        let receipt = ended.stderr.lines().last().unwrap();
        let command = receipt.strip_prefix("to take this back: kubectl rollout2 ").unwrap_or_default();
        assert!(command.starts_with(&format!("undo {target} -n shop --to hash:")), "{}", ended.stderr);
        let again = ground.run(command.split(' ')).run_here().await;
        assert_eq!(again.exit, 0, "{}", again.stderr);
        assert!(again.stdout.ends_with(" rolled back\n"), "{}", again.transcript);
        assert_eq!(patches(&ground), 2);
    }
    let ground = Ground::of("shop");
    let template = |ground: &Ground| object(&ground.cluster, &web())["spec"]["template"].clone();
    let before = template(&ground);
    let ended = ground.run(["undo", "deployment/web"]).run_here().await;
    assert_ne!(template(&ground), before);
    let command = ended.stderr.lines().last().unwrap().split_once("rollout2 ").unwrap().1;
    assert_eq!(ground.run(command.split(' ')).run_here().await.exit, 0);
    assert_eq!(template(&ground), before);
    let dry = ground.run(["undo", "deployment/web", "--dry-run=server"]).run_here().await;
    assert!(!dry.stderr.contains("to take this back"), "{}", dry.stderr);
}
