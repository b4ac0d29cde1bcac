//! Runs `kubectl apply --dry-run=server`, and reads what it prints: the objects as the API server would store them, and which
//! ones it refuses.

use std::ffi::OsString;

use crate::cli::preview::PreviewArgs;
use crate::cluster::access::Access;
use crate::cluster::concurrent::concurrently;
use crate::cluster::source::Cluster;
use crate::command::context::Context;
use crate::command::targets::manifest::short_name;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::kind::Workload;
use crate::model::text::secret::without_secrets;
use crate::render::preview::{CONFLICT, NO_PREVIEW, RefusedObject};
use crate::render::ui::Ui;
use crate::snapshot::document::read_objects;
use crate::world::Environment;
use crate::world::program::{Output, PrivateFile, Program, ended};

/// The environment variable that names the program.
const VARIABLE: &str = "KUBECTL";

/// The variable in which kubectl 1.37 passes its own path to a plugin.
const CALLER: &str = "KUBECTL_PATH";

/// The objects as the API server would store them.
#[derive(Debug, Default)]
pub(super) struct ApplyResult {
    pub(super) objects: Vec<Object>,
    /// The workloads that are refused.
    pub(super) refused: Vec<RefusedObject>,
    /// The errors of other objects.
    pub(super) errors: Vec<Error>,
}

impl ApplyResult {
    /// Returns the objects that have a name, and an error for each of the others.
    pub(super) fn of_named(objects: Vec<Object>) -> Self {
        let (objects, nameless): (Vec<_>, Vec<_>) =
            objects.into_iter().partition(|object| !object.name().is_empty());
        let refused =
            |object| format!("{}: refused by kubectl: apply needs metadata.name", short_name(object));
        let errors = nameless.iter().map(|object| Error::new(ErrorKind::Refused, refused(object))).collect();
        Self { objects, errors, ..Self::default() }
    }

    /// Records an object that the API server or kubectl refuses.
    fn refuse(&mut self, manifest: &Object, (how, message): (&'static str, String)) {
        let Some(workload) = Workload::of(manifest.clone()) else {
            let message = format!("{}: {how}: {message}", short_name(manifest));
            self.errors.push(Error::new(ErrorKind::Refused, message));
            return;
        };
        self.refused.push(RefusedObject { workload, how, message });
    }
}

/// Runs kubectl for one `preview`, with a kubeconfig that has the server and the credential of this command, which only this user
/// can read. No secret is among the flags, which other users can see.
pub(super) struct KubectlApply<'a> {
    program: OsString,
    request: &'a PreviewArgs,
    /// The flags of the connection.
    flags: Vec<OsString>,
    environment: &'a Environment,
    cluster: &'a Cluster,
    /// The kubeconfig, as long as it is needed.
    _kubeconfig: PrivateFile,
}

impl<'a> KubectlApply<'a> {
    /// Writes the kubeconfig.
    ///
    /// # Errors
    /// When no credential can be obtained, or the file cannot be written.
    pub(super) async fn new(
        request: &'a PreviewArgs,
        context: &'a Context<'_>,
        cluster: &'a Cluster,
    ) -> Result<Self> {
        let environment = &context.world.environment;
        let program = environment.get(VARIABLE).or_else(|| environment.get(CALLER));
        let program = program.unwrap_or("kubectl".as_ref()).to_owned();
        let kubeconfig = cluster.kubeconfig().await?.to_string();
        let kubeconfig = PrivateFile::new(environment, "kubeconfig", &kubeconfig).map_err(|error| {
            Error::new(ErrorKind::Program, "cannot write a kubeconfig for kubectl").caused_by(error)
        })?;
        let mut flag = OsString::from("--kubeconfig=");
        flag.push(kubeconfig.path());
        let others = other_flags(&context.inputs.access).into_iter().map(OsString::from);
        let flags = [flag].into_iter().chain(others).collect();
        Ok(Self { program, request, flags, environment, cluster, _kubeconfig: kubeconfig })
    }

