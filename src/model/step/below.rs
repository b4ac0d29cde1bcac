//! Going back from below the partition that a set has itself.
//!
//! `--to 100%` releases pods that the set's own strategy never touches. Were that put back in the patch that
//! writes the old template, these pods would stay on the revision that failed, and a broken one would not
//! even be healed. So the hold stays as low as it is until they are back, and a second patch ends it. The
//! plan says of itself that it goes back: whoever steps next, after `kill -9` or after an `undo` by hand,
//! brings that to its end.

use super::document::Document;
use super::end::Why;
use super::phase::{Move, Purpose};
use super::stepper::Stepper;
use crate::model::digest::Digest;
use crate::model::hold::Hold;
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::strategy;
use crate::model::workload::Workload;

/// The pods that a plan released below the partition that the set has itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Below {
    /// The set's own partition.
    pub partition: i64,
    /// Their names, from the highest ordinal on; none where pods could not be read.
    pub pods: Vec<String>,
    /// The hold while they go back, without a lease.
    pub hold: Hold,
}

impl Below {
    /// What has to go back to a template below the own partition of a set, if anything has.
    #[must_use]
    pub fn of(observed: &Observed, template: &Digest) -> Option<Self> {
        let workload = &observed.workload;
        let document = Document::of(workload).ok().flatten()?;
        let mut back = document.going_back(workload, template)?;
        back.lease = None;
        let (from, partition) = (strategy::partition(workload), document.own_partition());
        let index = |pod: &Pod| strategy::index(workload, &pod.name);
        let mut pods: Vec<_> = observed.own_pods().filter_map(|pod| Some((index(pod)?, &pod.name))).collect();
        pods.retain(|(index, _)| (from..partition).contains(index));
        pods.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
        let pods = pods.into_iter().map(|(_, name)| name.clone()).collect();
        Some(Self { partition, pods, hold: back.memory().without("paused") })
    }
}

/// Whether the plan that holds a workload is one that goes back, to the template as it is now.
#[must_use]
pub fn goes_back(workload: &Workload) -> bool {
    let document = Document::of(workload).ok().flatten();
    document.is_some_and(|document| document.goes_back_to(workload) && document.hold.is_in_force(workload))
}

impl Document {
    /// The plan as it is while everything goes back to a template, where it went below the partition that
    /// the set had itself; none where the old template and the own strategy come in one patch.
    pub(super) fn going_back(&self, workload: &Workload, template: &Digest) -> Option<Self> {
        let is_below = strategy::partition(workload) < self.own_partition();
        (self.plan.beyond && is_below && self.hold.is_in_force(workload)).then(|| {
            let mut back = self.renewed();
            (back.plan.template, back.plan.goes_back) = (template.hex(), true);
            back
        })
    }

    /// Whether it goes back, to the template as it is now.
    pub(super) fn goes_back_to(&self, workload: &Workload) -> bool {
        self.plan.goes_back && self.is_for(workload)
    }

    fn own_partition(&self) -> i64 {
        self.hold.original().map_or(0, strategy::partition_of)
    }
}

impl Stepper {
    /// Why a way back gets no further whose hold is still there: somebody has changed something.
    pub(super) fn interference(&self) -> Option<String> {
        Some(match self.intrusion()? {
            Why::Paused => "somebody paused it meanwhile".to_owned(),
            Why::LeaseLost { by } => {
                format!("{} took it over", by.as_deref().unwrap_or("somebody else"))
            }
            _ => "somebody changed its strategy or its hold meanwhile".to_owned(),
        })
    }

    /// The second patch of the way back, once every pod is there: the strategy is again what it was before.
    pub(super) fn end_hold(&self) -> Move {
        let (Some(observed), Some(document)) = (self.observed(), self.document()) else { return Move::Rest };
        Move::write(Purpose::EndHold, document.ending(&observed.workload), Vec::new())
    }
}

/// Whether the controller takes the revision gone back to for the current one, where every pod runs it. The
/// plan may have made the failed one current, and below a partition a pod that dies gets the current one.
pub(super) fn is_settled(observed: &Observed) -> bool {
    let workload = &observed.workload;
    let status = |name: &str| workload.object().text(&format!("/status/{name}"));
    let Some(live) = observed.revisions.running() else { return false };
    let is_whole = observed.own_pods().all(|pod| workload.runs(pod, live));
    !is_whole || status("currentRevision") == status("updateRevision")
}
