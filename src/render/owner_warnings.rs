//! Warnings about the owners of a manifest that may revert a change: kubectl apply, Helm, Argo CD, Flux.

use serde_json::Value;

use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::api::patch::FieldPath;
use crate::model::change::last_applied::{NextApply, restored_fields};
use crate::model::change::undo::UndoOptions;
use crate::model::kind::fields::spec_path;
use crate::model::kind::owners::{ManifestOwner, owners};
use crate::model::kind::{Workload, strategy};
use crate::model::revision::Revision;
use crate::model::text::plural::joined;
use crate::model::text::shell_command::{Word, command};

/// Returns a warning of each controller and tool that may revert a rollback, but not of `kubectl apply`. Without a target the
/// rollback is not possible.
#[must_use]
pub fn before_an_undo(workload: &Workload, to: Option<&Revision>) -> Vec<String> {
    let owners = owners(workload, &FieldPath::template()).into_iter();
    let warning = |owner: ManifestOwner| {
        if let ManifestOwner::ServerSideApply(manager) = &owner {
            return before_a_server_side_apply(manager, workload, to);
        }
        let (target, (who, advice)) = (workload.target(), introduced(&owner));
        format!("warning: {who} manages {target} and may apply its manifest again; {advice}")
    };
    owners.filter(|owner| *owner != ManifestOwner::Apply).map(warning).collect()
}

/// The API server keeps the fields of `Update` and of `Apply` apart, also of one manager. So a rollback by any manager is in
/// conflict with the next server-side apply, and what it restores stays.
fn before_a_server_side_apply(manager: &str, workload: &Workload, to: Option<&Revision>) -> String {
    let restored = to.map(|to| restored_fields(workload, to)).unwrap_or_default();
    let restored =
        if restored.is_empty() { "what this rollback restores".to_owned() } else { restored.join(", ") };
    format!(
        "warning: the next server-side apply of {} by {manager:?} conflicts with this rollback; with --force-conflicts it \
         does not remove {restored}; to avoid both, apply the earlier manifest instead",
        workload.target()
    )
}

/// Returns the warnings about the next `kubectl apply` after a rollback to a revision: what it changes again, and what it does
/// not remove. These are less important than the other warnings, because a user runs it.
#[must_use]
pub fn of_apply(workload: &Workload, to: &Revision, options: &UndoOptions) -> Vec<String> {
    let apply = format!("warning: the next kubectl apply of the present manifest of {}", workload.target());
    let next = match NextApply::after(workload, to) {
        Ok(next) => next.unwrap_or_default(),
        Err(_) => return vec![format!("{apply} may change the template again; correct it too")],
    };
    let changes = next.changes.join(", ");
    let changes = (!changes.is_empty())
        .then(|| format!("{apply} changes the template again: {changes}; correct it too"));
    let keeps = next.keeps.join(", ");
    let is_kept = !keeps.is_empty() && !options.sync_last_applied;
    let keeps =
        is_kept.then(|| format!("{apply} does not remove {keeps}; with undo --sync-last-applied it does"));
    changes.into_iter().chain(keeps).collect()
}

/// Returns the text of the warning that an owner may revert what `kubectl apply` changes.
#[must_use]
pub fn before_an_apply(owner: &ManifestOwner, workload: &Workload) -> String {
    match owner {
        ManifestOwner::KruiseRollout(_) => drives(owner, workload),
        _ => format!("{} manages {} too and may revert the change", introduced(owner).0, workload.target()),
    }
}

/// Returns a warning of each controller and tool that may remove the annotation of a restart, which replaces the pods again,
/// and of a Kruise Rollout, which drives the workload. An apply by kubectl leaves the annotation alone.
#[must_use]
pub fn before_a_restart(workload: &Workload) -> Vec<String> {
    let owners = owners(workload, &FieldPath::template()).into_iter();
    let warning = |owner: ManifestOwner| match owner {
        ManifestOwner::Apply | ManifestOwner::ServerSideApply(_) => None,
        ManifestOwner::KruiseRollout(_) => Some(format!("warning: {}", drives(&owner, workload))),
        ManifestOwner::ArgoCd(_) | ManifestOwner::Flux(_) | ManifestOwner::Helm(..) => {
            let (target, (who, _)) = (workload.target(), introduced(&owner));
            let removes = "may remove the annotation of the restart, which replaces the pods again";
            Some(format!("warning: {who} manages {target} and {removes}"))
        }
    };
    owners.filter_map(warning).collect()
}

fn drives(owner: &ManifestOwner, workload: &Workload) -> String {
    let (who, advice) = introduced(owner);
    format!("{who} manages {}; {advice}", workload.target())
}

/// Returns a warning of each owner whose next apply may end a pause.
#[must_use]
pub fn before_a_hold(workload: &Workload) -> Vec<String> {
    let path = strategy::hold_path(workload);
    let (target, field) = (workload.target(), path.members().join("."));
    let warning = |owner: ManifestOwner| match owner {
        ManifestOwner::Apply => format!(
            "warning: {target} was applied from a manifest that sets {field}; applying it again ends the pause"
        ),
        ManifestOwner::KruiseRollout(_) => format!("warning: {}", drives(&owner, workload)),
        owner => {
            let (who, _) = introduced(&owner);
            format!("warning: {who} manages {target} and ends the pause if its manifest sets {field}")
        }
    };
    owners_of(workload, &path).map(warning).collect()
}

