//! What keeps the new pods of a change from starting, and what a rollback leaves as it is, found before the write or beside
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::writing_verb::Writer;
use crate::cli::write::DryRun;
use crate::cluster::concurrent::concurrently;
use crate::cluster::list::ListQuery;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::patch::Patch;
use crate::model::api::resource_type::{LIMIT_RANGE, RESOURCE_QUOTA, ResourceType};
use crate::model::change::quotas::{asks_for_amounts, creates_pod_first, refusing_limits, refusing_quotas};
use crate::model::change::undo::Undo;
use crate::model::change::written::Written;
use crate::model::finding::Finding;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::references::{
    Configuration, Reference, configuration_of, pull_secrets, references,
};
use crate::model::status::uses::start_of_last_use;
use crate::model::text::go_duration;
use crate::model::text::plural::joined;
use crate::render::change::{no_pull_secret, not_rolled_back, pods_cannot_start, pods_not_checked};
use crate::render::message_writer::MessageWriter;

/// How long each read may take. A longer one is given up, because it must not delay a rollback.
const LIMIT: Duration = Duration::from_secs(5);

/// A workload as a change makes it.
pub(super) struct Planned {
    workload: Workload,
    /// Whether a pod comes before an old one goes.
    creates_pod_first: bool,
    /// For a rollback to a template that reads ConfigMaps or Secrets, the label of its target and when its last use began.
    returns_to: Option<(String, Timestamp)>,
    /// What that template reads; empty without a rollback, and if it is not known when its last use began.
    reads: Vec<Reference>,
}

impl Planned {
    /// Returns the plan of a change that is no rollback.
    pub(super) fn of(workload: Workload) -> Self {
        let creates_pod_first = creates_pod_first(None, &workload);
        Self { workload, creates_pod_first, returns_to: None, reads: Vec::new() }
    }

    /// Returns the plan of a rollback.
    pub(super) fn rollback(observed: &Observation, undo: &Undo) -> Self {
        let workload = undo.after.clone();
        // The start is dear to find, and only needed for what the template reads.
        let reads = configuration_of(workload.template().json());
        let start = if reads.is_empty() { None } else { start_of_last_use(observed, &undo.to) };
        let reads = reads.into_iter().filter(|_| start.is_some()).map(|one| one.object).collect();
        Self {
            creates_pod_first: creates_pod_first(Some(&undo.effect), &workload),
            workload,
            returns_to: start.map(|start| (undo.to.label(), start.latest())),
            reads,
        }
    }

    fn namespace(&self) -> String {
        self.workload.object().namespace().to_owned()
    }
}

/// What was found about a change.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// What keeps its new pods from starting, a sentence for each obstacle.
    pub(super) obstacles: Vec<String>,
    /// The notes about what a rollback leaves as it is, and about Secrets for image pulls that do not exist.
    pub(super) notes: Vec<Finding>,
    /// What could not be read, and why, so that there may be more.
    pub(super) unread: Vec<String>,
}

