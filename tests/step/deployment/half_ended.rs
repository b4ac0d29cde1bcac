//! A hold that another client ended in part: `kubectl apply` of a manifest without some of the fields that hold.

use harness::prelude::*;

use super::setup::{Web, strategy};
use crate::preview::setup::{Directory, MANIFEST, preview_with};

/// Eight pods of which three are updated, held by a plan.
async fn stepped() -> Web {
    let web = Web::changed(8, json!(1), json!(0), "app:2.0").await;
    web.step("--to 3 --by 2").await.ends(0);
    web
}

/// Runs `preview` of the Deployment with these changes of its spec.
async fn preview(web: &Web, spec: &Value) -> Output {
    let mut applied = web.object();
    for (name, value) in spec.as_object().unwrap() {
        applied["spec"][name] = value.clone();
    }
    let run = web.cluster.command(["preview", "-f", "-"]).stdin(applied.to_string());
    tokio::time::resume(); // a paused clock advances while the other program runs
    let output = run.kubectl_applies().run_async().await;
    tokio::time::pause();
    output
}

/// The manifest has a strategy and no `minReadySeconds`: the Deployment rests at three updated pods.
#[tokio::test(start_paused = true)]
async fn a_deployment_with_the_min_ready_seconds_of_a_plan_is_held() {
    let web = stepped().await;
    let spec = strategy(&json!(1), &json!(0));
    let foretold = preview(&web, &spec).await;
    insta::assert_snapshot!("preview", foretold.transcript);
    web.cluster.editor().patch(&web.web, &json!({"spec": spec}));
    web.cluster.advance(600).await;
    assert_eq!(web.pods(), "1.0 6/6, 2.0 3/3");
    let target = "note: deployment/web: would roll back to revision 1 (image app:1.0)\n";
    for (args, notes) in [("", 0), (" --fail-fast --undo-on-failure", 1)] {
        let status = web.cluster.run(&format!("status deployment/web{args}")).await;
        status.ends(5);
        assert_eq!(status.transcript.matches(target).count(), notes, "{}", status.transcript);
        let transcript = status.transcript.replace(target, "");
        insta::allow_duplicates! { insta::assert_snapshot!("status", transcript); }
    }
    insta::assert_snapshot!("list", web.cluster.run("list").await.transcript);
    insta::assert_snapshot!("history", web.cluster.run("history deployment/web").await.transcript);
    insta::assert_snapshot!("resume", web.cluster.run("resume deployment/web").await.transcript);
    let original = json!({"progressDeadlineSeconds": 600, "strategy": spec["strategy"]});
    let ended = web.cluster.run("resume deployment/web --release-all").await;
    ended.ends(0);
    insta::assert_snapshot!("release_all", ended.transcript);
    assert_eq!((web.replaced_fields(), web.hold()), (original, None));
    web.cluster.advance(60).await;
    assert_eq!(web.pods(), "2.0 8/8");
}

/// The next `step` holds by its own strategy again, and the one of the other client comes back in the end.
#[tokio::test(start_paused = true)]
async fn a_plan_whose_strategy_another_client_replaced_continues() {
    for flags in ["--all", "--all --by 3 --new-plan"] {
        let web = stepped().await;
        let spec = strategy(&json!(3), &json!(1));
        web.cluster.editor().patch(&web.web, &json!({"spec": spec}));
        web.cluster.advance(60).await;
        assert_eq!(web.pods(), "1.0 6/6, 2.0 5/5");
        let begun = web.cluster.revision();
        web.step(flags).await.ends(0);
        assert!(web.extremes(begun, "").0 >= 8, "{:?}", web.extremes(begun, ""));
        assert_eq!((web.pods().as_str(), web.hold()), ("2.0 8/8", None), "{flags}");
        assert_eq!(web.object()["spec"]["strategy"], spec["strategy"]);
        assert_eq!(web.object()["spec"].get("minReadySeconds"), None);
    }
}

