//! Refused writes, and writes with an unknown result.

use harness::prelude::*;
use simcluster::{Protocols, ServerCertificate};

use super::{external_change, messages, object, patches, run, web};

#[tokio::test]
async fn each_refusal_has_its_own_message() {
    for (refusal, expected) in [
        (
            Refusal::with_status(
                403,
                "deployments.apps \"web\" is forbidden: User \"gina\" cannot patch resource",
            ),
            "error: forbidden: User \"gina\" cannot patch resource\nhint: to see what is allowed: kubectl auth can-i --list\n",
        ),
        (
            Refusal::invalid(
                &DEPLOYMENTS,
                "web",
                &[simcluster::refusal::Cause::required("spec.template.spec.containers", "")],
            ),
            "error: the server rejected the change: spec.template.spec.containers: Required value\n",
        ),
    ] {
        let server = Cluster::recorded("shop").served();
        server
            .sim
            .fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::Refuse(refusal.clone())));
        let before = object(&server.sim, &web());
        let output = run(&server, &["undo", "deployment/web"]).await;
        assert_eq!((messages(&output).as_str(), output.stdout.as_str(), output.exit), (expected, "", 1));
        assert_eq!(patches(&server).len(), 1, "a write is never retried");
        assert_eq!(object(&server.sim, &web()), before);
    }
}

#[tokio::test]
async fn a_422_without_causes_or_conflict_is_our_error() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(
        Requests::of(Verb::Patch, &DEPLOYMENTS),
        FaultAction::Refuse(Refusal::patch_failed()),
    ));
    let output = run(&server, &["undo", "deployment/web"]).await;
    assert!(messages(&output).contains("returned 422 Unprocessable Entity"), "{}", output.stderr);
    assert_eq!((patches(&server).len(), output.exit), (1, 1));
}

/// A webhook refuses the change, and another client changes other fields meanwhile.
#[tokio::test]
async fn the_last_refusal_of_an_object_that_keeps_changing_is_reported() {
    let server = Cluster::recorded("shop").served();
    let number = std::sync::atomic::AtomicUsize::new(0);
    let change = external_change(web(), move |web| {
        let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        web["metadata"]["annotations"]["other"] = number.to_string().into();
    });
    let patches_of_web = || Requests::of(Verb::Patch, &DEPLOYMENTS);
    server.sim.fault(Fault::on(patches_of_web(), change));
    let refusal = Refusal::with_status(422, "admission webhook \"policy\" denied the request");
    server.sim.fault(Fault::on(patches_of_web(), FaultAction::Refuse(refusal)));
    let output = run(&server, &["undo", "deployment/web"]).await;
    output
        .ends(1)
        .reports("error: deployment \"web\" keeps changing; nothing was written after 3 attempts: ");
    output.reports("admission webhook \"policy\" denied the request");
    assert_eq!(patches(&server).len(), 3);
}

#[tokio::test]
async fn an_unknown_result_is_resolved_by_reading_the_object() {
    let moments = [
        (FaultAction::LoseAnswer, true, "read deployment \"web\" again: the change was applied\n"),
        (
            FaultAction::LoseRequest,
            false,
            "error: deployment \"web\" is unchanged: no answer to the change, so it was read again: ",
        ),
        (FaultAction::ResetStream, false, " is unchanged: no answer "),
        (FaultAction::Html(502), false, " is unchanged: no answer "),
        (FaultAction::CutBody(10), true, "the change was applied\n"),
    ];
    for (protocols, (act, applied, stderr)) in
        Protocols::EACH.into_iter().flat_map(|protocols| moments.clone().map(|moment| (protocols, moment)))
    {
        let server = Cluster::recorded("shop").served_with(ServerCertificate::Good, protocols);
        let before = object(&server.sim, &web());
        server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), act.clone()));
        let output = run(&server, &["undo", "deployment/web"]).await;
        assert!(messages(&output).contains(stderr), "{protocols:?} {act:?}: {}", output.stderr);
        assert_eq!(output.exit, u8::from(!applied), "{protocols:?} {act:?}: {}", output.stderr);
        assert_eq!(output.stdout.is_empty(), !applied, "{protocols:?} {act:?}");
        assert_eq!(object(&server.sim, &web()) != before, applied, "{protocols:?} {act:?}");
        assert_eq!(patches(&server).len(), 1, "{protocols:?} {act:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_without_an_answer_is_resolved_at_the_request_timeout() {
    let cluster = Cluster::recorded("shop").start();
    let before = object(&cluster.sim, &web());
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::Stall));
    let output = run(&cluster, &["undo", "deployment/web"]).await;
    assert!(messages(&output).contains(" is unchanged: no answer "), "{}", output.stderr);
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
    assert_eq!((object(&cluster.sim, &web()), patches(&cluster).len()), (before, 1));
}

/// The server stores nothing in a dry run, so that reading the object again shows nothing.
#[tokio::test]
async fn a_dry_run_without_an_answer_is_an_error() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::LoseAnswer));
    let output = run(&server, &["undo", "deployment/web", "--dry-run=server", "-o", "name"]).await;
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1), "{}", output.stderr);
    assert!(!output.stderr.contains("read again"), "{}", output.stderr);
    assert_eq!(server.lines().last().map(|line| line.starts_with("PATCH")), Some(true));
}

/// The write is known to have failed, so that the hint is to repeat it and not to check the object first.
#[tokio::test(start_paused = true)]
async fn a_write_without_an_answer_that_left_the_object_unchanged_has_failed() {
    for args in [
        &["undo", "deployment/web", "--wait"][..],
        &["restart", "deployment/web"],
        &["pause", "deployment/web"],
    ] {
        let cluster = Cluster::recorded("shop").start();
        let failed = FaultAction::Refuse(Refusal::with_status(500, "no"));
        cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), failed));
        let output = run(&cluster, args).await;
        output.ends(1).reports(
            "error: deployment \"web\" is unchanged: no answer to the change, so it was read again: ",
        );
        output.reports_last(
            "hint: repeat the command when the API server answers; it never applies a change twice\n",
        );
        assert_eq!(patches(&cluster).len(), 1, "{args:?}");
    }
}

/// The write is stored, and another client changes the template before the object is read again.
#[tokio::test]
async fn a_change_after_a_write_without_an_answer_leaves_its_result_unknown() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::LoseAnswer));
    let change = external_change(web(), image_change("shop/web:9"));
    server.sim.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), change).after(1).once());
    let output = run(&server, &["undo", "deployment/web"]).await;
    output.reports("; no answer to the write, which may be stored: image shop/web:9; ");
    assert!(!output.stderr.contains("nothing was written"), "{}", output.stderr);
    output.ends(1);
}

#[tokio::test]
async fn an_unknown_result_that_cannot_be_resolved_is_an_error() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::LoseAnswer));
    let forbidden = FaultAction::Refuse(Refusal::with_status(403, "no"));
    server.sim.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), forbidden).after(1));
    let output = run(&server, &["undo", "deployment/web"]).await;
    // The read may use the connection that was just lost, and is then sent again.
    let text = messages(&output);
    let first = text.lines().find(|line| !line.contains("; retrying in "));
    let expected = "error: cannot tell whether deployment \"web\" was changed: ";
    assert!(first.is_some_and(|line| line.starts_with(expected)), "{}", output.stderr);
    output.ends(1);
}
