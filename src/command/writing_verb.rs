//! The options and steps that every writing verb shares: find the targets, confirm, write, print.

use std::collections::HashSet;

use serde_json::Value;

use super::CommandOutcome;
use super::stuck_pods::replace_stuck_pods;
use crate::cluster::source::Source;
use crate::command::targets::{FoundTargets, TargetScope, find_workloads};
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
pub use crate::model::api::managed_fields::FIELD_MANAGER;
use crate::model::api::object::Object;
use crate::model::api::patch::Patch;
use crate::model::change::effect::Effect;
use crate::model::follow::FollowOptions;
use crate::model::kind::Workload;
use crate::model::kind::properties::PodIdentity;
use crate::model::observation::Observation;
use crate::render::template_form::TemplateForm;
use crate::render::ui::Ui;
use crate::render::{change as render, revision};

/// The options of a writing verb.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each field is one flag of the command line")]
pub struct ChangeOptions {
    /// Whether to write at all.
    pub dry_run: DryRun,
    /// The output format.
    pub output: Output,
    /// Whether documents keep `metadata.managedFields`.
    pub show_managed_fields: bool,
    /// The name that the API server records in `metadata.managedFields`.
    pub field_manager: String,
    /// Whether to delete the stuck pods of a StatefulSet after the change.
    pub replace_stuck_pods: bool,
    /// Whether `--wait` prints lines even on a terminal that can draw frames.
    pub plain: bool,
    /// Whether to ask before each write.
    pub interactive: bool,
    /// Whether to write nothing if new pods cannot start.
    pub strict: bool,
    /// How to follow the rollout after the write, with `--wait`.
    pub wait: Option<FollowOptions>,
}

/// The value of `--dry-run`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// Write.
    #[default]
    None,
    /// Send nothing to the API server.
    Client,
    /// Send the write as a dry run: the API server validates it and stores nothing.
    Server,
}

/// The output formats of a writing verb.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// A template of the user, for the object.
    Template(TemplateForm),
}

/// The results of a verb for all of its targets.
#[derive(Debug, Default)]
pub(super) struct TargetResults {
    errors: Vec<Error>,
    done: usize,
    nothing_found: Option<Error>,
}

impl TargetResults {
    /// Records the result for one workload.
    pub(super) fn record(&mut self, result: Result<()>) {
        match result {
            Ok(()) => self.done += 1,
            Err(error) => self.errors.push(error),
        }
    }

    /// Returns the outcome of the verb. Prints how many workloads failed if only some of them did.
    pub(super) fn outcome(self, ui: &mut Ui) -> CommandOutcome {
        let all = self.done + self.errors.len();
        if self.done > 0 && !self.errors.is_empty() {
            ui.note(&format!("{} of {all} workloads failed", self.errors.len()));
        }
        CommandOutcome { exit: Exit::Done, errors: self.errors, nothing_found: self.nothing_found }
    }
}

/// Finds the workloads to write to.
///
/// # Errors
/// When the search cannot start, and when a patch is to be printed without its secret values.
pub(super) async fn select_targets(
    scope: &TargetScope,
    options: &ChangeOptions,
    source: &Source,
    ui: &mut Ui,
) -> Result<(Vec<Workload>, TargetResults)> {
    if options.output == Output::Patch && ui.redacts() {
        return Err(Error::usage(
            "cannot print the patch: with ROLLOUT2_REDACT it would write *** for secret values",
        )
        .hint("unset ROLLOUT2_REDACT"));
    }
    let found = find_workloads(scope, source, ui).await?;
    let FoundTargets { mut workloads, errors, nothing_found, .. } = found;
    // Two arguments may mean one workload. The second write would conflict with the first one.
    let mut uids = HashSet::new();
    workloads.retain(|workload| uids.insert(workload.object().uid().to_owned()));
    let results = TargetResults { errors, nothing_found, ..TargetResults::default() };
    Ok((workloads, results))
}

/// Prints the workloads if a type or a selector selected several, and which of them are being deleted.
pub(super) fn print_selection(scope: &TargetScope, workloads: &[Workload], ui: &mut Ui) {
    if scope.is_selection() && workloads.len() > 1 {
        ui.note(&render::selection(workloads));
    }
    let deletions = workloads.iter().filter_map(Workload::deletion_sentence);
    ui.notes(deletions.map(|sentence| format!("warning: {sentence}")));
}

