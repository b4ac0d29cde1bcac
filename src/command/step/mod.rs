//! `step`: releases an update batch by batch.

mod executor;
mod other_objects;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use self::executor::StepExecutor;
use super::CommandOutcome;
use super::context::{Context, new_lock};
use super::event_loop::{Executor, drive};
use super::preflight::{self, Planned};
use super::targets::{find_workload, read_for_write};
use crate::cli::step::StepArgs;
use crate::cluster::objects::observer::Observer;
use crate::cluster::source::Cluster;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::engine::{Now, TargetId};
use crate::model::kind::Workload;
use crate::model::step::{StepOptions, StepOutcome, Stepper, preview};
use crate::render::hold::replaced_by_recorded;
use crate::render::output_form::OutputForm;
use crate::render::owner_warnings::before_a_plan;
use crate::render::step::{self as render, Closing, json};
use crate::render::ui::Ui;
use crate::world::process::{Process, Processes};

/// Steps one workload, or prints its plan.
pub(super) async fn run(request: &StepArgs, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    let found = find_workload(&request.target(context.common)?, source).await?;
    let ended_holder = ended_holder(&found, &context.world.processes);
    let options = StepOptions { ended_holder, ..request.options(context.common)? };
    if let Some(sentence) = found.deletion_sentence() {
        return Err(Error::new(ErrorKind::Refused, sentence + "; nothing was written"));
    }
    other_objects::check_budgets(&options, &found, source, ui).await?;
    let (messages, target) = (ui.messages.clone(), found.clone());
    let is_new = options.new_plan || found.held().plan().is_none();
    let planned = Planned::of(found.clone());
    if request.strict && is_new {
        preflight::refuse(&found, &preflight::check(&planned, source).await)?;
    }
    // It runs while the plan starts, and prints before its first write, which needs more round trips.
    let warnings = async {
        if is_new && !request.strict {
            preflight::warn(&target, &preflight::check(&planned, source).await, &messages);
        }
    };
    let outcome = async {
        if request.is_dry_run() {
            return show_plan(request, options, found, context, ui).await;
        }
        Ok(step(request, options, found, source.writable()?, context, ui).await)
    };
    if request.is_dry_run() {
        return tokio::join!(biased; warnings, outcome).1;
    }
    // A server that does not answer it must not delay the end, as after a signal.
    tokio::select! {
        biased;
        never = async { warnings.await; pending().await } => never,
        outcome = outcome => outcome,
    }
}

async fn step(
    request: &StepArgs,
    options: StepOptions,
    found: Workload,
    cluster: &Arc<Cluster>,
    context: &Context<'_>,
    ui: &mut Ui,
) -> CommandOutcome {
    let draws = !request.output.is_document() && ui.can_draw() && !request.plain;
    let (check, messages) = (request.check(), ui.messages.clone());
    let mut executor =
        StepExecutor::new(context, &request.field_manager, check, &request.output, draws, messages);
    let observer = Observer::of_found(Arc::clone(cluster), TargetId::default(), std::slice::from_ref(&found));
    let signals = context.world.signals.clone();
    let processes = &context.world.processes;
    let lock = new_lock(context.user().as_deref(), processes);
    let stepper = Stepper::new(options, lock, found);
    let (stepper, now) = drive(stepper, &mut executor, vec![observer], context.source, signals, ui).await;
    if draws {
        ui.draw_last(|size| executor.frame(&stepper, now, size));
    }
    let closing = Closing::of(&stepper, check, now);
    match stepper.outcome() {
        Some(outcome) => end(&closing, outcome.clone(), &request.output, context, ui),
        None => Exit::Error.into(), // the loop ends only with an outcome
    }
}

/// Prints the plan that the command would begin or continue.
async fn show_plan(
    request: &StepArgs,
    options: StepOptions,
    found: Workload,
    context: &Context<'_>,
    ui: &mut Ui,
) -> Result<CommandOutcome> {
    let source = context.source;
    let observed = read_for_write(found, source, &ui.messages).await?;
    let nodes = other_objects::nodes_if_needed(&observed, source, &ui.messages).await?;
    let now = Now { elapsed: Duration::ZERO, server_time: source.now() };
    let workload = &observed.workload;
    let view = match preview(&options, &observed, nodes.as_deref(), now) {
        Ok(view) => view,
        Err(outcome) => {
            if request.output.is_document() {
                let exit = context.exit(outcome.exit());
                ui.out_streamed(
                    &json::no_plan(&Closing::before(workload, now), &outcome, exit.code()),
                    &request.output,
                );
                return Ok(closed(outcome, exit));
            }
            let check = request.check();
            return Ok(end(
                &Closing { check, ..Closing::before(workload, now) },
                outcome,
                &request.output,
                context,
                ui,
            ));
        }
    };
    ui.messages.lines_once(before_a_plan(workload).into_iter().chain(replaced_by_recorded(&observed)));
    ui.messages.lines(render::equal_goals(&view));
    if request.output.is_document() {
        ui.out_streamed(&json::plan(workload, &view, now), &request.output);
    } else {
        ui.out_lines(&render::plan_lines(workload, &view, ui.terminal()));
        render::print_obstacles(workload, &view, now, ui);
    }
    Ok(Exit::Done.into())
}

/// Returns the holder of the lock if its process has ended on this host.
fn ended_holder(found: &Workload, processes: &Processes) -> Option<String> {
    let lock = found.held().stored()?.lock.as_ref()?;
    let process = Process { host: lock.host.clone()?, id: lock.process.clone()? };
    processes.has_ended(&process).then(|| lock.holder.clone())
}

/// Prints the outcome. Errors are printed by the context.
fn end(
    closing: &Closing<'_>,
    outcome: StepOutcome,
    output: &OutputForm,
    context: &Context<'_>,
    ui: &mut Ui,
) -> CommandOutcome {
    let exit = context.exit(outcome.exit());
    if output.is_document() {
        ui.out_streamed(&json::outcome(closing, &outcome, exit.code()), output);
    } else {
        render::print_outcome(closing, &outcome, ui);
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
