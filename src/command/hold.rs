//! `pause` and `resume`: hold a rollout where it is, and let it go on.

use k8s_openapi::jiff::Timestamp;

use super::Ending;
use super::change::{self, DryRun, How, Writer, chosen, unsupported};
use super::gather::{Scope, observe};
use super::make::{self, Made, Subject};
use super::owners;
use super::undo::read_again;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::hold::{Holding, Pause, Resume, is_same_plan, pause, resume};
use crate::model::observed::Observed;
use crate::model::patch::{Patch, Place};
use crate::model::strategy;
use crate::model::workload::Workload;
use crate::render::hold as words;
use crate::render::screen::Screen;

/// What `pause` or `resume` was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// To which workloads.
    pub scope: Scope,
    /// Which of the two.
    pub verb: Verb,
    /// How to write.
    pub how: How,
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Hold.
    Pause,
    /// Let go.
    Resume {
        /// A plan too, at the controller's own pace.
        release_all: bool,
    },
}

const PAUSE: Writer =
    Writer { refusal: |type_, name| unsupported(type_, name, "pausing"), kubectl_says_nothing_found: true };
const RESUME: Writer =
    Writer { refusal: |type_, name| unsupported(type_, name, "resuming"), kubectl_says_nothing_found: true };

/// Pauses or resumes every workload in scope, in the order asked.
pub async fn run(request: &Request, source: &Source, by: Option<&str>, screen: &mut Screen<'_>) -> Ending {
    let writer = match request.verb {
        Verb::Pause => &PAUSE,
        Verb::Resume { .. } => &RESUME,
    };
    let (workloads, mut tally) = match chosen(&request.scope, writer, &request.how, source, screen).await {
        Ok(chosen) => chosen,
        Err(error) => return error.into(),
    };
    for workload in workloads {
        let done = match request.verb {
            Verb::Pause => hold(workload, by, request, source, screen).await,
            Verb::Resume { release_all } => let_go(&workload, release_all, request, source, screen).await,
        };
        tally.count(done);
    }
    tally.ending(screen)
}

async fn hold(
    workload: Workload,
    by: Option<&str>,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    refuse_as_kubectl(&workload, request.verb, screen)?;
    let mut observed = seen(workload, source, screen).await?;
    for _ in 0..MOST_RACES {
        match hold_as_seen(&observed, by, request, source, screen).await {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                let now = read_again(&observed.workload, source).await?;
                if !is_same_plan(&observed.workload, &now) {
                    return Err(error);
                }
                observed = seen(now, source, screen).await?;
            }
            done => return done,
        }
    }
    hold_as_seen(&observed, by, request, source, screen).await
}

/// How often a process that steps may be faster than the pause that is to stop it.
const MOST_RACES: usize = 4;

async fn hold_as_seen(
    observed: &Observed,
    by: Option<&str>,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    let workload = &observed.workload;
    let since = Timestamp::from_second(source.now().as_second()).unwrap_or_default().to_string();
    match pause(observed, by, &since)? {
        Pause::Already => already(workload, "already paused", request, screen),
        Pause::OnDelete => {
            screen.note(&words::on_delete(workload));
            already(workload, "not paused", request, screen)
        }
        Pause::Change { patch, holding } => {
            if !screen.is_compat() {
                owners::warn_before_a_hold(workload, &place_of(workload, holding), screen);
                screen.notes(&words::before_pausing(holding, workload));
            }
            write(workload, &patch, "paused", request, source, screen).await
        }
    }
}

async fn let_go(
    workload: &Workload,
    release_all: bool,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    refuse_as_kubectl(workload, request.verb, screen)?;
    match resume(workload, release_all)? {
        Resume::NotPaused => already(workload, "not paused", request, screen),
        Resume::Stepping => {
            already(workload, "not paused", request, screen)?;
            screen.note(&words::step_on(workload));
            Ok(())
        }
        Resume::End(patch) => write(workload, &patch, "resumed", request, source, screen).await,
        Resume::Forget(patch) => {
            screen.note(&words::ended_by_another(workload, source.now()));
            write(workload, &patch, "resumed", request, source, screen).await
        }
        Resume::Continue(patch) => {
            write(workload, &patch, "resumed", request, source, screen).await?;
            screen.note(&words::step_on(workload));
            Ok(())
        }
    }
}

/// The pods and revisions that a hold depends on; a Deployment's depends on none.
async fn seen(workload: Workload, source: &Source, screen: &mut Screen<'_>) -> Result<Observed> {
    match workload {
        Workload::Deployment(_) => Ok(Observed::of_alone(workload)),
        workload => observe(workload, source, screen).await,
    }
}

async fn write(
    workload: &Workload,
    patch: &Patch,
    operation: &str,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    let how = &request.how;
    if how.dry_run == DryRun::Client {
        change::report(workload, operation, patch.after(), patch, how, screen);
        return Ok(());
    }
    let (question, what) = match request.verb {
        Verb::Pause => (format!("pause {}?", workload.target()), "its pause was prepared"),
        Verb::Resume { .. } => (format!("resume {}?", workload.target()), "it was to be resumed"),
    };
    change::confirm(&question, how, screen)?;
    match make::make(patch, &Subject::of(workload).failing("failed to patch"), how, source, screen).await? {
        Made::Done(object) => {
            change::report(workload, operation, object.json(), patch, how, screen);
            Ok(())
        }
        Made::Conflict(conflict) => Err(make::conflict(&conflict, workload, what)),
    }
}

/// Nothing is to be done, which only kubectl takes for a failure.
fn already(workload: &Workload, words: &str, request: &Request, screen: &mut Screen<'_>) -> Result<()> {
    if screen.is_compat() {
        return Err(as_kubectl(workload, &format!("is {words}")));
    }
    let patch = Patch::of(workload.object());
    change::report(workload, words, workload.object().json(), &patch, &request.how, screen);
    Ok(())
}

/// kubectl pauses Deployments only.
fn refuse_as_kubectl(workload: &Workload, verb: Verb, screen: &Screen<'_>) -> Result<()> {
    let verb = if verb == Verb::Pause { "pausing" } else { "resuming" };
    match workload {
        Workload::DaemonSet(_) | Workload::StatefulSet(_) if screen.is_compat() => {
            let sentence = unsupported(workload.kind().type_(), workload.name(), verb);
            Err(Error::new(ErrorKind::Refused, sentence.clone()).in_compat(sentence))
        }
        _ => Ok(()),
    }
}

fn as_kubectl(workload: &Workload, reason: &str) -> Error {
    let sentence = format!("{} {:?} {reason}", workload.kind().type_().resource(), workload.name());
    Error::new(ErrorKind::Refused, sentence.clone()).in_compat(format!("error: {sentence}"))
}

/// Where a hold is written.
fn place_of(workload: &Workload, holding: Holding) -> Place {
    match holding {
        Holding::Paused => Place::of(["spec", "paused"]),
        _ => strategy::place(workload),
    }
}
