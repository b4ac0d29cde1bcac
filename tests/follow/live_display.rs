//! Whole runs on a terminal: redrawn frames, and the final screen.

use harness::{Ended, Run};
use rollout2::world::Terminal;
use serde_json::json;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{DEPLOYMENTS, PODS};
use simcluster::{Rule, User, Verb};

use harness::lab::{Lab, START};

const SIZE: Terminal = Terminal { width: 80, height: 24 };

/// A terminal with the last lines of a shell.
fn terminal(size: Terminal) -> avt::Terminal {
    let mut terminal = avt::Terminal::with_scrollback(size.width.into(), size.height.into(), None).unwrap();
    terminal.feed("$ kubectl apply\r\n");
    terminal
}

/// The screen after each write, scrollback included.
fn screens(ended: &Ended) -> Vec<Vec<String>> {
    screens_on(SIZE, ended)
}

fn screens_on(size: Terminal, ended: &Ended) -> Vec<Vec<String>> {
    let mut terminal = terminal(size);
    let starts = ended.transcript.match_indices("\r\x1b[").map(|(start, _)| start);
    let starts: Vec<_> = std::iter::once(0).chain(starts).chain([ended.transcript.len()]).collect();
    let screens = starts.windows(2).map(|ends| {
        terminal.feed(ended.transcript[ends[0]..ends[1]].replace('\n', "\r\n").as_str());
        let lines = terminal.screen().text();
        lines.iter().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
    });
    screens.collect()
}

async fn drawn(lab: &Lab, user: &str, words: &str) -> Ended {
    drawn_on(SIZE, lab, user, words).await
}