    /// Returns the objects as the API server would store them.
    ///
    /// # Errors
    /// When kubectl cannot be run, or cannot read the manifests.
    pub(super) async fn run(&self, input: &[u8], ui: &mut Ui) -> Result<ApplyResult> {
        let first = self.apply(self.request.manifest_flags().collect(), input).await?;
        if first.status.success() {
            self.pass_on(&first.stderr, ui);
            let objects = objects_in(&first.stdout)?;
            return Ok(ApplyResult { objects, ..ApplyResult::default() });
        }
        let listed = self.list(input).await?;
        let mut applied = ApplyResult::of_named(objects_in(&listed.stdout).unwrap_or_default());
        let manifests = std::mem::take(&mut applied.objects);
        if manifests.is_empty() {
            self.pass_on(&first.stderr, ui);
            return Err(self.failed(first.status.code()));
        }
        if !listed.status.success() {
            // kubectl lists the other objects beside those of a kind that is not installed.
            let (how, message) = refusal(&listed.stderr);
            applied.errors.push(Error::new(ErrorKind::Refused, format!("{how}: {message}")));
        }
        let one_by_one = manifests.iter().map(async |manifest| {
            let input = manifest.json().to_string();
            self.apply(vec!["--filename=-".into()], input.as_bytes()).await
        });
        for (manifest, result) in manifests.iter().zip(concurrently(one_by_one).await) {
            let result = result?;
            if result.status.success() {
                self.pass_on(&result.stderr, ui);
                applied.objects.extend(objects_in(&result.stdout)?);
            } else {
                let refusal = refusal(&result.stderr);
                let new_namespace = manifests.iter().find(|other| {
                    other.kind() == "Namespace"
                        && refusal.1 == format!("namespaces {:?} not found", other.name())
                });
                let not_yet = |namespace: &Object| {
                    (NO_PREVIEW, format!("namespace {:?} does not exist yet", namespace.name()))
                };
                applied.refuse(manifest, new_namespace.map_or(refusal, not_yet));
            }
        }
        Ok(applied)
    }

    /// Runs `apply`.
    async fn apply(&self, manifests: Vec<OsString>, input: &[u8]) -> Result<Output> {
        let verb = ["apply", "--dry-run=server", "--output=json"].map(OsString::from);
        self.kubectl(verb.into_iter().chain(self.request.apply_flags()).chain(manifests), input).await
    }

    /// Lists the objects of the manifests. `create --dry-run=client` sends none of them.
    async fn list(&self, input: &[u8]) -> Result<Output> {
        let verb = ["create", "--dry-run=client", "--output=json", "--validate=false"].map(OsString::from);
        self.kubectl(verb.into_iter().chain(self.request.manifest_flags()), input).await
    }

    async fn kubectl(&self, words: impl Iterator<Item = OsString>, input: &[u8]) -> Result<Output> {
        let args = words.chain(self.flags.iter().cloned()).collect();
        let program = Program { name: self.program.clone(), args };
        program.capture(self.environment, input).await.map_err(|error| self.cannot_run(error))
    }

    /// Prints kubectl's messages with secrets masked, and counts its warnings. The prefix tells them apart from messages of
    /// this program.
    fn pass_on(&self, stderr: &[u8], ui: &mut Ui) {
        for line in String::from_utf8_lossy(stderr).lines().filter(|line| !line.trim().is_empty()) {
            ui.messages.line_once(&format!("kubectl: {}", without_secrets(line)));
            if let Some(warning) = line.strip_prefix("Warning: ") {
                self.cluster.count_warning(warning);
            }
        }
    }

    fn cannot_run(&self, error: std::io::Error) -> Error {
        let name = self.program.to_string_lossy();
        let error = Error::new(ErrorKind::Program, format!("cannot run {name:?}")).caused_by(error);
        error.hint(format!("set {VARIABLE} to the path of kubectl"))
    }

    fn failed(&self, code: Option<i32>) -> Error {
        let name = self.program.to_string_lossy();
        let how = ended(code);
        Error::new(ErrorKind::Program, format!("{name} apply --dry-run=server failed: {how}"))
    }
}

/// Parses the objects that kubectl printed.
fn objects_in(stdout: &[u8]) -> Result<Vec<Object>> {
    let origin = "the output of kubectl";
    let not_objects = |error: Error| {
        Error::new(ErrorKind::Program, format!("cannot use {origin}")).caused_by(error.to_string())
    };
    let text = std::str::from_utf8(stdout)
        .map_err(|_| Error::new(ErrorKind::Program, format!("{origin} is not UTF-8")))?;
    read_objects(text.to_owned(), origin).map_err(not_objects)
}