/// Its pods are all updated by then, and its hold has to be ended still.
#[tokio::test(start_paused = true)]
async fn a_plan_whose_strategy_another_client_replaced_is_ended_without_outdated_pods() {
    for flags in ["--all", "--all --new-plan"] {
        let web = stepped().await;
        let spec = strategy(&json!(0), &json!("100%"));
        web.cluster.editor().patch(&web.web, &json!({"spec": spec}));
        web.cluster.advance(60).await;
        assert_eq!(web.pods(), "2.0 8/8");
        assert!(web.hold().is_some());
        web.step(flags).await.ends(0);
        assert_eq!((web.pods().as_str(), web.hold()), ("2.0 8/8", None), "{flags}");
        assert_eq!(web.object()["spec"].get("minReadySeconds"), None);
    }
}

/// A running `step` stops, and prints that the Deployment is still held.
#[tokio::test(start_paused = true)]
async fn a_strategy_that_is_replaced_meanwhile_leaves_the_deployment_held() {
    let web = stepped().await;
    let target = web.web.clone();
    let spec = strategy(&json!(1), &json!(0));
    web.cluster.later(5_000, move |editor| editor.patch(&target, &json!({"spec": spec})));
    let stopped = web.step("--all --soak 10m").await;
    stopped.ends(5);
    insta::assert_snapshot!("stopped", stopped.stderr);
}

/// The manifest has one of the limits, and the plan's other one would let later rollouts take down most of the pods.
#[tokio::test(start_paused = true)]
async fn a_limit_that_another_client_did_not_write_comes_back() {
    for end in
        ["step deployment/web --all --by 3", "resume deployment/web --release-all", "undo deployment/web"]
    {
        let web = Web::changed(10, json!("25%"), json!("25%"), "app:2.0").await;
        web.step("--to 8 --by 4").await.ends(0);
        let surge = json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": "30%"}}}});
        web.cluster.editor().patch(&web.web, &surge);
        web.cluster.advance(60).await;
        web.cluster.run(end).await.ends(0);
        let restored = strategy(&json!("30%"), &json!("25%"));
        assert_eq!((&web.object()["spec"]["strategy"], web.hold()), (&restored["strategy"], None), "{end}");
    }
}

/// The manifest has only `minReadySeconds`, which ends the hold: a running `step` restores the other fields, for it has the
/// lock. Without one, `resume` does.
#[tokio::test(start_paused = true)]
async fn a_plan_whose_min_ready_seconds_another_client_replaced_leaves_no_field() {
    for is_running in [true, false] {
        let web = Web::changed(10, json!("25%"), json!("25%"), "app:2.0").await;
        web.step("--to 8 --by 4").await.ends(0);
        let (target, patch) = (web.web.clone(), json!({"spec": {"minReadySeconds": 10}}));
        if is_running {
            web.cluster.later(5_000, move |editor| editor.patch(&target, &patch));
            let stopped = web.step("--all --soak 10m").await;
            stopped.ends(5);
            insta::assert_snapshot!("min_ready_seconds", stopped.stderr);
        } else {
            web.cluster.editor().patch(&target, &patch);
            web.cluster.advance(60).await;
            let status = web.cluster.status("deployment/web --watch=false").await;
            status.reports("is left with no progress deadline, strategy.rollingUpdate.max");
            web.cluster.run("resume deployment/web").await.ends(0);
        }
        let own = strategy(&json!("25%"), &json!("25%"));
        let expected =
            json!({"minReadySeconds": 10, "progressDeadlineSeconds": 600, "strategy": own["strategy"]});
        assert_eq!((web.replaced_fields(), web.hold()), (expected, None), "{is_running}");
    }
}

/// The manifest also has `minReadySeconds`: the rollout completes, and the next one has no deadline.
#[tokio::test(start_paused = true)]
async fn a_progress_deadline_that_a_plan_left_is_reported() {
    let web = stepped().await;
    let mut spec = strategy(&json!(1), &json!(0));
    spec["minReadySeconds"] = json!(5);
    let foretold = preview(&web, &spec).await;
    insta::assert_snapshot!("deadline_preview", foretold.stderr);
    web.cluster.editor().patch(&web.web, &json!({"spec": spec}));
    web.cluster.advance(600).await;
    assert_eq!(web.pods(), "2.0 8/8");
    let status = web.cluster.run("status deployment/web --watch=false").await;
    status.ends(0);
    insta::assert_snapshot!("deadline_status", status.transcript);
    insta::assert_snapshot!("deadline_list", web.cluster.run("list").await.transcript);
    insta::assert_snapshot!("deadline_history", web.cluster.run("history deployment/web").await.transcript);
    insta::assert_snapshot!("deadline_step", web.step("--all").await.transcript);
    let ended = web.cluster.run("resume deployment/web").await;
    ended.ends(0);
    insta::assert_snapshot!("deadline_resume", ended.transcript);
    assert_eq!(web.object()["spec"]["progressDeadlineSeconds"], 600);
    assert_eq!(web.hold(), None);
}

