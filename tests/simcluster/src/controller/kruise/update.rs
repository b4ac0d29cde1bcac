//! Updates of the pods: in place if the templates allow it, or by new pods.

use serde_json::{Map, Value, json};

use super::{Kind, Sync};
use crate::controller::amount::{Rounding, resolve};
use crate::controller::revision::template_of;
use crate::controller::{count, in_place};
use crate::object;
use crate::rules::Part;

impl Sync<'_> {
    /// Updates as many pods as can be unavailable. A pod that is unavailable already does not count.
    pub(super) fn update_pods(&mut self) {
        let missing = self.wanted() - count::of(self.staying().filter(|pod| self.is_available(pod)));
        let (candidates, mut missing) = match self.kind {
            Kind::CloneSet => (self.clones_to_update(), missing),
            Kind::StatefulSet => (self.ordinals_to_update(), missing),
            Kind::DaemonSet => self.nodes_to_update(),
        };
        let allowed = self.max_unavailable();
        let mut left = match self.kind {
            Kind::CloneSet => {
                let updated = count::of(self.staying().filter(|pod| self.is_updated(pod)));
                count::wanted(self.set) - self.kept_clones() - updated
            }
            Kind::StatefulSet | Kind::DaemonSet => i64::MAX,
        };
        for pod in candidates {
            let is_available = self.is_available(&pod);
            if self.is_updated(&pod) {
                if self.kind == Kind::StatefulSet && self.in_order() && !is_available {
                    return;
                }
                continue;
            }
            if left <= 0 || (is_available && missing >= allowed) {
                continue;
            }
            left -= 1;
            missing += i64::from(is_available);
            self.update_pod(&pod);
            if self.kind == Kind::StatefulSet && self.in_order() {
                return;
            }
        }
    }

    fn wanted(&self) -> i64 {
        match self.kind {
            Kind::DaemonSet => count::of(self.nodes()),
            Kind::CloneSet | Kind::StatefulSet => count::wanted(self.set),
        }
    }

    fn max_unavailable(&self) -> i64 {
        let (allowed, wanted) = (self.rolling("maxUnavailable"), self.wanted());
        let surge = resolve(self.rolling("maxSurge"), wanted, Rounding::Up);
        match self.kind {
            Kind::CloneSet if allowed.is_null() => resolve(&"20%".into(), wanted, Rounding::Up),
            Kind::CloneSet if surge > 0 => resolve(allowed, wanted, Rounding::Down),
            Kind::StatefulSet => resolve(allowed, wanted, Rounding::Down).max(1),
            Kind::CloneSet | Kind::DaemonSet => resolve(allowed, wanted, Rounding::Up).max(1),
        }
    }

    fn update_pod(&mut self, pod: &Value) {
        let to = template_of(&self.update);
        let from = self.revision_of(pod).map(template_of).filter(|_| self.may_stay());
        let Some((from, images)) = from.and_then(|from| Some((from.clone(), in_place::images(&from, &to)?)))
        else {
            if !self.stays_in_place() {
                self.delete(pod);
            }
            return;
        };
        let mut changed = pod.clone();
        in_place::set_gate(&mut changed, false, self.now);
        self.change(Part::Status, &changed);
        let label = self.label_of(&self.update);
        in_place::move_metadata(&mut changed, &from, &to);
        let has_grace = self.grace_seconds() > 0 && !images.is_empty();
        in_place::record(&mut changed, &label, if has_grace { &[] } else { &images }, self.now);
        let labels = object::members(&mut changed["metadata"]["labels"]);
        labels.insert(crate::controller::pod::REVISION_LABEL.to_owned(), label.into());
        if self.kind != Kind::DaemonSet {
            labels.insert(in_place::LIFECYCLE.to_owned(), "Updating".into());
        }
        if has_grace {
            let images: Map<String, Value> =
                images.into_iter().map(|(name, image)| (name, image.into())).collect();
            let spec = json!({"revision": self.label_of(&self.update), "containerImages": images});
            changed["metadata"]["annotations"][in_place::GRACE] = spec.to_string().into();
            self.plan.requeue_at(self.now);
        } else {
            in_place::set_images(&mut changed, &images);
        }
        self.change(Part::Object, &changed);
    }
}
