//! Tools that own a manifest of a workload and may revert a change.

use serde_json::{Map, Value};

use crate::api::managed_fields::{LAST_APPLIED, appliers, managers};
use crate::api::object::Object;
use crate::api::patch::FieldPath;
use crate::error::{Error, ErrorKind, Result};
use crate::kind::Workload;
use crate::text::shell_command::{Word, command};

/// A tool that owns a manifest of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestOwner {
    /// `kubectl apply`, found by its annotation.
    Apply,
    /// Argo CD, with the application if known: `shop`, or `team/shop` for one in another namespace than Argo CD's.
    ArgoCd(Option<String>),
    /// Flux, with its object if known.
    Flux(Option<FluxObject>),
    /// Helm, with the release if known, and its namespace.
    Helm(Option<String>, String),
    /// A Kruise Rollout, with its name if known.
    KruiseRollout(Option<String>),
    /// A field manager that owns the changed field by server-side apply.
    ServerSideApply(String),
}

/// An object of Flux that applies manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluxObject {
    /// Its type, as an argument of `flux`: `kustomization` or `helmrelease`.
    pub type_name: &'static str,
    /// Its name.
    pub name: String,
    /// Its namespace; empty if not known.
    pub namespace: String,
}

impl ManifestOwner {
    /// Returns the commands that suspend and resume the owner, if it applies its manifests automatically and its name is known.
    ///
    /// Argo CD forgets the options of its automated sync when that is turned off, so the second command lacks them.
    #[must_use]
    pub fn suspension(&self) -> Option<[String; 2]> {
        match self {
            Self::ArgoCd(Some(application)) => {
                let name = || [Word::text(application, "APPLICATION")];
                Some([
                    command("argocd app set {} --sync-policy none", name()),
                    command("argocd app set {} --sync-policy automated", name()),
                ])
            }
            Self::Flux(Some(FluxObject { type_name, name, namespace })) => {
                let words = || {
                    [Word::text(type_name, "TYPE"), Word::name(name, "NAME"), Word::in_namespace(namespace)]
                };
                Some([command("flux suspend {} {}{}", words()), command("flux resume {} {}{}", words())])
            }
            _ => None,
        }
    }
}

/// Returns the owners that may revert a change at `path`, found by labels, annotations and managed
/// fields.
#[must_use]
pub fn owners(workload: &Workload, path: &FieldPath) -> Vec<ManifestOwner> {
    let object = workload.object();
    let tools = [argo_cd(object), flux(object), helm(object), kruise_rollout(object)];
    let mut owners: Vec<ManifestOwner> =
        object.annotation(LAST_APPLIED).map(|_| ManifestOwner::Apply).into_iter().collect();
    owners.extend(tools.into_iter().flatten());
    let known = ["argocd", "kustomize-controller", "helm-controller", "helm"];
    let others = appliers(object, path).filter(|manager| !known.iter().any(|name| manager.starts_with(name)));
    owners.extend(others.map(ManifestOwner::ServerSideApply));
    owners
}

/// Returns the controller that drives the rollouts of the workload, as a noun phrase, if there is one.
#[must_use]
pub fn driver(workload: &Workload) -> Option<String> {
    let object = workload.object();
    if let Some(ManifestOwner::KruiseRollout(name)) = kruise_rollout(object) {
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        return Some(format!("the Kruise Rollout{name}"));
    }
    let is_driven = is_marked(object, "rollout.argoproj.io/") || is_managed_by(object, "rollouts-controller");
    is_driven.then(|| "Argo Rollouts".to_owned())
}

/// Returns the command of the controller that drives the rollouts of the workload, where it has one: `kubectl kruise rollout
/// VERB`. `approve` begins the next step, `undo` rolls back.
#[must_use]
pub fn driver_command(workload: &Workload, verb: &'static str) -> Option<Word> {
    let Some(ManifestOwner::KruiseRollout(name)) = kruise_rollout(workload.object()) else { return None };
    let name = Word::text(name.as_deref().unwrap_or("ROLLOUT"), "ROLLOUT");
    let words = [Word::text(verb, "VERB"), name, workload.in_namespace()];
    Some(Word::command("kubectl kruise rollout {} rollout/{}{}", words))
}