/// Returns a warning of each owner whose next apply may end a plan of `step`, with the fields that it may write. `None` for a
/// plan in force, which has begun with that warning.
#[must_use]
pub fn before_a_plan(workload: &Workload) -> Vec<String> {
    if workload.held().plan().is_some() {
        return Vec::new();
    }
    let mut fields: Vec<(ManifestOwner, Vec<String>)> = Vec::new();
    for path in workload.hold_fields().iter().map(|name| spec_path(name)) {
        for owner in owners_of(workload, &path) {
            let field = path.members().join(".");
            match fields.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, fields)) => fields.push(field),
                None => fields.push((owner, vec![field])),
            }
        }
    }
    fields.iter().map(|(owner, fields)| may_end_plan(owner, workload, fields)).collect()
}

/// Returns the owners that may write a field. `kubectl apply` writes it only if its last manifest sets it.
fn owners_of(workload: &Workload, path: &FieldPath) -> impl Iterator<Item = ManifestOwner> {
    let last_applied = workload.object().annotation(LAST_APPLIED).unwrap_or_default();
    let last_applied: Value = serde_json::from_str(last_applied).unwrap_or_default();
    let is_applied = path.value_in(&last_applied).is_some();
    owners(workload, path).into_iter().filter(move |owner| *owner != ManifestOwner::Apply || is_applied)
}

fn may_end_plan(owner: &ManifestOwner, workload: &Workload, fields: &[String]) -> String {
    let sets = |name: &str| fields.iter().any(|field| field == name);
    let is_rejected = sets("spec.progressDeadlineSeconds") && !sets("spec.minReadySeconds");
    let (target, fields) = (workload.target(), joined(fields, "or"));
    let (who, _) = introduced(owner);
    match owner {
        ManifestOwner::Apply if is_rejected => format!(
            "warning: {target} was applied from a manifest that sets {fields}; until the plan ends, the API server rejects \
             that manifest: its progressDeadlineSeconds is not greater than the minReadySeconds of the plan"
        ),
        ManifestOwner::Apply => format!(
            "warning: {target} was applied from a manifest that sets {fields}; applying it again during the plan ends it"
        ),
        ManifestOwner::ArgoCd(_) => format!(
            "warning: {who} manages {target}; with self-heal it puts back what its manifest sets of {fields}, which ends \
             the plan: turn self-heal off first"
        ),
        _ => format!("warning: {who} manages {target} and ends the plan if its manifest sets {fields}"),
    }
}

/// Returns the note after a rollback that the workload still runs its revision, and how an owner that was stopped runs
/// again.
#[must_use]
pub fn after_an_undo(owner: &ManifestOwner, workload: &Workload, current: &Revision) -> Option<String> {
    let [_, resume] = owner.suspension()?;
    let options = match owner {
        ManifestOwner::ArgoCd(_) => " (with the --self-heal and --auto-prune that it had)",
        _ => "",
    };
    let (target, label, (who, _)) = (workload.target(), current.label(), introduced(owner));
    Some(format!(
        "note: {target} still runs revision {label}; revert its source, and if you stopped {who}, let it run \
         again{options}: {resume}"
    ))
}

/// Returns the warning that a workload does not run the revision of its rollback any more.
#[must_use]
pub fn changed_after_an_undo(workload: &Workload) -> String {
    format!("warning: another client changed the template of {} after the rollback", workload.target())
}

/// Returns what to do with an owner that applies its source automatically.
fn suspended_first(owner: &ManifestOwner, otherwise: &str) -> String {
    let how = match owner.suspension() {
        Some([suspend, _]) => format!("stop it first: {suspend}"),
        None => otherwise.to_owned(),
    };
    format!("revert its source, or {how}")
}

fn introduced(owner: &ManifestOwner) -> (String, String) {
    let named = |what: &str, name: &Option<String>| match name {
        Some(name) => format!("{what} ({name})"),
        None => what.to_owned(),
    };
    match owner {
        ManifestOwner::Apply => ("kubectl apply".to_owned(), "apply the earlier manifest".to_owned()),
        ManifestOwner::ArgoCd(name) => {
            (named("Argo CD", name), suspended_first(owner, "stop its sync first"))
        }
        ManifestOwner::Flux(object) => {
            let name = object.as_ref().map(|object| object.name.clone());
            (named("Flux", &name), suspended_first(owner, "suspend it first"))
        }
        ManifestOwner::Helm(name, namespace) => {
            let release = Word::name(name.as_deref().unwrap_or_default(), "RELEASE");
            let words = [release, Word::in_namespace(namespace)];
            (
                named("Helm", name),
                command("to keep the release history of Helm correct: helm rollback {}{}", words),
            )
        }
        ManifestOwner::KruiseRollout(name) => {
            (named("a Kruise Rollout", name), "it controls this rollout".to_owned())
        }
        ManifestOwner::ServerSideApply(manager) => {
            (format!("{manager:?} (server-side apply)"), "it owns fields of the template".to_owned())
        }
    }
}
