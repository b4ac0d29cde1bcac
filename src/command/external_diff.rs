//! Runs the diff program of `KUBECTL_EXTERNAL_DIFF` as `kubectl diff` does.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::model::diff::yaml;
use crate::model::kind::Workload;
use crate::render::ui::Ui;
use crate::world::Environment;
use crate::world::program::Program;
use crate::world::temp_dir::TempDir;

/// The environment variable, the same as kubectl's.
const VARIABLE: &str = "KUBECTL_EXTERNAL_DIFF";

/// A diff program and its parameters.
pub(super) struct ExternalDiff {
    name: String,
    parameters: Vec<String>,
    refused: Vec<String>,
}

impl ExternalDiff {
    /// Returns the diff program that the environment configures, if any.
    ///
    /// Spaces separate the words. As in kubectl, a parameter with other characters than letters, digits, `-`
    /// and `=` is ignored; unlike kubectl, `show` prints a note about it.
    pub(super) fn from_environment(environment: &Environment) -> Option<Self> {
        let mut words =
            environment.text(VARIABLE)?.split(' ').filter(|word| !word.is_empty()).map(str::to_owned);
        let name = words.next()?;
        let allowed = |word: &String| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '=');
        let (parameters, refused) = words.partition(allowed);
        Some(Self { name, parameters, refused })
    }

    /// Runs the program on two directories with one file `file` each, which holds the template
    /// of one side. The directories come before the parameters, as in kubectl.
    ///
    /// # Errors
    /// When the files cannot be written, when the program cannot be started, and when its exit code is above
    /// 1. Exit code 1 means that the sides differ.
    pub(super) async fn show(
        self,
        file: &str,
        sides: [(&str, &Value); 2],
        environment: &Environment,
        ui: &mut Ui,
    ) -> Result<()> {
        for parameter in &self.refused {
            ui.note(&format!("note: {VARIABLE}: ignored parameter {parameter:?}, as kubectl does"));
        }
        let temp_dir = TempDir::new(environment).map_err(not_written)?;
        let mut args = Vec::new();
        for (side, (label, template)) in ["FROM", "TO"].into_iter().zip(sides) {
            let directory = format!("{side}-{}", plain(label.trim_start_matches("revision ")));
            args.push(temp_dir.write(&directory, file, &yaml(template)).map_err(not_written)?.into());
        }
        args.extend(self.parameters.iter().map(Into::into));
        let program = Program { name: self.name.clone().into(), args };
        let [mut out, mut err] = ui.streams();
        match program.run(environment, &mut out, &mut err).await {
            Ok(Some(0 | 1)) => Ok(()),
            Ok(Some(code)) => Err(self.failed(&format!("exit code {code}"))),
            Ok(None) => Err(self.failed("killed by a signal")),
            Err(error) => Err(self.failed(&error.to_string())),
        }
    }

    fn failed(&self, cause: &str) -> Error {
        Error::new(ErrorKind::Program, format!("failed to run {:?}", self.name))
            .caused_by(cause)
            .hint(format!("to use the built-in diff: unset {VARIABLE}"))
    }
}

/// Returns the file name of a workload, as in `kubectl diff`: `apps.v1.Deployment.shop.web`.
pub(super) fn file_name(workload: &Workload) -> String {
    let object = workload.object();
    let version = workload.api_version().replace('/', ".");
    plain(&format!("{version}.{}.{}.{}", object.kind(), object.namespace(), object.name()))
}

/// Returns a name that is safe as one component of a path. Names in a snapshot may hold any character.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '_' }).collect()
}

fn not_written(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Program, "cannot write the files to compare").caused_by(error)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_name_of_the_file_begins_with_the_version_of_the_object() {
        for (api_version, kind, name) in [
            ("apps/v1", "Deployment", "apps.v1.Deployment.n.w"),
            ("apps.kruise.io/v1alpha1", "CloneSet", "apps.kruise.io.v1alpha1.CloneSet.n.w"),
        ] {
            let metadata = json!({"name": "w", "namespace": "n"});
            let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
            assert_eq!(file_name(&Workload::of_json(&object).unwrap()), name);
        }
    }
}
