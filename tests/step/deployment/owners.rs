//! Warnings before a plan: about owners of the manifest that may end it, and when what they rest on is not answered.

use harness::prelude::*;
use simcluster::resource::RESOURCEQUOTAS;

use super::setup::Web;

/// Returns the warnings of a command.
fn warnings(output: &Output) -> Vec<&str> {
    output.stderr.lines().filter(|line| line.starts_with("warning: ")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_check_of_quotas_without_an_answer_does_not_delay_the_end() {
    let web = Web::changed(4, json!(1), json!(0), "app:2.0").await;
    let lists = Requests::of(Verb::List, &RESOURCEQUOTAS);
    web.cluster.sim.fault(Fault::on(lists, FaultAction::Stall));
    let begun = tokio::time::Instant::now();
    web.step("--soak 1h --timeout 2s").await.ends(3);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

/// A pause replaces fewer fields than a plan, so `step` warns again.
#[tokio::test(start_paused = true)]
async fn a_plan_begins_with_a_warning_about_the_owner_of_the_strategy() {
    let last_applied = |spec: Value| {
        json!({"annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": json!({"spec": spec}).to_string(),
        }})
    };
    for (metadata, expected) in [
        (
            json!({"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"}}),
            Some(
                "warning: Argo CD (shop) manages deployment/web; with self-heal it puts back what its manifest sets of \
                 spec.paused, spec.minReadySeconds, spec.progressDeadlineSeconds or spec.strategy, which ends the \
                 plan: turn self-heal off first",
            ),
        ),
        (
            last_applied(json!({"minReadySeconds": 3, "strategy": {"type": "RollingUpdate"}})),
            Some(
                "warning: deployment/web was applied from a manifest that sets spec.minReadySeconds or spec.strategy; \
                 applying it again during the plan ends it",
            ),
        ),
        (last_applied(json!({"replicas": 4})), None),
    ] {
        let web = Web::changed(4, json!(1), json!(0), "app:2.0").await;
        web.cluster.editor().patch(&web.web, &json!({"metadata": metadata}));
        let expected: Vec<&str> = expected.into_iter().collect();
        let dry = web.step("--dry-run").await;
        dry.ends(0);
        assert_eq!(warnings(&dry), expected, "{}", dry.transcript);
        let begins = web.step("").await;
        begins.ends(0);
        assert_eq!(warnings(&begins), expected, "{}", begins.transcript);
        let continues = web.step("").await;
        continues.ends(0);
        assert_eq!(warnings(&continues), [""; 0], "{}", continues.transcript);
    }
}
