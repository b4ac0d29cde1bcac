//! `undo`: back to an earlier revision, shown before and proven after.

mod compat;
mod unseen;

pub(super) use unseen::read_again;

use super::Ending;
use super::change::{self, DryRun, How, Output, Tally, Writer, chosen};
use super::gather::{Scope, observe};
use super::make::{self, Made, Subject};
use super::wait;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::diff::Secrets;
use crate::model::hold::is_same_plan;
use crate::model::observed::Observed;
use crate::model::owners::{Owner, owners};
use crate::model::patch::Place;
use crate::model::revision::Revision;
use crate::model::step::goes_back;
use crate::model::stuck::stuck;
use crate::model::undo::{Goal, Undo, Wishes, is_live, noted_cause, undo};
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::render::{change as render, owners as warnings};
use crate::world::Signals;

/// What `undo` was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// To which workloads.
    pub scope: Scope,
    /// Back to which revision.
    pub goal: Goal,
    /// What else is wished for.
    pub wishes: Wishes,
    /// How to write.
    pub how: How,
    /// Whether to show what will change even where nobody looks on.
    pub diff: bool,
    /// Whether values that look secret are shown.
    pub secrets: Secrets,
    /// Whether to go on over what somebody else changed meanwhile.
    pub force: bool,
}

/// How often `--force` goes on over what somebody else changed.
const MOST_CONFLICTS: usize = 5;

const WRITER: Writer =
    Writer { refusal: |type_, _| compat::refusal(type_), kubectl_says_nothing_found: false };

/// Rolls every workload in scope back, in the order asked, and then waits for all at once if asked to.
pub async fn run(request: &Request, source: &Source, signals: Signals, screen: &mut Screen<'_>) -> Ending {
    let (workloads, mut tally): (Vec<Workload>, Tally) =
        match chosen(&request.scope, &WRITER, &request.how, source, screen).await {
            Ok(chosen) => chosen,
            Err(error) => return error.into(),
        };
    let mut live = Vec::new();
    for workload in workloads {
        let done = if screen.is_compat() {
            compat::as_kubectl(workload, request, source, screen).await
        } else {
            one(workload, request, source, screen).await.map(|workload| live.push(workload))
        };
        tally.count(done);
    }
    wait::ending(tally, live, &request.how, source, signals, screen).await
}

/// Rolls one workload back; returns it as it is afterwards.
async fn one(
    workload: Workload,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Workload> {
    let workload = unseen::seen_by_its_controller(workload, source, screen).await?;
    let mut observed = observe(workload, source, screen).await?;
    let target = request.goal.find(&observed)?.clone();
    for _ in 0..MOST_CONFLICTS {
        warn(&observed.workload, &request.wishes, screen);
        if is_live(&observed, &target) {
            skip(&observed.workload, &target.label(), request, screen);
            tell_of_the_way_back(&observed.workload, screen);
            let workload = observed.workload;
            change::heal_if_asked(&workload, workload.object(), &request.how, source, screen).await?;
            return Ok(workload);
        }
        let undo = undo(&observed, &target, &request.wishes)?;
        let now = match write(&observed, &undo, request, source, screen).await? {
            Made::Done(object) => return Ok(Workload::of(object).unwrap_or(observed.workload)),
            Made::Conflict(now) => now,
        };
        let error = make::conflict(&now, &observed.workload, "its rollback was prepared");
        let error = error.hint("look again, or go on over it with --force");
        if now.replaced {
            return Err(error);
        }
        let again = unseen::read_again(&observed.workload, source).await?;
        // It is being stepped, and that is what is to end.
        let is_stepped = is_same_plan(&observed.workload, &again);
        if !is_stepped && !request.force {
            return Err(error);
        }
        if !is_stepped {
            screen.note(&format!("note: {}; going on", error.sentence()));
        }
        observed = observe(again, source, screen).await?;
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!("{} is being changed all the time", observed.workload.target()),
    ))
}

/// Shows and makes a rollback.
async fn write(
    observed: &Observed,
    undo: &Undo<'_>,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Made> {
    let how = &request.how;
    show(observed, undo, request, screen);
    tell_below(undo, screen);
    let operation = "rolled back";
    if how.dry_run == DryRun::Client {
        change::report(&observed.workload, operation, undo.patch.after(), &undo.patch, how, screen);
        return Ok(Made::Done(observed.workload.object().clone()));
    }
    change::confirm(
        &format!("roll {} back to revision {}?", observed.workload.target(), undo.target.label()),
        how,
        screen,
    )?;
    let object = match make::make(&undo.patch, &Subject::of(&observed.workload), how, source, screen).await? {
        Made::Done(object) => object,
        conflict @ Made::Conflict(_) => return Ok(conflict),
    };
    change::report(&observed.workload, operation, object.json(), &undo.patch, how, screen);
    if let (Some(cause), DryRun::None) = (&request.wishes.cause, how.dry_run) {
        note_cause(&observed.workload, undo.target, cause, how, source, screen).await;
    }
    change::heal_if_asked(&observed.workload, &object, how, source, screen).await?;
    Ok(Made::Done(object))
}

