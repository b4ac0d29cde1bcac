//! Paces, batches and stages in a few words.

use std::time::Duration;

use crate::model::age::lasting;
use crate::model::go_duration;
use crate::model::step::{Amount, Batch, Batches, OnFailure, Pacing, Place, PlaceState, Reach, Stage, View};
use crate::render::change::names;
use crate::render::style::Style;

/// `revision 3 -> 4`.
pub(in crate::render) fn revisions(view: &View) -> String {
    let to = view.to.as_deref().unwrap_or("new");
    match view.from.as_deref().filter(|from| *from != to) {
        Some(from) => format!("revision {from} -> {to}"),
        None => format!("revision {to}"),
    }
}

/// `2 per batch, soak 5m`: what of a pace one wants to see all the time.
pub(in crate::render) fn pace(pacing: &Pacing) -> String {
    let batches = match &pacing.batches {
        Batches::By(amount) => format!("{amount} per batch"),
        Batches::Until(goals) => {
            format!("up to {}", goals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    };
    let soaks = [("soak", pacing.soak), ("final soak", pacing.final_soak)];
    let soaks = soaks.into_iter().filter(|(_, soak)| !soak.is_zero());
    soaks.fold(batches, |words, (name, soak)| format!("{words}, {name} {}", time(soak)))
}

/// The rest of a pace, a sentence each, as a plan is read before it begins.
pub(super) fn care(view: &View) -> Vec<String> {
    let pacing = &view.pacing;
    let plural = if view.max_unavailable == 1 { "" } else { "s" };
    let mut care = vec![
        format!("at most {} pod{plural} unavailable", view.max_unavailable),
        format!("{} for each further pod to be available", time(pacing.batch_timeout)),
    ];
    care.extend(
        pacing.check.as_ref().map(|check| format!("a check of at most {} after each", time(check.timeout))),
    );
    care.push(match pacing.on_failure {
        OnFailure::Hold => "on failure all is held".to_owned(),
        OnFailure::Undo => "on failure all is undone".to_owned(),
    });
    care
}

/// How far a command goes, as what it does.
pub(super) fn reach(reach: Reach) -> String {
    match reach {
        Reach::Next => "stops after one batch".to_owned(),
        Reach::All => "goes on to the end".to_owned(),
        Reach::To(Amount::Pods(1)) => "stops once 1 pod runs the new revision".to_owned(),
        Reach::To(Amount::Pods(pods)) => format!("stops once {pods} pods run the new revision"),
        Reach::To(amount) => format!("stops once {amount} of the pods run the new revision"),
    }
}

/// `db-3 db-2`, `db-9..db-4`.
pub(in crate::render) fn places(places: &[Place]) -> String {
    names(&places.iter().map(|place| place.name.clone()).collect::<Vec<_>>())
}

/// What a batch releases: its places, or how many they are, where nobody knows them any more.
pub(in crate::render) fn released(batch: &Batch) -> String {
    match batch.size {
        1 if batch.places.is_empty() => "1 pod".to_owned(),
        size if batch.places.is_empty() => format!("{size} pods"),
        _ => places(&batch.places),
    }
}

/// How far a batch is, in a word, and what it looks like.
pub(in crate::render) fn stage(stage: &Stage) -> (Style, &'static str) {
    match stage {
        Stage::Waiting => (Style::Dim, "waiting"),
        Stage::Updating => (Style::Plain, "updating"),
        Stage::Soaking { .. } => (Style::Plain, "soaking"),
        Stage::Checking => (Style::Plain, "checking"),
        Stage::Done { .. } => (Style::Good, "done"),
        Stage::Failed => (Style::Bad, "failed"),
    }
}

/// What there is to say of a batch beside its stage.
pub(in crate::render) fn detail(batch: &Batch) -> String {
    match &batch.stage {
        Stage::Updating => {
            let updated = batch.places.iter().filter(|place| place.state == PlaceState::Updated).count();
            format!("{updated} of {} available", batch.places.len())
        }
        Stage::Soaking { healthy, of } => format!("healthy {} of {}", lasting(*healthy), time(*of)),
        Stage::Done { healthy } if !healthy.is_zero() => format!("healthy {}", lasting(*healthy)),
        Stage::Done { .. } | Stage::Waiting | Stage::Checking | Stage::Failed => String::new(),
    }
}

/// A duration as it was typed: `5m`, `1h`, `1m30s`.
pub(in crate::render) fn time(duration: Duration) -> String {
    let mut text = go_duration::write(duration);
    for (long, short) in [("m0s", "m"), ("h0m", "h")] {
        if text.ends_with(long) {
            text.truncate(text.len() - long.len());
            text += short;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_they_are_typed() {
        for (seconds, text) in
            [(0, "0s"), (300, "5m"), (3600, "1h"), (5400, "1h30m"), (90, "1m30s"), (3605, "1h0m5s")]
        {
            assert_eq!(time(Duration::from_secs(seconds)), text);
        }
    }
}
