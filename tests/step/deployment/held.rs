//! `status`, `pause`, `resume` and kubectl with a Deployment that a plan holds.

use serde_json::json;

use super::setup::Web;

#[tokio::test(start_paused = true)]
async fn status_reports_held_instead_of_progressing_or_stalled() {
    let web = Web::changed(10, json!(1), json!(0), "app:2.0").await;
    web.step("--to 3 --by 2").await.ends(0);
    web.cluster.advance(7200).await;
    let status = web.cluster.status("deployment/web").await;
    status.ends(5);
    insta::assert_snapshot!(status.transcript);
    web.cluster.status("deployment/web --watch=false -o json").await.ends(5);
    insta::assert_snapshot!(web.cluster.run("history deployment/web").await.stdout);
}

/// The annotation contains a kubectl command that ends the hold, and not only the plan: the pause ends too.
#[tokio::test(start_paused = true)]
async fn one_kubectl_command_ends_the_hold() {
    let web = Web::new(10, &json!({"minReadySeconds": 3})).await;
    let original = web.replaced_fields();
    web.pause_and_change("app:2.0").await;
    web.step("").await.ends(0);
    let command = web.hold().unwrap()["endByHand"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(command);
    let args = command.strip_prefix("kubectl patch deployment/web -n default --type=merge -p '").unwrap();
    let patch = serde_json::from_str(args.strip_suffix('\'').unwrap()).unwrap();
    web.cluster.editor().patch(&web.web, &patch);
    assert_eq!((web.replaced_fields(), web.hold()), (original, None));
}
