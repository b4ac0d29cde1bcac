//! `pause` and `resume`: hold a rollout, and release it.

use k8s_openapi::jiff::Timestamp;

use super::CommandOutcome;
use super::owners;
use super::writing_verb::{
    ChangeOptions, DryRun, Output, WritingVerb, print_as_read, print_effect, select_targets, unsupported,
};
use crate::cluster::source::Source;
use crate::command::patch::{ChangeWords, write_change};
use crate::command::targets::{TargetScope, observe, observe_revisions, reread};
use crate::error::{Error, ErrorKind, Result};
use crate::model::change::hold::{
    Pause, Resume, end_lost_hold, is_annotation_lost, pause, refuse_lost_annotation, resume,
};
use crate::model::change::patch::Patch;
use crate::model::change::plan::{PlanRecord, have_same_plan};
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::model::workload::kind::HoldBy;
use crate::model::workload::strategy;
use crate::render::hold as words;
use crate::render::screen::Screen;

/// The arguments of `pause` and `resume`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The workloads to pause or resume.
    pub scope: TargetScope,
    /// Which of the two verbs.
    pub verb: HoldVerb,
    /// The options of the write.
    pub options: ChangeOptions,
}

/// Which of the two verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldVerb {
    /// `pause`.
    Pause,
    /// `resume`.
    Resume {
        /// Whether to end a plan too, so that the controller updates all pods (`--release-all`).
        release_all: bool,
    },
}

const PAUSE: WritingVerb = WritingVerb {
    unsupported_message: |type_, name| unsupported(type_, name, "pausing"),
    kubectl_reports_nothing_found: true,
};
const RESUME: WritingVerb = WritingVerb {
    unsupported_message: |type_, name| unsupported(type_, name, "resuming"),
    kubectl_reports_nothing_found: true,
};

/// Pauses or resumes the workloads one after another.
pub(super) async fn run(
    request: &Request,
    source: &Source,
    by: Option<&str>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome> {
    let verb = match request.verb {
        HoldVerb::Pause => &PAUSE,
        HoldVerb::Resume { .. } => &RESUME,
    };
    let (workloads, mut results) =
        select_targets(&request.scope, verb, &request.options, source, screen).await?;
    for workload in workloads {
        let done = match request.verb {
            HoldVerb::Pause => pause_workload(workload, by, request, source, screen).await,
            HoldVerb::Resume { release_all } => {
                resume_workload(workload, release_all, request, source, screen).await
            }
        };
        results.record(done);
    }
    Ok(results.outcome(screen))
}

async fn pause_workload(
    workload: Workload,
    by: Option<&str>,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    refuse_as_kubectl(&workload, request.verb, screen)?;
    let mut observed = observe_for_hold(workload, source, screen).await?;
    for _ in 0..MAX_CONFLICTS {
        match pause_observed(&observed, by, request, source, screen).await {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                let now = reread(&observed.workload, source).await?;
                if !have_same_plan(&observed.workload, &now) {
                    return Err(error);
                }
                observed = observe_for_hold(now, source, screen).await?;
            }
            done => return done,
        }
    }
    pause_observed(&observed, by, request, source, screen).await
}

/// How often a pause is prepared again because a running `step` wrote first.
const MAX_CONFLICTS: usize = 4;

async fn pause_observed(
    observed: &Observation,
    by: Option<&str>,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    let workload = &observed.workload;
    let since = Timestamp::from_second(source.now().as_second()).unwrap_or_default().to_string();
    match pause(observed, by, &since)? {
        Pause::AlreadyPaused => print_unchanged(workload, "already paused", request, screen),
        Pause::OnDelete => {
            screen.note(&words::nothing_to_pause(workload));
            print_unchanged(workload, "not paused", request, screen)
        }
        Pause::Change { patch, method } => {
            let mut effect = Vec::new();
            if !screen.is_compat() {
                owners::warn_before_a_hold(workload, &strategy::hold_path(workload), screen);
                effect = words::pause_effect(method, workload, request.options.dry_run != DryRun::None);
            }
            if request.options.interactive {
                screen.notes(std::mem::take(&mut effect)); // before the question
            }
            write(observed, &patch, "paused", request, source, screen).await?;
            screen.notes(&effect);
            Ok(())
        }
    }
}

