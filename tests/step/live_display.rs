//! The batches, drawn on a terminal.

use harness::lab::{Lab, START};
use harness::{Ended, Run};
use serde_json::json;

use crate::setup::changed;

async fn drawn(lab: &Lab, words: &str, (width, height): (u16, u16)) -> Ended {
    let client = kube::Client::new(lab.cluster.service(), "default");
    Run::of(words.split_whitespace())
        .at(START.parse().unwrap())
        .terminal(width, height)
        .run_through(client)
        .await
}

/// What is on the terminal in the end, what scrolled away included.
fn last_screen(ended: &Ended, (width, height): (u16, u16)) -> String {
    let mut terminal = avt::Terminal::with_scrollback(width.into(), height.into(), None).unwrap();
    terminal.feed(ended.transcript.replace('\n', "\r\n").as_str());
    let lines = terminal.screen().text();
    let lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n").trim_end().to_owned()
}

#[tokio::test(start_paused = true)]
async fn the_table_is_redrawn_in_place_and_the_outcome_is_below_it() {
    let size = (80, 24);
    let (lab, _) = changed(5, &json!({})).await;
    let ended = drawn(&lab, "step statefulset/db --by 2 --all --soak 5m", size).await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    for words in ["0 of 2 available", "soaking", "of 5m", "waiting"] {
        assert!(ended.transcript.contains(words), "{words}");
    }
    insta::assert_snapshot!(last_screen(&ended, size));
}

#[tokio::test(start_paused = true)]
async fn hidden_batches_are_counted() {
    let size = (60, 10);
    let (lab, _) = changed(20, &json!({})).await;
    let ended = drawn(&lab, "step statefulset/db --to 5", size).await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert!(ended.transcript.contains("batches before them"), "{}", ended.transcript);
    assert!(ended.transcript.contains("batches after them"), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_failure_stays_on_the_screen_with_its_cause() {
    let size = (80, 24);
    let (lab, db) = changed(3, &json!({})).await;
    lab.hands().image(&db, "app:3.0-crash");
    lab.pass(5).await;
    let ended = drawn(&lab, "step statefulset/db --all", size).await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    insta::assert_snapshot!(last_screen(&ended, size));
}
