//! `status`: its arguments and their lowering.

use clap::{ArgAction, Args, ValueEnum};

use super::following::FollowArgs;
use super::revision;
use super::scope::ScopeArgs;
use super::undo_on_failure::{ReplaceStuckPodsArgs, UndoOnFailureArgs};
use crate::command::Common;
use crate::command::gather::Scope;
use crate::command::status::{Output, Request};
use crate::error::{Error, Result};
use crate::model::revision::RevisionWord;

/// Follow rollouts until they are done, failed or held, and say why
///
/// Prints kubectl's line for each workload, and a line for each cause that keeps it: on a terminal
/// below it, otherwise on standard error. A cause that somebody must mend begins with !, one that may
/// pass by itself with ~, and a hold, which somebody wished for, with -.
///
/// All workloads are followed at once. Ends with 0 when all rollouts are complete, 1 when one was deleted
/// or cannot be read, 3 when the time was up before one was finished, 4 when one failed, and 5 when one is
/// held: paused, OnDelete, or a partition that lets no pod update.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Follow the rollouts until they are done
    ///
    /// Recorded objects (--from) do not change, so they are looked at once in either case.
    #[arg(
        short, long, value_name = "BOOL", value_parser = go_bool, action = ArgAction::Set,
        num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true"
    )]
    watch: bool,

    /// Fail unless this is the revision being rolled out
    ///
    /// A revision is named by its number, current, previous, -N (N before the current one), the name
    /// of its ReplicaSet or ControllerRevision, hash:HASH, or the beginning of its digest.
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    revision: Option<String>,

    #[command(flatten)]
    following: FollowArgs,

    #[command(flatten)]
    undo: UndoOnFailureArgs,

    #[command(flatten)]
    stuck: ReplaceStuckPodsArgs,

    /// Print kubectl's lines on a terminal too, instead of drawing how the rollouts stand
    ///
    /// Lines are also printed when TERM is dumb, and when CI is set.
    #[arg(long)]
    plain: bool,

    /// End with 0 when nothing matches
    #[arg(long)]
    allow_empty: bool,

    /// Print in another form: json is one document a line, for each change, and a last one with the verdict
    #[arg(short, long, value_name = "FORM", ignore_case = true)]
    output: Option<Form>,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 status deployment/web --timeout 10m
  kubectl rollout2 status deploy,sts -l app=web --fail-fast --stable 30s
  kubectl rollout2 status statefulset/db --until complete --deadline 5m
  kubectl rollout2 status deployment/web --undo-on-failure
  kubectl rollout2 status deployment/web --watch=false
  kubectl rollout2 status deploy,sts,ds -l app=web --watch=false -o json
  kubectl rollout2 status deployment/web --revision 5 --watch=false
  kubectl rollout2 status all --from snapshot.yaml";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    Json,
}

impl StatusArgs {
    pub(super) fn lower(self, common: &Common) -> Result<Request> {
        if self.output.is_some() && common.compat {
            return Err(no_output_in_compat());
        }
        let revision = revision::read(self.revision.as_deref(), "status", common)?;
        let scope = self.scope.lower(common)?;
        let options = self.stuck.lower(self.undo.lower(self.following.lower()?));
        if self.undo.is_set() {
            check_undo(self.watch, &scope, common)?;
        }
        Ok(Request {
            scope,
            revision: revision.filter(|word| *word != RevisionWord::Number(0)), // the last one, as in kubectl
            output: self.output.map_or(Output::Text, |Form::Json| Output::Json),
            watch: self.watch,
            plain: self.plain,
            options,
            allow_empty: self.allow_empty,
        })
    }
}

/// A truth value in any of the spellings that Go's flags take.
fn go_bool(word: &str) -> Result<bool, String> {
    match word {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("true or false is needed".to_owned()),
    }
}

/// What only looks must not write.
fn check_undo(watch: bool, scope: &Scope, common: &Common) -> Result<()> {
    if common.compat {
        let text = "unknown flag: --undo-on-failure\nSee 'kubectl rollout status --help' for usage.";
        return Err(Error::usage(text));
    }
    if scope.all_namespaces {
        return Err(Error::usage("-A is for what reads only, and --undo-on-failure writes")
            .hint("name a namespace with -n"));
    }
    if !watch || common.access.snapshot.is_some() {
        return Err(Error::usage("--undo-on-failure needs to follow: leave --watch=false and --from out"));
    }
    Ok(())
}

fn no_output_in_compat() -> Error {
    Error::usage("unknown shorthand flag: 'o' in -o\nSee 'kubectl rollout status --help' for usage.")
}
