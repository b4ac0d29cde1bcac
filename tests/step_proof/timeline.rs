//! All events of a run in the order of the store: each change with its author, and the requests of each process.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use simcluster::resource::{NODES, PODS, Resource};
use simcluster::{RecordedRequest, Route, SimCluster, Verb};

use crate::step_proof::command::Words;
use crate::step_proof::kind::Kind;
use crate::step_proof::world::{Millis, Pod, World, node_number};

/// Who made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// One of our processes.
    Process(usize),
    /// Another client, or another command of this program.
    Other,
    /// A controller.
    Cluster,
}

/// What became different.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Set(Arc<Value>),
    /// A pod by its name; none when it is gone.
    Pod(String, Option<Pod>),
    /// A node by its number, and whether it is ready and tainted; none when it is gone.
    Node(i64, Option<(bool, bool)>),
}

/// One change.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) at: Millis,
    pub(crate) by: By,
    pub(crate) what: What,
    /// When the request for it arrived.
    pub(crate) decided: Millis,
    /// The store revisions of the author's last refresh, and of its request.
    pub(crate) known: Vec<u64>,
    /// The revision at which it had read the workload itself.
    pub(crate) read: Option<u64>,
    /// The revision at which it had listed the pods.
    pub(crate) looked: Option<u64>,
    /// When it had listed the pods.
    pub(crate) looked_at: Option<Millis>,
}

/// One request of a process that changes something.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) process: usize,
    pub(crate) verb: Verb,
    pub(crate) kind: &'static str,
    /// Whether it changed nothing.
    pub(crate) has_failed: bool,
    pub(crate) body: String,
}

/// One run of a check that is the script of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) process: usize,
    pub(crate) batch: u64,
    pub(crate) has_passed: bool,
}

/// One process: its options, its lifetime, and its outcome.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) words: Words,
    /// The number of its host.
    pub(crate) host: u64,
    /// The newest revision when it began.
    pub(crate) began: u64,
    /// The newest revision when it ended.
    pub(crate) ended: u64,
    /// None if it was killed.
    pub(crate) exit: Option<u8>,
    pub(crate) transcript: String,
    /// Whether writes of it may have been hit by a fault.
    pub(crate) is_disturbed: bool,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    /// The world in which it begins.
    pub(crate) start: World,
    pub(crate) changes: Vec<Change>,
    pub(crate) asked: Vec<Asked>,
    pub(crate) processes: Vec<Process>,
    /// The runs of the script, in order.
    pub(crate) checks: Vec<Checked>,
    /// Whether no other client and no fault interferes, and the workload was paused before it was changed.
    pub(crate) is_undisturbed: bool,
}

/// Returns the effect of a change of the store; none if no oracle uses it.
fn what(change: &simcluster::store::Change, workloads: &Resource) -> Option<What> {
    let (resource, name) = (change.key.resource, &change.key.name);
    if resource == workloads && name == "db" {
        return Some(What::Set(change.after.clone().unwrap_or_default()));
    }
    if resource == &NODES {
        let state = change.after.as_deref().map(|node| (harness::is_ready(node), is_tainted(node)));
        return Some(What::Node(node_number(name)?, state));
    }
    (resource == &PODS).then(|| What::Pod(name.clone(), change.after.as_deref().map(Pod::of)))
}

fn is_tainted(node: &Value) -> bool {
    node["spec"]["taints"].as_array().is_some_and(|taints| !taints.is_empty())
}