/// The changes in words and the effect: on a terminal, when asked for, and in a dry run, whose result
/// they are. Beside a document they are narration.
fn show(observed: &Observed, undo: &Undo<'_>, request: &Request, screen: &mut Screen<'_>) {
    let is_wanted = request.diff || request.how.dry_run == DryRun::Client || screen.terminal().is_some();
    if is_wanted {
        let preview = render::preview(observed, undo, request.secrets);
        if request.how.output == Output::Text {
            screen.styled(&preview);
        } else {
            screen.styled_notes(&preview);
        }
    }
    let after = Workload::of_json(undo.patch.after());
    let broken = stuck(observed, after.as_ref().unwrap_or(&observed.workload), Some(undo.target));
    if let Some(first) = broken.first() {
        let names: Vec<_> = broken.iter().map(|pod| pod.name.as_str()).collect();
        let them = if names.len() == 1 { "it" } else { "them" };
        screen.note(&format!(
            "warning: {} not ready, and the controller waits for {them} before it goes on: it does not replace {them} by itself",
            is_or_are(&names)
        ));
        if !request.how.replace_stuck_pods {
            let (target, place) = (observed.workload.command_target(), observed.workload.in_namespace());
            screen.note(&format!(
                "hint: to have {them} deleted, now or afterwards: \
                 kubectl rollout2 undo {target} --to-revision {} --replace-stuck-pods",
                undo.target.label()
            ));
            screen.note(&format!("hint: or by hand, afterwards: kubectl delete pod {}{place}", first.name));
        }
    }
}

fn is_or_are(names: &[&str]) -> String {
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

/// What goes back below the set's own partition, and how the hold ends that stays for that.
pub(super) fn tell_below(undo: &Undo<'_>, screen: &mut Screen<'_>) {
    if let (Some(below), Some(after)) = (&undo.below, Workload::of_json(undo.patch.after())) {
        screen.note(&render::below(below));
        tell_of_the_way_back(&after, screen);
    }
}

fn tell_of_the_way_back(workload: &Workload, screen: &mut Screen<'_>) {
    if goes_back(workload) {
        screen.note(&render::on_the_way_back(workload));
    }
}

/// Everybody who may undo the undo, once.
pub(super) fn warn(workload: &Workload, wishes: &Wishes, screen: &mut Screen<'_>) {
    for owner in owners(workload, &Place::of(["spec", "template"])) {
        let is_synced = owner == Owner::Apply && wishes.sync_last_applied;
        if !is_synced {
            screen.note_once(&warnings::before_an_undo(&owner, workload));
        }
    }
}

fn skip(workload: &Workload, label: &str, request: &Request, screen: &mut Screen<'_>) {
    let how = &request.how;
    match how.output {
        Output::Text => {
            let line = format!("skipped rollback (current template already matches revision {label})");
            screen.line(&format!("{} {line}{}", workload.reference(), how.dry_run.suffix()));
        }
        // Nothing is to be changed, and that is a patch too.
        Output::Patch => screen.exact("[]\n"),
        Output::Name | Output::Yaml | Output::Json => {
            let patch = crate::model::patch::Patch::of(workload.object());
            change::report(workload, "", workload.object().json(), &patch, how, screen);
        }
    }
}

/// The revision's own record of why it is used again; the rollback is done without it, too.
async fn note_cause(
    workload: &Workload,
    target: &Revision,
    cause: &str,
    how: &How,
    source: &Source,
    screen: &mut Screen<'_>,
) {
    let Some((kept, patch)) = noted_cause(workload, target, cause) else { return };
    let subject = Subject::revision_of(workload, &kept);
    let why = match make::make(&patch, &subject, how, source, screen).await {
        Ok(Made::Done(_)) => return,
        Ok(Made::Conflict(_)) => "it was changed meanwhile".to_owned(),
        Err(error) => error.sentence(),
    };
    screen.note(&format!("warning: the cause was not noted on {}: {why}", target.name));
}
