//! The number of pods of a `CloneSet`, for both revisions.

use serde_json::Value;

use super::Sync;
use crate::controller::amount::{Rounding, resolve};
use crate::controller::{count, pod};
use crate::object;
use crate::resource::PODS;

impl Sync<'_> {
    /// Returns how many pods the partition holds. A percentage rounds up, but below 100% at least one of several pods
    /// is updated.
    pub(super) fn kept_clones(&self) -> i64 {
        let (partition, wanted) = (self.rolling("partition"), count::wanted(self.set));
        let kept = resolve(partition, wanted, Rounding::Up).clamp(0, wanted);
        let is_share = partition.as_str().is_some_and(|share| share != "100%");
        if is_share && wanted > 1 { kept.min(wanted - 1) } else { kept }
    }

    /// Returns the surge of an update.
    fn surge(&self) -> i64 {
        let wanted = count::wanted(self.set);
        let missing =
            wanted - self.kept_clones() - count::of(self.staying().filter(|pod| self.is_updated(pod)));
        if self.is_paused() || self.is_on_delete() {
            return 0;
        }
        let surge = resolve(self.rolling("maxSurge"), wanted, Rounding::Up);
        let unavailable =
            count::of(self.staying().filter(|pod| self.is_updated(pod) && !self.is_available(pod)));
        surge.min((missing + unavailable).max(0))
    }

    /// Creates missing pods and deletes surplus ones according to the partition. Returns whether it did.
    pub(super) fn scale_clones(&mut self) -> bool {
        let wanted = count::wanted(self.set) + self.surge();
        let staying: Vec<_> = self.staying().cloned().collect();
        let missing = wanted - count::of(&staying);
        let released = count::wanted(self.set) - self.kept_clones();
        let updated = count::of(staying.iter().filter(|pod| self.is_updated(pod)));
        for nth in 0..missing {
            let is_new =
                updated + nth < released || object::name(&self.current) == object::name(&self.update);
            let revision = if is_new { self.update.clone() } else { self.current.clone() };
            let name = pod::new_name(self.store, self.set, nth);
            let id = name.rsplit('-').next().unwrap_or_default().to_owned();
            let made = self.new_pod(&name, &revision, &[("apps.kruise.io/cloneset-instance-id", &id)]);
            self.plan.create(&PODS, object::namespace(self.set), made);
        }
        let mut leaving: Vec<_> = staying.into_iter().map(|pod| (self.is_updated(&pod), pod)).collect();
        leaving.sort_by_key(|(is_new, pod)| (*is_new, pod::is_ready(pod)));
        let too_new = (updated - released).clamp(0, (-missing).max(0));
        let too_old = (-missing).max(0) - too_new;
        let (new, old): (Vec<_>, Vec<_>) = leaving.into_iter().partition(|(is_new, _)| *is_new);
        let more_new = too_old - count::of(&old).min(too_old);
        let new = new.into_iter().take(count::as_len(too_new + more_new));
        for (_, pod) in new.chain(old.into_iter().take(count::as_len(too_old))) {
            self.delete(&pod);
        }
        missing != 0
    }

    /// Returns the pods in the order of their update: unready ones first.
    pub(super) fn clones_to_update(&self) -> Vec<Value> {
        let mut pods: Vec<Value> = self.staying().map(|pod| Value::clone(pod)).collect();
        pods.sort_by(|one, other| {
            (pod::is_ready(one), object::name(one)).cmp(&(pod::is_ready(other), object::name(other)))
        });
        pods
    }
}