impl Timeline {
    /// What happened in a cluster from its beginning, apart from what was before revision `from`.
    /// `others` are the revisions that other clients created.
    pub(crate) fn of(
        (kind, cluster): (Kind, &SimCluster),
        from: u64,
        others: &[u64],
        processes: Vec<Process>,
    ) -> Self {
        let requests = cluster.requests();
        let workloads = kind.resource();
        let makers = Makers::of(&requests, workloads.plural);
        let mut timeline = Self { processes, asked: asked(&requests), ..Self::default() };
        cluster.store(|store| {
            for change in store.changes_after(0).unwrap() {
                let Some(what) = what(change, workloads) else { continue };
                if change.revision <= from {
                    timeline.start.apply(&what);
                    continue;
                }
                let (revision, at) = (change.revision, change.at.as_millisecond());
                let unknown = Change {
                    revision,
                    at,
                    by: By::Cluster,
                    what,
                    decided: at,
                    known: Vec::new(),
                    read: None,
                    looked: None,
                    looked_at: None,
                };
                timeline.changes.push(match makers.0.get(&revision) {
                    Some(maker @ Maker { process: Some(process), .. }) => Change {
                        by: By::Process(*process),
                        decided: maker.decided,
                        known: maker.known.clone(),
                        read: maker.read,
                        looked: maker.looked.map(|(revision, _)| revision),
                        looked_at: maker.looked.map(|(_, at)| at),
                        ..unknown
                    },
                    Some(_) => Change { by: By::Other, ..unknown },
                    None if others.contains(&revision) => Change { by: By::Other, ..unknown },
                    None => unknown,
                });
            }
        });
        timeline
    }
}

impl World {
    pub(crate) fn apply(&mut self, what: &What) {
        match what {
            What::Set(set) => (self.kind, self.set) = (Kind::of(set), Arc::clone(set)),
            What::Pod(name, Some(pod)) => drop(self.pods.insert(name.clone(), pod.clone())),
            What::Pod(name, None) => drop(self.pods.remove(name)),
            What::Node(number, Some((ready, tainted))) => {
                self.nodes.insert(*number, *ready);
                self.tainted.remove(number);
                self.tainted.extend(tainted.then_some(*number));
            }
            What::Node(number, None) => drop((self.nodes.remove(number), self.tainted.remove(number))),
        }
    }
}

/// The number of a process of ours; none for other users.
fn process(request: &RecordedRequest) -> Option<usize> {
    request.user.as_deref()?.strip_prefix("step-")?.parse().ok()
}

fn asked(requests: &[RecordedRequest]) -> Vec<Asked> {
    let reads = [Verb::Get, Verb::List, Verb::Watch];
    let writes = requests.iter().filter_map(|request| {
        let (process, verb) = (process(request)?, request.verb()?);
        let Route::Resource(target) = &request.route else { return None };
        (!reads.contains(&verb)).then(|| Asked {
            process,
            verb,
            kind: target.resource.kind,
            has_failed: request.made.is_empty(),
            body: String::from_utf8_lossy(&request.body).into_owned(),
        })
    });
    writes.collect()
}

/// Which request made which revision, whose it was, and what its process knew.
struct Makers(BTreeMap<u64, Maker>);

#[derive(Clone)]
struct Maker {
    process: Option<usize>,
    decided: Millis,
    known: Vec<u64>,
    read: Option<u64>,
    looked: Option<(u64, Millis)>,
}

impl Makers {
    fn of(requests: &[RecordedRequest], workloads: &str) -> Self {
        let (mut looked, mut read) = (BTreeMap::new(), BTreeMap::new());
        let mut makers = BTreeMap::new();
        let mut answered: Vec<&RecordedRequest> =
            requests.iter().filter(|request| request.made.start > 0).collect();
        answered.sort_by_key(|request| request.made.start);
        for request in answered {
            let process = process(request);
            if let (Some(process), Some(Verb::List)) = (process, request.verb())
                && request.path.ends_with("/pods")
            {
                looked.insert(process, (request.made.start - 1, request.at.as_millisecond()));
            }
            if let (Some(process), Some(Verb::List | Verb::Get)) = (process, request.verb())
                && request.path.contains(workloads)
            {
                read.insert(process, request.made.start - 1);
            }
            let look = process.and_then(|process| looked.get(&process)).copied();
            let known = look.map(|(revision, _)| revision).into_iter().chain([request.arrived]).collect();
            let maker = Maker {
                process,
                decided: request.at.as_millisecond(),
                known,
                read: process.and_then(|process| read.get(&process)).copied(),
                looked: look,
            };
            makers.extend(request.made.clone().map(|revision| (revision, maker.clone())));
        }
        Self(makers)
    }
}
