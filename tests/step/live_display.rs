//! The live display of `step` on a terminal.

use harness::prelude::*;

use crate::step::setup::changed;

async fn run_on_terminal(cluster: &Cluster, args: &str, (width, height): (u16, u16)) -> Output {
    cluster.command(args.split_whitespace()).terminal(width, height).run_async().await
}

/// Returns the final content of the terminal with its scrollback.
fn last_screen(output: &Output, (width, height): (u16, u16)) -> String {
    let mut terminal = avt::Terminal::with_scrollback(width.into(), height.into(), None).unwrap();
    terminal.feed(output.transcript.replace('\n', "\r\n").as_str());
    let lines = terminal.screen().text();
    let lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n").trim_end().to_owned()
}

#[tokio::test(start_paused = true)]
async fn the_table_is_redrawn_in_place_and_the_outcome_is_below_it() {
    let size = (80, 24);
    let (cluster, _) = changed(5, &json!({})).await;
    let output = run_on_terminal(&cluster, "step statefulset/db --by 2 --all --soak 5m", size).await;
    output.ends(0);
    for text in ["0 of 2 available", "soaking", "of 5m", "waiting"] {
        assert!(output.transcript.contains(text), "{text}");
    }
    insta::assert_snapshot!(last_screen(&output, size));
}

/// After Ctrl-Z and `fg` (18, SIGCONT) the shell has written below the last frame.
#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_plan_is_drawn_anew_after_the_process_was_stopped() {
    let size = (80, 24);
    let (cluster, _) = changed(3, &json!({})).await;
    let (channel, numbers) = tokio::sync::watch::channel(0);
    tokio::spawn(async move {
        for signal in [18, 2] {
            tokio::time::sleep(Duration::from_secs(10)).await;
            channel.send(signal).unwrap();
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
    });
    let args = "step statefulset/db --by 1 --all --soak 5m";
    let run = cluster.command(args.split(' ')).terminal(size.0, size.1).signals(numbers);
    let output = run.run_async().await;
    output.ends(130);
    let screen = last_screen(&output, size);
    assert_eq!(screen.matches("statefulset/db   revision").count(), 2, "{screen}");
}

#[tokio::test(start_paused = true)]
async fn hidden_batches_are_counted() {
    let size = (60, 10);
    let (cluster, _) = changed(20, &json!({})).await;
    let output = run_on_terminal(&cluster, "step statefulset/db --to 5", size).await;
    output.ends(0);
    assert!(output.transcript.contains("batches before them"), "{}", output.transcript);
    assert!(output.transcript.contains("batches after them"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_failure_stays_on_the_screen_with_its_cause() {
    let size = (80, 24);
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:3.0-crash");
    cluster.advance(5).await;
    let output = run_on_terminal(&cluster, "step statefulset/db --all", size).await;
    output.ends(4);
    insta::assert_snapshot!(last_screen(&output, size));
}

/// The restored pods of a Deployment fill the slots of the failed ones.
#[tokio::test(start_paused = true)]
async fn a_rolled_back_plan_is_drawn_with_the_pods_of_the_failed_revision() {
    let size = (80, 24);
    let (cluster, web) = Cluster::simulated().deployment(4, &json!({})).await;
    cluster.run("pause deployment/web").await.ends(0);
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(5).await;
    let output = run_on_terminal(&cluster, "step deployment/web --by 1 --all --on-failure undo", size).await;
    output.ends(4);
    let screen = last_screen(&output, size);
    cluster.advance(60).await; // the command does not wait for the failed pod to terminate
    let pods = cluster
        .sim
        .store(|store| store.list(&PODS, None).map(|(key, _)| key.name.clone()).collect::<Vec<_>>());
    assert!(pods.len() == 4 && pods.iter().all(|name| !screen.contains(name.as_str())), "{pods:?}\n{screen}");
    assert!(screen.contains("deployment/web   failed, rolled back to revision 1\n"), "{screen}");
    assert!(screen.contains("batch 1  canary") && !screen.contains("revision 3"), "{screen}");
    assert!(!screen.contains("batch 2"), "a batch that did not begin\n{screen}");
}