async fn resume_workload(
    workload: Workload,
    release_all: bool,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    refuse_as_kubectl(&workload, request.verb, screen)?;
    let alone = Observation::of_alone(workload);
    let workload = &alone.workload;
    if is_annotation_lost(workload) && !screen.is_compat() {
        let observed = observe_revisions(workload.clone(), source).await?;
        if !release_all {
            return refuse_lost_annotation(&observed);
        }
        return write(&alone, &end_lost_hold(&observed)?, "resumed", request, source, screen).await;
    }
    match resume(workload, release_all)? {
        Resume::NotPaused => {
            print_unchanged(workload, "not paused", request, screen)?;
            screen.notes(words::own_hold(workload));
            Ok(())
        }
        Resume::Stepping => {
            print_unchanged(workload, "not paused", request, screen)?;
            screen.note(&words::step_hint(workload));
            Ok(())
        }
        Resume::End(patch) => write(&alone, &patch, "resumed", request, source, screen).await,
        Resume::Forget(patch) => {
            screen.note(&words::hold_already_ended(workload, source.now()));
            write(&alone, &patch, "resumed", request, source, screen).await
        }
        Resume::Continue(patch) => {
            write(&alone, &patch, "resumed", request, source, screen).await?;
            screen.note(&words::step_hint(workload));
            Ok(())
        }
    }
}

/// Reads the pods and revisions that a hold depends on. The hold of a Deployment depends on none.
async fn observe_for_hold(
    workload: Workload,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Observation> {
    match workload.kind().hold {
        HoldBy::Paused(_) => Ok(Observation::of_alone(workload)),
        HoldBy::Partition | HoldBy::OnDelete => observe(workload, source, screen).await,
    }
}

async fn write(
    observed: &Observation,
    patch: &Patch,
    operation: &str,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    let (workload, options) = (&observed.workload, &request.options);
    let (verb, prepared) = match request.verb {
        HoldVerb::Pause => ("pause", "its pause was prepared"),
        HoldVerb::Resume { .. } => ("resume", "it was to be resumed"),
    };
    // A plan releases pods batch by batch, which `step --dry-run` shows.
    let has_plan =
        || Workload::of_json(patch.after()).is_some_and(|after| PlanRecord::in_force(&after).is_some());
    if options.dry_run == DryRun::Client
        && options.output == Output::Text
        && !screen.is_compat()
        && !has_plan()
    {
        let is_complete = observed.pods.is_some();
        let read =
            if is_complete { Ok(observed.clone()) } else { observe(workload.clone(), source, screen).await };
        match read {
            Ok(observed) => print_effect(&observed, verb, patch, options, screen),
            Err(error) => {
                screen.note(&format!("note: the effect on the pods is not shown: {}", error.sentence()));
            }
        }
    }
    let words = ChangeWords { operation, question: format!("{verb} {}?", workload.target()), prepared };
    write_change(workload, patch, &words, options, source, screen).await.map(drop)
}

/// Prints that there is nothing to do. With `--compat` that is an error, as in kubectl.
fn print_unchanged(
    workload: &Workload,
    words: &str,
    request: &Request,
    screen: &mut Screen<'_>,
) -> Result<()> {
    if screen.is_compat() {
        return Err(kubectl_error(workload, &format!("is {words}")));
    }
    print_as_read(workload, words, &request.options, screen);
    Ok(())
}

/// Refuses other kinds than Deployments with `--compat`, as kubectl does.
fn refuse_as_kubectl(workload: &Workload, verb: HoldVerb, screen: &Screen<'_>) -> Result<()> {
    let verb = if verb == HoldVerb::Pause { "pausing" } else { "resuming" };
    match workload.kind().hold {
        HoldBy::Partition | HoldBy::OnDelete if screen.is_compat() => {
            let sentence = unsupported(workload.kind().type_(), workload.name(), verb);
            Err(Error::new(ErrorKind::Refused, sentence.clone()).in_compat(sentence))
        }
        HoldBy::Paused(_) | HoldBy::Partition | HoldBy::OnDelete => Ok(()),
    }
}

fn kubectl_error(workload: &Workload, reason: &str) -> Error {
    let sentence = format!("{} {:?} {reason}", workload.kind().type_().resource(), workload.name());
    Error::new(ErrorKind::Refused, sentence.clone()).in_compat(format!("error: {sentence}"))
}
