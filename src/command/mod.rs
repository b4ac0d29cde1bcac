//! What the verbs do: get, decide, show or patch. One file a verb.
//!
//! The command line was already read (by `cli`) into the plain requests that are defined here, so
//! this room knows no flags, and formatting is left to `render`.

pub mod change;
pub mod complete;
pub mod diff;
mod draw;
pub mod drive;
mod external_diff;
pub mod follow;
pub mod gather;
mod heal;
mod hear;
pub mod history;
pub mod hold;
mod identity;
mod make;
mod owners;
mod remove;
pub mod restart;
pub mod status;
pub mod step;
mod stops;
pub mod tell;
pub mod undo;
mod undo_failure;
mod wait;

use self::gather::Scope;
use crate::cluster::listener::Listener;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind};
use crate::exit::Exit;
use crate::model::access::Access;
use crate::render::appearance::Color;
use crate::render::narrator::Narrator;
use crate::render::notice;
use crate::render::screen::Screen;
use crate::world::World;

/// A command line, understood.
#[derive(Debug)]
pub struct Command {
    /// What every verb shares.
    pub common: Common,
    /// What is to be done.
    pub verb: Verb,
}

/// What every verb shares.
#[derive(Clone, Debug, Default)]
pub struct Common {
    /// Where to read from.
    pub access: Access,
    /// Whether to print and exit exactly as kubectl does.
    pub compat: bool,
    /// When to use colour.
    pub color: Color,
}

/// What is to be done.
#[derive(Debug)]
pub enum Verb {
    /// Show the revisions of workloads.
    History(history::Request),
    /// Show what differs between two templates of a workload.
    Diff(diff::Request),
    /// Go back to an earlier revision.
    Undo(undo::Request),
    /// Hold rollouts, or let them go on.
    Hold(hold::Request),
    /// Make every pod anew.
    Restart(restart::Request),
    /// Show how rollouts stand.
    Status(status::Request),
    /// Release an update batch by batch.
    Step(Box<step::Request>),
}

impl Verb {
    /// What the verb is about.
    fn scope_mut(&mut self) -> &mut Scope {
        match self {
            Self::History(request) => &mut request.scope,
            Self::Diff(request) => &mut request.scope,
            Self::Status(request) => &mut request.scope,
            Self::Undo(request) => &mut request.scope,
            Self::Hold(request) => &mut request.scope,
            Self::Restart(request) => &mut request.scope,
            Self::Step(request) => &mut request.scope,
        }
    }
}

/// How a verb ended: the worst of its targets, and every failure, in order.
#[derive(Debug)]
pub struct Ending {
    /// How the targets that did not fail ended.
    pub exit: Exit,
    /// What failed.
    pub errors: Vec<Error>,
}

/// Does what a command says and prints what came of it.
pub async fn run(command: Command, world: &mut World) -> Exit {
    run_on(Source::open, command, world).await
}

/// The same, reading from what `open` opens.
pub async fn run_on(
    open: impl FnOnce(&Access, &mut World, Listener) -> Result<Source, Error>,
    mut command: Command,
    world: &mut World,
) -> Exit {
    command.verb.scope_mut().read_manifests(&mut world.stdin);
    let common = &command.common;
    let narrator = Narrator::new(world.err.clone());
    let source = open(&common.access, world, listener(narrator.clone()));
    let (environment, signals) = (world.environment.clone(), world.signals);
    let by = identity::somebody(&environment, world.host.as_deref());
    let mut screen = Screen::with(narrator, world, common.color, common.compat);
    let mut ending = match &source {
        Ok(source) => match &command.verb {
            Verb::History(request) => history::run(request, source, &mut screen).await,
            Verb::Status(request) => status::run(request, source, signals, &mut screen).await,
            Verb::Diff(request) => diff::run(request, source, &environment, &mut screen).await,
            Verb::Undo(request) => undo::run(request, source, signals, &mut screen).await,
            Verb::Hold(request) => hold::run(request, source, by.as_deref(), &mut screen).await,
            Verb::Restart(request) => restart::run(request, source, signals, &mut screen).await,
            Verb::Step(request) => {
                let asker = step::Asker { environment, by, signals };
                step::run(request, source, &asker, &mut screen).await
            }
        },
        Err(error) => error.clone().into(),
    };
    if let (Ok(source), true) = (&source, common.access.overrides.warnings_as_errors) {
        ending.errors.extend(warned(source.warnings()));
    }
    screen.errors(&ending.errors);
    let exit = ending.errors.iter().map(Error::exit).fold(ending.exit, Exit::worst);
    let exit = match screen.finish() {
        Ok(()) => exit,
        Err(_) => exit.worst(Exit::Error), // the screen has told whoever is left
    };
    match &command.verb {
        Verb::Diff(request) if request.exit_code => diff::in_its_own_codes(exit),
        _ if command.common.compat => compat_exit(exit),
        _ => exit,
    }
}

/// What happens on the way to the cluster is told as it happens.
fn listener(narrator: Narrator) -> Listener {
    Listener::new(move |notice| narrator.note(&notice::line(notice)))
}

/// `--warnings-as-errors`: everything was done, and yet it was not all right.
fn warned(warnings: usize) -> Option<Error> {
    let plural = if warnings == 1 { "" } else { "s" };
    let message = format!("{warnings} warning{plural} received");
    (warnings > 0).then(|| Error::new(ErrorKind::Refused, message))
}

/// kubectl knows 0 and 1.
fn compat_exit(exit: Exit) -> Exit {
    if exit == Exit::Done { Exit::Done } else { Exit::Error }
}

impl Ending {
    /// Both of two endings.
    fn and(mut self, other: Self) -> Self {
        self.exit = self.exit.worst(other.exit);
        self.errors.extend(other.errors);
        self
    }
}

impl From<Error> for Ending {
    fn from(error: Error) -> Self {
        Self { exit: Exit::Done, errors: vec![error] }
    }
}

/// Whether a command can go on without what an error kept from it.
fn can_do_without(error: &Error) -> bool {
    error.kind() == ErrorKind::Withheld
}
