//! `history --since TIME --incident`: a note for a ticket, in Markdown.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;

use super::cause::cause_words;
use super::columns::code;
use super::message_writer::MessageWriter;
use super::recent::changes_of;
use super::state_words::{NameContext, serving_words};
use crate::model::cause::container_logs::LogLines;
use crate::model::status::uses::{UseEnd, UseStart};
use crate::model::text::shell_command::{Word, command};
use crate::model::view::history::RecentRollout;
use crate::model::view::incident::Incident;

/// Returns the note. `logs` are the last lines of broken containers, by the uid of the workload. Every text from the cluster is
/// code, so that it can neither be a link nor break a list. A command has the flags with which `messages` prints it, because it
/// is pasted elsewhere.
#[must_use]
pub fn note(
    incidents: &[(Option<&str>, Incident<'_>)],
    logs: &BTreeMap<String, LogLines>,
    since: Timestamp,
    messages: &MessageWriter,
) -> String {
    if incidents.is_empty() {
        return format!("No rollout was in trouble since {since}.\n");
    }
    let mut note = format!("## Rollouts in trouble since {since}\n");
    for (context, incident) in incidents {
        let names = NameContext { others: true, namespaces: true, context: *context };
        note += &format!("\n### {}\n\n", code(&names.name(&incident.observed.workload)));
        let log = logs.get(incident.observed.workload.object().uid()).and_then(LogLines::error_line);
        for line in lines(incident, log, names, messages) {
            note += &format!("- {line}\n");
        }
    }
    note
}

/// Returns the points of one workload: what changed, the state and its cause, what serves, and the commands.
fn lines(
    incident: &Incident<'_>,
    log: Option<&str>,
    names: NameContext<'_>,
    messages: &MessageWriter,
) -> Vec<String> {
    let pasted = |command: &str| code(&messages.in_cluster(command, names.context));
    let (view, workload) = (&incident.view, &incident.observed.workload);
    let by = |by: Option<&String>| by.map(|by| format!(" by {}", code(by))).unwrap_or_default();
    let configuration = incident.configuration.iter().map(|one| {
        let (object, manager) = (code(&one.object.target()), Some(&one.change.manager));
        (one.change.time, format!("{}: {object} changed{}", one.change.time, by(manager)))
    });
    let rollouts = incident.rollouts.iter().map(|one| {
        let undone = if one.used.end == Some(UseEnd::Undone) { "; it was undone" } else { "" };
        let changes = code(&changes_of(one));
        let text = format!("{}: {}{changes}{}{undone}", start(one), revision(one), by(one.used.by.as_ref()));
        (one.used.start.earliest(), text)
    });
    let mut events: Vec<_> = configuration.chain(rollouts).collect();
    events.sort_by_key(|(time, _)| *time);
    let mut lines: Vec<_> = events.into_iter().map(|(_, text)| text).collect();
    let since = view.since.map(|since| format!(" since {since}")).unwrap_or_default();
    lines.push(format!("now {}{since}: {}", view.state().word(), code(&serving_words(view))));
    if let Some(cause) = incident.cause() {
        lines.push(format!(
            "cause {}: {}",
            code(cause.id.name()),
            code(&cause_words(cause, workload, names))
        ));
        lines.extend(cause.evidence.as_deref().map(|evidence| format!("evidence {}", code(evidence))));
    }
    lines.extend(log.map(|line| format!("log {}", code(line))));
    lines.extend(view.rollback.as_deref().map(|command| format!("to roll back: {}", pasted(command))));
    let undone = incident.rollouts.iter().rev().find(|one| one.used.end == Some(UseEnd::Undone));
    lines.extend(undone.filter(|_| !incident.is_in_trouble()).map(|undone| {
        // By name: the controller may have given the revision another number.
        let words = [workload.command_target(), Word::name(&undone.used.revision.name, "REVISION")];
        let again = command("kubectl rollout2 undo {} --to {}", words);
        format!("to bring back what was undone: {}", pasted(&again))
    }));
    lines
}

fn start(rollout: &RecentRollout<'_>) -> String {
    match rollout.used.start {
        UseStart::At(time) => time.to_string(),
        UseStart::Between { earliest, .. } => format!("after {earliest}"),
    }
}

fn revision(rollout: &RecentRollout<'_>) -> String {
    rollout.used.number.map(|number| format!("revision {number}, ")).unwrap_or_default()
}
