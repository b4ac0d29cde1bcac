//! Waits until the controller has observed the latest generation of a workload.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::cluster::reader::reread;
use crate::cluster::source::Source;
use crate::error::Result;
use crate::model::kind::Workload;
use crate::render::ui::Ui;

/// How long the controller may take to observe a change. A healthy one takes less than a second.
const OBSERVE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the wait is silent.
const NOTE_AFTER: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Waits until the controller has observed the last change, because until then a revision may still have
/// its old number. Continues with a note after [`OBSERVE_TIMEOUT`].
pub(super) async fn wait_until_observed(
    mut workload: Workload,
    source: &Source,
    ui: &mut Ui,
) -> Result<Workload> {
    if !source.is_live() {
        return Ok(workload);
    }
    let begun = Instant::now();
    let target = workload.target();
    while !workload.is_observed() {
        let waited = begun.elapsed();
        if waited >= OBSERVE_TIMEOUT {
            ui.note(&format!(
                "note: the controller has not observed the last change of {target} within {OBSERVE_TIMEOUT:?}; continuing"
            ));
            break;
        }
        if waited >= NOTE_AFTER {
            ui.note_once(&format!("note: waiting for the controller to observe the last change of {target}"));
        }
        sleep(POLL_INTERVAL).await;
        workload = reread(&workload, source).await?;
    }
    Ok(workload)
}
