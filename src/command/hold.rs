//! `pause` and `resume`: hold a rollout, and release it.

use k8s_openapi::jiff::Timestamp;

use super::CommandOutcome;
use super::owners;
use super::writing_verb::{
    ChangeOptions, DryRun, Output, print_as_read, print_effect, print_selection, select_targets,
};
use crate::cluster::reader::{read_revisions, reread};
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::command::patch::{ChangeWords, write_change};
use crate::command::targets::{TargetScope, observe};
use crate::error::{ErrorKind, Result};
use crate::model::api::patch::Patch;
use crate::model::hold::plan::{PlanRecord, completed_rollback, have_same_plan, is_rollback_held};
use crate::model::hold::{
    Pause, Resume, end_lost_hold, is_annotation_lost, pause, refuse_lost_annotation, resume,
};
use crate::model::kind::Workload;
use crate::model::kind::properties::HoldBy;
use crate::model::kind::strategy;
use crate::model::observation::Observation;
use crate::render::hold as words;
use crate::render::ui::Ui;

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

/// Pauses or resumes the workloads one after another.
pub(super) async fn run(request: &Request, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let (source, by) = (context.source, context.user.as_deref());
    let (workloads, mut results) = select_targets(&request.scope, &request.options, source, ui).await?;
    print_selection(&request.scope, &workloads, ui);
    for workload in workloads {
        let done = match request.verb {
            HoldVerb::Pause => pause_workload(workload, by, request, source, ui).await,
            HoldVerb::Resume { release_all } => {
                resume_workload(workload, release_all, request, source, ui).await
            }
        };
        results.record(done);
    }
    Ok(results.outcome(ui))
}

async fn pause_workload(
    workload: Workload,
    by: Option<&str>,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<()> {
    let mut observed = observe_for_hold(workload, source, ui).await?;
    for _ in 0..MAX_CONFLICTS {
        match pause_observed(&observed, by, request, source, ui).await {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                let now = reread(&observed.workload, source).await?;
                if !have_same_plan(&observed.workload, &now) {
                    return Err(error);
                }
                observed = observe_for_hold(now, source, ui).await?;
            }
            done => return done,
        }
    }
    pause_observed(&observed, by, request, source, ui).await
}

/// How often a pause is prepared again because a running `step` wrote first.
const MAX_CONFLICTS: usize = 4;

async fn pause_observed(
    observed: &Observation,
    by: Option<&str>,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<()> {
    let workload = &observed.workload;
    let since = Timestamp::from_second(source.now().as_second()).unwrap_or_default().to_string();
    match pause(observed, by, &since)? {
        Pause::AlreadyPaused => {
            print_as_read(workload, "already paused", &request.options, ui);
            Ok(())
        }
        Pause::OnDelete => {
            ui.note(&words::nothing_to_pause(workload));
            print_as_read(workload, "not paused", &request.options, ui);
            Ok(())
        }
        Pause::Change { patch, method } => {
            let mut effect = words::pause_effect(method, workload, request.options.dry_run != DryRun::None);
            owners::warn_before_a_hold(workload, &strategy::hold_path(workload), ui);
            if request.options.interactive {
                ui.notes(std::mem::take(&mut effect)); // before the question
            }
            write(observed, &patch, "paused", request, source, ui).await?;
            ui.notes(&effect);
            Ok(())
        }
    }
}

async fn resume_workload(
    workload: Workload,
    release_all: bool,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<()> {
    let alone = Observation::of_alone(workload);
    let workload = &alone.workload;
    if is_annotation_lost(workload) {
        let observed = read_revisions(workload.clone(), source).await?;
        if !release_all {
            return refuse_lost_annotation(&observed);
        }
        let patch = end_lost_hold(&observed)?;
        ui.notes(words::restored(workload, patch.after()));
        return write(&alone, &patch, "resumed", request, source, ui).await;
    }
    let is_rolled_back = is_rollback_held(workload)
        && completed_rollback(&observe(workload.clone(), source, ui).await?).is_some();
    match resume(workload, release_all || is_rolled_back)? {
        Resume::NotPaused => {
            print_as_read(workload, "not paused", &request.options, ui);
            ui.notes(words::own_hold(workload));
            Ok(())
        }
        Resume::Stepping => {
            print_as_read(workload, "not paused", &request.options, ui);
            ui.note(&words::step_hint(workload));
            Ok(())
        }
        Resume::End(patch) => {
            ui.notes(words::restored(workload, patch.after()));
            write(&alone, &patch, "resumed", request, source, ui).await
        }
        Resume::Forget(patch) => {
            ui.note(&words::hold_already_ended(workload, source.now()));
            ui.notes(words::restored(workload, patch.after()));
            write(&alone, &patch, "resumed", request, source, ui).await
        }
        Resume::Continue(patch) => {
            write(&alone, &patch, "resumed", request, source, ui).await?;
            ui.note(&words::step_hint(workload));
            Ok(())
        }
    }
}

/// Reads the pods and revisions that a hold depends on. A pause of the kind's own depends on none, except after a rollback.
async fn observe_for_hold(workload: Workload, source: &Source, ui: &mut Ui) -> Result<Observation> {
    match workload.kind().hold() {
        HoldBy::Paused(_) if !is_rollback_held(&workload) => Ok(Observation::of_alone(workload)),
        HoldBy::Paused(_) | HoldBy::Partition | HoldBy::OnDelete => observe(workload, source, ui).await,
    }
}

async fn write(
    observed: &Observation,
    patch: &Patch,
    operation: &str,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Result<()> {
    let (workload, options) = (&observed.workload, &request.options);
    let (verb, prepared) = match request.verb {
        HoldVerb::Pause => ("pause", "its pause was prepared"),
        HoldVerb::Resume { .. } => ("resume", "it was to be resumed"),
    };
    // A plan releases pods batch by batch, which `step --dry-run` shows.
    let has_plan =
        || Workload::of_json(patch.after()).is_some_and(|after| PlanRecord::in_force(&after).is_some());
    if options.dry_run == DryRun::Client && options.output == Output::Text && !has_plan() {
        let is_complete = observed.pods.is_some();
        let read =
            if is_complete { Ok(observed.clone()) } else { observe(workload.clone(), source, ui).await };
        match read {
            Ok(observed) => print_effect(&observed, verb, patch, options, ui),
            Err(error) => {
                ui.note(&format!("note: the effect on the pods is not shown: {}", error.sentence()));
            }
        }
    }
    let words = ChangeWords { operation, question: format!("{verb} {}?", workload.target()), prepared };
    write_change(workload, patch, &words, options, source, ui).await.map(drop)
}
