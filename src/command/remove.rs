//! Taking one pod down, by deleting or evicting it, and what became of that.

use crate::cluster::source::Source;
use crate::cluster::write::{Fate, WriteFailure};
use crate::model::follow::PodPlace;
use crate::model::resource_type::POD;
use crate::model::step::Removed;

/// Deletes a pod, or evicts it so that PodDisruptionBudgets count, if it still is the one with this uid.
/// One request: nothing is tried again here.
pub(super) async fn remove(pod: &PodPlace, namespace: &str, evict: bool, source: &Source) -> Removed {
    let outcome = if evict {
        source.evict(namespace, &pod.name, &pod.uid).await
    } else {
        source.delete(&POD, namespace, &pod.name, &pod.uid).await
    };
    match outcome {
        Ok(()) => Removed::Done,
        Err(WriteFailure { error, fate, .. }) => match fate {
            // Gone, or another pod has its name by now.
            Fate::Gone | Fate::Contended => Removed::Done,
            Fate::NotNow => Removed::Refused(error.sentence()),
            Fate::Unknown => Removed::Unknown(error),
            Fate::Unchanged | Fate::TestsFailed => Removed::Not(error),
        },
    }
}
