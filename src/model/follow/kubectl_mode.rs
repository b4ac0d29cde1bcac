//! Follows a workload as `kubectl rollout status` does.

use super::event::TargetEvent;
use super::now::Now;
use super::report::Report;
use super::result::{Outcome, RolloutFailure};
use super::target_tracker::TargetTracker;
use crate::model::revision::RevisionWord;
use crate::model::status::verdict::kubectl_status;
use crate::model::workload::counts::Counts;
use crate::model::workload::verdict::{RolloutState, Verdict};

impl TargetTracker {
    /// Applies kubectl's own rules to every change of the workload and ignores everything else.
    pub(super) fn apply_kubectl_mode(&mut self, event: &TargetEvent, now: Now, reports: &mut Vec<Report>) {
        let TargetEvent::Workload(workload) = event else {
            return;
        };
        let number = match self.options.revision {
            Some(RevisionWord::Number(number)) => Some(number),
            _ => None,
        };
        match kubectl_status(workload, number) {
            Err(text) => self.finish(Outcome::Failed(RolloutFailure::Kubectl(text)), now.elapsed, reports),
            Ok(reported) => {
                let state = if reported.done { RolloutState::Complete } else { RolloutState::Progressing };
                let verdict = Verdict { state, line: reported.line };
                let (target, counts) = (self.id, Counts::of(workload));
                self.verdict = Some(verdict.clone());
                reports.push(Report::Status {
                    target,
                    verdict,
                    counts,
                    line_changed: true,
                    is_rollback: false,
                });
                if reported.done {
                    self.finish(Outcome::Reached, now.elapsed, reports);
                }
            }
        }
    }
}