#[tokio::test(start_paused = true)]
async fn a_new_template_below_a_plan_replaces_as_many_pods_as_it_rests_at() {
    let web = Web::changed(8, json!(1), json!(0), "app:2.0").await;
    web.step("--to 2 --by 1").await.ends(0);
    assert_eq!(web.pods(), "1.0 7/7, 2.0 2/2");
    let mut template = web.object()["spec"]["template"].clone();
    template["spec"]["containers"][0]["image"] = "app:3.0".into();
    let foretold = preview(&web, &json!({"template": template})).await;
    insta::assert_snapshot!("template_preview", foretold.transcript);
    web.cluster.editor().set_image(&web.web, "app:3.0");
    web.cluster.advance(600).await;
    assert_eq!(web.pods(), "1.0 7/7, 3.0 2/2");
}

/// `kubectl apply` removes no field that the manifest did not have, and the API server compares two of them.
#[tokio::test(start_paused = true)]
async fn a_manifest_with_a_progress_deadline_is_rejected_during_a_plan() {
    let web = Web::changed(4, json!(1), json!(0), "app:2.0").await;
    let manifest = json!({"spec": {"progressDeadlineSeconds": 300}}).to_string();
    let annotations = json!({"kubectl.kubernetes.io/last-applied-configuration": manifest});
    web.cluster.editor().patch(&web.web, &json!({"metadata": {"annotations": annotations}}));
    let begun = web.step("").await;
    begun.ends(0);
    let warning = begun.stderr.lines().find(|line| line.starts_with("warning: "));
    insta::assert_snapshot!("warning", warning.unwrap_or_default());
    let kubectl = Directory::new();
    kubectl.write("object.json", &web.object().to_string());
    let program = kubectl.program(
        "case $1 in apply) echo 'The Deployment \"web\" is invalid: spec.progressDeadlineSeconds: Invalid value: 300: must \
         be greater than minReadySeconds' >&2; exit 1;; esac; cat object.json",
    );
    let run = preview_with(&program, &["-f", MANIFEST]);
    let refused = run.on(&web.cluster, "admin").run_async().await;
    refused.ends(1);
    insta::assert_snapshot!("refusal", refused.stderr);
}

#[tokio::test(start_paused = true)]
async fn the_controller_has_observed_the_end_of_a_plan_before_the_command_ends() {
    let web = Web::changed(3, json!(1), json!(0), "app:2.0").await;
    web.step("--all --soak 1s").await.ends(0);
    web.cluster.run("status deployment/web --watch=false").await.ends(0);
}

/// Whoever may write annotations chooses the strategy that an undo restores, so `undo` prints it as a change.
#[tokio::test(start_paused = true)]
async fn undo_prints_the_strategy_that_it_restores_from_the_annotation() {
    let web = Web::changed(4, json!(1), json!("25%"), "app:2.0").await;
    web.step("--to 2 --by 1").await.ends(0);
    let mut hold = web.hold().unwrap();
    hold["strategy"]["strategy"]["rollingUpdate"]["maxUnavailable"] = json!("100%");
    let annotations = json!({"kubectl-rollout2/held": hold.to_string()});
    web.cluster.editor().patch(&web.web, &json!({"metadata": {"annotations": annotations}}));
    for flags in ["--dry-run", ""] {
        let output = web.cluster.run(&format!("undo deployment/web {flags}")).await;
        output.ends(0);
        let note =
            output.stderr.lines().find(|line| line.contains("note: restores what the hold recorded: "));
        let change = "spec.strategy.rollingUpdate.maxUnavailable 25% -> 100%";
        assert!(note.is_some_and(|note| note.contains(change)), "{}", output.transcript);
    }
    assert_eq!(web.object()["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"], "100%");
}
