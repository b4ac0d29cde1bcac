//! The manifest that `kubectl apply` stored, its last-applied configuration: what the next apply does after a rollback, and the
//! configuration that `--sync-last-applied` stores.

use serde_json::Value;

use crate::api::managed_fields::LAST_APPLIED;
use crate::diff::{self, Diff, SecretValues};
use crate::error::{Error, ErrorKind, Result};
use crate::kind::Workload;
use crate::revision::Revision;
use crate::revision::template::{RESTARTED_AT, Template};
use crate::text::json::go_json;

/// What the next `kubectl apply` of the present manifest does to the template of a rollback.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NextApply {
    /// What it changes again, as the parts of one line with secrets masked.
    pub changes: Vec<String>,
    /// What the rollback restores and the apply does not remove, because the last-applied configuration lacks it.
    pub keeps: Vec<String>,
}

impl NextApply {
    /// Returns what the next apply does after a rollback to a revision; none if `kubectl apply` stored no manifest.
    ///
    /// # Errors
    /// If the stored manifest is not readable, so that the next apply may change anything.
    pub fn after(workload: &Workload, target: &Revision) -> Result<Option<Self>> {
        let Some(text) = workload.object().annotation(LAST_APPLIED) else { return Ok(None) };
        let config = read(text, workload)?;
        let applied = config.pointer("/spec/template").cloned().unwrap_or_default();
        let aligned = aligned(&applied, target.template().json());
        let changes = difference(&aligned, &applied);
        Ok(Some(Self { changes, keeps: restored(&aligned, target, workload) }))
    }
}

/// Returns what a rollback restores that the live template lacks, in words. The next server-side apply does not remove it.
#[must_use]
pub fn restored_fields(workload: &Workload, target: &Revision) -> Vec<String> {
    let live = workload.template();
    restored(&aligned(live.json(), target.template().json()), target, workload)
}

/// Returns what the target adds to a template that has only its values.
fn restored(aligned: &Value, target: &Revision, workload: &Workload) -> Vec<String> {
    let mut with = aligned.clone();
    add_restored(
        "template",
        &mut with,
        &restorable(&target.template()),
        workload.object().at("/spec/template"),
    );
    let unsigned = |part: String| part.replacen('+', "", 1);
    difference(aligned, &with).into_iter().map(unsigned).collect()
}

fn difference(before: &Value, after: &Value) -> Vec<String> {
    Diff::between(&Template::new(before), &Template::new(after), SecretValues::Masked).summary()
}

/// Returns the last-applied configuration that belongs to the template of a revision (`--sync-last-applied`).
///
/// `kubectl apply` removes the fields that this configuration contains and the manifest lacks. After a rollback it is that of
/// the later release, so two things are wrong. It names fields that the rollback removed: they take the value of the revision,
/// or are removed. It lacks fields that the rollback restored: they are added. A field that was in the live template all the
/// time and that no manifest applied stays unknown to it, because another client owns it.
///
/// # Errors
/// If it is not a JSON object.
pub(super) fn synced_config(text: &str, template: &Template, workload: &Workload) -> Result<String> {
    let mut config = read(text, workload)?;
    if let Some(applied) = config.pointer_mut("/spec/template") {
        align("template", applied, template.json());
        let live = workload.object().at("/spec/template");
        add_restored("template", applied, &restorable(template), live);
    }
    // kubectl ends it with a newline; an unchanged configuration stays equal byte by byte.
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Ok(go_json(&config) + end)
}

fn read(text: &str, workload: &Workload) -> Result<Value> {
    let config = serde_json::from_str(text).ok().filter(Value::is_object);
    config.ok_or_else(|| {
        let target = workload.target();
        let message =
            format!("the last-applied configuration of {target} is not readable, so it cannot be synced");
        Error::new(ErrorKind::Malformed, message).hint("run undo without --sync-last-applied")
    })
}

/// Returns the parts of a template that a manifest can have set: no defaults, and not the annotation of a restart, which
/// `kubectl apply` leaves alone.
fn restorable(template: &Template) -> Value {
    let mut json = template.json().clone();
    if let Some(annotations) = json.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(RESTARTED_AT);
    }
    Template::new(&json).canonical()
}

fn aligned(applied: &Value, revision: &Value) -> Value {
    let mut aligned = applied.clone();
    align("template", &mut aligned, revision);
    aligned
}

/// Gives each applied field the value of the revision, or removes it if the revision lacks it.
fn align(name: &str, applied: &mut Value, revision: &Value) {
    match (&mut *applied, revision) {
        (Value::Object(members), Value::Object(revision)) => members.retain(|member, value| {
            revision.get(member).map(|revision| align(member, value, revision)).is_some()
        }),
        (Value::Array(elements), Value::Array(revision_elements)) => match diff::identity_fields(name) {
            Some(fields) => elements.retain_mut(|element| {
                let same = revision_elements.iter().find(|other| is_same(element, other, fields));
                same.map(|same| align("", element, same)).is_some()
            }),
            None => *applied = revision.clone(),
        },
        _ => *applied = revision.clone(),
    }
}

/// Adds what the revision has and the live template lacks, beside fields that were applied.
fn add_restored(name: &str, applied: &mut Value, revision: &Value, live: Option<&Value>) {
    match (applied, revision) {
        (Value::Object(members), Value::Object(revision)) => {
            for (member, value) in revision {
                let live = live.and_then(|live| live.get(member));
                match members.get_mut(member) {
                    Some(applied) => add_restored(member, applied, value, live),
                    None if live.is_none() => _ = members.insert(member.clone(), value.clone()),
                    None => {}
                }
            }
        }
        (Value::Array(elements), Value::Array(revision)) => {
            let Some(fields) = diff::identity_fields(name) else { return };
            let live = live.and_then(Value::as_array);
            for value in revision {
                let live = live.and_then(|live| live.iter().find(|live| is_same(live, value, fields)));
                match elements.iter_mut().find(|element| is_same(element, value, fields)) {
                    Some(applied) => add_restored("", applied, value, live),
                    None if live.is_none() => elements.push(value.clone()),
                    None => {}
                }
            }
        }
        _ => {}
    }
}

/// Whether two elements of a list have the same key fields, as far as the first one contains them. Defaults such as a port's
/// protocol are only in a template of the API server.
fn is_same(element: &Value, other: &Value, fields: &[&str]) -> bool {
    let field = |of: &Value, path: &str| -> Option<Value> {
        path.split('.').try_fold(of, |value, member| value.get(member)).cloned()
    };
    let mut keys = fields.iter().filter_map(|path| Some((*path, field(element, path)?))).peekable();
    keys.peek().is_some() && keys.all(|(path, value)| field(other, path).as_ref() == Some(&value))
}

#[cfg(test)]
mod tests;