/// Refuses what only the controller that drives the rollouts of a workload may do.
///
/// # Errors
/// If there is one. The hint is its [command](driver_command) with this verb.
pub fn refuse_driven(workload: &Workload, verb: &'static str) -> Result<()> {
    let Some(driver) = driver(workload) else { return Ok(()) };
    let sentence = format!("{driver} drives the rollout of {}", workload.target());
    let advice = "use the steps of that rollout; two programs would undo each other's changes".to_owned();
    let hint = match driver_command(workload, verb) {
        Some(step) => advice + &command(": {}", [step]),
        None => advice,
    };
    Err(Error::new(ErrorKind::Refused, sentence).hint(hint))
}

fn argo_cd(object: &Object) -> Option<ManifestOwner> {
    let tracked = object.annotation("argocd.argoproj.io/tracking-id");
    let application =
        tracked.and_then(|id| id.split(':').next()).or(object.label("argocd.argoproj.io/instance"));
    // The tracking of an application in another namespace begins with `NAMESPACE_NAME`; names have no underscore.
    let application = application.map(|name| name.replacen('_', "/", 1));
    (tracked.is_some() || application.is_some() || is_managed_by(object, "argocd"))
        .then(|| ManifestOwner::ArgoCd(named(application.as_deref())))
}

fn flux(object: &Object) -> Option<ManifestOwner> {
    let object_of = |type_name, name: &str, namespace: &str| {
        let name = named(object.label(name))?;
        let namespace = object.label(namespace).unwrap_or_default().to_owned();
        Some(FluxObject { type_name, name, namespace })
    };
    let found = object_of(
        "kustomization",
        "kustomize.toolkit.fluxcd.io/name",
        "kustomize.toolkit.fluxcd.io/namespace",
    );
    let found = found.or_else(|| {
        object_of("helmrelease", "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace")
    });
    let managed = ["kustomize-controller", "helm-controller"].iter().any(|name| is_managed_by(object, name));
    (found.is_some() || managed).then_some(ManifestOwner::Flux(found))
}

/// Flux and Argo CD also set Helm's labels on charts they install; then both are returned.
fn helm(object: &Object) -> Option<ManifestOwner> {
    let release = object.annotation("meta.helm.sh/release-name");
    let managed = object.label("app.kubernetes.io/managed-by") == Some("Helm");
    let namespace = object.annotation("meta.helm.sh/release-namespace").unwrap_or(object.namespace());
    (release.is_some() || managed).then(|| ManifestOwner::Helm(named(release), namespace.to_owned()))
}

/// Kruise adds annotations and labels to a Deployment that it drives. `in-progressing` contains
/// JSON with the name of the Rollout.
fn kruise_rollout(object: &Object) -> Option<ManifestOwner> {
    let progress = object.annotation("rollouts.kruise.io/in-progressing");
    let progress: Option<Value> = progress.and_then(|text| serde_json::from_str(text).ok());
    let name = progress.as_ref().and_then(|progress| progress.get("rolloutName")?.as_str());
    is_marked(object, "rollouts.kruise.io/").then(|| ManifestOwner::KruiseRollout(named(name)))
}

fn named(name: Option<&str>) -> Option<String> {
    name.filter(|name| !name.is_empty()).map(str::to_owned)
}

fn is_managed_by(object: &Object, prefix: &str) -> bool {
    managers(object).any(|manager| manager.starts_with(prefix))
}

