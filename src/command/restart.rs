//! `restart`: the same template once more, so that every pod is made anew.

use super::Ending;
use super::change::{self, DryRun, How, Output, Writer, chosen, unsupported};
use super::gather::{Scope, observe};
use super::make::{self, Made, Subject};
use super::wait;
use crate::cluster::source::Source;
use crate::error::Result;
use crate::model::effect::restraint;
use crate::model::patch::Patch;
use crate::model::restart::{effect, restart};
use crate::model::workload::Workload;
use crate::render::change as render;
use crate::render::screen::Screen;
use crate::world::Signals;

/// What `restart` was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// To which workloads.
    pub scope: Scope,
    /// How to write.
    pub how: How,
    /// The change-cause to set.
    pub cause: Option<String>,
}

const WRITER: Writer = Writer {
    refusal: |type_, name| unsupported(type_, name, "restarting"),
    kubectl_says_nothing_found: true,
};

/// Restarts every workload in scope, in the order asked, and then waits for all at once if asked to.
pub async fn run(request: &Request, source: &Source, signals: Signals, screen: &mut Screen<'_>) -> Ending {
    let (workloads, mut tally) = match chosen(&request.scope, &WRITER, &request.how, source, screen).await {
        Ok(chosen) => chosen,
        Err(error) => return error.into(),
    };
    let mut live = Vec::new();
    for workload in workloads {
        let done = one(workload, request, source, screen).await;
        tally.count(done.map(|workload| live.push(workload)));
    }
    wait::ending(tally, live, &request.how, source, signals, screen).await
}

/// Restarts one workload; returns it as it is afterwards.
async fn one(
    workload: Workload,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Workload> {
    let how = &request.how;
    let patch = restart(&workload, source.now(), request.cause.as_deref())?;
    if !screen.is_compat() {
        show(&workload, &patch, how, source, screen).await?;
    }
    if how.dry_run == DryRun::Client {
        change::report(&workload, "restarted", patch.after(), &patch, how, screen);
        return Ok(workload);
    }
    change::confirm(&format!("restart {}?", workload.target()), how, screen)?;
    match make::make(&patch, &Subject::of(&workload).failing("failed to patch"), how, source, screen).await? {
        Made::Done(object) => {
            change::report(&workload, "restarted", object.json(), &patch, how, screen);
            change::heal_if_asked(&workload, &object, how, source, screen).await?;
            Ok(Workload::of(object).unwrap_or(workload))
        }
        Made::Conflict(conflict) => Err(make::conflict(&conflict, &workload, "its restart was prepared")),
    }
}

/// The effect, where somebody looks on, and always where some pods will not be restarted.
async fn show(
    workload: &Workload,
    patch: &Patch,
    how: &How,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    let is_wanted = how.dry_run == DryRun::Client || screen.terminal().is_some();
    if !is_wanted && restraint(workload).is_none() {
        return Ok(());
    }
    let observed = observe(workload.clone(), source, screen).await?;
    let effect = render::restart(workload, &effect(&observed, patch));
    let is_result = is_wanted && how.output == Output::Text;
    if is_result {
        screen.styled(&effect);
    } else {
        screen.styled_notes(&effect);
    }
    Ok(())
}
