//! `step`: its arguments and their lowering.

mod failure;
mod much;
mod nodes;
mod pace;

use clap::{Args, ValueEnum};

use self::failure::FailureArgs;
use self::much::MuchArgs;
use self::nodes::NodeArgs;
use self::pace::PaceArgs;
use super::writing::dry_run;
use crate::command::Common;
use crate::command::change::{DryRun, FIELD_MANAGER};
use crate::command::gather::Scope;
use crate::command::step::{Output, Request};
use crate::error::{Error, Result};
use crate::model::kind::Kind;
use crate::model::step::{Given, Request as Wish};
use crate::model::target::{Ask, AskedType, read_one};

/// The name of the verb, for completion: it takes one workload, and not every kind.
pub(super) const VERB: &str = "step";
/// The kinds that can be held between two pods.
pub(super) const KINDS: [Kind; 2] = [Kind::DaemonSet, Kind::StatefulSet];

/// Release an update batch by batch
///
/// Hold, change, step: pause keeps a change from every pod until step releases it, one pod ahead of all
/// others, and then --by so many. A rollout that already runs is held first, so that step has what is
/// left of it. A batch is done when its pods are available and have stayed so for --soak. One command
/// releases one batch, or as many as --to or --all ask for.
///
/// The plan is kept in the cluster, in the annotation kubectl-rollout2/held: the same command without
/// options goes on with it, from here or elsewhere, after a crash too, and two never step at once.
/// After the last pod the update strategy is again what it was before.
///
/// Ends with 0 when it got as far as asked, 3 when --timeout was up, 4 when a batch or a check failed,
/// and 5 when nothing more is released: too many pods are unavailable, or somebody paused it, took it
/// over, or changed the workload.
#[derive(Debug, Args)]
#[command(after_help = BELOW, override_usage = "kubectl rollout2 step TARGET [OPTIONS]")]
pub(super) struct StepArgs {
    /// The workload, as TYPE/NAME or TYPE NAME
    #[arg(value_name = "TARGET")]
    words: Vec<String>,

    /// Print the plan and write nothing: the batches, the very pods or nodes, what the soaks add up to
    #[arg(long, value_name = "client|none", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    dry_run: Option<String>,

    /// Print in another form: json is one document a line, for each event; the last one says how it ended
    #[arg(short, long, value_name = "FORM", ignore_case = true)]
    output: Option<Form>,

    /// Print a line for each event on a terminal too, instead of drawing how the batches stand
    #[arg(long)]
    plain: bool,

    /// Name the owner of the changed fields
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER)]
    field_manager: String,

    #[command(flatten)]
    much: MuchArgs,

    #[command(flatten)]
    pace: PaceArgs,

    #[command(flatten)]
    failure: FailureArgs,

    #[command(flatten)]
    way: WayArgs,

    #[command(flatten)]
    nodes: NodeArgs,
}

/// What may stand in the way.
#[derive(Debug, Args)]
#[command(next_help_heading = "What stands in the way")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that stands for itself")]
struct WayArgs {
    /// Release the next batch although too many pods are unavailable
    ///
    /// It also accepts that holding a DaemonSet takes its surge away, and that a PodDisruptionBudget will
    /// never let a pod go.
    #[arg(long)]
    force: bool,

    /// Leave pods on nodes that are not ready out of account
    #[arg(long)]
    ignore_unready_nodes: bool,

    /// Take over at once from whoever steps it, instead of once nothing was seen of them for 60s
    #[arg(long)]
    take_over: bool,

    /// Forget the plan that is there, and begin one from the options of this command alone
    ///
    /// For a template that was changed since, and to take back what no other option does: --evict,
    /// --ignore-unready-nodes, --no-canary and --order. What was released stays released, and is named.
    #[arg(long)]
    new_plan: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    Json,
}

