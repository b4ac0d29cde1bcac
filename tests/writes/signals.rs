//! Signals while a write has no answer.

use harness::prelude::*;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{db, edit, messages, object, patches, web};

/// Returns the signals of a run that gets one each second.
fn each_second(signals: &'static [i32]) -> watch::Receiver<i32> {
    let (sender, numbers) = watch::channel(0);
    tokio::spawn(async move {
        for signal in signals {
            tokio::time::sleep(Duration::from_secs(1)).await;
            sender.send(*signal).unwrap();
        }
        tokio::time::sleep(Duration::from_secs(600)).await;
    });
    numbers
}

/// The server may store the change, and the answer is slow.
#[tokio::test(start_paused = true)]
async fn what_is_known_of_a_write_is_printed() {
    let unsent = "is unchanged, and the API server may still apply the change";
    for (args, signal, act, known, exit) in [
        (&["undo", "deployment/web"][..], &[2][..], FaultAction::Stall, unsent, 130),
        (&["undo", "deployment/web", "--wait"], &[15], FaultAction::StallBody(0), "was changed", 143),
        (&["restart", "deployment/web"], &[15], FaultAction::StallBody(0), "was changed", 143),
        (&["restart", "deployment/web", "--wait"], &[1], FaultAction::Stall, unsent, 129),
        (&["pause", "deployment/web"], &[2], FaultAction::StallBody(0), "was changed", 130),
    ] {
        let cluster = Cluster::recorded("shop").start();
        let before = object(&cluster.sim, &web());
        cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), act));
        let begun = Instant::now();
        let output = cluster.command(args).signals(each_second(signal)).run_async().await;
        let words = match exit {
            130 => "interrupted",
            143 => "terminated",
            _ => "hung up",
        };
        let error = format!("error: {words} while the change had no answer; deployment \"web\" {known}\n");
        assert!(messages(&output).ends_with(&error), "{args:?} {}", output.transcript);
        assert_eq!((output.exit, output.stdout.as_str()), (exit, ""), "{args:?}");
        assert_eq!(object(&cluster.sim, &web()) == before, known == unsent, "{args:?}");
        assert!(begun.elapsed() < Duration::from_secs(4), "{args:?} {:?}", begun.elapsed());
    }
}

/// The API server answers nothing any more. The read has two seconds, and a second signal ends it.
#[tokio::test(start_paused = true)]
async fn the_read_after_a_signal_has_a_limit() {
    for (signals, seconds) in [(&[2][..], 3), (&[2, 2], 2)] {
        let cluster = Cluster::recorded("shop").start();
        cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::Stall));
        cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), FaultAction::Stall).after(1));
        let begun = Instant::now();
        let output =
            cluster.command(["undo", "deployment/web"]).signals(each_second(signals)).run_async().await;
        let error = "error: interrupted while the change had no answer; it is unknown whether deployment \"web\" was \
                     changed\n";
        output.ends(130).reports_last(error);
        assert_eq!(begun.elapsed().as_secs(), seconds, "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_leaves_the_other_workloads_as_they_are() {
    let cluster = Cluster::recorded("shop").start();
    cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &DEPLOYMENTS), FaultAction::Stall));
    let args = ["undo", "deployment/web", "statefulset/db", "daemonset/agent"];
    let output = cluster.command(args).signals(each_second(&[2])).run_async().await;
    output.ends(130).reports("\ninterrupted; not changed: statefulset/db, daemonset/agent\n");
    assert_eq!(patches(&cluster).len(), 1);
}

/// After the first write a signal does not end the process by its default action.
#[tokio::test(start_paused = true)]
async fn a_signal_before_the_next_write_is_obeyed() {
    let cluster = Cluster::recorded("shop").start();
    edit(&cluster.sim, &db(), |_| ());
    let slow = FaultAction::Delay(Duration::from_secs(20));
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &CONTROLLERREVISIONS), slow));
    let output = cluster
        .command(["pause", "deployment/web", "statefulset/db"])
        .signals(each_second(&[2]))
        .run_async()
        .await;
    output.ends(130).prints("deployment.apps/web paused\n");
    output.reports_last("interrupted; not changed: statefulset/db\n");
}
