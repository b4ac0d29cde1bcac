//! Who else has a say in a workload, and may undo what we do.

use serde_json::Value;

use super::object::Object;
use super::patch::Place;
use super::workload::Workload;

/// Where `kubectl apply` keeps what it applied last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Somebody with a manifest of their own for the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// `kubectl apply`, which remembers what it applied.
    Apply,
    /// Argo CD, and the application if it is told.
    ArgoCd(Option<String>),
    /// Flux, and the Kustomization or release of Helm if it is told.
    Flux(Option<String>),
    /// Helm, and the release if it is told.
    Helm(Option<String>),
    /// A Kruise Rollout, and its name if it is told.
    KruiseRollout(Option<String>),
    /// Somebody who applies the field that we change by server-side apply.
    ServerSideApply(String),
}

/// The owners of a workload, as far as its labels, annotations and managed fields tell, that may put
/// back what is at `place`.
#[must_use]
pub fn owners(workload: &Workload, place: &Place) -> Vec<Owner> {
    let object = workload.object();
    let appliers = [argo_cd(object), flux(object), helm(object), kruise_rollout(object)];
    let mut owners: Vec<Owner> = object.annotation(LAST_APPLIED).map(|_| Owner::Apply).into_iter().collect();
    owners.extend(appliers.into_iter().flatten());
    let known = ["argocd", "kustomize-controller", "helm-controller", "helm"];
    let others =
        appliers_of(object, place).filter(|manager| !known.iter().any(|name| manager.starts_with(name)));
    owners.extend(others.map(|manager| Owner::ServerSideApply(manager.to_owned())));
    owners
}

fn argo_cd(object: &Object) -> Option<Owner> {
    let tracked = object.annotation("argocd.argoproj.io/tracking-id");
    let application =
        tracked.and_then(|id| id.split(':').next()).or(object.label("argocd.argoproj.io/instance"));
    (tracked.is_some() || application.is_some() || is_managed_by(object, "argocd"))
        .then(|| Owner::ArgoCd(named(application)))
}

fn flux(object: &Object) -> Option<Owner> {
    let name = ["kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"];
    let name = name.iter().find_map(|label| object.label(label));
    let managed = ["kustomize-controller", "helm-controller"].iter().any(|name| is_managed_by(object, name));
    (name.is_some() || managed).then(|| Owner::Flux(named(name)))
}

/// Flux and Argo CD mark what they install by Helm as Helm's too; then they are named besides.
fn helm(object: &Object) -> Option<Owner> {
    let release = object.annotation("meta.helm.sh/release-name");
    let managed = object.label("app.kubernetes.io/managed-by") == Some("Helm");
    (release.is_some() || managed).then(|| Owner::Helm(named(release)))
}

/// Kruise marks a Deployment it drives with annotations and labels of its own; the one that says
/// which Rollout is in progress holds JSON.
fn kruise_rollout(object: &Object) -> Option<Owner> {
    const PREFIX: &str = "rollouts.kruise.io/";
    let marks = |map: &str| {
        object
            .at(map)
            .and_then(Value::as_object)
            .is_some_and(|marks| marks.keys().any(|key| key.starts_with(PREFIX)))
    };
    let progress = object.annotation("rollouts.kruise.io/in-progressing");
    let progress: Option<Value> = progress.and_then(|text| serde_json::from_str(text).ok());
    let name = progress.as_ref().and_then(|progress| progress.get("rolloutName")?.as_str());
    (marks("/metadata/annotations") || marks("/metadata/labels")).then(|| Owner::KruiseRollout(named(name)))
}

fn named(name: Option<&str>) -> Option<String> {
    name.filter(|name| !name.is_empty()).map(str::to_owned)
}

fn entries(object: &Object) -> impl Iterator<Item = &Value> {
    object.at("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten()
}

fn is_managed_by(object: &Object, prefix: &str) -> bool {
    entries(object).filter_map(manager).any(|manager| manager.starts_with(prefix))
}

fn manager(entry: &Value) -> Option<&str> {
    entry.get("manager")?.as_str()
}

/// The managers that own something at a place by server-side apply: `kubectl apply --server-side`
/// and its like put it back, or ask for `--force-conflicts`, the next time.
fn appliers_of<'a>(object: &'a Object, place: &Place) -> impl Iterator<Item = &'a str> {
    let fields = place.members().iter().map(|member| format!("f:{member}")).collect::<Vec<_>>();
    let owns = move |entry: &&Value| {
        let applies = entry.get("operation").and_then(Value::as_str) == Some("Apply");
        let owned = entry.get("fieldsV1");
        applies && fields.iter().fold(owned, |owned, field| owned?.get(field)).is_some()
    };
    entries(object).filter(owns).filter_map(manager)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn owners_of(metadata: &Value) -> Vec<Owner> {
        let mut object = json!({"kind": "Deployment", "metadata": {"name": "web"}});
        for (name, value) in metadata.as_object().unwrap() {
            object["metadata"][name] = value.clone();
        }
        owners(&Workload::of(Object::read(object).unwrap()).unwrap(), &Place::of(["spec", "template"]))
    }

    #[test]
    fn owners_are_told_by_the_marks_they_leave() {
        let name = |name: &str| Some(name.to_owned());
        for (metadata, expected) in [
            (json!({"annotations": {LAST_APPLIED: "{}"}}), vec![Owner::Apply]),
            (
                json!({"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"}}),
                vec![Owner::ArgoCd(name("shop"))],
            ),
            (json!({"managedFields": [{"manager": "argocd-controller"}]}), vec![Owner::ArgoCd(None)]),
            (
                json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}),
                vec![Owner::Flux(name("shop"))],
            ),
            (
                json!({"labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": {"meta.helm.sh/release-name": "web"}}),
                vec![Owner::Helm(name("web"))],
            ),
            (
                json!({"annotations": {"rollouts.kruise.io/in-progressing": "{\"rolloutName\":\"demo\"}"}}),
                vec![Owner::KruiseRollout(name("demo"))],
            ),
            (json!({"labels": {"rollouts.kruise.io/rollout-id": "1"}}), vec![Owner::KruiseRollout(None)]),
            (json!({"labels": 1, "annotations": [], "managedFields": {"a": 1}}), vec![]),
        ] {
            assert_eq!(owners_of(&metadata), expected, "{metadata}");
        }
    }

    #[test]
    fn a_server_side_applier_owns_what_it_named_and_no_more() {
        let entry = |manager: &str, operation: &str, fields: Value| json!({"manager": manager, "operation": operation, "fieldsV1": fields});
        let template = json!({"f:spec": {"f:template": {"f:spec": {}}}});
        let metadata = json!({"managedFields": [
            entry("ci", "Apply", template.clone()),
            entry("kubectl-edit", "Update", template.clone()),
            entry("scaler", "Apply", json!({"f:spec": {"f:replicas": {}}})),
            entry("argocd-controller", "Apply", template),
            json!({"manager": "odd", "operation": "Apply"}),
        ]});
        assert_eq!(owners_of(&metadata), [Owner::ArgoCd(None), Owner::ServerSideApply("ci".to_owned())]);
    }
}
