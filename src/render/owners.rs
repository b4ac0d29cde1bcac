//! Warnings about those who may undo what we do.

use crate::model::owners::Owner;
use crate::model::workload::Workload;

/// kubectl's own words, since 1.36, for a rollback of what `kubectl apply` manages.
#[must_use]
pub fn last_applied_warning(workload: &Workload) -> String {
    format!(
        "Warning: resource {}/{} was previously managed with 'kubectl apply'. Rolling back will not update the \
         kubectl.kubernetes.io/last-applied-configuration annotation, which may cause unexpected behavior on future \
         'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.",
        workload.kind().type_().plural(),
        workload.name()
    )
}

/// What an owner may do to a rollback.
#[must_use]
pub fn before_an_undo(owner: &Owner, workload: &Workload) -> String {
    if *owner == Owner::Apply {
        return last_applied_warning(workload);
    }
    let (who, advice) = introduced(owner);
    format!("warning: {who} manages {} and may bring the later revision back; {advice}", workload.target())
}

/// What an owner may do to a hold, whose strategy or pause is not theirs.
#[must_use]
pub fn before_a_hold(owner: &Owner, workload: &Workload) -> String {
    let target = workload.target();
    if *owner == Owner::Apply {
        return format!(
            "warning: {target} was applied from a manifest that names its update strategy; applying it again ends the pause"
        );
    }
    let (who, _) = introduced(owner);
    format!("warning: {who} manages {target} and may end the pause with its own update strategy")
}

fn introduced(owner: &Owner) -> (String, String) {
    let named = |what: &str, name: &Option<String>| match name {
        Some(name) => format!("{what} ({name})"),
        None => what.to_owned(),
    };
    match owner {
        Owner::Apply => ("kubectl apply".to_owned(), "apply the earlier manifest".to_owned()),
        Owner::ArgoCd(name) => {
            (named("Argo CD", name), "revert its source, or stop its sync first".to_owned())
        }
        Owner::Flux(name) => (named("Flux", name), "revert its source, or suspend it first".to_owned()),
        Owner::Helm(name) => {
            let release = name.as_deref().unwrap_or("RELEASE");
            (named("Helm", name), format!("helm rollback {release} keeps Helm's own record right"))
        }
        Owner::KruiseRollout(name) => {
            (named("a Kruise Rollout", name), "it drives this rollout step by step".to_owned())
        }
        Owner::ServerSideApply(manager) => {
            (format!("{manager:?} (server-side apply)"), "it owns fields of the template".to_owned())
        }
    }
}
