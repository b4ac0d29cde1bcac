//! Scaling of sets, one at a time or proportionally.

use serde_json::Value;

use super::share::proportional_sizes;
use super::size::max_surge;
use super::{Outdated, Sync, annotations};
use crate::controller::count;
use crate::object;

impl Sync<'_> {
    /// Scales a set and records an event. Returns whether it was necessary.
    pub(super) fn resize(&mut self, index: usize, size: i64) -> bool {
        let before = count::wanted(&self.sets[index]);
        if before == size {
            return false;
        }
        self.resize_and_note(index, size);
        true
    }

    /// Scales a set and sets the annotations with its sizes, even if its size stays.
    fn resize_and_note(&mut self, index: usize, size: i64) {
        let before = count::wanted(&self.sets[index]);
        let noted = annotations::note_sizes(&mut self.sets[index], &self.deployment);
        if before == size && !noted {
            return;
        }
        self.sets[index]["spec"]["replicas"] = size.into();
        self.write_set(index);
        if before != size {
            let direction = if size > before { "up" } else { "down" };
            let name = object::name(&self.sets[index]);
            self.record_event(format!("Scaled {direction} replica set {name} from {before} to {size}"));
        }
    }

    /// Whether `spec.replicas` has changed since a set with pods was scaled.
    pub(super) fn is_to_be_scaled(&mut self) -> Result<bool, Outdated> {
        self.new_set(false)?;
        let wanted = count::wanted(&self.deployment);
        Ok(self
            .sets
            .iter()
            .filter(|set| count::wanted(set) > 0)
            .filter_map(|set| annotations::get(set, annotations::DESIRED).parse::<i64>().ok())
            .any(|desired| desired != wanted))
    }

    /// Syncs a paused or scaled Deployment: sizes and counts, but no new set.
    pub(super) fn keep_size(&mut self) -> Result<(), Outdated> {
        let new = self.new_set(false)?;
        self.scale(new);
        if self.is_paused() {
            self.clean_up(new);
        }
        self.write_counts(new)
    }

    fn scale(&mut self, new: Option<usize>) {
        let wanted = count::wanted(&self.deployment);
        if let Some(only) = self.only_active_or_latest(new) {
            self.resize(only, wanted);
        } else if new.is_some_and(|new| self.is_saturated(&self.sets[new])) {
            for old in self.old_sets(new) {
                self.resize(old, 0);
            }
        } else if self.rolls() {
            self.scale_in_proportion();
        }
    }

    /// Returns the only set with pods; if no set has pods, the new set or the latest one.
    fn only_active_or_latest(&self, new: Option<usize>) -> Option<usize> {
        let active: Vec<usize> =
            (0..self.sets.len()).filter(|index| count::wanted(&self.sets[*index]) > 0).collect();
        match active.as_slice() {
            [] => new.or_else(|| self.sets.len().checked_sub(1)),
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Whether a set has all pods of the Deployment, and they are available.
    fn is_saturated(&self, set: &Value) -> bool {
        let wanted = count::wanted(&self.deployment);
        count::wanted(set) == wanted
            && annotations::get(set, annotations::DESIRED).parse() == Ok(wanted)
            && count::status(set, "availableReplicas") == wanted
    }

    fn scale_in_proportion(&mut self) {
        let wanted = count::wanted(&self.deployment);
        let allowed = if wanted > 0 { wanted + max_surge(&self.deployment) } else { 0 };
        let active: Vec<usize> =
            (0..self.sets.len()).filter(|index| count::wanted(&self.sets[*index]) > 0).collect();
        let sets: Vec<&Value> = active.iter().map(|index| &self.sets[*index]).collect();
        for (place, size) in proportional_sizes(&self.deployment, &sets, allowed) {
            self.resize_and_note(active[place], size);
        }
    }
}
