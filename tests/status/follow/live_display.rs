//! The live display of complete runs: the redrawn frames and the final screen.

use harness::prelude::*;
use harness::terminal::{self, SHELL_LINE};
use rollout2::world::Terminal;

use harness::cluster::START;

const SIZE: Terminal = Terminal { width: 80, height: 24 };

/// Returns the screen and the scrollback after each write.
fn screens(output: &Output) -> Vec<Vec<String>> {
    terminal::screens(output, SIZE.width, SIZE.height)
}

async fn run_on_terminal(cluster: &Cluster, user: &str, args: &str) -> Output {
    run_on_terminal_of(SIZE, cluster, user, args).await
}

async fn run_on_terminal_of(size: Terminal, cluster: &Cluster, user: &str, args: &str) -> Output {
    let args = ["status"].into_iter().chain(args.split_whitespace());
    cluster.command_as(user, args).terminal(size.width, size.height).run_async().await
}

/// Runs a command on a terminal, which gets these signals 10 and 20 seconds after its start.
async fn signalled(cluster: &Cluster, args: [&str; 3], signals: [i32; 2]) -> Output {
    let (channel, numbers) = tokio::sync::watch::channel(0);
    tokio::spawn(async move {
        for signal in signals {
            tokio::time::sleep(Duration::from_secs(10)).await;
            channel.send(signal).unwrap();
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
    });
    let run = cluster.command(args).terminal(SIZE.width, SIZE.height).signals(numbers);
    run.run_async().await
}

/// After Ctrl-Z and `fg` (18, SIGCONT) the shell has written below the last frame, and only changed lines were redrawn, at
/// the old place. Ctrl-C (2) is echoed below the frame.
#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_frame_is_drawn_anew_after_the_process_was_stopped() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-notready");
    for (args, heading) in [
        (["status", "deployment/web", "--timeout=1m"], "deployment/web   rev"),
        (["list", "deploy", "--watch"], "WORKLOAD"),
    ] {
        let output = signalled(&cluster, args, [18, 2]).await;
        output.ends(130);
        let screens = screens(&output);
        let drawn = |screen: &[String]| screen.iter().filter(|line| line.contains(heading)).count();
        assert_eq!(drawn(screens.last().unwrap()), 2, "{screens:#?}");
        assert!(screens.iter().all(|screen| screen[0] == SHELL_LINE), "{screens:#?}");
        assert!(output.transcript.contains("\r\u{1b}[K"), "{:?}", output.transcript);
    }
}

/// `list` printed 70s for what the live display called 3s: the one counted from the start of the rollout, the other from the
/// start of the command.
#[tokio::test(start_paused = true)]
async fn the_age_of_a_state_is_that_of_list() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-notready");
    cluster.advance(70).await;
    let output = run_on_terminal(&cluster, "admin", "deployment/web --timeout 3s").await;
    let screens = screens(&output);
    let first = screens.iter().find_map(|screen| screen.iter().find(|line| line.contains("progressing")));
    let age = first.unwrap().rsplit("   ").next().unwrap();
    let listed = cluster.run("list deployment").await;
    let since = listed.stdout.lines().nth(1).unwrap().split_whitespace().nth(5).unwrap();
    let seconds = |text: &str| text.trim_end_matches('s').parse::<i64>().unwrap_or(-1);
    assert!((seconds(since) - seconds(age)).abs() <= 5, "{first:?}\n{}", listed.stdout);
}

