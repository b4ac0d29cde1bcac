//! Two templates with their differences, and their output.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::cli::diff::TemplateRef;
use crate::cluster::objects::read::{Parts, read_one};
use crate::cluster::source::Source;
use crate::command::history::with_history_hint;
use crate::error::{Error, ErrorKind, Result};
use crate::model::change::effect::UpdatedPods;
use crate::model::change::undo::find_revision;
use crate::model::diff::{Diff, yaml};
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::model::kind::update_budget::PodUpdatePolicy;
use crate::model::observation::Observation;
use crate::model::revision::RevisionWord;
use crate::model::revision::template::Template;
use crate::model::text::json::Digest;
use crate::model::text::shell_command::command;
use crate::render::message_writer::MessageWriter;
use crate::render::ui::Ui;
use crate::render::{diff as render, pods};
use crate::world::Environment;
use crate::world::program::{Program, TempDir, ended};

/// How long the search for the shortest diff may take. Most take less than a millisecond.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(400);

/// Two templates and their differences.
pub(super) struct ComparedTemplates {
    pub(super) workload: Workload,
    pub(super) from: String,
    pub(super) to: String,
    /// How `live` is described above the changes; `None` for a workload elsewhere.
    pub(super) live: Option<String>,
    pub(super) digests: [Digest; 2],
    pub(super) diff: Diff,
    pub(super) pod_update: UpdatedPods,
    pub(super) with: Option<render::OtherWorkload>,
    /// The context of the first side, if several contexts are compared.
    pub(super) from_context: Option<String>,
}

impl ComparedTemplates {
    pub(super) fn show_words(&self, ui: &mut Ui) {
        let [from, to] =
            [&self.from, &self.to].map(|side| self.live.as_ref().filter(|_| side == LIVE).unwrap_or(side));
        let title = render::title(&self.workload.target(), from, to);
        let words = match &self.with {
            Some(with) => render::elsewhere(&self.diff, self.digests, &with.not_compared),
            None if self.diff.is_empty() => vec![render::no_differences(&self.diff.reordered)],
            None => render::rows(&self.diff.rows()),
        };
        ui.out_lines(&[title]);
        ui.out_lines(&words);
        if self.workload.has_pod_update_policy() && self.pod_update != UpdatedPods::default() {
            let may_stay = self.workload.pod_update_policy() != PodUpdatePolicy::Recreate;
            ui.out_line(&format!("  {}", pods::plan_update(&self.pod_update, may_stay)));
        }
    }

    pub(super) fn json(&self) -> Value {
        let sides = [(self.from.as_str(), self.digests[0]), (&self.to, self.digests[1])];
        let mut document =
            render::json(&self.workload, sides, self.with.as_ref(), &self.diff, &self.pod_update);
        if let Some(context) = &self.from_context {
            document["context"] = context.as_str().into();
        }
        document
    }
}

/// Prints the unified diff, or runs the diff program of the environment. Neither shows another order of a list.
pub(in crate::command) async fn show_lines(
    diff: &Diff,
    workload: &Workload,
    [from, to]: [&str; 2],
    context: usize,
    environment: &Environment,
    ui: &mut Ui,
) -> Result<()> {
    if diff.changes.is_empty() {
        return Ok(());
    }
    if let Some(program) = ExternalDiff::from_environment(environment) {
        let [from_template, to_template] = &diff.templates;
        let sides = [(from, from_template), (to, to_template)];
        return program.show(&file_name(workload), sides, environment, ui).await;
    }
    let deadline = (Instant::now() + SEARCH_TIMEOUT).into_std();
    let hunks = diff.hunks(context, Some(deadline));
    ui.out_lines(&render::unified(from, to, &hunks));
    Ok(())
}

/// The word for the template in the workload's spec.
pub(super) const LIVE: &str = "live";

/// Reads the revisions of a workload for the words of a command. If one counts back and the workload is held, what served before
/// the hold depends on the pods too.
pub(super) async fn read_for(
    words: &[&TemplateRef],
    workload: Workload,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Observation> {
    let counts_back = words.iter().any(|word| matches!(word, TemplateRef::Revision(RevisionWord::Back(_))));
    let parts =
        if counts_back && workload.held().in_force().is_some() { Parts::PODS } else { Parts::REVISIONS };
    let (observed, notes) = read_one(workload, parts, source).await;
    messages.findings_once(&notes);
    observed
}

/// A template and its name in the output: `revision 3` or `live`.
pub(super) struct LabelledTemplate {
    pub(super) label: String,
    pub(super) template: Template,
}

impl LabelledTemplate {
    pub(super) fn of(word: &TemplateRef, observed: &Observation) -> Result<Self> {
        let workload = &observed.workload;
        let word = match word {
            TemplateRef::Live => return Ok(Self { label: LIVE.to_owned(), template: workload.template() }),
            TemplateRef::Revision(word) => word,
        };
        let revisions = &observed.revisions;
        let revision = match word {
            RevisionWord::Back(_) if revisions.len() == 1 && revisions.current().is_some() => {
                return Err(only_one_revision(workload));
            }
            word => find_revision(word, "", observed).map_err(|error| with_history_hint(error, workload))?,
        };
        Ok(Self { label: format!("revision {}", revision.label()), template: revision.template() })
    }
}

fn only_one_revision(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(
        ErrorKind::NotFound,
        format!("{target} has only one revision: there is no earlier one to compare"),
    )
    .hint(command("kubectl rollout2 diff {} current live", [workload.command_target()]))
}

/// The environment variable, the same as kubectl's.
const EXTERNAL_DIFF: &str = "KUBECTL_EXTERNAL_DIFF";

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
            environment.text(EXTERNAL_DIFF)?.split(' ').filter(|word| !word.is_empty()).map(str::to_owned);
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
            let text = format!("ignored parameter {parameter:?}, as kubectl does");
            ui.messages.finding(&Finding::note(Reason::Ignored, text).about(EXTERNAL_DIFF));
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
            Ok(code) => Err(self.failed(ended(code))),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::new(ErrorKind::Program, format!("failed to run {:?}", self.name))
            .caused_by(cause)
            .hint(format!("to use the built-in diff: unset {EXTERNAL_DIFF}"))
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
    use super::*;
    use serde_json::json;

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
