//! The diff program that `KUBECTL_EXTERNAL_DIFF` names, run as `kubectl diff` runs it.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::model::diff::yaml;
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::world::Environment;
use crate::world::program::Program;
use crate::world::scratch::Scratch;

/// The variable that kubectl reads too.
const VARIABLE: &str = "KUBECTL_EXTERNAL_DIFF";

/// A diff program and its parameters.
pub(super) struct ExternalDiff {
    name: String,
    parameters: Vec<String>,
    refused: Vec<String>,
}

impl ExternalDiff {
    /// The program that the environment names, if it does.
    ///
    /// As kubectl has it, words are separated by blanks, and a parameter that has more than letters,
    /// digits, `-` and `=` is left out; unlike kubectl we say so.
    pub(super) fn named_by(environment: &Environment) -> Option<Self> {
        let mut words =
            environment.text(VARIABLE)?.split(' ').filter(|word| !word.is_empty()).map(str::to_owned);
        let name = words.next()?;
        let allowed = |word: &String| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '=');
        let (parameters, refused) = words.partition(allowed);
        Some(Self { name, parameters, refused })
    }

    /// Runs the program on two directories, each with one file of this name: the template of a side.
    /// Both come before the parameters, which is kubectl's order.
    ///
    /// # Errors
    /// When the files cannot be written, and when the program cannot be started or ends with more
    /// than 1, which is how diff programs say that the sides differ.
    pub(super) async fn show(
        self,
        file: &str,
        sides: [(&str, &Value); 2],
        environment: &Environment,
        screen: &mut Screen<'_>,
    ) -> Result<()> {
        for parameter in &self.refused {
            screen.note(&format!("note: {VARIABLE}: {parameter:?} is left out, as kubectl does"));
        }
        let scratch = Scratch::new(environment).map_err(not_written)?;
        let mut args = Vec::new();
        for (side, (label, template)) in ["FROM", "TO"].into_iter().zip(sides) {
            let directory = format!("{side}-{}", plain(label.trim_start_matches("revision ")));
            args.push(scratch.write(&directory, file, &yaml(template)).map_err(not_written)?.into());
        }
        args.extend(self.parameters.iter().map(Into::into));
        let program = Program { name: self.name.clone().into(), args };
        match screen.lend(&program, environment).await {
            Ok(Some(0 | 1)) => Ok(()),
            Ok(Some(code)) => Err(self.failed(&format!("it ended with exit code {code}"))),
            Ok(None) => Err(self.failed("a signal ended it")),
            Err(error) => Err(self.failed(&error.to_string())),
        }
    }

    fn failed(&self, cause: &str) -> Error {
        Error::new(ErrorKind::Program, format!("failed to run {:?}", self.name))
            .caused_by(cause)
            .hint(format!("unset {VARIABLE} to use the diff that is built in"))
    }
}

/// The name of a workload's file, as `kubectl diff` has it: `apps.v1.Deployment.shop.web`.
pub(super) fn file_name(workload: &Workload) -> String {
    let object = workload.object();
    plain(&format!("apps.v1.{}.{}.{}", object.kind(), object.namespace(), object.name()))
}

/// A name that stays one name wherever it stands in a path, whatever a snapshot calls things.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '_' }).collect()
}

fn not_written(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Program, "the files to compare cannot be written").caused_by(error)
}