/// Checks each change; nothing is found for a snapshot, which rarely contains the objects. Each object is asked for once, by
/// its metadata. `is_given` says which ones the same change creates.
pub(super) async fn check_all(
    all: &[Planned],
    source: &Source,
    is_given: impl Fn(&str, &Reference) -> bool,
) -> Vec<Findings> {
    let nothing = || vec![Findings::default(); all.len()];
    if !source.is_live() {
        return nothing();
    }
    let of_each = |named: fn(&Value) -> Vec<Reference>| -> Vec<_> {
        all.iter().map(|one| named(one.workload.template().json())).collect()
    };
    let (required, pulls) = (of_each(references), of_each(pull_secrets));
    let mut places: Vec<(String, &Reference)> = Vec::new();
    let read = all.iter().map(|planned| (planned, &planned.reads));
    for (planned, named) in all.iter().zip(&required).chain(all.iter().zip(&pulls)).chain(read) {
        let namespace = planned.namespace();
        let new = named.iter().filter(|named| !is_given(&namespace, named));
        let new: Vec<_> =
            new.map(|named| (namespace.clone(), named)).filter(|new| !places.contains(new)).collect();
        places.extend(new);
    }
    let listed = |needs: fn(&Planned) -> bool| {
        all.iter().filter(|planned| needs(planned)).map(Planned::namespace).collect()
    };
    let deadline = Instant::now() + LIMIT;
    let (found, quotas, limits) = tokio::join!(
        concurrently(places.iter().map(|place| until(deadline, look_up(place, source)))),
        rules(&RESOURCE_QUOTA, listed(|planned| planned.creates_pod_first), deadline, source),
        rules(&LIMIT_RANGE, listed(|planned| asks_for_amounts(&planned.workload)), deadline, source)
    );
    let found = |namespace: &str, named: &Reference| {
        let index = places.iter().position(|(place, one)| place == namespace && *one == named)?;
        found.get(index)
    };
    let findings = |((planned, required), pulls): ((&Planned, &Vec<Reference>), &Vec<Reference>)| {
        let (namespace, after) = (planned.namespace(), &planned.workload);
        let is_absent = |named: &&Reference| matches!(found(&namespace, named), Some(Ok(None)));
        let absent = required.iter().filter(is_absent);
        let absent =
            absent.map(|named| format!("the template names {}, which does not exist", named.target()));
        let pulls = pulls.iter().filter(is_absent).map(|named| no_pull_secret(after, named));
        let quotas = quotas.get(&namespace).filter(|_| planned.creates_pod_first);
        let limits = limits.get(&namespace).filter(|_| asks_for_amounts(after));
        let names = required.iter().map(|named| (named.type_, named.target(), found(&namespace, named)));
        let failed = names.filter_map(|(type_, name, found)| Some((type_, name, found?.as_ref().err()?)));
        let rules = [(&RESOURCE_QUOTA, quotas), (&LIMIT_RANGE, limits)].into_iter();
        let rules =
            rules.filter_map(|(type_, rules)| Some((type_, type_.plural.to_owned(), rules?.as_ref().err()?)));
        let unread = unread(failed.chain(rules));
        let [quotas, limits] = [quotas, limits].map(|rules| rules.and_then(|rules| rules.as_ref().ok()));
        let refusing = quotas.map(|quotas| refusing_quotas(quotas, after)).into_iter().flatten();
        let refusing =
            refusing.chain(limits.map(|limits| refusing_limits(limits, after)).into_iter().flatten());
        let obstacles = absent.chain(refusing).collect();
        let note = |named: &Reference| match (found(&namespace, named), &planned.returns_to) {
            (Some(Ok(Some(object))), Some((label, start))) => {
                let is_later = object.change.as_ref().is_some_and(|change| change.time > *start);
                is_later.then(|| not_rolled_back(object, label))
            }
            _ => None,
        };
        Findings { obstacles, notes: planned.reads.iter().filter_map(note).chain(pulls).collect(), unread }
    };
    all.iter().zip(&required).zip(&pulls).map(findings).collect()
}

/// Returns what could not be read: the types without a right, which are many for most users, and the errors of others.
fn unread<'e>(failed: impl Iterator<Item = (&'static ResourceType, String, &'e Error)>) -> Vec<String> {
    let (mut denied, mut others) = (Vec::new(), Vec::new());
    for (type_, name, error) in failed {
        match error.kind() {
            ErrorKind::NotReadable if denied.contains(&type_.plural) => {}
            ErrorKind::NotReadable => denied.push(type_.plural),
            _ => others.push(format!("{name}: {error}")),
        }
    }
    let denied = (!denied.is_empty()).then(|| format!("no right to read {}", joined(&denied, "and")));
    denied.into_iter().chain(others).collect()
}

/// As [`check_all`], for one change.
pub(super) async fn check(planned: &Planned, source: &Source) -> Findings {
    check_all(std::slice::from_ref(planned), source, |_, _| false).await.pop().unwrap_or_default()
}

