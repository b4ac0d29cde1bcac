//! Waiting for a change that the controller has not seen yet.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// How long a change that the controller has not seen yet is waited for. A controller that works
/// sees it within a second.
const UNSEEN: Duration = Duration::from_secs(10);
/// Nobody has to be told of less.
const UNTOLD: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Waits until the controller has seen the last change: until then a revision's number may be its old one.
pub(super) async fn seen_by_its_controller(
    mut workload: Workload,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Workload> {
    if !source.is_live() {
        return Ok(workload);
    }
    let begun = Instant::now();
    let target = workload.target();
    while !workload.is_observed() {
        let waited = begun.elapsed();
        if waited >= UNSEEN {
            screen.note(&format!(
                "note: the controller has not seen the last change of {target}; going on without it"
            ));
            break;
        }
        if waited >= UNTOLD {
            screen.note_once(&format!("note: waiting for the controller to see the last change of {target}"));
        }
        sleep(LOOK_AGAIN).await;
        workload = read_again(&workload, source).await?;
    }
    Ok(workload)
}

pub(in crate::command) async fn read_again(workload: &Workload, source: &Source) -> Result<Workload> {
    let type_ = workload.kind().type_();
    let object = source.get(type_, workload.object().namespace(), workload.name()).await?;
    object.filter(|object| object.uid() == workload.object().uid()).and_then(Workload::of).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("{} was deleted meanwhile", workload.target()))
    })
}
