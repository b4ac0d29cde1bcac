//! What keeps the new pods of a change from starting, found before the write or beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::timeout;

use super::writing_verb::{ChangeOptions, DryRun};
use crate::cluster::concurrently::concurrently;
use crate::cluster::live::Cluster;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{LIMIT_RANGE, RESOURCE_QUOTA, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::change::room::{asks_for_amounts, needs_room, refusing_limits, refusing_quotas};
use crate::model::kind::Workload;
use crate::model::revision::references::{Reference, references};
use crate::render::change::pods_cannot_start;
use crate::render::message_writer::MessageWriter;
use crate::render::screen::Screen;

/// How long the reads may take. A check that lasts longer is given up, because it must not delay a rollback.
const LIMIT: Duration = Duration::from_secs(5);

/// Returns what keeps new pods of each workload from starting, a sentence for each obstacle; none for a snapshot, which
/// rarely contains the objects, and for what cannot be read. Each object is asked for once. `is_given` says which ones
/// the same change creates.
pub(super) async fn obstacles_of_all(
    all: &[Workload],
    source: &Source,
    is_given: impl Fn(&str, &Reference) -> bool,
) -> Vec<Vec<String>> {
    let Some(cluster) = source.writable() else { return vec![Vec::new(); all.len()] };
    let named: Vec<_> = all.iter().map(|after| references(after.template().json())).collect();
    let namespace = |after: &Workload| after.object().namespace().to_owned();
    let mut places: Vec<(String, &Reference)> = Vec::new();
    for (after, named) in all.iter().zip(&named) {
        let namespace = namespace(after);
        let new = named.iter().filter(|named| !is_given(&namespace, named));
        let new: Vec<_> =
            new.map(|named| (namespace.clone(), named)).filter(|new| !places.contains(new)).collect();
        places.extend(new);
    }
    let listed =
        |needs: fn(&Workload) -> bool| all.iter().filter(|after| needs(after)).map(namespace).collect();
    let reads = async {
        tokio::join!(
            concurrently(places.iter().map(|place| is_missing(place, cluster))),
            rules(&RESOURCE_QUOTA, listed(needs_room), cluster),
            rules(&LIMIT_RANGE, listed(asks_for_amounts), cluster)
        )
    };
    let Ok((is_missing, quotas, limits)) = timeout(LIMIT, reads).await else {
        return vec![Vec::new(); all.len()];
    };
    let missing: Vec<_> =
        places.iter().zip(is_missing).filter(|(_, missing)| *missing).map(|(place, _)| place).collect();
    let sentences = |(after, named): (&Workload, &Vec<Reference>)| {
        let place = namespace(after);
        let absent = named.iter().filter(|named| missing.contains(&&(place.clone(), *named)));
        let absent =
            absent.map(|named| format!("the template names {}, which does not exist", named.target()));
        let [quotas, limits] =
            [&quotas, &limits].map(|rules| rules.get(&place).map_or(&[][..], Vec::as_slice));
        absent.chain(refusing_quotas(quotas, after)).chain(refusing_limits(limits, after)).collect()
    };
    all.iter().zip(&named).map(sentences).collect()
}

/// As [`obstacles_of_all`], for one workload.
pub(super) async fn obstacles(after: &Workload, source: &Source) -> Vec<String> {
    obstacles_of_all(std::slice::from_ref(after), source, |_, _| false).await.pop().unwrap_or_default()
}

async fn is_missing((namespace, named): &(String, &Reference), cluster: &Cluster) -> bool {
    matches!(cluster.exists(named.type_, namespace, &named.name).await, Ok(false))
}

/// Lists the rules of namespaces; none where they cannot be read.
async fn rules(
    type_: &ResourceType,
    namespaces: BTreeSet<String>,
    cluster: &Cluster,
) -> BTreeMap<String, Vec<Object>> {
    let read = async |namespace: String| {
        let found = cluster.list(type_, Some(&namespace), &Selector::default()).await;
        (namespace, found.unwrap_or_default())
    };
    concurrently(namespaces.into_iter().map(read)).await.into_iter().collect()
}

/// Checks a change before its write, where the result can stop it: with `--strict`, where the user is asked, and in a
/// client's dry run. `known` are the obstacles, if they were read before. Returns whether there is one.
///
/// # Errors
/// With `--strict`, when there is an obstacle.
pub(super) async fn check_first(
    after: &Workload,
    known: Option<Vec<String>>,
    options: &ChangeOptions,
    source: &Source,
    screen: &Screen<'_>,
) -> Result<bool> {
    if !is_first(options, screen) {
        return Ok(false);
    }
    let obstacles = match known {
        Some(known) => known,
        None => obstacles(after, source).await,
    };
    if options.strict {
        refuse(after, &obstacles)?;
    }
    warn(after, &obstacles, &screen.messages());
    Ok(!obstacles.is_empty())
}

/// Sends a write, and checks the change beside it unless [`check_first`] has: no script waits for the check.
pub(super) async fn check_beside<T>(
    after: &Workload,
    options: &ChangeOptions,
    source: &Source,
    screen: &mut Screen<'_>,
    write: impl AsyncFnOnce(&mut Screen<'_>) -> T,
) -> T {
    if is_first(options, screen) {
        return write(screen).await;
    }
    let messages = screen.messages();
    let check = async { warn(after, &obstacles(after, source).await, &messages) };
    tokio::join!(write(screen), check).0
}

/// Whether a change is checked before its write.
pub(super) fn is_first(options: &ChangeOptions, screen: &Screen<'_>) -> bool {
    options.strict || options.interactive || options.dry_run == DryRun::Client || screen.can_ask()
}

/// Refuses a change whose new pods cannot start.
///
/// # Errors
/// When there is an obstacle.
pub(super) fn refuse(after: &Workload, obstacles: &[String]) -> Result<()> {
    if obstacles.is_empty() {
        return Ok(());
    }
    let message = format!("new pods of {} cannot start; nothing was written", after.target());
    Err(Error::new(ErrorKind::Refused, message)
        .caused_by(obstacles.join("; "))
        .hint("remove the cause, or leave out --strict"))
}

/// Prints a warning for each obstacle.
pub(super) fn warn(after: &Workload, obstacles: &[String], messages: &MessageWriter) {
    for obstacle in obstacles {
        messages.note_once(&pods_cannot_start(after, obstacle));
    }
}
