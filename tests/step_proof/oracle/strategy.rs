//! The strategy: a plan only ever lets more go, and when it ends, what was there before is there again.

use serde_json::Value;

use super::max_unavailable::taken_down;
use super::{Oracle, Scene};
use crate::step_proof::timeline::By;

#[derive(Default)]
pub(super) struct Strategies {
    /// The strategy as it was before it was held by us.
    original: Option<Value>,
    /// Whether another client has set the present strategy.
    is_foreign: bool,
    /// What the plan was made for.
    image: Option<String>,
}

impl Strategies {
    /// A plan is for one template, until a new plan begins.
    fn check_template(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        let (before, after) = (scene.before, scene.after);
        let is_anew = !before.is_stepped() || scene.words.is_some_and(|words| words.new_plan);
        if scene.writer().is_some() && after.has_plan() && is_anew {
            self.image = Some(after.image().to_owned());
        }
        if scene.rolls_back() {
            self.image = Some(after.image().to_owned()); // a plan that stays is for that one
        }
        // A write tests the template. A deletion cannot: it is right by what was there when it was sent.
        let deletes = scene.process().is_some() && taken_down(scene).is_some();
        let sent = if deletes { scene.views.last().copied() } else { None };
        let lets_go = scene.releases() || deletes;
        match &self.image {
            Some(image)
                if lets_go && image != before.image() && sent.is_none_or(|sent| image != sent.image()) =>
            {
                Err(format!("{} is released, the plan is for {image}", before.image()))
            }
            _ => Ok(()),
        }
    }
}

impl Oracle for Strategies {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        self.check_template(scene)?;
        let (before, after) = (scene.before, scene.after);
        let changes = before.strategy() != after.strategy();
        let is_step = scene.writer().is_some();
        if !is_step
            && scene.change.by == By::Other
            && changes
            && before.hold().is_some()
            && after.hold().is_some()
        {
            self.is_foreign = !after.is_stepped(); // what the plan had set may be put back
        }
        let is_paused = before.hold().is_some_and(|hold| hold["paused"] == true);
        if scene.releases() && is_paused && after.hold().is_some_and(|hold| hold["paused"] == true) {
            return Err("pods are released while it is paused".to_owned());
        }
        let is_held_first = before.hold().is_none() && after.hold().is_some();
        let is_paused_anew = after.hold() != before.hold() && !after.has_plan() && after.hold().is_some();
        let is_held_anew = (is_step && after.has_plan() || is_paused_anew) && self.is_foreign && changes;
        if is_held_first || is_held_anew {
            self.original = Some(before.strategy().clone());
            self.is_foreign = false;
        }
        if scene.ends_plan() {
            let original = self.original.take();
            if !self.is_foreign && original.as_ref() != Some(after.strategy()) {
                return Err(format!("{} is put back, it was {original:?}", after.strategy()));
            }
        }
        let is_held_by_partition = !before.is_daemon_set();
        if is_step && is_held_by_partition && before.is_stepped() && after.has_plan() {
            let (was, is) = (before.released(), after.released());
            let is_updated = |one: &i64| scene.views().all(|view| view.is_updated(*one));
            let lost: Vec<i64> = was.filter(|one| !is.contains(one) && is_updated(one)).collect();
            if !lost.is_empty() {
                return Err(format!("{lost:?} were released, run the new revision, and are held again"));
            }
        }
        Ok(())
    }
}
