//! The pods that the controller created on the new revision, apart from those that the plan released.

use std::collections::BTreeSet;

/// A slot whose pod runs the new revision.
pub(super) struct UpdatedSlot {
    pub(super) name: String,
    /// The name of its pod where pods are only counted, otherwise that of the slot.
    pub(super) label: String,
    /// Whether the plan released it with the last batch.
    pub(super) is_ours: bool,
    /// Whether its pod was created on the new revision, and not updated in place.
    pub(super) is_created: bool,
}

/// The updated slots that are known already.
#[derive(Debug, Default)]
pub(super) struct AddedPods {
    /// The slots whose release was reported, or that were released when the command began.
    known: BTreeSet<String>,
    /// The labels of updated slots in earlier observations. Where pods are only counted, the pods of one second change
    /// their slots.
    labels: BTreeSet<String>,
    /// The created pods that were taken for released ones. Where pods are only counted, a pod that a scale-up adds can
    /// fill the slot of a pod that is updated in place later.
    taken_for_ours: Vec<String>,
}

impl AddedPods {
    /// Returns the state at the beginning: the released slots, and the labels of the updated ones.
    pub(super) fn beginning(known: BTreeSet<String>, updated: Vec<UpdatedSlot>) -> Self {
        let labels = known.iter().cloned().chain(updated.into_iter().map(|slot| slot.label)).collect();
        Self { known, labels, taken_for_ours: Vec::new() }
    }

    /// Returns the pods in new slots that the plan did not release.
    pub(super) fn observe(&mut self, updated: Vec<UpdatedSlot>) -> Vec<String> {
        let is_new = |slot: &&UpdatedSlot| !self.known.contains(&slot.name);
        let mut new: Vec<bool> = updated.iter().filter(is_new).map(|slot| slot.is_ours).collect();
        let mut unknown: Vec<(bool, String)> = updated
            .iter()
            .filter(|slot| !self.labels.contains(&slot.label))
            .map(|slot| (slot.is_created, slot.label.clone()))
            .collect();
        for slot in updated {
            self.known.insert(slot.name);
            self.labels.insert(slot.label);
        }
        // A pod that replaces another one in a known slot is older than those in new slots.
        unknown.drain(..unknown.len().saturating_sub(new.len()));
        if unknown.iter().any(|(is_created, _)| !is_created) {
            unknown.sort_by_key(|(is_created, _)| *is_created); // released pods first
            new.sort_by_key(|is_ours| !is_ours);
        }
        let mut added = Vec::new();
        for ((is_created, label), is_ours) in unknown.into_iter().zip(new) {
            match (is_created, is_ours) {
                (true, true) => self.taken_for_ours.push(label),
                (true, false) => added.push(label),
                (false, true) => {}
                (false, false) => added.extend(self.taken_for_ours.pop()),
            }
        }
        added
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots of counted pods, in the order of their names; the plan released the first `released`.
    fn counted(pods: &[&str], released: usize) -> Vec<UpdatedSlot> {
        let slot = |(index, pod): (usize, &&str)| UpdatedSlot {
            name: (index + 1).to_string(),
            label: (*pod).to_owned(),
            is_ours: index < released,
            is_created: !pod.starts_with("in-place"),
        };
        pods.iter().enumerate().map(slot).collect()
    }

    /// Pods of one second are in the order of their names, and arrive in another one.
    #[test]
    fn pods_of_one_second_are_reported_once() {
        let mut pods = AddedPods::beginning(BTreeSet::new(), Vec::new());
        for (observed, added) in [
            (&["m"][..], &[][..]),
            (&["m", "x"], &["x"]),
            (&["c", "m", "x"], &["c"]),
            (&["b", "c", "m", "x"], &["b"]),
            (&["b", "c", "m", "x"], &[]),
        ] {
            assert_eq!(pods.observe(counted(observed, 1)), added, "{observed:?}");
        }
    }

    #[test]
    fn a_replacement_and_a_released_pod_are_not_added() {
        let mut pods = AddedPods::beginning(BTreeSet::from(["1".to_owned()]), counted(&["a"], 1));
        for (observed, released, added) in [
            (&["b"][..], 1, &[][..]),      // in place of a
            (&["b", "c"], 2, &[]),         // the next batch
            (&["c", "d", "e"], 2, &["e"]), // d in place of b, and a scale-up
            (&["c", "d"], 2, &[]),
            (&["c", "d", "f"], 3, &[]),
        ] {
            assert_eq!(pods.observe(counted(observed, released)), added, "{observed:?}");
        }
    }

    #[test]
    fn a_pod_that_is_updated_in_place_is_not_added() {
        let none = || AddedPods::beginning(BTreeSet::new(), Vec::new());
        // The scale-up creates its pods before the released pod is updated, with it, or after it.
        for (observed, added) in [
            ([&["a", "b"][..], &["a", "b", "in-place"]], [&["b"][..], &["a"]]),
            ([&["a", "b", "in-place"], &["a", "b", "in-place"]], [&["a", "b"], &[]]),
            ([&["in-place"], &["in-place", "a", "b"]], [&[], &["a", "b"]]),
        ] {
            let mut pods = none();
            for (observed, added) in observed.into_iter().zip(added) {
                assert_eq!(pods.observe(counted(observed, 1)), *added, "{observed:?}");
            }
        }
        // The slot of the batch is not the first new one.
        let mut updated = counted(&["in-place", "a"], 0);
        updated[1].is_ours = true;
        assert_eq!(none().observe(updated), ["a"]);
    }
}
