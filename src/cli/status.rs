//! The arguments of `status`, and their lowering.

use std::io::Read;
use std::time::Duration;

use clap::{ArgAction, Args};

use super::follow::{FollowArgs, UndoOnFailureArgs};
use super::scope::ScopeArgs;
use super::values::{DOCUMENTS, output_form, positive_duration, revision};
use crate::command::Access;
use crate::command::status::Request;
use crate::command::targets::TargetScope;
use crate::error::{Error, Result};
use crate::model::follow::FollowOptions;
use crate::render::ui::DocumentForm;

/// Follow rollouts until they end, and show why they do not progress
///
/// Prints kubectl's line for each workload, and a line for each cause: on a terminal below it, otherwise on
/// standard error. A cause that needs a fix begins with !, one that may resolve without a fix with ~, and
/// a hold with -.
///
/// All workloads are followed at once, until each is complete, failed or held. Exits with 0 when all rollouts
/// are complete, 1 when a workload was deleted or cannot be read, 3 when it timed out, or with --watch=false
/// when a rollout is not complete yet, 4 when a rollout failed, and 5 when one is held: paused, OnDelete, or a
/// partition that lets no pod update.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct StatusArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Follow the rollouts until they end
    ///
    /// Recorded objects (--from) do not change, so they are always evaluated once.
    #[arg(
        short, long, value_name = "BOOL", value_parser = go_bool, action = ArgAction::Set,
        num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true"
    )]
    watch: bool,

    /// Wait for workloads that do not exist yet, for this long at most; then exit with 1
    ///
    /// Each named workload must exist, and a selection must find at least one. For workloads that a controller
    /// creates some time after kubectl apply. --timeout begins afterwards.
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, hide_short_help = true)]
    wait_for_creation: Option<Duration>,

    /// Fail unless the current revision is this one
    ///
    /// A revision is a number, current, previous, -N (N before the current one), the name of its
    /// ReplicaSet or ControllerRevision, hash:HASH, or a prefix of its digest.
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    revision: Option<String>,

    /// Print kubectl's lines on a terminal too, instead of a live display
    ///
    /// Lines are also printed when TERM is dumb or CI is set.
    #[arg(long)]
    plain: bool,

    /// Show each pod: its node, state and restarts
    #[arg(long, conflicts_with = "output")]
    pods: bool,

    /// The output format: json is one document per line for each change, then one with the verdict
    ///
    /// With yaml the documents are the same. With --watch=false, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE,
    /// jsonpath-file=FILE, custom-columns=SPEC and custom-columns-file=FILE print them in kubectl's dialect of
    /// JSONPath.
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = output_form(DOCUMENTS))]
    output: Option<DocumentForm>,

    #[command(flatten)]
    follow: FollowArgs,

    #[command(flatten)]
    undo: UndoOnFailureArgs,

    /// Delete the pods that block the rollback of a StatefulSet, one at a time
    #[arg(long, requires = "undo_on_failure", help_heading = "Goal and time limits")]
    replace_stuck_pods: bool,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 status deployment/web --timeout 10m
  kubectl rollout2 status deploy,sts -l app=web --fail-fast --stable 30s
  kubectl rollout2 status statefulset/db --until complete --deadline 5m
  kubectl rollout2 status cloneset/web --undo-on-failure
  kubectl rollout2 status deployment/web --watch=false
  kubectl rollout2 status deploy,sts,ds -l app=web --watch=false -o json
  kubectl rollout2 status deployment/web --revision 5 --watch=false
  kubectl rollout2 status all --from snapshot.yaml";

impl StatusArgs {
    pub(super) fn lower(self, access: &Access, stdin: &mut dyn Read) -> Result<Request> {
        let output = self.output;
        if matches!(output, Some(DocumentForm::Template(_))) && self.watch && access.snapshot.is_none() {
            return Err(
                Error::usage("a template needs the documents of one evaluation").hint("add --watch=false")
            );
        }
        if self.wait_for_creation.is_some() && access.snapshot.is_some() {
            return Err(Error::usage("--wait-for-creation needs a cluster: recorded objects do not change")
                .hint("remove --from, or --wait-for-creation"));
        }
        let revision = revision(self.revision.as_deref())?;
        let is_split = self.watch && self.scope.has_target("false");
        let scope = self.scope.lower(access, stdin);
        let scope = scope.map_err(|error| {
            if is_split { error.hint("to read once: --watch=false, in one word") } else { error }
        })?;
        let options = self.undo.lower(self.follow.lower());
        if self.undo.undo_on_failure.is_some() {
            check_undo(self.watch, &scope, access)?;
        }
        Ok(Request {
            scope,
            output,
            watch: self.watch,
            plain: self.plain,
            pods: self.pods,
            wait_for_creation: self.wait_for_creation,
            options: FollowOptions { revision, replace_stuck_pods: self.replace_stuck_pods, ..options },
        })
    }
}

/// Parses a boolean as Go's flags do.
fn go_bool(word: &str) -> Result<bool, String> {
    match word {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}

/// Rejects `--undo-on-failure` where nothing is followed or may be written.
fn check_undo(watch: bool, scope: &TargetScope, access: &Access) -> Result<()> {
    if scope.all_namespaces {
        return Err(Error::usage("--undo-on-failure writes, and -A is allowed only for reads")
            .hint("select a namespace with -n"));
    }
    if !watch || access.snapshot.is_some() {
        return Err(Error::usage(
            "--undo-on-failure must follow the rollout: remove --watch=false and --from",
        ));
    }
    Ok(())
}
