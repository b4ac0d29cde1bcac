//! Why pods are not well: the follower's causes, those that fail a batch, and a word for each pod.

use std::time::Duration;

use super::act::Act;
use super::event::Event;
use super::spot::Spot;
use super::stepper::Output;
use crate::model::cause::{Cause, CauseId, causes, without_secrets_of};
use crate::model::follow::{self, Ask, CauseLog, Doom, LogLines, Moment, Options, Pace, TargetId};
use crate::model::observed::Observed;
use crate::model::stage::Stage;

/// How long a cause that nobody heals may last, as `--fail-fast` has it.
pub(super) const GRACE: Duration = Duration::from_secs(30);

/// The causes that were told, and those that fail a batch.
#[derive(Debug, Default)]
pub(super) struct Health {
    log: CauseLog,
    doom: Doom,
    pace: Pace,
    revision: Option<String>,
}

impl Health {
    /// Takes note of the causes there are now, and tells what is new of them.
    pub(super) fn take(&mut self, observed: &Observed, now: Moment, told: &mut Vec<Output>) {
        let revision = observed.revisions.running().map(|running| running.name.clone());
        if revision != self.revision {
            self.doom.forget();
            self.revision = revision;
        }
        self.pace.take(&observed.workload, now.elapsed);
        let mut causes = causes(observed, now.wall);
        causes.retain(|cause| !is_our_own_doing(cause));
        let mut events = Vec::new();
        self.log.take(TargetId(0), &causes, now.elapsed, &mut events);
        told.extend(events.into_iter().filter_map(in_our_words));
        let options = Options { fail_fast: Some(GRACE), ..Options::default() };
        self.doom.take(&causes, observed, &options, self.pace.moved(), now.elapsed);
    }

    /// The causes that have lasted too long, each with the pods that have it.
    pub(super) fn struck(&self, now: Duration) -> impl Iterator<Item = (CauseId, Vec<String>)> {
        self.doom.all_struck(now).map(|id| {
            let causes = self.log.standing().filter(|cause| cause.id == id);
            (id, causes.flat_map(|cause| cause.pods.clone()).collect())
        })
    }

    /// The causes that were told and have not gone.
    pub(super) fn standing(&self) -> impl Iterator<Item = &Cause> {
        self.log.standing()
    }

    /// When it will have something to tell.
    pub(super) fn due(&self) -> Option<Duration> {
        self.log.due().into_iter().chain(self.doom.due()).min()
    }
}

/// Why each of these places is without an available pod, as far as known, as a fragment.
pub(super) fn reasons<'s>(
    spots: impl IntoIterator<Item = &'s Spot<'s>>,
    observed: &Observed,
    now: Moment,
) -> Vec<(String, String)> {
    let causes = causes(observed, now.wall);
    spots.into_iter().map(|spot| (spot.name.clone(), reason(spot, &causes, observed, now))).collect()
}

fn reason(spot: &Spot<'_>, causes: &[Cause], observed: &Observed, now: Moment) -> String {
    let Some(pod) = spot.pod else { return "it is not there".to_owned() };
    let cause = causes.iter().find(|cause| !is_our_own_doing(cause) && cause.pods.contains(&pod.name));
    if spot.is_available && spot.goes_down {
        return "it is about to be replaced".to_owned();
    }
    match (cause, &spot.unready_node) {
        (Some(cause), _) => cause.summary.clone(),
        (None, Some(node)) => format!("its node {node} is not ready"),
        (None, None) => Stage::of(pod, observed.workload.min_ready_seconds(), now.wall).word().to_owned(),
    }
}

/// The last lines of a container as they may be shown.
pub(super) fn shown(log: LogLines, observed: Option<&Observed>) -> LogLines {
    LogLines { lines: without_secrets_of(observed, &log.lines), ..log }
}

/// That it is held is what stepping is.
fn is_our_own_doing(cause: &Cause) -> bool {
    matches!(cause.id, CauseId::Paused | CauseId::Partition | CauseId::OnDelete)
}

fn in_our_words(event: follow::Event) -> Option<Output> {
    Some(match event {
        follow::Event::Cause { cause, step, .. } => Output::Event(Event::Cause { cause, step }),
        follow::Event::Ask(Ask::Log(_, place)) => Output::Act(Act::Log(place)),
        _ => return None,
    })
}
