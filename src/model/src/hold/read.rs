//! Reads the annotation: of a workload when that is read, and the copies on its revisions.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::held::{Held, Hold, PLAN, VERSION};
use super::plan::schema::is_small;
use crate::error::{Error, ErrorKind, Result};
use crate::kind::fields::{HOLD_ANNOTATION, HoldFields};
use crate::kind::{Workload, strategy};
use crate::text::json::data_problem;
use crate::text::shell_command::{Word, command};

/// Reads what the annotation of a workload says of it.
#[must_use]
pub fn read(workload: &Workload) -> Held {
    if workload.kind().mechanism().is_err() {
        return Held::Free;
    }
    let Some(text) = workload.object().annotation(HOLD_ANNOTATION) else {
        return if workload.has_fields_of_plan() { Held::Lost } else { Held::Free };
    };
    match Hold::read(workload, text) {
        Ok(hold) if !hold.is_in_force(workload) => Held::Ended(Arc::new(hold)),
        Ok(hold) if hold.has_plan() => Held::Plan(Arc::new(hold)),
        Ok(hold) => Held::Paused(Arc::new(hold)),
        Err(error) => Held::Unreadable(error),
    }
}

impl Hold {
    /// Reads an annotation of a workload. Unknown members have no effect.
    pub(crate) fn read(workload: &Workload, text: &str) -> Result<Self> {
        let mut members: Map<_, _> = serde_json::from_str(text).map_err(|_| unreadable(workload))?;
        let invalid = |why: String| unreadable(workload).caused_by(why);
        if let Some(version) =
            members.get("version").and_then(Value::as_u64).filter(|one| *one != u64::from(VERSION))
        {
            return Err(of_another_version(workload, version));
        }
        let stored = ["strategy", "set"].map(|member| members.remove(member).unwrap_or_default());
        let (names, update_strategy) = (workload.hold_fields(), workload.kind().strategy());
        let [strategy, set] = stored.map(|stored| HoldFields::read(names, update_strategy, stored));
        let (strategy, set) = (strategy.map_err(invalid)?, set.map_err(invalid)?);
        let hold: Self =
            serde_json::from_value(Value::Object(members)).map_err(|error| invalid(data_problem(&error)))?;
        if !serde_json::to_value(&hold).is_ok_and(|known| is_small(&known)) {
            return Err(invalid("it has a text or a number that is too large".to_owned()));
        }
        // A plan takes over the pause that it finds, so that its end leaves the workload neither held nor paused.
        Ok(Self { strategy: strategy.without_pause(), set, ..hold })
    }
}

impl Workload {
    /// Returns the update strategy that a hold in force replaced, or the present one.
    pub(crate) fn original_update_strategy(&self) -> Option<Value> {
        match self.held().in_force() {
            Some(hold) => hold.original_strategy(self).cloned(),
            None => strategy::update_strategy(self).cloned(),
        }
    }

    /// Returns the name of the revision from which the plan in force began, if it is for the live template.
    pub(crate) fn start_of_plan(&self) -> Option<String> {
        self.held().plan().filter(|plan| plan.is_for_live_template(self))?.from.clone()
    }
}

/// The members of a plan that change while `step` runs.
const PROGRESS: [&str; 3] = ["batch", "reach", "failure"];

/// Whether two states of a workload have the same plan for the same template, at any batch. The progress of a plan is
/// no conflict for a command that ends or pauses the plan.
#[must_use]
pub fn have_same_plan(one: &Workload, other: &Workload) -> bool {
    let plan = |workload: &Workload| {
        let hold = workload.held().stored().filter(|hold| hold.has_plan())?;
        let hold = Hold { lock: None, set: HoldFields::default(), ..hold.clone() };
        let mut members = serde_json::to_value(hold).ok()?;
        members[PLAN].as_object_mut()?.retain(|member, _| !PROGRESS.contains(&member.as_str()));
        Some((workload.template_digest(), members))
    };
    plan(one).is_some_and(|one| plan(other) == Some(one))
}

fn unreadable(workload: &Workload) -> Error {
    let sentence = format!("the annotation {HOLD_ANNOTATION} of {} is not readable", workload.target());
    Error::new(ErrorKind::Malformed, sentence).hint(remove_by_hand("", workload))
}

fn of_another_version(workload: &Workload, version: u64) -> Error {
    let sentence = format!(
        "the annotation {HOLD_ANNOTATION} of {} has version {version}, and this program reads version {VERSION}",
        workload.target()
    );
    let newer = "end the hold with the version of this program that began it, or ";
    Error::new(ErrorKind::Malformed, sentence).hint(remove_by_hand(newer, workload))
}

fn remove_by_hand(before: &str, workload: &Workload) -> String {
    let words = [workload.command_target(), Word::text(HOLD_ANNOTATION, "KEY")];
    before.to_owned() + &command("correct its update strategy, then: kubectl annotate {} {}-", words)
}
