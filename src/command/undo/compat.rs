//! `undo --compat`: kubectl's order of steps, its messages and its documents. The patch is ours.

use crate::cluster::source::Source;
use crate::command::patch;
use crate::command::patch::{PatchOutcome, PatchTarget};
use crate::command::targets::observe_revisions;
use crate::command::writing_verb::{ChangeOptions, DryRun, print_as_read};
use crate::error::Result;
use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::api::resource_type::ResourceType;
use crate::model::change::undo::{TargetRevision, UndoOptions, is_live, refused_while_paused, undo};
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::render::{compat_undo, owner_warnings as warnings};

/// Returns kubectl's message for a type that it cannot undo.
pub(super) fn unsupported_message(type_: &ResourceType) -> String {
    let name = type_.group_kind();
    if type_.is_workload() {
        return format!("no rollbacker has been implemented for {name:?}");
    }
    let (group, title) = (type_.group(), type_.title());
    format!("error retrieving rollbacker for {name:?}, no visitor method exists for {{{group} {title}}}")
}

/// Rolls one workload back and prints what kubectl prints.
pub(super) async fn as_kubectl(
    workload: Workload,
    to_revision: &TargetRevision,
    undo_options: &UndoOptions,
    options: &ChangeOptions,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    if workload.object().annotation(LAST_APPLIED).is_some() {
        screen.note_once(&warnings::last_applied_warning(&workload));
    }
    let observed = observe_revisions(workload, source).await?;
    let workload = &observed.workload;
    let target = to_revision.find_as_kubectl(&observed)?;
    let template = target.template();
    let template = screen.shown(template.json());
    if options.dry_run == DryRun::Client {
        print_as_read(workload, &compat_undo::dry_run(workload, &template), options, screen);
        return Ok(());
    }
    if workload.is_paused() {
        return Err(refused_while_paused(workload));
    }
    if is_live(&observed, target) {
        print_as_read(workload, &compat_undo::skipped(to_revision), options, screen);
        return Ok(());
    }
    let undo = undo(&observed, target, undo_options)?;
    let subject = PatchTarget::of(workload).with_error_prefix(compat_undo::failing(to_revision));
    match patch::apply(&undo.patch, &subject, options, source, screen).await? {
        PatchOutcome::Applied(_) => {
            print_as_read(workload, "rolled back", options, screen);
            Ok(())
        }
        PatchOutcome::Conflict(conflict) => Err(conflict.error(workload, "its rollback was prepared")),
    }
}