/// Whether the name of a label or an annotation begins with a prefix.
fn is_marked(object: &Object, prefix: &str) -> bool {
    let maps = ["/metadata/annotations", "/metadata/labels"].into_iter();
    let mut marks = maps.filter_map(|map| object.at(map)?.as_object()).flat_map(Map::keys);
    marks.any(|mark| mark.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn owners_of(metadata: &Value) -> Vec<ManifestOwner> {
        let mut object = json!({"kind": "Deployment", "metadata": {"name": "web"}});
        for (name, value) in metadata.as_object().unwrap() {
            object["metadata"][name] = value.clone();
        }
        owners(&Workload::of(Object::read(object).unwrap()).unwrap(), &FieldPath::template())
    }

    #[test]
    fn owners_are_found_by_labels_and_annotations() {
        let name = |name: &str| Some(name.to_owned());
        for (metadata, expected) in [
            (json!({"annotations": {LAST_APPLIED: "{}"}}), vec![ManifestOwner::Apply]),
            (
                json!({"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"}}),
                vec![ManifestOwner::ArgoCd(name("shop"))],
            ),
            (json!({"managedFields": [{"manager": "argocd-controller"}]}), vec![ManifestOwner::ArgoCd(None)]),
            (
                json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}),
                vec![ManifestOwner::Flux(Some(FluxObject {
                    type_name: "kustomization",
                    name: "shop".to_owned(),
                    namespace: String::new(),
                }))],
            ),
            (
                json!({"labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": {"meta.helm.sh/release-name": "web"}}),
                vec![ManifestOwner::Helm(name("web"), String::new())],
            ),
            (
                json!({"annotations": {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "apps"}}),
                vec![ManifestOwner::Helm(name("web"), "apps".to_owned())],
            ),
            (
                json!({"annotations": {"rollouts.kruise.io/in-progressing": "{\"rolloutName\":\"demo\"}"}}),
                vec![ManifestOwner::KruiseRollout(name("demo"))],
            ),
            (
                json!({"labels": {"rollouts.kruise.io/rollout-id": "1"}}),
                vec![ManifestOwner::KruiseRollout(None)],
            ),
            (json!({"labels": 1, "annotations": [], "managedFields": {"a": 1}}), vec![]),
        ] {
            assert_eq!(owners_of(&metadata), expected, "{metadata}");
        }
    }

    #[test]
    fn an_owner_that_applies_by_itself_can_be_suspended() {
        for (metadata, expected) in [
            (
                json!({"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"}}),
                Some("argocd app set shop --sync-policy none; argocd app set shop --sync-policy automated"),
            ),
            (
                json!({"annotations": {"argocd.argoproj.io/tracking-id": "team_shop:apps/Deployment:shop/web"}}),
                Some(
                    "argocd app set team/shop --sync-policy none; argocd app set team/shop --sync-policy automated",
                ),
            ),
            (
                json!({"annotations": {"argocd.argoproj.io/tracking-id": "$(rm -r ~):apps/Deployment:a/b"}}),
                Some(
                    "argocd app set '$(rm -r ~)' --sync-policy none; argocd app set '$(rm -r ~)' --sync-policy automated",
                ),
            ),
            (json!({"managedFields": [{"manager": "argocd-controller"}]}), None),
            (
                json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "shop",
                    "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}}),
                Some(
                    "flux suspend kustomization shop -n flux-system; flux resume kustomization shop -n flux-system",
                ),
            ),
            (
                json!({"labels": {"helm.toolkit.fluxcd.io/name": "shop", "helm.toolkit.fluxcd.io/namespace": "apps"}}),
                Some("flux suspend helmrelease shop -n apps; flux resume helmrelease shop -n apps"),
            ),
            (json!({"annotations": {"meta.helm.sh/release-name": "web"}}), None),
        ] {
            let commands = owners_of(&metadata).iter().find_map(ManifestOwner::suspension);
            let commands = commands.map(|one| one.join("; "));
            assert_eq!(commands.as_deref(), expected, "{metadata}");
        }
    }

    #[test]
    fn a_server_side_applier_owns_its_fields_only() {
        let entry = |manager: &str, operation: &str, fields: Value| json!({"manager": manager, "operation": operation, "fieldsV1": fields});
        let template = json!({"f:spec": {"f:template": {"f:spec": {}}}});
        let metadata = json!({"managedFields": [
            entry("ci", "Apply", template.clone()),
            entry("kubectl-edit", "Update", template.clone()),
            entry("scaler", "Apply", json!({"f:spec": {"f:replicas": {}}})),
            entry("argocd-controller", "Apply", template),
            json!({"manager": "odd", "operation": "Apply"}),
        ]});
        assert_eq!(
            owners_of(&metadata),
            [ManifestOwner::ArgoCd(None), ManifestOwner::ServerSideApply("ci".to_owned())]
        );
    }
}
