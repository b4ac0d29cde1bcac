//! Executes the tasks of a stepper, returns the results as events, and shows the reports.

use std::future::Future;
use std::time::Duration;

use futures_util::stream::{StreamExt, iter};
use tokio::sync::watch;
use tokio::time::Instant;

use super::other_objects;
use crate::cluster::objects::observer::Observer;
use crate::cluster::write::WriteOptions;
use crate::command::context::Context;
use crate::command::event_loop::{Executor, RequestsInFlight};
use crate::command::patch::{PatchTarget, attempt};
use crate::error::ErrorKind;
use crate::model::api::patch::Patch;
use crate::model::cause::container_logs::ContainerLogs;
use crate::model::change::written::DeletionResult;
use crate::model::engine::{Now, PodRef, StopSignal, TargetEvent, TargetId};
use crate::model::hold::plan::{CheckResult, guarded};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::step::{BatchView, PlanView, Reply, Request, StepReport, Stepper};
use crate::render::hold::replaced_by_recorded;
use crate::render::message_writer::{Frame, MessageWriter};
use crate::render::output_form::OutputForm;
use crate::render::owner_warnings::before_a_plan;
use crate::render::step::{self as render, check_output, json};
use crate::render::ui::Ui;
use crate::world::shell::{ShellOutcome, run_shell};
use crate::world::{Environment, Terminal};

/// The only target.
const TARGET: TargetId = TargetId::of(0);

/// How many pods of a wave are deleted at the same time.
const CONCURRENT_DELETIONS: usize = 32;

/// How long after its decision a pod of a wave may be deleted. A process may be suspended between the two, and other pods
/// may have become unavailable meanwhile.
const WAVE_LIMIT: Duration = Duration::from_secs(15);

/// Executes the tasks of a stepper. Prints each report as a line of text or JSON, or draws the batches of the plan and the logs
/// of the causes.
pub(super) struct StepExecutor<'a> {
    context: &'a Context<'a>,
    field_manager: &'a str,
    /// The command of `--check`.
    check: Option<&'a str>,
    output: &'a OutputForm,
    draws: bool,
    logs: ContainerLogs,
    messages: MessageWriter,
    /// Whether it has warned of the owners of the strategy.
    has_warned: bool,
}

impl<'a> Executor<'a, Stepper> for StepExecutor<'a> {
    fn execute(
        &mut self,
        request: Request,
        stepper: &Stepper,
        observers: &mut [Observer],
        requests: &mut RequestsInFlight<'a, Reply>,
        now: Now,
        ui: &mut Ui,
    ) {
        let workload = stepper.workload();
        let Some(observer) = observers.first_mut() else { return };
        match request {
            Request::Refresh => observer.refresh(TARGET),
            Request::ReadLog(log) => observer.read_log(TARGET, workload.object().namespace(), log),
            Request::Patch(write) => {
                observer.watch_warnings();
                self.warn_once(stepper, ui);
                requests.start(self.write(workload, write.patch));
            }
            Request::Delete { pods, evict } => {
                let stopped = requests.must_stop_writing();
                requests.start(self.delete_pods(workload, pods, evict, stopped));
            }
            Request::DeleteStuck(pod) => {
                let stopped = requests.must_stop_writing();
                requests.start(self.delete_pods(workload, vec![pod], false, stopped));
            }
            Request::Check(batch) => {
                let view = stepper.view(now);
                requests.start(self.check(workload, view.as_ref(), &batch));
            }
        }
    }

    /// A refresh is delayed until its nodes are read too.
    fn pass_on(
        &mut self,
        change: TargetEvent,
        requests: &mut RequestsInFlight<'a, Reply>,
    ) -> Option<TargetEvent> {
        match change {
            TargetEvent::Refreshed(observed) => {
                requests.start(self.complete_refresh(observed));
                None
            }
            change => Some(change),
        }
    }

    /// Sends no more deletions, also of the wave in flight, once the command ends or the plan is not its own any more.
    fn must_stop_writing(stepper: &Stepper) -> bool {
        stepper.must_stop_deleting()
    }

    /// Without output the command stops as after SIGTERM, and releases its lock.
    fn without_output(&self) -> Option<StopSignal> {
        Some(StopSignal::Terminated)
    }

    fn draws(&self, _stepper: &Stepper) -> bool {
        self.draws
    }

    fn report(&mut self, stepper: &Stepper, report: &StepReport, now: Now, ui: &mut Ui) {
        match report {
            StepReport::Cause { .. } if self.draws => {} // the frame shows it
            StepReport::Log(log) if self.draws => {
                self.logs.keep(log.clone());
            }
            report if self.draws => ui.messages.lines(render::notes(stepper, report, now)),
            StepReport::Decision(why) => ui.messages.line(&render::decision(why)), // on stderr, also with JSON
            report if self.output.is_document() => {
                if let Some(document) = json::document(stepper, report, now) {
                    ui.out_streamed(&document, self.output);
                }
            }
            report => {
                if let Some(line) = render::result(stepper, report, now) {
                    ui.out_wrapped(&line);
                }
                ui.messages.lines(render::notes(stepper, report, now));
            }
        }
    }

    fn frame(&self, stepper: &Stepper, now: Now, size: Terminal) -> Frame {
        Frame::of_steps(stepper, now, &self.logs, size)
    }
}

