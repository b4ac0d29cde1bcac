//! The lines of a watch: each is an event or ends the watch, and the status of every object in an event can be printed.

use k8s_openapi::jiff::Timestamp;
use rollout2::cluster::observe::watch_event::WatchEvent;
use rollout2::model::api::event::{Event, Events};
use rollout2::model::api::object::Object;
use rollout2::model::api::pod::Pod;
use rollout2::model::revision::Revisions;
use rollout2::model::status::cause::causes;
use rollout2::model::status::history::History;
use rollout2::model::status::observation::Observation;
use rollout2::model::status::verdict::verdict;
use rollout2::model::workload::Workload;
use rollout2::render::{history, status};

/// Reads the lines of a watch.
pub fn one(data: &[u8]) {
    let mut objects = Vec::new();
    for line in data.split(|byte| *byte == b'\n') {
        match WatchEvent::read(line) {
            WatchEvent::Changed(object) => objects.push(object),
            WatchEvent::Deleted(object) => objects.retain(|kept: &Object| kept.name() != object.name()),
            WatchEvent::Bookmark(version) => assert!(!version.is_empty()),
            WatchEvent::Expired | WatchEvent::Broken => break,
        }
    }
    for workload in objects.iter().cloned().filter_map(Workload::of) {
        print_status(workload, &objects);
    }
}

/// Prints the status and the history of a workload from these objects.
fn print_status(workload: Workload, objects: &[Object]) {
    let of = |kind: &'static str| objects.iter().filter(move |object| object.kind() == kind);
    let revisions = of("ReplicaSet").chain(of("ControllerRevision")).cloned();
    let observed = Observation {
        revisions: Revisions::of(&workload, revisions),
        workload,
        pods: Some(of("Pod").map(Pod::read).map(Into::into).collect()),
        events: Some(Events::of(of("Event").filter_map(Event::read))),
    };
    let now = Timestamp::constant(1_795_183_200, 0);
    let (verdict, causes) = (verdict(&observed), causes(&observed, now));
    let rollout_status = status::RolloutStatus { observed: &observed, verdict: &verdict, causes: &causes };
    let names = status::NameContext::default();
    let lines = causes.iter().map(|cause| status::cause_line(cause, &observed.workload, names, None));
    assert!(lines.into_iter().all(|line| !line.contains('\n')));
    assert!(status::json(&rollout_status).to_string().ends_with('}'));
    let table = rollout2::render::style::text_of(
        &history::table(&History::of(&observed, now), history::HistoryTableOptions::default()),
        false,
    );
    assert_eq!(table.lines().count(), 2 + observed.revisions.len(), "{table}");
}