async fn drawn_on(size: Terminal, lab: &Lab, user: &str, words: &str) -> Ended {
    let words = ["status"].into_iter().chain(words.split_whitespace());
    let client = kube::Client::new(lab.cluster.service_for(user), "default");
    Run::of(words).at(START.parse().unwrap()).terminal(size.width, size.height).run_through(client).await
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_drawn_in_place_until_it_ends() {
    let lab = Lab::new();
    let web = lab.deployment(10, &json!({"minReadySeconds": 3}));
    lab.pass(60).await;
    lab.image_when_followed(&web, "app:2.0");
    let ended = drawn(&lab, "admin", "deployment/web").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    let screens = screens(&ended);
    assert!(screens.len() > 10, "{screens:#?}");
    for screen in &screens {
        let heads = screen.iter().filter(|line| line.starts_with("deployment.apps/web"));
        assert_eq!((screen[0].as_str(), heads.count()), ("$ kubectl apply", 1), "{screen:#?}");
    }
    let says = |words: &str| screens.iter().any(|screen| screen.iter().any(|line| line.contains(words)));
    for words in ["revision 1 -> 2", "about ", " left", "minimum 8", "starting", "not yet available"] {
        assert!(says(words), "{words}: {screens:#?}");
    }
    insta::assert_snapshot!(screens.last().unwrap().join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_failure_stays_on_the_screen_and_is_printed_on_stderr() {
    let lab = Lab::new();
    let web = lab.deployment(4, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    let ended = drawn(&lab, "admin", "deployment/web --fail-fast=10s").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    assert!(
        ended.stderr.starts_with("\x1b[31merror:\x1b[0m deployment.apps/web failed: "),
        "{}",
        ended.stderr
    );
    insta::assert_snapshot!(screens(&ended).last().unwrap().join("\n"));
}

#[tokio::test(start_paused = true)]
async fn notes_are_printed_above_the_frame() {
    let lab = Lab::new();
    let resources = ["deployments", "replicasets", "pods", "events"];
    let rules = vec![Rule::allow(&["get", "list", "watch"], &resources)];
    lab.cluster.users(|users| users.add(User::limited("gina", rules)));
    let web = lab.deployment(4, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-crash");
    let ended = drawn(&lab, "gina", "deployment/web --fail-fast=30s").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    insta::assert_snapshot!(screens(&ended).last().unwrap().join("\n"));
}

/// The revision of a rollback is printed at every width.
#[tokio::test(start_paused = true)]
async fn a_rollback_is_drawn_until_it_ends() {
    let lab = Lab::new();
    let web = lab.deployment(10, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-crash");
    let size = Terminal { width: 40, height: 24 };
    let ended = drawn_on(size, &lab, "admin", "deployment/web --undo-on-failure --fail-fast=10s").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    let screens = screens_on(size, &ended);
    let words = |screen: &Vec<String>| screen.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let goes = |screen: &Vec<String>| words(screen).contains("rolling back to 1: progressing");
    assert!(screens.iter().any(goes), "{screens:#?}");
    insta::assert_snapshot!(screens.last().unwrap().join("\n"));
}

/// The last frame shows the counters that the verdict is based on, whatever pods were read by then.
#[tokio::test(start_paused = true)]
async fn a_rolled_back_target_is_not_drawn_with_earlier_pods() {
    let lab = Lab::new();
    let web = lab.deployment(10, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-crash");
    lab.pass(20).await;
    lab.cluster.fault(Fault::on(Requests::of(Verb::Watch, &PODS), FaultAction::SilenceWatch(0)));
    let ended = drawn(&lab, "admin", "deployment/web --undo-on-failure --fail-fast=5s").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    let screens = screens(&ended);
    let last = screens.last().unwrap().join("\n");
    assert!(last.contains("rolled back to 1") && last.contains("10 pods  10 ready"), "{last}");
    assert!(!last.contains("failing"), "{last}");
}

/// With many targets a failed row shows one word, and the causes below explain it.
#[tokio::test(start_paused = true)]
async fn a_failed_target_among_many_has_a_row_with_its_cause() {
    let lab = Lab::new();
    let services: Vec<_> = (0..8)
        .map(|number| lab.hands().workload(&DEPLOYMENTS, &format!("svc-{number}"), &json!({"replicas": 3})))
        .collect();
    lab.pass(60).await;
    for (number, service) in services.iter().enumerate() {
        lab.hands().image(service, if number == 2 { "app:2.0-bad" } else { "app:2.0-slow" });
    }
    let size = Terminal { width: 80, height: 8 };
    let ended = drawn_on(size, &lab, "admin", "deployment --fail-fast=5s").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    let screens = screens_on(size, &ended);
    let row = |line: &&String| {
        line.starts_with("deploy/svc-2  failed ") && line.contains("! app: ImagePullBackOff")
    };
    assert!(screens.iter().any(|screen| screen.iter().any(|line| row(&line))), "{screens:#?}");
}

/// Lines instead of frames: without a terminal, on a dumb terminal, and on request.
#[tokio::test(start_paused = true)]
async fn lines_are_printed_where_frames_cannot_be_drawn() {
    let lab = Lab::new();
    lab.deployment(2, &json!({}));
    lab.pass(60).await;
    let status = |words: &[&'static str]| Run::of(words.to_vec()).at(START.parse().unwrap());
    let on_terminal = |words: &[&'static str]| status(words).terminal(80, 24);
    let follow = ["status", "deployment/web"];
    let plain = ["status", "deployment/web", "--plain"];
    let json = ["status", "deployment/web", "-o", "json"];
    let compat = ["status", "deployment/web", "--compat"];
    for (run, is_drawn) in [
        (on_terminal(&follow), true),
        (on_terminal(&follow).env("NO_COLOR", "1"), true),
        (status(&follow), false),
        (status(&follow).env("CLICOLOR_FORCE", "1"), false),
        (on_terminal(&follow).env("CI", "true"), false),
        (on_terminal(&follow).env("TERM", "dumb"), false),
        (on_terminal(&plain), false),
        (on_terminal(&json), false),
        (on_terminal(&compat), false),
    ] {
        let client = kube::Client::new(lab.cluster.service_for("admin"), "default");
        let name = format!("{run:?}");
        let ended = run.run_through(client).await;
        assert_eq!(ended.exit, 0, "{name}: {}", ended.transcript);
        let frame = ended.stdout.contains("deployment.apps/web   revision 1   complete")
            || ended.stdout.contains("deployment.apps/web\u{1b}[0m   revision 1   ");
        assert_eq!(frame, is_drawn, "{name}: {}", ended.transcript);
    }
}
