//! `undo` of several workloads: which ones, and the one command that takes all of it back.

use super::prepared::Request;
use crate::cluster::reader::{Needs, read_all};
use crate::command::writing_verb::{DryRun, Writer};
use crate::error::{Error, Result};
use crate::model::api::selector::Selector;
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::status::authors::may_have_changed_since;
use crate::model::text::shell_command::{Word, command};
use crate::model::text::start_time::StartTime;
use crate::model::view::RolloutView;
use crate::render::change as render;
use crate::render::ui::Ui;

/// Refuses to roll back every workload of a type, healthy ones too, where nobody can be asked.
///
/// # Errors
/// In a script, for a type without a name, a selector, `--failed` or `--yes`.
pub(super) fn refuse_unasked(request: &Request, ui: &Ui) -> Result<()> {
    let is_choice = request.failed || request.scope.selector != Selector::default();
    if !request.scope.is_selection() || is_choice || request.yes || request.options.interactive {
        return Ok(());
    }
    if request.options.dry_run != DryRun::None || ui.can_ask() {
        return Ok(());
    }
    Err(Error::usage("a type alone means all of its workloads, and healthy ones would be rolled back too")
        .hint("name the workloads, choose them with -l or --failed, or add --yes"))
}

/// Whether a question comes before all writes, after all changes were shown: on a terminal, for several workloads and
/// for those that nobody named.
pub(super) fn asks_once(workloads: &[Workload], request: &Request, ui: &Ui) -> bool {
    let is_named = workloads.len() < 2 && !request.failed && !request.scope.is_selection();
    let is_answered = request.yes || request.options.interactive || request.options.dry_run != DryRun::None;
    !workloads.is_empty() && !is_named && !is_answered && ui.can_ask()
}

/// Keeps the workloads whose rollout failed or is stuck, and whose template changed since a time. A workload whose state
/// cannot be read is an error.
pub(super) async fn only_failed(
    workloads: Vec<Workload>,
    since: Option<StartTime>,
    writer: &mut Writer<'_>,
) -> Vec<Workload> {
    let since = since.map(|since| since.resolve(writer.source.now()));
    let read = read_all(workloads, false, Needs { since, ..Needs::STATUS }, writer.source).await;
    writer.ui.notes(&read.notes);
    let now = writer.source.now();
    let is_recent =
        |observed: &Observation| since.is_none_or(|since| may_have_changed_since(observed, since));
    let (mut failed, mut earlier, mut progressing, mut unread) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for observed in read.observations {
        let observed = match observed {
            Ok(observed) => observed,
            Err(error) => {
                unread += 1;
                writer.record(Err(error));
                continue;
            }
        };
        let view = RolloutView::of(&observed, now);
        match view.state() {
            RolloutState::Failed | RolloutState::Stuck if is_recent(&observed) => failed.push(view.workload),
            RolloutState::Failed | RolloutState::Stuck => earlier.push(view.workload),
            RolloutState::Progressing if is_recent(&observed) => progressing.push(view),
            _ => {}
        }
    }
    writer.ui.notes(render::still_progressing(&progressing, now));
    writer.ui.notes(render::changed_before(&earlier));
    if failed.is_empty() && earlier.is_empty() && unread == 0 {
        writer.ui.note("no rollout is failed or stuck: nothing is rolled back");
    }
    failed
}

/// Returns the line with the one command that takes back the rollbacks of several workloads of one namespace. Each goes to
/// the revision before the current one, which is the one that was rolled back until there is another release. The lines
/// of the single workloads name their revisions.
pub(super) fn receipt(rolled_back: &[Workload]) -> Option<String> {
    let [first, _, ..] = rolled_back else { return None };
    let target = |workload: &Workload| Word::typed_name(workload.kind().type_().typed(), workload.name());
    let targets =
        rolled_back.iter().map(target).reduce(|all, next| all.and(&Word::command(" {}", [next])))?;
    Some(command(
        "to take all of this back, before another release: kubectl rollout2 undo {}{}",
        [targets, first.in_namespace()],
    ))
}
