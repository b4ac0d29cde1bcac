//! `undo` as kubectl does it: its order, its words, its documents. The write is ours.

use super::Request;
use crate::cluster::source::Source;
use crate::command::change::{self, DryRun};
use crate::command::gather::observe_revisions;
use crate::command::make::{self, Made, Subject};
use crate::error::Result;
use crate::model::owners::LAST_APPLIED;
use crate::model::patch::Patch;
use crate::model::resource_type::ResourceType;
use crate::model::undo::{is_live, refused_while_paused, undo};
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::render::{compat_undo, owners as warnings};

/// kubectl knows some workloads by name, and nothing at all of the rest.
pub(super) fn refusal(type_: &ResourceType) -> String {
    let name = type_.group_kind();
    if type_.is_workload() {
        return format!("no rollbacker has been implemented for {name:?}");
    }
    let (group, title) = (type_.group(), type_.title());
    format!("error retrieving rollbacker for {name:?}, no visitor method exists for {{{group} {title}}}")
}

/// kubectl's own order, words and documents; the write is ours.
pub(super) async fn as_kubectl(
    workload: Workload,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    let how = &request.how;
    if workload.object().annotation(LAST_APPLIED).is_some() {
        screen.note_once(&warnings::last_applied_warning(&workload));
    }
    let observed = observe_revisions(workload, source).await?;
    let workload = &observed.workload;
    let target = request.goal.find_as_kubectl(&observed)?;
    let untouched = Patch::of(workload.object());
    let template = target.template();
    let template = screen.shown(template.json());
    let mut report = |operation: &str| {
        change::report(workload, operation, workload.object().json(), &untouched, how, screen);
    };
    if how.dry_run == DryRun::Client {
        report(&compat_undo::dry_run(workload, &template));
        return Ok(());
    }
    if workload.is_paused() {
        return Err(refused_while_paused(workload));
    }
    if is_live(&observed, target) {
        report(&compat_undo::skipped(&request.goal));
        return Ok(());
    }
    let undo = undo(&observed, target, &request.wishes)?;
    let subject = Subject::of(workload).failing(compat_undo::failing(&request.goal));
    match make::make(&undo.patch, &subject, how, source, screen).await? {
        Made::Done(_) => {
            change::report(workload, "rolled back", workload.object().json(), &untouched, how, screen);
            Ok(())
        }
        Made::Conflict(conflict) => Err(make::conflict(&conflict, workload, "its rollback was prepared")),
    }
}