const BELOW: &str = "\
Examples:
  kubectl rollout2 pause statefulset/db   # hold, then apply the change: nothing moves yet
  kubectl rollout2 step statefulset/db    # the next batch: first one canary pod, then --by
  kubectl rollout2 step statefulset/db --by 2 --soak 5m --dry-run
  kubectl rollout2 step statefulset/db --to 50%
  kubectl rollout2 step statefulset/db --by 25% --all --soak 5m --final-soak 1h --on-failure undo
  kubectl rollout2 step statefulset/db --all --check './smoke-test $ROLLOUT2_PODS'
  kubectl rollout2 step daemonset/agent --by 10% --all --order topology.kubernetes.io/zone
  kubectl rollout2 pause statefulset/db   # stop here; resume and step go on
  kubectl rollout2 undo statefulset/db    # go back

Environment:
  ROLLOUT2_NAMESPACE, ROLLOUT2_TYPE, ROLLOUT2_NAME
                  for --check: the workload; its type is statefulset or daemonset
  ROLLOUT2_FROM   for --check: the revision that outdated pods run; empty where it is not kept
  ROLLOUT2_TO     for --check: the revision that is released
  ROLLOUT2_BATCH  for --check: the number of the batch that is done, counted from 1
  ROLLOUT2_PODS   for --check: its pods, or the nodes of a DaemonSet, with blanks between them
  ROLLOUT2_UPDATED, ROLLOUT2_TOTAL
                  for --check: how many pods run the new revision, and of how many";

impl StepArgs {
    pub(super) fn lower(self, common: &Common) -> Result<Request> {
        let ask = self.ask()?;
        let dry_run = self.is_dry_run(common)?;
        let wish = Wish {
            given: Given {
                batches: self.much.batches()?,
                canary: self.much.canary(),
                max_unavailable: self.much.max_unavailable()?,
                soak: self.pace.soak()?,
                final_soak: self.pace.final_soak()?,
                batch_timeout: self.failure.batch_timeout()?,
                on_failure: self.failure.on_failure(),
                check: self.failure.check()?,
                check_timeout: self.failure.check_timeout()?,
                ignore_unready_nodes: self.way.ignore_unready_nodes.then_some(true),
                ..self.nodes.given()?
            },
            reach: self.much.reach()?,
            force: self.way.force,
            take_over: self.way.take_over,
            complete: self.pace.complete,
            new_plan: self.way.new_plan,
            timeout: self.pace.timeout()?,
        };
        if matches!(ask, Ask::Named(AskedType::Kind(Kind::StatefulSet), _)) {
            wish.given.check_stateful_set()?;
        }
        let scope = Scope { asks: vec![ask], namespace: common.access.namespace.clone(), ..Scope::default() };
        Ok(Request {
            scope,
            wish,
            check: self.failure.into_command(),
            dry_run,
            output: self.output.map_or(Output::Text, |Form::Json| Output::Json),
            plain: self.plain,
            field_manager: self.field_manager,
        })
    }

    /// The one workload; what its kind rules out is a mistake in the words.
    fn ask(&self) -> Result<Ask> {
        let (ask, rest) = read_one(&self.words, "statefulset/db")?;
        if let Some(word) = rest.first() {
            return Err(Error::usage(format!("one workload is stepped at a time, {word:?} is one too many")));
        }
        match &ask {
            Ask::Named(AskedType::Kind(Kind::Deployment), name) => Err(no_deployment(name)),
            _ => Ok(ask),
        }
    }

    fn is_dry_run(&self, common: &Common) -> Result<bool> {
        let is_dry_run = match dry_run(self.dry_run.as_deref())? {
            DryRun::None => false,
            DryRun::Client => true,
            DryRun::Server => {
                return Err(Error::usage("a plan is many writes, which no server can judge beforehand")
                    .hint("look at it with --dry-run"));
            }
        };
        if common.access.snapshot.is_some() && !is_dry_run {
            return Err(Error::usage("a snapshot cannot be changed").hint("look at the plan with --dry-run"));
        }
        Ok(is_dry_run)
    }
}

fn no_deployment(name: &str) -> Error {
    Error::usage(format!(
        "deployment/{name} cannot be stepped: nothing holds a Deployment between two pods, since a paused one \
         overshoots and moves when it is scaled"
    ))
    .hint(format!(
        "watch it and take it back by itself with kubectl rollout2 status deployment/{name} --undo-on-failure, or \
         try the change in a second, small Deployment behind the same Service"
    ))
}
