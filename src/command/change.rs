//! What every verb that writes shares: how it was asked to, and one write with all that can come of it.

use serde_json::Value;

use super::Ending;
use super::gather::{Gathered, Refusal, Scope, workloads};
use super::heal::heal;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::follow::Options;
use crate::model::object::Object;
use crate::model::patch::Patch;
use crate::model::resource_type::ResourceType;
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::render::{change as render, revision_document};

/// The name under which the server remembers what we wrote, where no other was given.
pub const FIELD_MANAGER: &str = "kubectl-rollout2";

/// How a verb was asked to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that stands for itself")]
pub struct How {
    /// Whether to write at all.
    pub dry_run: DryRun,
    /// In which form to tell what was done.
    pub output: Output,
    /// Whether documents keep `metadata.managedFields`.
    pub show_managed_fields: bool,
    /// The name under which the server remembers who owns the fields.
    pub field_manager: String,
    /// Whether to delete, after the change, the pods that a StatefulSet waits for in vain.
    pub replace_stuck_pods: bool,
    /// Whether lines are wanted even where frames could be drawn while waiting.
    pub plain: bool,
    /// Whether to ask before each write.
    pub interactive: bool,
    /// Whether it is all right that nothing matches.
    pub allow_empty: bool,
    /// How to follow what was written to its end, if that was asked for.
    pub wait: Option<Options>,
}

/// Whether to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// Yes.
    #[default]
    None,
    /// No, and nobody is asked.
    Client,
    /// No, but the server judges it.
    Server,
}

/// The forms of what was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// kubectl's line.
    #[default]
    Text,
    /// `TYPE/NAME`.
    Name,
    /// The object as YAML.
    Yaml,
    /// The object as JSON.
    Json,
    /// The patch, for `kubectl patch --type=json`.
    Patch,
}

/// What one workload came to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    errors: Vec<Error>,
    done: usize,
    found_nothing: bool,
}

impl Tally {
    /// Takes note of one workload.
    pub(super) fn count(&mut self, result: Result<()>) {
        match result {
            Ok(()) => self.done += 1,
            Err(error) => self.errors.push(error),
        }
    }

    /// How the verb ended. When some of several failed, a line says how many.
    pub(super) fn ending(self, screen: &mut Screen<'_>) -> Ending {
        let all = self.done + self.errors.len();
        if self.done > 0 && !self.errors.is_empty() && !screen.is_compat() {
            screen.note(&format!("{} of {all} failed", self.errors.len()));
        }
        let exit = if self.found_nothing { Exit::Error } else { Exit::Done };
        Ending { exit, errors: self.errors }
    }
}

/// A verb that writes, as far as the verbs differ before they write.
pub(super) struct Writer {
    /// kubectl's words for an object that it does nothing for.
    pub(super) refusal: Refusal,
    /// Whether kubectl says that nothing was found.
    pub(super) kubectl_says_nothing_found: bool,
}

/// Finds the workloads to write to, and says how many there are when they were not named one by one.
///
/// # Errors
/// When nothing can be looked for.
pub(super) async fn chosen(
    scope: &Scope,
    writer: &Writer,
    how: &How,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<(Vec<Workload>, Tally)> {
    if how.output == Output::Patch && screen.redacts() {
        return Err(Error::usage("a patch without the secrets in it would write *** in their place")
            .hint("unset ROLLOUT2_REDACT to see it whole"));
    }
    let Gathered { workloads, errors, nothing_found } =
        workloads(scope, writer.refusal, source, screen).await?;
    let mut tally = Tally { errors, ..Tally::default() };
    if let Some(line) = nothing_found {
        if !screen.is_compat() || writer.kubectl_says_nothing_found {
            screen.note(&line);
        }
        tally.found_nothing = !how.allow_empty && !screen.is_compat();
    }
    if scope.is_a_search() && workloads.len() > 1 && !screen.is_compat() {
        let names: Vec<_> = workloads.iter().map(Workload::target).collect();
        let counted = render::counted(workloads.iter().map(|workload| workload.kind().type_().singular()));
        screen.note(&format!("{counted}: {}", names.join(" ")));
    }
    Ok((workloads, tally))
}

/// kubectl's words for what a verb cannot be done to.
pub(super) fn unsupported(type_: &ResourceType, name: &str, verb: &str) -> String {
    format!("error: {} {name:?} {verb} is not supported", type_.resource())
}

/// Replaces the stuck pods of a StatefulSet, where that was wished for and something was written.
///
/// # Errors
/// As [`heal`].
pub(super) async fn heal_if_asked(
    workload: &Workload,
    written: &Object,
    how: &How,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    let is_wanted = how.replace_stuck_pods && how.dry_run == DryRun::None;
    match workload {
        Workload::StatefulSet(_) if is_wanted => heal(written, source, screen).await,
        _ => Ok(()),
    }
}

/// Asks whether to go on, where that was wished for.
///
/// # Errors
/// When the answer is no.
pub(super) fn confirm(question: &str, how: &How, screen: &mut Screen<'_>) -> Result<()> {
    let asks = how.interactive && how.dry_run == DryRun::None;
    if asks && !screen.confirms(question) {
        return Err(Error::new(ErrorKind::Refused, "not confirmed; nothing was written"));
    }
    Ok(())
}

/// Tells what was done, in the form asked for.
pub(super) fn report(
    workload: &Workload,
    operation: &str,
    object: &Value,
    patch: &Patch,
    how: &How,
    screen: &mut Screen<'_>,
) {
    let document = match Object::read(object.clone()) {
        Ok(object) if !how.show_managed_fields => object.without_managed_fields(),
        _ => object.clone(),
    };
    let document = screen.shown(&document);
    match how.output {
        Output::Text => screen.line(&format!("{} {operation}{}", workload.reference(), how.dry_run.suffix())),
        Output::Name => screen.line(&workload.reference()),
        // kubectl's verbs that write have a printer for each object, so nothing stands between documents.
        Output::Yaml if screen.is_compat() => screen.exact(&revision_document::yaml(&document)),
        Output::Yaml => screen.document(&revision_document::yaml(&document)),
        Output::Json => screen.exact(&revision_document::json(&document)),
        Output::Patch => screen.exact(&format!("{}\n", patch.body())),
    }
}

impl DryRun {
    /// What kubectl adds to its line.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Client => " (dry run)",
            Self::Server => " (server dry run)",
        }
    }
}
