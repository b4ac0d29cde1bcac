//! `step`: releases an update batch by batch.

mod check;
mod disruption_budgets;
mod event_loop;
mod executor;
mod nodes;
mod pending_requests;
mod reporter;
mod request;

pub use request::{Caller, Output, Request};

use std::time::Duration;

use super::CommandOutcome;
use super::follow::frame_reporter::FrameReporter;
use super::identity::identity;
use super::owners;
use super::stop_signals;
use super::targets::{find_workload, observe};
use crate::cluster::live::Cluster;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::api::resource_type::ResourceType;
use crate::model::follow::Now;
use crate::model::step::{StepOutcome, Stepper, preview};
use crate::model::workload::Workload;
use crate::render::frame::Frame;
use crate::render::screen::Screen;
use crate::render::step::{Closing, json, lines, plan};

use self::executor::Executor;
use self::reporter::{PlanFrames, PlanLineReporter, print};

/// Steps one workload, or prints its plan.
pub(super) async fn run(
    request: &Request,
    source: &Source,
    caller: &Caller,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome> {
    let found = find_workload(&request.scope, unsupported_message, source, screen).await?;
    if let Some(sentence) = found.deletion_sentence() {
        return Err(Error::new(ErrorKind::Refused, sentence + "; nothing was written"));
    }
    disruption_budgets::check(&request.plan, &found, source, screen).await?;
    match source {
        _ if request.dry_run => show_plan(request, found, source, screen).await,
        Source::Cluster(cluster) => Ok(step(request, found, cluster, caller, screen).await),
        Source::Snapshot(_) => Err(Error::new(ErrorKind::Refused, "a snapshot cannot be changed")),
    }
}

fn unsupported_message(type_: &ResourceType, name: &str) -> String {
    super::writing_verb::unsupported(type_, name, "stepping")
}

async fn step(
    request: &Request,
    found: Workload,
    cluster: &Cluster,
    caller: &Caller,
    screen: &mut Screen<'_>,
) -> CommandOutcome {
    let executor = Executor::new(request, caller, cluster, &screen.messages());
    let stepper = Stepper::new(request.plan.clone(), identity(caller.by.as_deref()), found);
    let draws = request.output == Output::Text && screen.can_draw() && !request.plain;
    let ended = if draws {
        let mut drawer = FrameReporter::new(screen, PlanFrames::default());
        let ended = event_loop::step(stepper, executor, caller.signals.clone(), &mut drawer).await;
        drawer.finish(|batches, size| Frame::of_steps(batches.steps(&ended.stepper, ended.now), size));
        ended
    } else {
        let mut reporter = PlanLineReporter::new(screen, request.output == Output::Json);
        event_loop::step(stepper, executor, caller.signals.clone(), &mut reporter).await
    };
    let view = ended.stepper.view(ended.now);
    let (workload, rollback) = (ended.stepper.workload(), ended.stepper.rollback());
    let closing = Closing {
        workload,
        view: view.as_ref(),
        rollback: rollback.as_ref().map(|(failure, revision)| (failure, *revision)),
        holder: Some(ended.stepper.holder()),
    };
    end(closing, ended.outcome, ended.now.elapsed, request.output, screen)
}

/// Prints the plan that the command would begin or continue.
async fn show_plan(
    request: &Request,
    found: Workload,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome> {
    let observed = observe(found, source, screen).await?;
    let nodes = nodes::read_if_needed(&observed, source, &screen.messages()).await?;
    let now = Now { elapsed: Duration::ZERO, server_time: source.now() };
    let workload = &observed.workload;
    let preview = match preview(&request.plan, &observed, nodes.as_deref(), now) {
        Ok(preview) => preview,
        Err(outcome) => {
            let closing = Closing { workload, view: None, rollback: None, holder: None };
            if request.output == Output::Json {
                let exit = exit(&outcome);
                screen.exact(&json::no_plan(workload, &outcome, exit.code()));
                return Ok(closed(outcome, exit));
            }
            return Ok(end(closing, outcome, now.elapsed, request.output, screen));
        }
    };
    owners::warn_before_a_plan(workload, screen);
    match request.output {
        Output::Text => {
            screen.styled(&plan::spans(workload, &preview, screen.terminal()));
            print(plan::obstacles(workload, &preview), screen);
        }
        Output::Json => screen.exact(&json::plan(workload, &preview)),
    }
    Ok(Exit::Done.into())
}

/// Prints the outcome. Errors are printed by the caller.
fn end(
    closing: Closing<'_>,
    outcome: StepOutcome,
    elapsed: Duration,
    output: Output,
    screen: &mut Screen<'_>,
) -> CommandOutcome {
    let exit = exit(&outcome);
    match output {
        Output::Text => print(lines::outcome(closing, &outcome), screen),
        Output::Json => screen.exact(&json::outcome(closing, &outcome, exit.code(), elapsed)),
    }
    closed(outcome, exit)
}

/// Returns the outcome of the command. The caller prints its error.
fn closed(outcome: StepOutcome, exit: Exit) -> CommandOutcome {
    match outcome {
        StepOutcome::Error(error) => error.into(),
        _ => exit.into(),
    }
}

/// Returns the exit code of an outcome.
fn exit(outcome: &StepOutcome) -> Exit {
    match outcome {
        StepOutcome::NothingOutdated | StepOutcome::Reached { .. } | StepOutcome::Complete => Exit::Done,
        StepOutcome::Stopped(_) => Exit::Held,
        StepOutcome::Failed { .. } => Exit::Failed,
        StepOutcome::TimedOut(_) => Exit::Unfinished,
        StepOutcome::Interrupted(signal) => stop_signals::exit(*signal),
        StepOutcome::Gone { .. } => Exit::Error,
        StepOutcome::Error(error) => error.exit(),
    }
}
