//! The lines of a watch: each is an event or ends the watch, and the status of every object in an event can be printed.

use k8s_openapi::jiff::Timestamp;
use rollout2::cluster::objects::reflector::WatchEvent;
use rollout2::model::api::event::{Event, Events};
use rollout2::model::api::object::Object;
use rollout2::model::api::pod::Pod;
use rollout2::model::kind::Workload;
use rollout2::model::observation::Observation;
use rollout2::model::revision::Revisions;
use rollout2::model::view::RolloutView;
use rollout2::model::view::history::History;
use rollout2::render::cause::cause_in_width;
use rollout2::render::output_form::OutputForm;
use rollout2::render::state_words::NameContext;
use rollout2::render::table::TableLayout;
use rollout2::render::{history, status};

/// Reads the lines of a watch.
pub fn one(data: &[u8]) {
    let mut objects = Vec::new();
    for line in data.split(|byte| *byte == b'\n') {
        match WatchEvent::read(line) {
            WatchEvent::Added(object) | WatchEvent::Changed(object) => objects.push(object),
            WatchEvent::Deleted(object) => objects.retain(|kept: &Object| kept.name() != object.name()),
            WatchEvent::Bookmark(version) => assert!(!version.is_empty()),
            WatchEvent::Broken => break,
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
    let view = RolloutView::of(&observed, now);
    let names = NameContext::default();
    let size = rollout2::world::Terminal::default();
    let mut lines = view.causes.iter().flat_map(|cause| {
        cause_in_width(cause, cause.evidence.as_deref(), &observed.workload, names, size.width.into())
    });
    assert!(lines.all(|line| !line.text().contains('\n')));
    assert!(status::json::document(&view, |_| None, &[]).to_string().ends_with('}'));
    let layout = TableLayout { form: &OutputForm::Text, namespaces: false, headers: true, width: None };
    let table = rollout2::render::line::text_of(&history::table(&History::of(&observed, now), layout), false);
    assert_eq!(table.lines().count(), 2 + observed.revisions.len(), "{table}");
}
