//! `--undo-on-failure`: failed targets are rolled back, and no others.

use harness::Ended;
use serde_json::{Value, json};
use simcluster::controller::Quota;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::patch::Format;
use simcluster::refusal::Refusal;
use simcluster::resource::{DAEMONSETS, DEPLOYMENTS, STATEFULSETS};
use simcluster::rules::{Author, Part};
use simcluster::{Controllers, Key, Rule, User, Verb};

use harness::lab::Lab;

fn template(lab: &Lab, key: &Key) -> Value {
    lab.cluster.store(|store| store.get(key).unwrap()["spec"]["template"].clone())
}

fn image(lab: &Lab, key: &Key) -> String {
    template(lab, key)["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
}

/// The number of write requests, whatever their result.
fn writes(lab: &Lab) -> usize {
    lab.cluster.requests().iter().filter(|request| request.method != "GET").count()
}

/// Checks a run that rolled nothing back: the exit code, the live image, and the reason.
fn left_as_it_is(lab: &Lab, key: &Key, ended: &Ended, live: &str, why: &str) {
    assert_eq!((ended.exit, image(lab, key).as_str()), (4, live), "{}", ended.transcript);
    let reason = format!("not rolled back: {why}");
    let times = ended.stderr.lines().filter(|said| said.contains(&reason)).count();
    assert_eq!(times, 1, "{reason}\n{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_failed_release_is_rolled_back() {
    let lab = Lab::new();
    let web = lab.deployment(4, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    let ended = lab.status("deployment/web --undo-on-failure").await;
    assert_eq!((ended.exit, image(&lab, &web).as_str()), (4, "app:1.0"), "{}", ended.transcript);
    assert_eq!(writes(&lab), 1);
    assert!(!ended.stdout.contains("successfully"), "stdout is about what failed: {}", ended.stdout);
    insta::assert_snapshot!(ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn every_failure_is_rolled_back() {
    let slow = json!({"progressDeadlineSeconds": 20});
    for (spec, image_of, words) in [
        (json!({}), "app:2.0-crash", "crash-loop"),
        (slow.clone(), "app:2.0-notready", "progress deadline"),
        (slow, "app:2.0-bad", "image-not-found"), // whichever comes first
    ] {
        let lab = Lab::new();
        let web = lab.deployment(3, &spec);
        lab.pass(60).await;
        lab.hands().image(&web, image_of);
        let ended = lab.status("deployment/web --undo-on-failure --fail-fast=10s").await;
        assert_eq!((ended.exit, image(&lab, &web).as_str()), (4, "app:1.0"), "{}", ended.transcript);
        let last = ended.stderr.lines().last().unwrap();
        assert!(last.ends_with("rolled back to revision 1 (now 3)"), "{}", ended.transcript);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.transcript);
    }
}

/// A DaemonSet has no progress deadline, so it gets ten minutes.
#[tokio::test(start_paused = true)]
async fn a_stalled_daemon_set_is_rolled_back_after_ten_minutes() {
    let lab = Lab::new();
    let agent = lab.daemon_set(&json!({}));
    lab.pass(60).await;
    lab.hands().image(&agent, "app:2.0-notready");
    let begun = tokio::time::Instant::now();
    let ended = lab.status("daemonset/agent --undo-on-failure").await;
    assert_eq!((ended.exit, image(&lab, &agent).as_str()), (4, "app:1.0"), "{}", ended.transcript);
    assert!((600..700).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert!(ended.stderr.contains("made no progress for 10m0s"), "{}", ended.transcript);
}

/// A broken pod blocks the rollback of a StatefulSet until it is deleted.
#[tokio::test(start_paused = true)]
async fn a_stateful_set_is_rolled_back_and_stuck_pods_are_replaced_on_request() {
    for (words, ended_well) in [("--replace-stuck-pods", true), ("", false)] {
        let lab = Lab::new();
        let db = lab.stateful_set(3, &json!({}));
        lab.pass(60).await;
        lab.hands().image(&db, "app:2.0-crash");
        lab.pass(20).await;
        let ended = lab.status(&format!("statefulset/db --undo-on-failure {words}")).await;
        assert_eq!((ended.exit, image(&lab, &db).as_str()), (4, "app:1.0"), "{}", ended.transcript);
        let last = ended.stderr.lines().last().unwrap();
        assert_eq!(last.ends_with("; rolled back to revision 1 (now 3)"), ended_well, "{}", ended.transcript);
        assert_eq!(ended.stderr.contains("deleting pod db-2"), ended_well, "{}", ended.transcript);
        assert_eq!(writes(&lab), if ended_well { 2 } else { 1 });
        if !ended_well {
            let hint =
                "hint: --replace-stuck-pods deletes stuck pods; by hand: kubectl delete pod db-2 -n default";
            assert_eq!(last, hint, "{}", ended.transcript);
            // It is printed with the cause too: the deadline is ten minutes away.
            let lines: Vec<_> = ended.stderr.lines().collect();
            let blocked = lines.iter().position(|line| line.contains("blocks the rollout until")).unwrap();
            assert_eq!(lines[blocked + 1], hint, "{}", ended.transcript);
            assert!(ended.stderr.contains("failed too: deadline"), "{}", ended.transcript);
            assert!(ended.stderr.contains("blocks the rollout until"), "{}", ended.transcript);
        }
    }
}

/// A rollout by another client is not rolled back, even if it fails.
#[tokio::test(start_paused = true)]
async fn a_later_external_release_is_not_rolled_back() {
    let lab = Lab::new();
    let web = lab.deployment(4, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    let theirs = web.clone();
    lab.later(10_000, move |hands| hands.image(&theirs, "app:3.0-bad"));
    let ended = lab.status("deployment/web --undo-on-failure").await;
    left_as_it_is(&lab, &web, &ended, "app:3.0-bad", "another client rolled out another revision");
    assert_eq!(writes(&lab), 0);

    let lab = Lab::new();
    let web = lab.deployment(4, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    let theirs = web.clone();
    lab.later(10_000, move |hands| hands.image(&theirs, "app:3.0"));
    let ended = lab.status("deployment/web --undo-on-failure").await;
    assert_eq!((ended.exit, image(&lab, &web).as_str()), (0, "app:3.0"), "{}", ended.transcript);
}

/// Another client writes between the decision and our write: before the refresh, and before the
/// patch arrives.
#[tokio::test(start_paused = true)]
async fn an_external_release_just_before_the_write_is_not_rolled_back() {
    for verb in [Verb::Get, Verb::Patch] {
        let lab = Lab::new();
        let web = lab.deployment(4, &json!({}));
        lab.pass(60).await;
        lab.hands().image(&web, "app:2.0-bad");
        lab.pass(60).await; // it fails at once
        let target = web.clone();
        let deploy = FaultAction::write_before(move |store| {
            let containers = json!([{"name": "app", "image": "app:3.0"}]);
            let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
            let _ = store.patch(&target, Part::Object, Format::Merge, &patch, &Author::new("colleague"));
        });
        let ended = {
            let fault = Fault::on(Requests::of(verb, &DEPLOYMENTS), deploy).once();
            // The first GET reads the workload, and the second is the refresh after the failure.
            lab.cluster.fault(if verb == Verb::Get { fault.after(2) } else { fault });
            lab.status("deployment/web --undo-on-failure --fail-fast=5s").await
        };
        let why = if verb == Verb::Get { "another client rolled out another revision" } else { "" };
        left_as_it_is(&lab, &web, &ended, "app:3.0", why);
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_failed_target_of_two_is_rolled_back() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    let agent = lab.daemon_set(&json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    lab.hands().image(&agent, "app:2.0-slow");
    let ended = lab.status("deployment/web daemonset/agent --undo-on-failure").await;
    let live = [image(&lab, &web), image(&lab, &agent)];
    assert_eq!(
        (ended.exit, live),
        (4, ["app:1.0", "app:2.0-slow"].map(str::to_owned)),
        "{}",
        ended.transcript
    );
    assert!(ended.stdout.contains("daemon set \"agent\" successfully rolled out"), "{}", ended.transcript);
    assert!(!ended.stdout.contains("\"web\" successfully"), "{}", ended.transcript);
    assert_eq!(writes(&lab), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_without_a_stable_revision() {
    let lab = Lab::new();
    let web = lab.hands().workload(&DEPLOYMENTS, "web", &json!({"replicas": 2}));
    lab.hands().image(&web, "app:1.0-bad");
    let ended = lab.status("deployment/web --undo-on-failure").await;
    left_as_it_is(&lab, &web, &ended, "app:1.0-bad", "no other revision had ready pods");
    assert_eq!(writes(&lab), 0);
}

/// After two bad releases in a row the rollback is to the revision that serves.
#[tokio::test(start_paused = true)]
async fn the_rollback_restores_the_stable_revision_not_the_previous_one() {
    for (resource, words) in [
        (&DEPLOYMENTS, "deployment/web"),
        (&DAEMONSETS, "daemonset/web"),
        (&STATEFULSETS, "statefulset/web --replace-stuck-pods"),
    ] {
        let lab = Lab::new();
        let web = lab.hands().workload(resource, "web", &json!({}));
        if resource.plural != "daemonsets" {
            lab.hands().patch(&web, &json!({"spec": {"replicas": 3}}));
        }
        lab.pass(60).await;
        lab.hands().image(&web, "app:2.0-bad");
        lab.pass(20).await;
        lab.hands().image(&web, "app:3.0-crash");
        let ended = lab.status(&format!("{words} --undo-on-failure")).await;
        assert_eq!((ended.exit, image(&lab, &web).as_str()), (4, "app:1.0"), "{}", ended.transcript);
        let last = ended.stderr.lines().last().unwrap();
        assert!(last.contains("rolled back to revision 1"), "{}", ended.transcript);
    }
}

/// A timeout, a deletion, a replaced revision and a refused request are not failures of the
/// rollout.
#[tokio::test(start_paused = true)]
async fn other_outcomes_than_failure_roll_nothing_back() {
    let released = async || {
        let lab = Lab::new();
        let web = lab.deployment(4, &json!({}));
        lab.pass(60).await;
        lab.hands().image(&web, "app:2.0-bad");
        (lab, web)
    };
    let (lab, web) = released().await;
    let ended = lab.status("deployment/web --undo-on-failure --timeout 20s").await;
    assert_eq!((ended.exit, image(&lab, &web).as_str()), (3, "app:2.0-bad"), "{}", ended.transcript);
    assert_eq!(writes(&lab), 0);

    let (lab, web) = released().await;
    lab.later(10_000, move |hands| hands.delete(&web));
    let ended = lab.status("deployment/web --undo-on-failure").await;
    assert_eq!((ended.exit, writes(&lab)), (1, 0), "{}", ended.transcript);

    let (lab, web) = released().await;
    let theirs = web.clone();
    lab.later(10_000, move |hands| hands.image(&theirs, "app:3.0"));
    let ended = lab.status("deployment/web --undo-on-failure --revision 2").await;
    left_as_it_is(&lab, &web, &ended, "app:3.0", "another client rolled out another revision");
    assert_eq!(writes(&lab), 0);

    let (lab, web) = released().await;
    let rules = ["get", "list", "watch"].map(|verb| Rule::allow(&[verb], &["*"]));
    lab.cluster.users(|users| users.add(User::limited("gina", rules.to_vec())));
    let ended = lab.status_as("gina", "deployment/web --undo-on-failure").await;
    left_as_it_is(&lab, &web, &ended, "app:2.0-bad", "");
    assert!(ended.stderr.contains("forbidden"), "{}", ended.transcript);
}

/// After a lost response the workload is read again: the change was applied.
#[tokio::test(start_paused = true)]
async fn an_unknown_write_result_is_resolved_by_reading() {
    let lab = Lab::new();
    let web = lab.deployment(4, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    lab.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::LoseAnswer).once());
    let ended = lab.status("deployment/web --undo-on-failure").await;
    assert_eq!((ended.exit, image(&lab, &web).as_str()), (4, "app:1.0"), "{}", ended.transcript);
    assert!(ended.stderr.contains("the change was applied"), "{}", ended.transcript);

    let lab = Lab::new();
    let web = lab.deployment(4, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    let refusal = FaultAction::Refuse(Refusal::with_status(500, "no"));
    lab.cluster.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), refusal));
    let ended = lab.status("deployment/web --undo-on-failure").await;
    left_as_it_is(&lab, &web, &ended, "app:2.0-bad", "");
}

#[tokio::test(start_paused = true)]
async fn a_failed_restart_is_rolled_back() {
    let lab = Lab::with(Controllers::new().quota("default", Quota { name: "q".into(), pods: 3 }));
    let web = lab.deployment(3, &json!({}));
    lab.pass(60).await;
    let before = template(&lab, &web);
    let ended = lab.run("restart deployment/web --wait --undo-on-failure --timeout 10m").await;
    assert_eq!((ended.exit, template(&lab, &web)), (4, before), "{}", ended.transcript);
    assert!(ended.stdout.starts_with("deployment.apps/web restarted\n"), "{}", ended.transcript);
    let last = ended.stderr.lines().last().unwrap();
    assert!(last.ends_with("rolled back to revision 1 (now 3)"), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn json_reports_the_rollback() {
    let lab = Lab::new();
    let web = lab.deployment(4, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    let ended = lab.status("deployment/web --undo-on-failure -o json").await;
    let lines: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    let started = of("rolling-back");
    assert_eq!(started.len(), 1, "{}", ended.stdout);
    assert_eq!((&started[0]["toRevision"], &started[0]["reason"]), (&json!(1), &json!("image-not-found")));
    let during_rollback = of("status").iter().filter(|line| line["rollingBack"] == true).count();
    assert!(during_rollback > 1 && during_rollback < of("status").len(), "{}", ended.stdout);
    let rollback = json!({"toRevision": 1, "outcome": "reached", "reason": null});
    assert_eq!((&of("ended")[0]["rollback"], &of("ended")[0]["outcome"]), (&rollback, &json!("failed")));
    assert_eq!(of("summary")[0]["exitCode"], 4);
}

/// Reading commands must not write, and writing ones warn first.
#[tokio::test(start_paused = true)]
async fn undo_on_failure_without_following_is_refused() {
    let lab = Lab::new();
    lab.deployment(1, &json!({}));
    lab.pass(60).await;
    lab.cluster.forget_requests();
    for words in [
        "status deployment/web --undo-on-failure --watch=false",
        "status deployment --undo-on-failure -A",
        "status deployment/web --replace-stuck-pods",
        "restart deployment/web --undo-on-failure",
    ] {
        let ended = lab.run(words).await;
        assert_eq!((ended.exit, lab.cluster.requests().len()), (2, 0), "{words}: {}", ended.transcript);
    }
    let ended = lab.run("status deployment/web --undo-on-failure --compat").await;
    assert!(ended.stderr.contains("unknown flag: --undo-on-failure"), "{}", ended.transcript);
}
