//! The lines of a watch: each is an event or the end, and every object in one can be judged and told of.

use k8s_openapi::jiff::Timestamp;
use rollout2::cluster::observe::line::Line;
use rollout2::model::cause::causes;
use rollout2::model::event::{Event, Events};
use rollout2::model::history::History;
use rollout2::model::object::Object;
use rollout2::model::observed::Observed;
use rollout2::model::pod::Pod;
use rollout2::model::revision::Revisions;
use rollout2::model::verdict::verdict;
use rollout2::model::workload::Workload;
use rollout2::render::{history, status};

/// Some lines.
pub fn one(data: &[u8]) {
    let mut objects = Vec::new();
    for line in data.split(|byte| *byte == b'\n') {
        match Line::read(line) {
            Line::Changed(object) => objects.push(object),
            Line::Deleted(object) => objects.retain(|kept: &Object| kept.name() != object.name()),
            Line::Bookmark(version) => assert!(!version.is_empty()),
            Line::Expired | Line::Broken => break,
        }
    }
    for workload in objects.iter().cloned().filter_map(Workload::of) {
        judge(workload, &objects);
    }
}

/// Judges a workload with everything that came beside it.
fn judge(workload: Workload, objects: &[Object]) {
    let of = |kind: &'static str| objects.iter().filter(move |object| object.kind() == kind);
    let revisions = of("ReplicaSet").chain(of("ControllerRevision")).cloned();
    let observed = Observed {
        revisions: Revisions::of(&workload, revisions),
        workload,
        pods: Some(of("Pod").map(Pod::read).collect()),
        events: Some(Events::of(of("Event").filter_map(Event::read))),
    };
    let now = Timestamp::constant(1_795_183_200, 0);
    let (verdict, causes) = (verdict(&observed), causes(&observed, now));
    let standing = status::Standing { observed: &observed, verdict: &verdict, causes: &causes };
    let company = status::Company::default();
    let lines = causes.iter().map(|cause| status::cause_line(cause, &standing, company, None));
    assert!(lines.into_iter().all(|line| !line.contains('\n')));
    assert!(status::json_line(&standing).ends_with("}\n"));
    let table = history::table(&History::of(&observed, now), history::Form::default());
    assert_eq!(table.lines().count(), 2 + observed.revisions.len(), "{table}");
}
