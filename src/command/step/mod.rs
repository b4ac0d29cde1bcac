//! `step`: releases an update batch by batch.

mod act;
mod budget;
mod check;
mod drive;
mod errands;
mod nodes;
mod tell;

use std::time::Duration;

use super::Ending;
use super::draw::Drawer;
use super::gather::{Scope, observe, workload};
use super::identity::identity;
use crate::cluster::live::Cluster;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::follow::Moment;
use crate::model::resource_type::ResourceType;
use crate::model::step::{self as model, End, Stepper, foresee};
use crate::model::workload::Workload;
use crate::render::frame::Frame;
use crate::render::screen::Screen;
use crate::render::step::{Scene, json, lines, plan};
use crate::world::{Environment, Signals};

use self::act::Hands;
use self::tell::{Batches, Teller, say};

/// What `step` was asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// With which workload: a scope of one name.
    pub scope: Scope,
    /// What is wished for, as far as the plan goes.
    pub wish: model::Request,
    /// The command to run between batches, which never leaves this process.
    pub check: Option<String>,
    /// Whether only the plan is shown.
    pub dry_run: bool,
    /// In which form.
    pub output: Output,
    /// Whether lines are wanted even where frames could be drawn.
    pub plain: bool,
    /// The name under which the server remembers who owns the fields.
    pub field_manager: String,
}

/// The forms in which stepping is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// A line for each event; on a terminal the batches, drawn.
    #[default]
    Text,
    /// JSON, one document a line.
    Json,
}

/// Who asks, and from where.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    /// The variables for the check.
    pub environment: Environment,
    /// `ada@laptop`.
    pub by: Option<String>,
    /// Who can ask us to stop.
    pub signals: Signals,
}

/// Steps one workload, or shows how that would go.
pub async fn run(request: &Request, source: &Source, asker: &Asker, screen: &mut Screen<'_>) -> Ending {
    let found = match workload(&request.scope, refusal, source, screen).await {
        Ok(found) => found,
        Err(error) => return error.into(),
    };
    if let Err(error) = budget::check(&request.wish, &found, source, screen).await {
        return error.into();
    }
    match source {
        _ if request.dry_run => show_plan(request, found, source, screen).await.unwrap_or_else(Ending::from),
        Source::Cluster(cluster) => step(request, found, cluster, asker, screen).await,
        Source::Snapshot(_) => Error::new(ErrorKind::Refused, "a snapshot cannot be changed").into(),
    }
}

fn refusal(type_: &ResourceType, name: &str) -> String {
    super::change::unsupported(type_, name, "stepping")
}

async fn step(
    request: &Request,
    found: Workload,
    cluster: &Cluster,
    asker: &Asker,
    screen: &mut Screen<'_>,
) -> Ending {
    let hands = Hands::new(request, asker, cluster, &screen.narrator());
    let stepper = Stepper::new(request.wish.clone(), identity(asker.by.as_deref()), found);
    let draws = request.output == Output::Text && screen.can_draw() && !request.plain;
    let driven = if draws {
        let mut drawer = Drawer::new(screen, Batches::default());
        let driven = drive::step(stepper, hands, asker.signals, &mut drawer).await;
        drawer.finish(|batches, size| Frame::of_steps(batches.steps(&driven.stepper, driven.now), size));
        driven
    } else {
        let mut teller = Teller::new(screen, request.output == Output::Json);
        drive::step(stepper, hands, asker.signals, &mut teller).await
    };
    let view = driven.stepper.view(driven.now);
    let (workload, way_back) = (driven.stepper.workload(), driven.stepper.way_back());
    let scene = Scene { workload, view: view.as_ref(), way_back, holder: Some(driven.stepper.holder()) };
    ended(scene, driven.end, driven.now.elapsed, request.output, screen)
}

/// The plan as it would go, from how everything is now.
async fn show_plan(
    request: &Request,
    found: Workload,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Ending> {
    let observed = observe(found, source, screen).await?;
    let nodes = nodes::if_needed(&observed, source, &screen.narrator()).await?;
    let now = Moment { elapsed: Duration::ZERO, wall: source.now() };
    let workload = &observed.workload;
    let view = match foresee(&request.wish, &observed, nodes.as_deref(), now) {
        Ok(view) => view,
        Err(end) => {
            let scene = Scene { workload, view: None, way_back: None, holder: None };
            return Ok(ended(scene, end, now.elapsed, request.output, screen));
        }
    };
    match request.output {
        Output::Text => {
            screen.styled(&plan::spans(workload, &view));
            say(plan::hindrances(workload, &view), screen);
        }
        Output::Json => screen.exact(&json::plan(workload, &view)),
    }
    Ok(Ending { exit: Exit::Done, errors: Vec::new() })
}

/// Says how it ended; an error is said by whoever says all of them.
fn ended(scene: Scene<'_>, end: End, elapsed: Duration, output: Output, screen: &mut Screen<'_>) -> Ending {
    let exit = exit(&end);
    match output {
        Output::Text => say(lines::ended(scene, &end), screen),
        Output::Json => screen.exact(&json::ended(scene, &end, exit.code(), elapsed)),
    }
    match end {
        End::Error(error) => error.into(),
        _ => Ending { exit, errors: Vec::new() },
    }
}

/// The exit code of a command that ended like this.
fn exit(end: &End) -> Exit {
    match end {
        End::NothingOutdated | End::Reached { .. } | End::Complete => Exit::Done,
        End::Stopped(_) => Exit::Held,
        End::Failed { .. } => Exit::Failed,
        End::TimedOut(_) => Exit::Unfinished,
        End::Interrupted => Exit::Interrupted,
        End::Terminated => Exit::Terminated,
        End::Gone { .. } => Exit::Error,
        End::Error(error) => error.exit(),
    }
}
