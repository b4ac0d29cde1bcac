//! Warnings about the owners of a manifest that may revert a change: kubectl apply, Helm, Argo CD, Flux.

use crate::model::change::owners::ManifestOwner;
use crate::model::kind::{Workload, strategy};
use crate::model::revision::Revision;
use crate::model::text::plural::joined;
use crate::model::text::shell_command::{Word, command};

/// Returns the warning that an owner may revert a rollback.
#[must_use]
pub fn before_an_undo(owner: &ManifestOwner, workload: &Workload) -> String {
    if *owner == ManifestOwner::Apply {
        return format!(
            "warning: the next kubectl apply of the present manifest of {} changes the template again; correct it too",
            workload.target()
        );
    }
    let (who, advice) = introduced(owner);
    format!("warning: {who} manages {} and may apply the later revision again; {advice}", workload.target())
}

/// Returns the warning that an owner may revert what `kubectl apply` changes.
#[must_use]
pub fn before_an_apply(owner: &ManifestOwner, workload: &Workload) -> String {
    let (who, _) = introduced(owner);
    match owner {
        ManifestOwner::KruiseRollout(_) => before_a_restart(owner, workload),
        _ => format!("warning: {who} manages {} too and may revert the change", workload.target()),
    }
}

/// Returns the warning that an owner drives the rollout that a restart begins.
#[must_use]
pub fn before_a_restart(owner: &ManifestOwner, workload: &Workload) -> String {
    let (who, advice) = introduced(owner);
    format!("warning: {who} manages {}; {advice}", workload.target())
}

/// Returns the warning that an owner may end a hold.
#[must_use]
pub fn before_a_hold(owner: &ManifestOwner, workload: &Workload) -> String {
    let target = workload.target();
    let field = strategy::hold_path(workload).members().join(".");
    if *owner == ManifestOwner::Apply {
        return format!(
            "warning: {target} was applied from a manifest that sets {field}; applying it again ends the pause"
        );
    }
    let (who, _) = introduced(owner);
    format!("warning: {who} manages {target} and ends the pause if its manifest sets {field}")
}

/// Returns the warning that an owner may end a plan of `step`, which writes these fields.
#[must_use]
pub fn before_a_plan(owner: &ManifestOwner, workload: &Workload, fields: &[String]) -> String {
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
        ManifestOwner::Helm(name) => {
            let release = Word::name(name.as_deref().unwrap_or_default(), "RELEASE");
            (
                named("Helm", name),
                command("to keep the release history of Helm correct: helm rollback {}", [release]),
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