impl<'a> StepExecutor<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        field_manager: &'a str,
        check: Option<&'a str>,
        output: &'a OutputForm,
        draws: bool,
        messages: MessageWriter,
    ) -> Self {
        Self {
            context,
            field_manager,
            check,
            output,
            draws,
            logs: ContainerLogs::default(),
            messages,
            has_warned: false,
        }
    }

    /// Warns once of every manager whose next apply may end the plan, and of pods that a hold does not keep on their revision,
    /// before the first write. A pause has fewer fields than a plan.
    fn warn_once(&mut self, stepper: &Stepper, ui: &mut Ui) {
        if !std::mem::replace(&mut self.has_warned, true) {
            let of_pods = stepper.observed().and_then(replaced_by_recorded);
            ui.messages.lines_once(before_a_plan(stepper.workload()).into_iter().chain(of_pods));
        }
    }

    /// Sends one patch of the workload.
    fn write(&self, workload: &Workload, mut patch: Patch) -> impl Future<Output = Option<Reply>> + use<'a> {
        let (source, workload) = (self.context.source, workload.clone());
        let options = WriteOptions::by(self.field_manager);
        async move {
            let target = PatchTarget::of(&workload);
            Some(Reply::Written(attempt(&mut patch, &target, options, source).await))
        }
    }

    /// Reads the workload again, and deletes a wave of pods if it is unchanged. Another client may have paused the
    /// plan or taken the lock since the refresh, and the precondition of a deletion is only the uid of the pod.
    fn delete_pods(
        &self,
        workload: &Workload,
        pods: Vec<PodRef>,
        evict: bool,
        stopped: watch::Receiver<bool>,
    ) -> impl Future<Output = Option<Reply>> + use<'a> {
        let (source, workload) = (self.context.source, workload.clone());
        let decided = Instant::now();
        async move {
            let object = workload.object();
            let now = source.get(workload.kind().type_(), object.namespace(), object.name()).await;
            let blocked = match now {
                Ok(Some(now)) if guarded(&workload).failed_preconditions(&now).next().is_none() => None,
                Ok(_) => Some(DeletionResult::NotSent),
                Err(error) if error.kind() == ErrorKind::Refused => Some(DeletionResult::Refused(error)),
                Err(error) => Some(DeletionResult::Unavailable(error)),
            };
            let deletions = pods.iter().map(|pod| async {
                match &blocked {
                    None if *stopped.borrow() || decided.elapsed() >= WAVE_LIMIT => DeletionResult::NotSent,
                    None => source.remove_pod(object.namespace(), pod, evict).await,
                    Some(why) => why.clone(),
                }
            });
            let results = iter(deletions).buffered(CONCURRENT_DELETIONS).collect::<Vec<_>>().await;
            Some(Reply::Deleted(pods.iter().cloned().zip(results).collect()))
        }
    }

    /// Runs the check of a batch.
    fn check(
        &self,
        workload: &Workload,
        view: Option<&PlanView>,
        batch: &BatchView,
    ) -> impl Future<Output = Option<Reply>> + use<'a> {
        let is_wanted = view.is_some_and(|view| view.pace.check.is_some());
        let command = self.check.filter(|_| is_wanted);
        let (environment, messages) = (&self.context.world.environment, self.messages.clone());
        let variables = variables(workload, view, batch);
        async move {
            let result = match command {
                Some(command) => run_check(command, environment, &variables, messages).await,
                None => CheckResult::NotRun, // the command has no --check
            };
            Some(Reply::Checked(result))
        }
    }

    /// Completes a refresh: reads the nodes that it needs.
    fn complete_refresh(&self, observed: Box<Observation>) -> impl Future<Output = Option<Reply>> + use<'a> {
        let (source, messages) = (self.context.source, self.messages.clone());
        async move {
            Some(match other_objects::nodes_if_needed(&observed, source, &messages).await {
                Ok(nodes) => Reply::Refreshed { observed, nodes },
                Err(error) => Reply::Unrefreshed(error),
            })
        }
    }
}

/// The time limit of a check. A command with a shorter one begins with `timeout`.
const CHECK_LIMIT: Duration = Duration::from_secs(600);

/// Runs the command of `--check` once. Its output goes to stderr.
async fn run_check(
    command: &str,
    environment: &Environment,
    variables: &[(&'static str, String)],
    messages: MessageWriter,
) -> CheckResult {
    let print = {
        let messages = messages.clone();
        move |line: &str| messages.line(&check_output(line))
    };
    match run_shell(command, environment, variables, CHECK_LIMIT, print).await {
        Ok(ShellOutcome::Exited(Some(0))) => CheckResult::Passed,
        Ok(ShellOutcome::Exited(code)) => CheckResult::Failed(code),
        Ok(ShellOutcome::TimedOut) => CheckResult::TimedOut,
        Err(error) => {
            messages.line(&check_output(&format!("sh cannot be started: {error}")));
            CheckResult::NotRun
        }
    }
}

/// Returns the variables of the check, which the help of `step` documents. None is a secret. Names from the cluster are only
/// values of variables, so the shell never reads them as a part of the command.
fn variables(workload: &Workload, view: Option<&PlanView>, batch: &BatchView) -> Vec<(&'static str, String)> {
    let object = workload.object();
    let slots: Vec<&str> = batch.slots.iter().map(|slot| slot.label.as_str()).collect();
    let known = |fact: fn(&PlanView) -> String| view.map(fact).unwrap_or_default();
    vec![
        ("ROLLOUT2_NAMESPACE", object.namespace().to_owned()),
        ("ROLLOUT2_TYPE", workload.kind().type_().cli_name.to_owned()),
        ("ROLLOUT2_NAME", workload.name().to_owned()),
        ("ROLLOUT2_FROM", known(|view| view.from.clone().unwrap_or_default())),
        ("ROLLOUT2_TO", known(|view| view.to.clone().unwrap_or_default())),
        ("ROLLOUT2_BATCH", batch.number.to_string()),
        ("ROLLOUT2_PODS", slots.join(" ")),
        ("ROLLOUT2_UPDATED", known(|view| view.updated.to_string())),
        ("ROLLOUT2_TOTAL", known(|view| view.wanted.to_string())),
    ]
}