/// Returns the result of a read, or an error at the deadline.
async fn until<T>(deadline: Instant, read: impl Future<Output = Result<T>>) -> Result<T> {
    timeout_at(deadline, read).await.unwrap_or_else(|_| {
        let limit = go_duration::short(LIMIT);
        Err(Error::new(ErrorKind::Unreachable, format!("no answer within {limit}")))
    })
}

/// Reads an object that a template names: none if it does not exist, and an error if it cannot be read.
async fn look_up(
    (namespace, named): &(String, &Reference),
    source: &Source,
) -> Result<Option<Configuration>> {
    let found = source.metadata(named.type_, namespace, &named.name).await?;
    Ok(found.map(|object| Configuration::read(named.type_, &object)))
}

/// Lists the rules of namespaces.
async fn rules(
    type_: &'static ResourceType,
    namespaces: BTreeSet<String>,
    deadline: Instant,
    source: &Source,
) -> BTreeMap<String, Result<Vec<Object>>> {
    let read = async |namespace: String| {
        let found = until(deadline, source.list(&ListQuery::of(type_, Some(&namespace)), Some)).await;
        (namespace, found)
    };
    concurrently(namespaces.into_iter().map(read)).await.into_iter().collect()
}

/// Prints what was found about a change before its write; nothing if it is checked beside the write. Returns whether there is
/// an obstacle.
///
/// # Errors
/// With `--strict`, when there is an obstacle, and when something could not be read.
pub(super) fn print_findings(
    after: &Workload,
    findings: Option<&Findings>,
    writer: &Writer<'_>,
) -> Result<bool> {
    let Some(findings) = findings else { return Ok(false) };
    if writer.strict {
        refuse(after, findings)?;
    }
    warn(after, findings, &writer.ui.messages);
    Ok(!findings.obstacles.is_empty())
}

/// Writes, and checks the change beside it unless it [`is_first`]: no script waits for the check.
pub(super) async fn write_beside_check(
    workload: &Workload,
    patch: &Patch,
    operation: &str,
    planned: impl FnOnce() -> Planned,
    writer: &mut Writer<'_>,
) -> Written {
    if is_first(writer) {
        return writer.write(workload, patch, operation).await;
    }
    let planned = planned();
    let (messages, source) = (writer.ui.messages.clone(), writer.context.source);
    let check = async { warn(&planned.workload, &check(&planned, source).await, &messages) };
    tokio::join!(writer.write(workload, patch, operation), check).0
}

/// Whether a change is checked before its write, where the result can stop it: with `--strict`, where the user is asked, and
/// in a client's dry run.
pub(super) fn is_first(writer: &Writer<'_>) -> bool {
    let request = writer.request;
    writer.strict || request.interactive || request.dry_run == DryRun::Client || writer.ui.can_ask()
}

/// Refuses a change whose new pods cannot start, or of which that is not known.
///
/// # Errors
/// When there is an obstacle, and when something could not be read.
pub(super) fn refuse(after: &Workload, findings: &Findings) -> Result<()> {
    let (what, why, hint) = match (findings.obstacles.as_slice(), findings.unread.as_slice()) {
        ([], []) => return Ok(()),
        ([], unread) => ("could not be checked", unread, "repeat the command, or leave out --strict"),
        (obstacles, _) => ("cannot start", obstacles, "remove the cause, or leave out --strict"),
    };
    let message = format!("new pods of {} {what}; nothing was written", after.target());
    Err(Error::new(ErrorKind::Refused, message).caused_by(why.join("; ")).hint(hint))
}

/// Prints a warning for each obstacle, and the notes.
pub(super) fn warn(after: &Workload, findings: &Findings, messages: &MessageWriter) {
    let obstacles = findings.obstacles.iter().map(|obstacle| pods_cannot_start(after, obstacle));
    let unread = pods_not_checked(after, &findings.unread);
    let obstacles: Vec<_> = obstacles.collect();
    messages.findings_once(obstacles.iter().chain(&findings.notes).chain(&unread));
}
