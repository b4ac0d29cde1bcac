//! Init containers that fail or do not finish, so the containers never start.

use super::CauseId;
use super::context::{CauseContext, Problem, SLOW_AFTER};
use super::crash;
use crate::model::api::container::{Container, ContainerState};
use crate::model::api::pod::Pod;

/// Returns the problem of an init container: its last failure, or that it has run for long.
pub(super) fn find_problem(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    if !container.init {
        return None;
    }
    failed(container, pod, context).or_else(|| slow(container, context))
}

fn slow(container: &Container, context: &CauseContext<'_>) -> Option<Problem> {
    let ContainerState::Running { since: Some(since) } = container.state else { return None };
    let is_slow = context.now.duration_since(since) > SLOW_AFTER;
    is_slow.then(|| Problem::new(CauseId::InitRunning, "init container is still running", ""))
}

fn failed(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Problem> {
    if container.latest_termination()?.exit_code == 0 {
        return None;
    }
    let problem = crash::find_problem(container, pod, context)?;
    let id = if problem.id == CauseId::CrashLoop { CauseId::InitCrash } else { problem.id };
    Some(Problem { id, summary: format!("{}{}", crash::INIT, problem.summary), ..problem })
}
