//! What `undo` asks on a terminal, and the command that takes it back.

use harness::prelude::*;

use crate::writes::{agent, db, edit, external_change, object, observe, web};

fn patches(server: &Cluster) -> usize {
    server.sim.requests().iter().filter(|request| request.method == "PATCH").count()
}

/// Runs it for a user at a terminal, who types the answer.
async fn at_terminal(run: Run, answer: &str) -> Output {
    run.typed(answer).arg("--color=never").terminal(100, 30).run_async().await
}

#[tokio::test]
async fn several_workloads_are_shown_and_confirmed_once() {
    let args = ["undo", "deployment/web", "statefulset/db"];
    for (answer, exit, written) in [("y\n", 0, 2), ("n\n", 1, 0), ("", 1, 0)] {
        let server = Cluster::recorded("shop").start();
        edit(&server.sim, &web(), |web| {
            web["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] =
                "shop:apps/Deployment:shop/web".into();
        });
        let output = at_terminal(server.command(args), answer).await;
        let question = output.transcript.find("roll back 2 workloads? [y/N] ");
        let owner = "warning: Argo CD (shop) manages deployment/web ";
        let shown = [owner, "deployment/web  revision 5 -> 4\n", "statefulset/db  revision "];
        assert!(
            shown.iter().all(|title| output.transcript.find(title).is_some_and(|at| Some(at) < question)),
            "{}",
            output.transcript
        );
        assert_eq!(output.transcript.matches("deployment/web  revision").count(), 1);
        assert_eq!(output.transcript.matches("[y/N]").count(), 1, "{}", output.transcript);
        assert_eq!((output.exit, patches(&server)), (exit, written), "{answer:?} {}", output.stderr);
        assert_eq!(output.stderr.ends_with("error: not confirmed; nothing was written\n"), exit == 1);
    }
}

#[tokio::test]
async fn the_errors_of_other_targets_are_printed_though_the_answer_is_no() {
    let server = Cluster::recorded("shop").start();
    let args = ["undo", "deployment/web", "statefulset/db", "deployment/typo"];
    let output = at_terminal(server.command(args), "n\n").await;
    let errors: Vec<_> = output.stderr.lines().filter_map(|line| line.split_once("error: ")).collect();
    assert_eq!(errors.len(), 2, "{}", output.transcript);
    assert!(errors[0].1.starts_with("no deployment \"typo\" in namespace "), "{}", output.transcript);
    assert_eq!(errors[1].1, "not confirmed; nothing was written");
    assert_eq!((output.exit, patches(&server)), (1, 0));
}

#[tokio::test]
async fn nothing_asks_without_a_terminal_and_with_yes() {
    let args = ["undo", "deployment/web", "statefulset/db"];
    for (more, has_terminal) in [(&[][..], false), (&["--yes"], true), (&["-y"], false)] {
        let server = Cluster::recorded("shop").start();
        let run = server.command(args).args(more);
        let output = if has_terminal { at_terminal(run, "n\n").await } else { run.run_async().await };
        assert!(!output.transcript.contains("[y/N]"), "{}", output.transcript);
        assert_eq!((output.exit, patches(&server)), (0, 2), "{more:?} {}", output.transcript);
    }
}

/// Each names its revision, so that it takes back the same after another release.
#[tokio::test]
async fn each_of_several_rollbacks_can_be_taken_back() {
    let server = Cluster::recorded("shop").start();
    let output = server.command(["undo", "deployment/web", "statefulset/db"]).run_async().await;
    let receipts: Vec<_> = output.stderr.lines().filter(|line| line.starts_with("to take ")).collect();
    assert_eq!(receipts.len(), 2, "{}", output.stderr);
    let pinned = ["deployment/web -n shop --to 5", "statefulset/db -n shop --to 4"]
        .map(|words| format!("to take this back: kubectl rollout2 undo {words}"));
    assert_eq!(receipts, pinned, "{}", output.stderr);
    let image = |key: &Key| object(&server.sim, key)["spec"]["template"].clone();
    let rolled_back = [image(&web()), image(&db())];
    for key in [web(), db()] {
        observe(&server.sim, &key);
    }
    for receipt in receipts {
        let command = receipt.split_once("rollout2 ").unwrap().1;
        server.command(command.split(' ')).run_async().await.ends(0);
    }
    assert!(image(&web()) != rolled_back[0] && image(&db()) != rolled_back[1]);
}

#[tokio::test]
async fn a_template_without_a_revision_cannot_be_taken_back() {
    let server = Cluster::recorded("shop").start();
    edit(&server.sim, &web(), |web| {
        web["spec"]["paused"] = true.into();
        web["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/web:7".into();
    });
    let args = ["undo", "deployment/web", "statefulset/db", "--resume"];
    let output = server.command(args).run_async().await;
    let receipts: Vec<_> = output.stderr.lines().filter(|line| line.starts_with("to take ")).collect();
    assert_eq!((receipts.len(), output.exit, patches(&server)), (1, 0, 2), "{}", output.stderr);
    assert!(
        receipts[0].starts_with("to take this back: kubectl rollout2 undo statefulset/db "),
        "{receipts:?}"
    );
}

/// A type alone means healthy workloads too, so that a script has to say that it means them.
#[tokio::test]
async fn a_type_alone_needs_an_answer() {
    for (more, exit, written) in [
        (&[][..], 2, 0),
        (&["-l", "app=web"], 0, 1),
        (&["--yes"], 0, 2),
        (&["--dry-run"], 0, 0),
        (&["--failed"], 1, 0), // nothing of checkout serves
    ] {
        let server = Cluster::recorded("shop").start();
        let output = server.command(["undo", "deployment"]).args(more).run_async().await;
        assert_eq!((output.exit, patches(&server)), (exit, written), "{more:?} {}", output.transcript);
        let is_refused = output.stderr.starts_with("error: a type alone means all of its workloads");
        assert_eq!(is_refused, exit == 2, "{}", output.stderr);
        assert_eq!(server.sim.requests().is_empty(), exit == 2, "a usage mistake never reaches the cluster");
    }
    let server = Cluster::recorded("shop").start();
    let output = at_terminal(server.command(["undo", "statefulset"]), "n\n").await;
    let question = output.transcript.find("roll back 1 workload? ");
    let shown = output.transcript.find("statefulset/db  revision ");
    assert!(shown.is_some() && shown < question, "{}", output.transcript);
    assert_eq!((output.exit, patches(&server)), (1, 0));
}

/// Of 17 workloads 7 failed and 3 are stuck; one of them has a single revision.
#[tokio::test]
async fn what_failed_is_rolled_back_to_what_served() {
    let server = Cluster::recorded("broken").start();
    let run = || server.command(["undo", "--failed", "-n", "broken"]);
    let asked = at_terminal(run(), "n\n").await;
    assert_eq!(asked.transcript.matches("[y/N]").count(), 1, "{}", asked.transcript);
    asked.reports("roll back 10 workloads? [y/N] "); // one of the ten cannot be rolled back
    assert_eq!((asked.exit, patches(&server)), (1, 0));
    let output = run().run_async().await;
    let rolled_back: Vec<_> = output.stdout.lines().filter(|line| line.ends_with(" rolled back")).collect();
    let expected = [
        "daemonset.apps/ds-bad",
        "daemonset.apps/ds-surge",
        "deployment.apps/badimage",
        "deployment.apps/config",
        "deployment.apps/crash",
        "deployment.apps/notready",
        "deployment.apps/oom",
        "deployment.apps/unschedulable",
        "statefulset.apps/sts-bad",
        "statefulset.apps/sts-parallel",
    ]
    .map(|workload| format!("{workload} rolled back"));
    assert_eq!(rolled_back, expected, "{}", output.transcript);
    output.reports("error: deployment/fresh has only revision 1");
    assert_eq!((output.exit, patches(&server)), (1, 10), "{}", output.transcript);
    let healthy = server.command(["undo", "--failed", "-n", "broken", "-l", "app=zero"]).run_async().await;
    assert_eq!(healthy.stderr, "no rollout is failed or stuck: nothing is rolled back\n");
    assert_eq!((healthy.exit, healthy.stdout.as_str()), (0, ""));
}

/// Nothing would be done after an answer.
#[tokio::test]
async fn nothing_is_asked_where_nothing_can_be_rolled_back() {
    let server = Cluster::recorded("broken").start();
    for args in [&["undo", "--failed"][..], &["undo", "deployment", "--to", "1"]] {
        let run = server.command(args).args(["-n", "broken", "-l", "app=fresh"]);
        let output = at_terminal(run, "y\n").await;
        assert!(!output.transcript.contains("[y/N]"), "{}", output.transcript);
        let errors = output.stderr.matches("deployment/fresh has only revision 1").count();
        assert_eq!(errors, usize::from(args.contains(&"--failed")), "once: {}", output.transcript);
        output.ends(u8::from(args.contains(&"--failed")));
    }
    assert_eq!(patches(&server), 0);
}

#[tokio::test]
async fn restart_pause_and_resume_never_ask() {
    for verb in ["restart", "pause", "resume"] {
        let server = Cluster::recorded("shop").start();
        let output = at_terminal(server.command([verb, "deployment/web", "statefulset/db"]), "n\n").await;
        assert!(!output.transcript.contains("[y/N]"), "{}", output.transcript);
        output.ends(0);
    }
}

/// Revision 2 was rolled back to revision 1, which is revision 3 now.
#[tokio::test]
async fn what_was_undone_just_before_is_confirmed() {
    let undone = Key::new(&DEPLOYMENTS, "broken", "undone");
    let args = ["undo", "deployment/undone", "-n", "broken"];
    let warning = "warning: revision 2 was just rolled back (to 3, was 1); this brings it back\n";
    for (more, answer, exit) in [(&[][..], "n\n", 1), (&[], "y\n", 0), (&["--yes"], "", 0)] {
        let server = Cluster::recorded("broken").start();
        let before = object(&server.sim, &undone);
        let output = at_terminal(server.command(args).args(more), answer).await;
        assert!(output.stderr.starts_with(warning), "{}", output.stderr);
        let asks = output.stderr.contains("roll deployment/undone back to revision 2? [y/N] ");
        assert_eq!((asks, output.exit), (more.is_empty(), exit), "{}", output.stderr);
        assert_eq!(object(&server.sim, &undone) == before, exit == 1);
    }
    let server = Cluster::recorded("broken").start();
    let output = server.command(args).run_async().await;
    assert!(output.stderr.starts_with(warning) && !output.stderr.contains("[y/N]"), "{}", output.stderr);
    observe(&server.sim, &undone);
    let output =
        at_terminal(server.command(["undo", "deployment/undone", "-n", "broken", "--to", "3"]), "").await;
    assert_eq!(output.exit, 0, "the user chose the revision: {}", output.stderr);
}

/// In a script that counts back after an automatic rollback, these are what failed. kubectl has no such words.
#[tokio::test]
async fn a_script_does_not_count_back_to_what_was_undone_just_before() {
    let undone = Key::new(&DEPLOYMENTS, "broken", "undone");
    let error = "error: revision 2 of deployment/undone was rolled back to 3, and this brings it back; nothing was written\n\
                 hint: add --yes, or name the revision: kubectl rollout2 undo deployment/undone -n broken --to 2\n";
    for (more, is_refused, writes) in [
        (&["--to", "previous"][..], true, false),
        (&["--to=-1"], true, false),
        (&["--to=-1", "--dry-run"], true, false),
        (&["--to=-1", "--dry-run=server"], true, false),
        (&["--to", "previous", "--yes"], false, true),
        (&["--to", "2"], false, true),
        (&["--to", "0"], false, true), // as without a revision
        (&[], false, true),
    ] {
        let server = Cluster::recorded("broken").start();
        let before = object(&server.sim, &undone);
        let run = server.command(["undo", "deployment/undone", "-n", "broken"]).args(more);
        let output = run.run_async().await;
        let ended = (output.exit, output.stderr.ends_with(error), object(&server.sim, &undone) != before);
        assert_eq!(ended, (u8::from(is_refused), is_refused, writes), "{more:?} {}", output.transcript);
    }
}

/// No pod of revision 2 of `crash` is ready.
#[tokio::test]
async fn a_revision_without_a_ready_pod_is_confirmed() {
    let server = Cluster::recorded("broken").start();
    server.command(["undo", "deployment/crash", "-n", "broken"]).run_async().await.ends(0);
    observe(&server.sim, &Key::new(&DEPLOYMENTS, "broken", "crash"));
    let output =
        at_terminal(server.command(["undo", "deployment/crash", "-n", "broken", "--to", "2"]), "n\n").await;
    output.reports("warning: revision 2 has pods that cannot start: ");
    output.reports("roll deployment/crash back to revision 2? [y/N] ");
    output.ends(1);
}

/// Revision 1 of `crash` serves, revision 2 cannot start, and neither can the next one.
#[tokio::test]
async fn a_rollback_past_the_stable_revision_is_confirmed() {
    let crash = Key::new(&DEPLOYMENTS, "broken", "crash");
    for (more, asks) in [(&[][..], true), (&["--to", "stable"], false)] {
        let server = Cluster::recorded("broken").start();
        let release = image_change("web:3-bad");
        let author = Author::new("kubectl-set");
        server.sim.store(|store| store.edit(&crash, Part::Object, &author, release).map(drop).unwrap());
        Controllers::new().run_for(&server.sim, Duration::from_secs(30));
        let args = ["undo", "deployment/crash", "-n", "broken"];
        let output = at_terminal(server.command(args).args(more), "n\n").await;
        let warning = "warning: the stable revision is 1, not 2; --to 1 rolls back to it\n";
        assert_eq!(output.stderr.contains(warning), asks, "{}", output.transcript);
        assert_eq!(output.stderr.contains("[y/N]"), asks, "{}", output.transcript);
        assert_eq!(output.exit, u8::from(asks), "{}", output.transcript);
    }
}

/// With only stdout in a pipe, the question follows the changes, on stderr.
#[tokio::test]
async fn the_changes_are_shown_where_the_question_is() {
    let server = Cluster::recorded("broken").start();
    let run = server.command(["undo", "deployment/undone", "-n", "broken"]).piped_stdout();
    let output = at_terminal(run, "n\n").await;
    let changes = output.stderr.find("deployment/undone  revision 3 -> 2");
    let question = output.stderr.find("[y/N]");
    assert!(changes.is_some() && changes < question, "{}", output.transcript);
    assert_eq!(output.stdout, "");
}

/// A restart has a receipt too. kubectl prints none.
#[tokio::test]
async fn the_receipt_takes_a_restart_back() {
    for (target, key) in [("deployment/web", web()), ("statefulset/db", db()), ("daemonset/agent", agent())] {
        let server = Cluster::recorded("shop").start();
        let output = server.command(["restart", target]).run_async().await;
        let receipt = output.stderr.lines().last().unwrap();
        let command = receipt.strip_prefix("to take this back: kubectl rollout2 ").unwrap_or_default();
        assert!(command.starts_with(&format!("undo {target} -n shop --to sha256:")), "{}", output.stderr);
        observe(&server.sim, &key);
        let back = server.command(command.split(' ')).run_async().await;
        assert!(back.stdout.ends_with(" rolled back\n"), "{}", back.transcript);
        observe(&server.sim, &key);
        for silent in ["--dry-run", "--dry-run=server"] {
            let output = server.command(["restart", target, silent]).run_async().await;
            assert!(!output.stderr.contains("to take this back"), "{silent}: {}", output.stderr);
        }
    }
}

/// The template before the restart is not the one that was read.
#[tokio::test]
async fn a_restart_beside_another_release_has_no_command_that_takes_it_back() {
    let server = Cluster::recorded("shop").start();
    let release = external_change(web(), image_change("shop/web:9"));
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), release).once());
    let output = server.command(["restart", "deployment/web"]).run_async().await;
    assert!(!output.stderr.contains("to take this back"), "{}", output.transcript);
    let note = "note: the template of deployment/web was changed while its restart was prepared; its revisions: \
                kubectl rollout2 history deployment/web -n shop\n";
    output.reports(note).ends(0);
    let image = &object(&server.sim, &web())["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "shop/web:9");
}

