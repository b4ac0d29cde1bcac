//! Reads the annotation of a hold.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::hold::{END_BY_HAND, Hold, PLAN, VERSION};
use super::schema::{Plan, is_small};
use crate::error::{Error, ErrorKind, Result};
use crate::model::kind::fields::{HOLD_ANNOTATION, HoldFields};
use crate::model::kind::Workload;
use crate::model::text::shell_command::{Word, command};

impl Hold {
    /// Returns the hold of a workload, whether or not it is in force; none for a kind that is not held by fields.
    ///
    /// # Errors
    /// When the annotation exists and is invalid. The original fields are unknown then.
    pub fn of(workload: &Workload) -> Result<Option<Self>> {
        let text =
            workload.object().annotation(HOLD_ANNOTATION).filter(|_| workload.kind().hold_method().is_ok());
        text.map(|text| Self::read(workload, text)).transpose()
    }

    /// Returns the hold of the plan of a workload, if it has one, whether or not the hold is in force. Where pods are only
    /// counted, the last batch is scaled to the present replicas, and the next write stores that.
    ///
    /// # Errors
    /// When the annotation or the plan in it is invalid.
    pub fn of_plan(workload: &Workload) -> Result<Option<Self>> {
        let Some(mut hold) = Self::of(workload)?.filter(Self::has_plan) else { return Ok(None) };
        hold.plan = Some(hold.require_plan(workload)?.clone().scaled_to(workload));
        Ok(Some(hold))
    }

    /// Reads an annotation of a workload.
    pub(in crate::model) fn read(workload: &Workload, text: &str) -> Result<Self> {
        let mut members: Map<_, _> = serde_json::from_str(text).map_err(|_| unreadable(workload))?;
        members.remove(END_BY_HAND); // each write renews it
        let stored = ["strategy", "set"].map(|member| members.remove(member).unwrap_or_default());
        let invalid = |why: String| unreadable(workload).caused_by(why);
        let (names, strategy) = (workload.hold_fields(), workload.kind().strategy());
        let [original, fields] = stored.map(|stored| HoldFields::read(names, strategy, stored));
        let members = Value::Object(members);
        if !is_small(&members) {
            return Err(invalid("it has a text or a number that is too large".to_owned()));
        }
        let (original, fields) = (original.map_err(invalid)?, fields.map_err(invalid)?);
        let mut hold: Self = serde_json::from_value(members).map_err(|_| unreadable(workload))?;
        if let Some(Ok(plan)) = hold.rest.get(PLAN).filter(|_| hold.version <= VERSION).map(Plan::deserialize)
        {
            hold.plan = Some(plan);
            hold.rest.remove(PLAN);
        }
        // A plan takes over the pause that it finds, so that its end leaves the workload neither held nor paused.
        Ok(Self { original: original.without_pause(), fields, ..hold })
    }

    /// Returns the hold of a workload if it is in force and readable.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Self::of(workload).ok()?.filter(|hold| hold.is_in_force(workload))
    }

    /// Returns the plan.
    ///
    /// # Errors
    /// When there is none that this version can read.
    pub fn require_plan(&self, workload: &Workload) -> Result<&Plan> {
        self.plan.as_ref().ok_or_else(|| {
            let why = match self.rest.get(PLAN).map(Plan::deserialize) {
                _ if self.version > VERSION => {
                    format!("it has version {}, this is version {VERSION}", self.version)
                }
                Some(Err(error)) => error.to_string(),
                _ => "it has no plan".to_owned(),
            };
            let sentence = format!(
                "the plan in the annotation {HOLD_ANNOTATION} of {} is not readable",
                workload.target()
            );
            Error::new(ErrorKind::Malformed, sentence)
                .caused_by(why)
                .hint(command("kubectl rollout2 resume {} --release-all", [workload.command_target()]))
        })
    }
}

impl Plan {
    /// Returns the plan that holds a workload, if it is readable.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Hold::in_force(workload)?.plan
    }
}

/// The members of a plan that change while `step` runs.
const PROGRESS: [&str; 3] = ["batch", "reach", "failure"];

/// Whether two states of a workload have the same plan for the same template, at any batch. The progress of a plan is
/// no conflict for a command that ends or pauses the plan.
#[must_use]
pub fn have_same_plan(one: &Workload, other: &Workload) -> bool {
    let plan = |workload: &Workload| {
        let hold = Hold::of(workload).ok()?.filter(Hold::has_plan)?;
        let hold = Hold { lock: None, fields: HoldFields::default(), ..hold };
        let mut members = serde_json::to_value(hold).ok()?;
        members[PLAN].as_object_mut()?.retain(|member, _| !PROGRESS.contains(&member.as_str()));
        Some((workload.template_digest(), members))
    };
    plan(one).is_some_and(|one| plan(other) == Some(one))
}

fn unreadable(workload: &Workload) -> Error {
    Error::new(
        ErrorKind::Malformed,
        format!("the annotation {HOLD_ANNOTATION} of {} is not readable", workload.target()),
    )
    .hint(command(
        "correct its update strategy, then: kubectl annotate {} {}-",
        [workload.command_target(), Word::text(HOLD_ANNOTATION, "KEY")],
    ))
}
