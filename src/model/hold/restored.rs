//! The fields that the annotation of a hold restores.

use serde_json::{Map, Value, json};

use crate::model::api::field_path::FieldPath;
use crate::model::api::patch::Patch;
use crate::model::diff::{Change, Diff, SecretValues, short_text};
use crate::model::hold::plan::Hold;
use crate::model::kind::{Workload, plan_fields, strategy};
use crate::model::revision::template::Template;
use crate::model::text::shell_command::command;

/// Returns the changes of the fields that a hold replaced, from a workload to the object that a patch leaves. The field
/// `paused` is no such change: it is what a pause is.
#[must_use]
fn restored_fields(workload: &Workload, after: &Value) -> Vec<Change> {
    let own_pause = strategy::hold_path(workload);
    let several = plan_fields::are_several(workload);
    let places = plan_fields::paths(workload).into_iter().filter(|place| !several || *place != own_pause);
    let places: Vec<FieldPath> = places.collect();
    let [from, to] = [workload.object().json(), after].map(|object| {
        let field =
            |place: &FieldPath| Some((place.members().last()?.clone(), place.value_in(object)?.clone()));
        let spec: Map<String, Value> = places.iter().filter_map(field).collect();
        Template::new(&json!({"spec": spec}))
    });
    Diff::between(&from, &to, SecretValues::Shown).changes().to_vec()
}

/// Returns the changes as words: `spec.minReadySeconds 2147483646 -> 5, spec.paused true removed`; none without changes.
#[must_use]
pub fn restored_words(workload: &Workload, after: &Value) -> Option<String> {
    let word = |change: &Change| match (&change.from, &change.to) {
        (Some(from), Some(to)) => format!("{} {} -> {}", change.path, short_text(from), short_text(to)),
        (None, Some(to)) => format!("{} {} added", change.path, short_text(to)),
        (from, None) => {
            format!("{} {} removed", change.path, from.as_ref().map(short_text).unwrap_or_default())
        }
    };
    let words: Vec<String> = restored_fields(workload, after).iter().map(word).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns that an ended plan left fields, and the command that restores them: `left with progressDeadlineSeconds
/// 2147483647 of a plan that another client ended, until kubectl rollout2 resume deployment/web`.
#[must_use]
pub fn left_words(workload: &Workload) -> Option<String> {
    let left = left_fields(workload)?;
    let until = command("until kubectl rollout2 resume {}", [workload.command_target()]);
    Some(format!("left with {left} of a plan that another client ended, {until}"))
}

/// Returns the fields of an ended plan that stay, with their values: another client wrote only some of the fields that
/// held. `progressDeadlineSeconds 2147483647`.
#[must_use]
pub fn left_fields(workload: &Workload) -> Option<String> {
    let hold = Hold::of(workload).ok().flatten().filter(|hold| !hold.is_in_force(workload))?;
    if !plan_fields::are_several(workload) || !hold.plan().ok().flatten()?.is_releasing() {
        return None;
    }
    let mut patch = Patch::of(workload.object());
    hold.end(workload, &mut patch);
    let left = restored_fields(workload, patch.after());
    let word = |change: &Change| {
        let from = change.from.as_ref().map(short_text).unwrap_or_default();
        let place = change.path.to_string();
        format!("{} {from}", place.strip_prefix("spec.").unwrap_or(&place))
    };
    let words: Vec<String> = left.iter().map(word).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
