//! The arguments of `step`.

mod pace;

use clap::Args;

use self::pace::{NodeArgs, PaceArgs};
use super::common::CommonArgs;
use super::help::ADVANCED;
use super::scope::{NamedTarget, read_one_target, refuse_read_only};
use super::values::{JSON, fixed_form};
use super::write::DryRun;
use crate::error::{Error, Result};
use crate::model::api::managed_fields::FIELD_MANAGER;
use crate::model::hold::plan::Reach;
use crate::model::kind::Kind;
use crate::model::step::StepOptions;
use crate::model::text::shell_command::{Word, command};
use crate::render::output_form::OutputForm;

/// The name of the verb, for completion: it takes one workload, and not all kinds.
pub(super) const VERB: &str = "step";
/// The verbosity from which on every decision of `step` is printed.
const DECISION_VERBOSITY: i32 = 4;

/// Release an update batch by batch
///
/// Holds an update and releases it in batches: first one canary pod, then --by pods at a time. Run pause
/// before the change to update no pod before the first batch. A rollout that already progresses is held
/// first. A batch is done when its pods have been available for --soak. One command releases one batch,
/// or all batches up to --to, or all with --all.
///
/// The plan is stored in the workload's annotation kubectl-rollout2/held. The same command without options
/// continues it, also after a crash; on another machine with --take-over. A lock ensures that only one
/// process steps a workload. After the last batch the original update strategy is restored.
///
/// Exits with 0 when the goal is reached, 3 when --timeout expired, 4 when a batch or a check failed, and 5
/// when step stopped: too many pods are unavailable, or another client paused the workload, took over
/// the plan, or changed the workload. A signal releases the lock first. With -v 4, every decision is printed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{ENVIRONMENT}"), override_usage = "kubectl rollout2 step TARGET [OPTIONS]")]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub struct StepArgs {
    /// Refused: it steps in one cluster.
    #[arg(long, value_delimiter = ',', hide = true)]
    pub contexts: Vec<String>,

    /// The workload, as TYPE/NAME or TYPE NAME
    #[arg(value_name = "TARGET")]
    words: Vec<String>,

    /// Print the plan and write nothing: the batches with their pods or nodes, and the total soak time
    #[arg(long, value_name = "client|none", num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true, value_parser = DryRun::read)]
    dry_run: DryRun,

    /// The output format: json is one document per line for each event, the last one with the outcome
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = fixed_form(JSON), default_value = "", hide_default_value = true, help_heading = ADVANCED, hide_short_help = true)]
    pub output: OutputForm,

    /// Print a line for each event on a terminal too, instead of a live display
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub plain: bool,

    /// The field manager that owns the changed fields
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER, help_heading = ADVANCED, hide_short_help = true)]
    pub field_manager: String,

    #[command(flatten)]
    pace: PaceArgs,

    /// Release the next batch even if too many pods are unavailable
    ///
    /// The plan then ignores pods on nodes that are not ready until its end. Also accepts that holding a DaemonSet
    /// removes its surge, and that a PodDisruptionBudget never allows an eviction.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    force: bool,

    /// Begin no plan if new pods cannot start: something that the template names is missing, or a quota or a
    /// limit refuses them
    ///
    /// Also if that cannot be read. Without this flag, it is a warning.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub strict: bool,

    /// Replace the lock of another process, after making sure that it has ended
    ///
    /// A process that has ended on this host is replaced without it.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    take_over: bool,

    /// Discard the stored plan, and start one from the options of this command only
    ///
    /// Needed when the template changed since, and to withdraw --check-every, --evict, --force, --no-canary
    /// or --order. Released pods stay released, and are listed.
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    new_plan: bool,

    #[command(flatten)]
    nodes: NodeArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 pause deployment/web  # hold, then change the template
  kubectl rollout2 step deployment/web   # the next batch; first a canary
  kubectl rollout2 step statefulset/db --by 2 --soak 5m --dry-run
  kubectl rollout2 step statefulset/db --to 50%
  kubectl rollout2 step deployment/web --by 25% --all --on-failure undo
  kubectl rollout2 step statefulset/db --check './smoke-test $ROLLOUT2_PODS'
  kubectl rollout2 step ds/agent --all --order topology.kubernetes.io/zone
  kubectl rollout2 pause statefulset/db  # stop; continue with resume and step
  kubectl rollout2 undo statefulset/db   # roll back";