/// `complete   0s` would read as the age of the state.
#[tokio::test(start_paused = true)]
async fn a_result_without_a_wait_has_no_duration() {
    let (cluster, _) = Cluster::simulated().deployment(3, &json!({})).await;
    let screens = screens(&run_on_terminal(&cluster, "admin", "deployment/web").await);
    let last = screens.last().unwrap();
    assert_eq!(last[1], "deployment/web   revision 1   complete", "{last:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_drawn_in_place_until_it_ends() {
    let (cluster, web) = Cluster::simulated().deployment(10, &json!({"minReadySeconds": 3})).await;
    cluster.set_image_on_first_read(&web, "app:2.0");
    let output = run_on_terminal(&cluster, "admin", "deployment/web").await;
    output.ends(0);
    let screens = screens(&output);
    assert!(screens.len() > 10, "{screens:#?}");
    for screen in &screens {
        let heads = screen.iter().filter(|line| line.starts_with("deployment/web"));
        assert_eq!((screen[0].as_str(), heads.count()), (SHELL_LINE, 1), "{screen:#?}");
    }
    let shows = |text: &str| screens.iter().any(|screen| screen.iter().any(|line| line.contains(text)));
    for text in ["revision 1 -> 2", "about ", " left", "minimum 8", "starting", "not yet available"] {
        assert!(shows(text), "{text}: {screens:#?}");
    }
    insta::assert_snapshot!(screens.last().unwrap().join("\n"));
}

/// A wave that is ready is not over before `minReadySeconds`.
#[tokio::test(start_paused = true)]
async fn the_estimate_uses_the_waves_that_were_measured() {
    let cluster = Cluster::simulated().start();
    let rolling = json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
    let spec = json!({"minReadySeconds": 300, "progressDeadlineSeconds": 3600, "strategy": rolling});
    let web = cluster.deployment(4, &spec);
    cluster.advance(400).await;
    cluster.set_image_on_first_read(&web, "app:2.0");
    let output = run_on_terminal(&cluster, "admin", "deployment/web").await;
    let screens = screens(&output);
    let heads = screens.iter().flatten().filter_map(|line| line.split_once("about "));
    let estimates: Vec<&str> = heads.filter_map(|(_, rest)| Some(rest.split_once(" left")?.0)).collect();
    assert_eq!(estimates.first(), Some(&"10m"), "{estimates:?}");
    assert!(estimates.contains(&"5m"), "{estimates:?}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_stays_on_the_screen_and_is_printed_on_stderr() {
    let (cluster, web) = Cluster::simulated().deployment(4, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-bad");
    let output = run_on_terminal(&cluster, "admin", "deployment/web --fail-fast=10s").await;
    output.ends(4);
    assert!(output.stderr.starts_with("\x1b[31merror:\x1b[0m deployment/web failed: "), "{}", output.stderr);
    insta::assert_snapshot!(screens(&output).last().unwrap().join("\n"));
}

#[tokio::test(start_paused = true)]
async fn notes_are_printed_above_the_frame() {
    let cluster = Cluster::simulated().start();
    let resources = ["deployments", "replicasets", "pods", "events"];
    let rules = vec![Rule::allow(&["get", "list", "watch"], &resources)];
    cluster.sim.users(|users| users.add(User::limited("gina", rules)));
    let web = cluster.deployment(4, &json!({}));
    cluster.advance(60).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    let output = run_on_terminal(&cluster, "gina", "deployment/web --fail-fast=30s").await;
    output.ends(4);
    insta::assert_snapshot!(screens(&output).last().unwrap().join("\n"));
}

/// The revision of a rollback is printed at every width.
#[tokio::test(start_paused = true)]
async fn a_rollback_is_drawn_until_it_ends() {
    let (cluster, web) = Cluster::simulated().deployment(10, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    let size = Terminal { width: 40, height: 24 };
    let output =
        run_on_terminal_of(size, &cluster, "admin", "deployment/web --undo-on-failure --fail-fast=10s").await;
    output.ends(4);
    let screens = terminal::screens(&output, size.width, size.height);
    let text = |screen: &Vec<String>| screen.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let rolls_back = |screen: &Vec<String>| text(screen).contains("rolling back to revision 1: progressing");
    assert!(screens.iter().any(rolls_back), "{screens:#?}");
    insta::assert_snapshot!(screens.last().unwrap().join("\n"));
}

/// The last frame shows the restored pods.
#[tokio::test(start_paused = true)]
async fn the_causes_of_a_failure_stay_above_the_rollback() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    let output = run_on_terminal(&cluster, "admin", "deployment/web --undo-on-failure --fail-fast=10s").await;
    output.ends(4);
    let screens = screens(&output);
    let last = screens.last().unwrap().join("\n");
    for text in ["app: crashed, exit 1", "app| ", "rolling back to revision 1, the stable revision"] {
        assert!(last.contains(text), "{text}: {last}");
    }
}

/// The last frame shows the counters of the verdict, even if the pods were read earlier.
#[tokio::test(start_paused = true)]
async fn a_rolled_back_target_is_not_drawn_with_earlier_pods() {
    let (cluster, web) = Cluster::simulated().deployment(10, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-crash");
    cluster.advance(20).await;
    cluster.sim.fault(Fault::on(Requests::of(Verb::Watch, &PODS), FaultAction::SilenceWatch(0)));
    let output = run_on_terminal(&cluster, "admin", "deployment/web --undo-on-failure --fail-fast=5s").await;
    output.ends(4);
    let screens = screens(&output);
    let last = screens.last().unwrap().join("\n");
    assert!(
        last.contains("rolled back to revision 1 (now 3)") && last.contains("10 pods  10 ready"),
        "{last}"
    );
    assert!(!last.contains("revision 3"), "the header has the revision that failed, or none: {last}");
    assert!(!last.contains("failing"), "{last}");
}

/// With many targets the row of a failed target shows one word, and the causes below explain it.
#[tokio::test(start_paused = true)]
async fn a_failed_target_among_many_has_a_row_with_its_cause() {
    let cluster = Cluster::simulated().start();
    let services: Vec<_> = (0..8)
        .map(|number| {
            cluster.editor().create_workload(&DEPLOYMENTS, &format!("svc-{number}"), &json!({"replicas": 3}))
        })
        .collect();
    cluster.advance(60).await;
    for (number, service) in services.iter().enumerate() {
        cluster.editor().set_image(service, if number == 2 { "app:2.0-bad" } else { "app:2.0-slow" });
    }
    let size = Terminal { width: 80, height: 8 };
    let output = run_on_terminal_of(size, &cluster, "admin", "deployment --fail-fast=5s").await;
    output.ends(4);
    let screens = terminal::screens(&output, size.width, size.height);
    let row = |line: &&String| {
        let parts = ["deployment/svc-2  ", "  failed: ", "! app: ImagePullBackOff"];
        line.starts_with(parts[0]) && parts.iter().all(|part| line.contains(part))
    };
    assert!(screens.iter().any(|screen| screen.iter().any(|line| row(&line))), "{screens:#?}");
}

/// Lines instead of frames: without a terminal, with `TERM=dumb`, and with `--plain`.
#[tokio::test(start_paused = true)]
async fn lines_are_printed_where_no_frame_can_be_drawn() {
    let (cluster, _) = Cluster::simulated().deployment(2, &json!({})).await;
    let status = |args: &[&'static str]| Run::of(args.to_vec()).at(START.parse().unwrap());
    let on_terminal = |args: &[&'static str]| status(args).terminal(80, 24);
    let follow = ["status", "deployment/web"];
    let plain = ["status", "deployment/web", "--plain"];
    let json = ["status", "deployment/web", "-o", "json"];
    for (run, is_drawn) in [
        (on_terminal(&follow), true),
        (on_terminal(&follow).env("NO_COLOR", "1"), true),
        (status(&follow), false),
        (status(&follow).env("CLICOLOR_FORCE", "1"), false),
        (on_terminal(&follow).env("CI", "true"), false),
        (on_terminal(&follow).env("TERM", "dumb"), false),
        (on_terminal(&plain), false),
        (on_terminal(&json), false),
    ] {
        let name = format!("{run:?}");
        let output = run.on(&cluster, "admin").run_async().await;
        assert_eq!(output.exit, 0, "{name}: {}", output.transcript);
        let frame = output.stdout.contains("deployment/web   revision 1   complete")
            || output.stdout.contains("deployment/web\u{1b}[0m   revision 1   ");
        assert_eq!(frame, is_drawn, "{name}: {}", output.transcript);
    }
}