/// Returns who refused one object and why, from kubectl's messages. kubectl prints the whole patch before the reason, and
/// the object around it in several forms. `error:` begins what kubectl itself refuses, such as an object of an unknown
/// kind, or one that its own validation finds wrong.
fn refusal(stderr: &[u8]) -> (&'static str, String) {
    let stderr = String::from_utf8_lossy(stderr);
    let lines = stderr.lines().filter(|line| !line.starts_with("Warning: ") && !line.trim().is_empty());
    // Several lines of advice follow a conflict of a server-side apply.
    let lines = lines.take_while(|line| !line.starts_with("Please review the fields above"));
    let text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    let text =
        if text.contains(CONFLICT) { text.replacen(": - ", ": ", 1).replace(" - ", ", ") } else { text };
    let text = ["error when patching \"STDIN\": ", "error when creating \"STDIN\": "]
        .iter()
        .find_map(|phrase| text.split_once(phrase).map(|(_, reason)| reason))
        .unwrap_or(&text);
    let how = if text.starts_with("error: ") { "refused by kubectl" } else { "refused by the API server" };
    let reason = text.split_once(" is invalid: ").map_or(text, |(_, reason)| reason);
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    let reason = match reason.strip_prefix("Error from server (").and_then(|rest| rest.split_once("): ")) {
        Some((_, reason)) => reason,
        None => reason,
    };
    (how, without_secrets(if reason.is_empty() { "kubectl printed no reason" } else { reason }))
}

/// Returns the flags that a kubeconfig cannot hold. Each is one word, so that no value can be read as a flag. Without
/// `--warnings-as-errors`, with which kubectl fails for objects that it accepts: warnings are counted here.
fn other_flags(access: &Access) -> Vec<String> {
    let overrides = &access.overrides;
    let namespace = access.namespace.as_ref().map(|namespace| format!("--namespace={namespace}"));
    let timeout = overrides.request_timeout.map(|limit| format!("--request-timeout={}ms", limit.as_millis()));
    [namespace, timeout].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::kubeconfig::overrides::{AuthInfo, Overrides};
    use std::time::Duration;

    /// What kubectl 1.36.2 printed.
    #[test]
    fn the_reason_of_a_refusal_is_found() {
        for (stderr, reason) in [
            (
                "The Deployment \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"x\"}}: field is immutable\n",
                "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"x\"}}: field is immutable",
            ),
            (
                "Error from server (Invalid): error when applying patch:\n{\"spec\":{\"serviceName\":\"dbx\"}}\nto:\n\
                 Resource: \"apps/v1, Resource=statefulsets\", GroupVersionKind: \"apps/v1, Kind=StatefulSet\"\n\
                 Name: \"db\", Namespace: \"preview\"\nfor: \"STDIN\": error when patching \"STDIN\": \
                 StatefulSet.apps \"db\" is invalid: spec: Forbidden: updates are forbidden\n",
                "spec: Forbidden: updates are forbidden",
            ),
            (
                "Warning: old\nError from server (Invalid): Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1\n",
                "spec.replicas: Invalid value: -1",
            ),
            (
                "error: no matches for kind \"Foo\"\nensure CRDs are installed first\n",
                "no matches for kind \"Foo\" ensure CRDs are installed first",
            ),
            ("The Deployment \"w\" is invalid: \n* spec.a: x\n* spec.b: y\n", "* spec.a: x * spec.b: y"),
            ("error: set env DB_PASSWORD=hunter2 failed\n", "set env DB_PASSWORD=*** failed"),
            (
                "Error from server (Forbidden): services \"web\" is forbidden\n",
                "services \"web\" is forbidden",
            ),
            ("", "kubectl printed no reason"),
        ] {
            let by = if stderr.starts_with("error: ") { "kubectl" } else { "the API server" };
            let (how, found) = refusal(stderr.as_bytes());
            assert_eq!((how, found.as_str()), (format!("refused by {by}").as_str(), reason), "{stderr}");
        }
    }

    #[test]
    fn no_credential_is_a_flag() {
        assert_eq!(other_flags(&Access::default()), Vec::<String>::new());
        let access = Access {
            snapshot: None,
            namespace: Some("--shop".to_owned()),
            overrides: Overrides {
                auth_info: AuthInfo {
                    token: Some("t".to_owned().into()),
                    password: Some("p".to_owned().into()),
                    ..AuthInfo::default()
                },
                request_timeout: Some(Duration::from_millis(1500)),
                warnings_as_errors: true,
                ..Overrides::default()
            },
            ..Access::default()
        };
        assert_eq!(other_flags(&access), ["--namespace=--shop", "--request-timeout=1500ms"]);
    }
}
