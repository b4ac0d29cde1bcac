//! `--wait`: what was written is followed to its end, as `status` follows.

use super::Ending;
use super::change::{How, Output, Tally};
use super::follow::{self, Manner};
use super::tell::Form;
use crate::cluster::source::Source;
use crate::exit::Exit;
use crate::model::follow::Options;
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::render::status::Company;
use crate::world::Signals;

/// Ends a verb that wrote: at once, or, where that was asked for, once every rollout in `written` has
/// ended. Each workload there is as our change left it, and another template than that takes over.
pub(super) async fn ending(
    tally: Tally,
    written: Vec<Workload>,
    how: &How,
    source: &Source,
    signals: Signals,
    screen: &mut Screen<'_>,
) -> Ending {
    let (Some(options), Source::Cluster(cluster), false) = (&how.wait, source, written.is_empty()) else {
        return tally.ending(screen);
    };
    let manner = Manner {
        options: Options { as_found: true, ..options.clone() },
        form: Form::of_text(screen, how.plain || how.output != Output::Text),
        company: Company { others: written.len() > 1, namespaces: false },
        signals,
    };
    let followed = follow::run(&manner, written, Exit::Done, cluster, screen).await;
    tally.ending(screen).and(followed)
}
