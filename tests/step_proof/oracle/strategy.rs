//! The fields that a plan replaces: it only ever releases more pods, and when it ends, the fields before are there again.

use serde_json::{Map, Value};

use super::max_unavailable::taken_down;
use super::{Oracle, Scene};
use crate::step_proof::kind::Kind;
use crate::step_proof::timeline::{By, Process};
use crate::step_proof::world::{Millis, World};

/// How long after the list of pods a suspended process may delete.
const LATEST_DELETION: Millis = 16_000;

#[derive(Default)]
pub(super) struct Strategies {
    /// Which processes may have been suspended.
    is_disturbed: Vec<bool>,
    /// The fields as they were before they were held by us, or as another client wrote them since.
    original: Option<Map<String, Value>>,
    /// What the plan was made for.
    image: Option<String>,
}

impl Strategies {
    pub(super) fn of(processes: &[Process]) -> Self {
        let is_disturbed = processes.iter().map(|process| process.is_disturbed).collect();
        Self { is_disturbed, ..Self::default() }
    }

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
        // A write tests the template. A deletion cannot: it is right by what was there when it was sent, or was read just
        // before the process was suspended.
        let deletes = scene.process().is_some() && taken_down(scene).is_some();
        let sent = scene.views.last().copied().filter(|_| deletes);
        let is_disturbed = scene.process().is_some_and(|process| self.is_disturbed[process]);
        let is_late = scene.change.looked_at.is_none_or(|at| scene.now() > at + LATEST_DELETION);
        let read = scene.read.map(|(_, read)| read).filter(|_| deletes && is_disturbed && !is_late);
        let lets_go = scene.releases() || deletes;
        match &self.image {
            Some(image)
                if lets_go
                    && image != before.image()
                    && sent.into_iter().chain(read).all(|known| image != known.image()) =>
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
        let is_step = scene.writer().is_some();
        let is_paused = before.hold().is_some_and(|hold| hold["paused"] == true);
        if scene.releases() && is_paused && after.hold().is_some_and(|hold| hold["paused"] == true) {
            return Err("pods are released while it is paused".to_owned());
        }
        if scene.change.by == By::Other
            && before.hold().is_some()
            && let Some(original) = &mut self.original
        {
            take_external_change(original, before, after);
        }
        if before.hold().is_none() && after.hold().is_some() {
            self.original = Some(before.fields());
        }
        if scene.ends_plan() {
            let (original, now) = (self.original.take(), after.fields());
            if original.as_ref() != Some(&now) {
                return Err(format!("{now:?} is put back, it was {original:?}"));
            }
        }
        if is_step && before.is_stepped() && after.has_plan() { Self::check_release(scene) } else { Ok(()) }
    }
}

impl Strategies {
    /// What is released stays released, unless a new plan is for another template.
    fn check_release(scene: &Scene<'_>) -> Result<(), String> {
        let (before, after) = (scene.before, scene.after);
        let template = |world: &World| world.hold().map(|mut hold| hold["plan"]["template"].take());
        if before.kind == Kind::StatefulSet {
            let is = after.released();
            let is_updated = |one: &i64| scene.views().all(|view| view.is_updated(*one));
            let was = before.released().into_iter();
            let lost: Vec<i64> = was.filter(|one| !is.contains(one) && is_updated(one)).collect();
            if !lost.is_empty() {
                return Err(format!("{lost:?} were released, run the new revision, and are held again"));
            }
        } else if before.kind.is_counted()
            && !after.rolls_back()
            && before.image() == after.image()
            && template(before) == template(after)
            && after.released_count() < before.released_count()
        {
            return Err(format!(
                "{} pods were released, and {} are",
                before.released_count(),
                after.released_count()
            ));
        }
        Ok(())
    }
}

/// The limits that another client writes beside what holds are original ones from then on.
fn take_limits(original: &mut Map<String, Value>, was: &Map<String, Value>, is: &Map<String, Value>) {
    let limits = |fields: &Map<String, Value>| {
        let limits = fields.get("updateStrategy")?.get("rollingUpdate")?.as_object()?;
        let is_limit = |name: &str| !["partition", "paused", "selector"].contains(&name);
        let limits = limits.iter().filter(|(name, _)| is_limit(name));
        Some(limits.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
    };
    let (was, is) = (limits(was).unwrap_or_default(), limits(is).unwrap_or_default());
    let Some(own) = original.get_mut("updateStrategy").and_then(|strategy| strategy.get_mut("rollingUpdate"))
    else {
        return;
    };
    if let Some(own) = own.as_object_mut() {
        take_changed(own, &was, &is);
    }
}

/// What another client writes is the original from then on, unless it is what the plan had set, or what
/// `pause` holds it by.
pub(super) fn take_external_change(original: &mut Map<String, Value>, before: &World, after: &World) {
    let (was, is) = (before.fields(), after.fields());
    let is_without_plan = |hold: Value| hold.is_object() && hold["plan"].is_null();
    let is_pause = before.hold() != after.hold() && after.hold().is_some_and(is_without_plan);
    if is_pause {
        return;
    }
    if before.kind != Kind::Deployment && after.is_stepped() {
        return take_limits(original, &was, &is);
    }
    take_changed(original, &was, &is);
}

/// A value that equals what holds does not show who wrote it, so only the values that another client changed are taken.
fn take_changed(original: &mut Map<String, Value>, was: &Map<String, Value>, is: &Map<String, Value>) {
    for name in was.keys().chain(is.keys()).filter(|name| was.get(*name) != is.get(*name)) {
        let parts = (original.get_mut(name), was.get(name), is.get(name));
        if let (Some(Value::Object(original)), Some(Value::Object(was)), Some(Value::Object(is))) = parts {
            take_changed(original, was, is);
            continue;
        }
        match is.get(name) {
            Some(value) => drop(original.insert(name.clone(), value.clone())),
            None => drop(original.remove(name)),
        }
    }
}