/// The receipt also works after the rollback got another number.
#[tokio::test]
async fn the_receipt_takes_the_rollback_back() {
    for (target, key, number) in
        [("deployment/web", web(), 5), ("statefulset/db", db(), 4), ("daemonset/agent", agent(), 4)]
    {
        let server = Cluster::recorded("shop").start();
        let output = server.command(["undo", target]).run_async().await;
        let receipt = output.stderr.lines().last().unwrap();
        let command = receipt.strip_prefix("to take this back: kubectl rollout2 ").unwrap_or_default();
        assert_eq!(command, format!("undo {target} -n shop --to {number}"), "{}", output.stderr);
        observe(&server.sim, &key);
        let again = server.command(command.split(' ')).run_async().await;
        again.ends(0);
        assert!(again.stdout.ends_with(" rolled back\n"), "{}", again.transcript);
        assert_eq!(patches(&server), 2);
    }
    let server = Cluster::recorded("shop").start();
    let template = |server: &Cluster| object(&server.sim, &web())["spec"]["template"].clone();
    let before = template(&server);
    let output = server.command(["undo", "deployment/web"]).run_async().await;
    assert_ne!(template(&server), before);
    observe(&server.sim, &web());
    let command = output.stderr.lines().last().unwrap().split_once("rollout2 ").unwrap().1;
    server.command(command.split(' ')).run_async().await.ends(0);
    assert_eq!(template(&server), before);
    observe(&server.sim, &web());
    let dry = server.command(["undo", "deployment/web", "--dry-run=server"]).run_async().await;
    assert!(!dry.stderr.contains("to take this back"), "{}", dry.stderr);
}
