//! The pods that we took down and that are not back never exceed the declared bound.
//!
//! A pod counts from the moment at which the controller, or we for a DaemonSet, take it down for the update while a
//! plan of ours is in force, if it was available then, until a pod of its place is available.

use std::collections::BTreeSet;

use super::{Oracle, Scene};
use crate::step_proof::timeline::{By, What};
use crate::step_proof::world::{Pod, World};

#[derive(Default)]
pub(super) struct MaxUnavailable {
    down: BTreeSet<i64>,
    /// The largest that was allowed since none was down.
    allowed: i64,
    /// What is released by us: another template is another's doing.
    image: Option<String>,
}

impl Oracle for MaxUnavailable {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        if !scene.before.kind.has_ordinals() && !scene.before.kind.is_on_nodes() {
            return Ok(()); // a pod of another name takes the place
        }
        let now = scene.now();
        let is_missing = |world: &World, place: &i64| world.wants(*place) && !world.is_available(*place, now);
        self.down.retain(|place| is_missing(scene.before, place));
        if self.down.is_empty() {
            self.allowed = 0;
        }
        self.allowed = self.allowed.max(scene.pace.allowed(scene.before.replicas()));
        if scene.releases() || scene.after.has_plan() && !scene.before.is_stepped() {
            self.image = Some(scene.after.image().to_owned());
        }
        if let Some(place) = taken_down(scene)
            && self.image.as_deref() == Some(scene.before.image())
            && scene.before.is_available(place, now)
        {
            self.down.insert(place);
        }
        let down = i64::try_from(self.down.len()).unwrap_or(i64::MAX);
        if down > self.allowed {
            return Err(format!("{:?} are down, {} may be", self.down, self.allowed));
        }
        Ok(())
    }
}

/// The pod that an update of ours takes down with this change.
pub(super) fn taken_down(scene: &Scene<'_>) -> Option<i64> {
    let What::Pod(name, after) = &scene.change.what else { return None };
    let before = scene.before.pods.get(name)?;
    let image = scene.before.image();
    let is_replaced = |pod: &Pod| pod.is_leaving || pod.image == image; // in place
    let goes = !before.is_leaving && after.as_ref().is_none_or(is_replaced);
    let is_update = before.image != image;
    let is_ours = match scene.change.by {
        By::Process(_) => true,
        By::Cluster => !scene.before.is_daemon_set(), // it removes what has no node any more
        By::Other => false,
    };
    let is_step = is_ours && scene.before.is_stepped() && scene.before.wants(before.place);
    (goes && is_update && is_step).then_some(before.place)
}