const ENVIRONMENT: &str = "\
Environment:
  ROLLOUT2_NAMESPACE, ROLLOUT2_TYPE, ROLLOUT2_NAME
                  for --check: the workload; its type as in TYPE/NAME, such as statefulset
  ROLLOUT2_FROM   for --check: the revision of the outdated pods; empty if it is no longer stored
  ROLLOUT2_TO     for --check: the revision that step releases
  ROLLOUT2_BATCH  for --check: the number of the batch, from 1; 0 where no pod is outdated
  ROLLOUT2_PODS   for --check: its pods, or the nodes of a DaemonSet, separated by spaces
  ROLLOUT2_UPDATED, ROLLOUT2_TOTAL
                  for --check: the number of updated pods, and of all pods";

impl StepArgs {
    /// Checks the target and the options of a plan.
    ///
    /// # Errors
    /// Usage errors, and for a kind that cannot be stepped.
    pub(super) fn validate(&self, common: &CommonArgs) -> Result<()> {
        self.target(common)?;
        if self.dry_run == DryRun::Server {
            return Err(Error::usage("--dry-run=server is not supported: a plan consists of many writes")
                .hint("to see the plan: add --dry-run"));
        }
        if common.is_recorded() && !self.is_dry_run() {
            return Err(Error::usage("a snapshot cannot be changed").hint("to see the plan: add --dry-run"));
        }
        self.options(common).map(drop)
    }

    /// Returns the workload.
    ///
    /// # Errors
    /// As `StepArgs::validate`.
    pub fn target(&self, common: &CommonArgs) -> Result<NamedTarget> {
        let (target, rest) = read_one_target(&self.words, "statefulset/db")?;
        if let Some(word) = rest.first() {
            return Err(Error::usage(format!("step takes one workload, unexpected argument {word:?}")));
        }
        refuse_read_only(target.kind, Some(&target.name), "step")?;
        match target.kind.mechanism() {
            Err(reason) => Err(no_step(target.kind, &target.name, reason)),
            Ok(_) => Ok(NamedTarget { namespace: common.namespace().map(str::to_owned), ..target }),
        }
    }

    /// Returns the options that the plan and its steps depend on.
    ///
    /// # Errors
    /// When a plan cannot store one of them.
    pub fn options(&self, common: &CommonArgs) -> Result<StepOptions> {
        Ok(StepOptions {
            pace: self.pace.flags(&self.nodes, self.force)?,
            reach: self.pace.to.or(self.pace.all.then_some(Reach::All)),
            force: self.force,
            take_over: self.take_over,
            skip_soak: self.pace.skip_soak,
            new_plan: self.new_plan,
            explains: common.connection.verbosity.unwrap_or_default() >= DECISION_VERBOSITY,
            timeout: self.pace.timeout.filter(|limit| !limit.is_zero()),
            ended_holder: None,
        })
    }

    /// Returns the command of the check, if there is one. It is never stored in the cluster.
    #[must_use]
    pub fn check(&self) -> Option<&str> {
        self.pace.check.as_deref().filter(|command| !command.trim().is_empty())
    }

    /// Whether to print the plan and write nothing.
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.dry_run != DryRun::None
    }
}

fn no_step(kind: &'static dyn Kind, name: &str, reason: &str) -> Error {
    let type_ = kind.type_().cli_name;
    Error::usage(format!("{type_}/{name} cannot be stepped: {reason}")).hint(command(
        "to follow it and roll back on failure: kubectl rollout2 status {} --undo-on-failure",
        [Word::typed_name(type_, name)],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::hold::plan::Pace;
    use crate::model::text::go_duration;

    #[test]
    fn the_help_shows_the_defaults_of_a_new_plan() {
        let step = StepArgs::augment_args(clap::Command::new(VERB));
        let pace = Pace::default();
        for (flag, default) in
            [("soak", pace.soak), ("final_soak", pace.final_soak), ("batch_timeout", pace.batch_timeout)]
        {
            let argument = step.get_arguments().find(|argument| argument.get_id() == flag).unwrap();
            let help = argument.get_help().unwrap().to_string();
            let shown = help.split("[default: ").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
            assert_eq!(go_duration::parse(shown), Some(default), "{flag}: {help}");
        }
    }
}