/// Whether the effect on the pods is a part of the result: in a dry run, and on a terminal.
pub(super) fn shows_effect(options: &ChangeOptions, ui: &Ui) -> bool {
    options.dry_run == DryRun::Client || ui.terminal().is_some()
}

/// Prints what a verb does to the pods.
pub(super) fn print_effect(
    observed: &Observation,
    verb: &str,
    patch: &Patch,
    options: &ChangeOptions,
    ui: &mut Ui,
) {
    let effect = Effect::of_change(observed, patch.after());
    let effect = render::verb_effect(&observed.workload, verb, &effect);
    if shows_effect(options, ui) && options.output == Output::Text {
        ui.lines(&effect);
    } else {
        ui.note_lines(&effect);
    }
}

/// Replaces the stuck pods of a StatefulSet if `--replace-stuck-pods` was given and this is no dry run.
///
/// # Errors
/// As [`replace_stuck_pods`].
pub(super) async fn replace_stuck_pods_if_requested(
    workload: &Workload,
    written: &Object,
    options: &ChangeOptions,
    source: &Source,
    ui: &mut Ui,
) -> Result<()> {
    // With `--wait` the follower deletes them, within its limits and with the causes.
    let is_wanted = options.replace_stuck_pods && options.dry_run == DryRun::None && options.wait.is_none();
    match Workload::of(written.clone())
        .filter(|_| is_wanted && workload.kind().pods() == PodIdentity::Ordinal)
    {
        Some(written) => replace_stuck_pods(&written, source, ui).await,
        None => Ok(()),
    }
}

/// Asks the user to confirm the write, with `--interactive`.
///
/// # Errors
/// When the user does not confirm.
pub(super) fn confirm(question: &str, options: &ChangeOptions, ui: &mut Ui) -> Result<()> {
    if options.interactive { ask(question, options, ui) } else { Ok(()) }
}

/// Asks the user to confirm a write of more or other things than expected. Without a terminal nothing asks, so
/// that no script waits.
///
/// # Errors
/// When the user does not confirm.
pub(super) fn confirm_on_terminal(question: &str, options: &ChangeOptions, ui: &mut Ui) -> Result<()> {
    if ui.can_ask() { ask(question, options, ui) } else { Ok(()) }
}

fn ask(question: &str, options: &ChangeOptions, ui: &mut Ui) -> Result<()> {
    if options.dry_run == DryRun::None && !ui.confirms(question) {
        return Err(Error::new(ErrorKind::Refused, "not confirmed; nothing was written"));
    }
    Ok(())
}

/// Prints a workload as it was read, without a change.
pub(super) fn print_as_read(workload: &Workload, operation: &str, options: &ChangeOptions, ui: &mut Ui) {
    let object = workload.object();
    print_change(workload, operation, object.json(), &Patch::of(object), options, ui);
}

/// Prints what was written, in the output format of the request.
pub(super) fn print_change(
    workload: &Workload,
    operation: &str,
    object: &Value,
    patch: &Patch,
    options: &ChangeOptions,
    ui: &mut Ui,
) {
    let document = match Object::read(object.clone()) {
        Ok(object) if !options.show_managed_fields => object.without_managed_fields(),
        _ => object.clone(),
    };
    let document = ui.shown(&document);
    if options.dry_run == DryRun::None && !patch.is_empty() {
        ui.record_change(format!("{} {operation}", workload.reference()));
    }
    match &options.output {
        Output::Text => {
            ui.line(&format!("{} {operation}{}", workload.reference(), options.dry_run.suffix()));
        }
        Output::Name => ui.line(&workload.reference()),
        Output::Yaml => ui.document(&revision::yaml(&document)),
        Output::Json => ui.json(&revision::json(&document)),
        Output::Patch => ui.json(&format!("{}\n", patch.body())),
        Output::Template(form) => match form.text_of_object(&document) {
            Ok(text) => ui.exact(&text),
            Err(error) => ui.fail_output(&error),
        },
    }
}

impl DryRun {
    /// Returns what kubectl appends to the printed line.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Client => " (dry run)",
            Self::Server => " (server dry run)",
        }
    }
}
