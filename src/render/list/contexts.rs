//! The rollouts of several contexts as a table and as a document.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::{ListColumns, command_below};
use super::item_json;
use crate::error::{Error, ErrorKind};
use crate::model::kind::verdict::RolloutState;
use crate::model::text::plural::plural;
use crate::model::text::shell_command::{Word, command};
use crate::model::view::StateCounts;
use crate::model::view::contexts::{ContextRollout, TemplateLetters};
use crate::render::json::{document, error_document};
use crate::render::line::{Line, Style};

/// A context of the list.
#[derive(Debug)]
pub struct ListedContext {
    /// Its name.
    pub name: String,
    /// The version of its API server, if it was read.
    pub server_version: Option<String>,
    /// Why nothing of it was read.
    pub error: Option<Error>,
    /// The time of its server.
    pub now: Timestamp,
}

/// The rollouts of several contexts, in order.
#[derive(Clone, Copy, Debug)]
pub struct ListedContexts<'a> {
    /// The contexts.
    pub contexts: &'a [ListedContext],
    /// Their rollouts.
    pub rollouts: &'a [ContextRollout],
    /// The letters of their templates.
    pub letters: &'a TemplateLetters,
    /// The time of this computer.
    pub local_time: Timestamp,
}

impl ListedContexts<'_> {
    /// Returns the table of the rollouts that are `shown`, with a row for each context that cannot be read before the complete
    /// ones, a line that counts the states of all, and one for each workload whose templates differ.
    #[must_use]
    pub fn table(self, shown: impl Fn(&ContextRollout) -> bool, columns: ListColumns<'_>) -> Vec<Line> {
        let layout = columns.layout;
        let names = columns.names();
        let workload = names.iter().position(|name| *name == "WORKLOAD").unwrap_or_default();
        let placed = |context: Line, template: Line, mut row: Vec<Line>| {
            row.insert(workload + 1, template);
            row.insert(0, context);
            row
        };
        let row = |rollout: &ContextRollout| {
            let context = self.contexts.get(rollout.context);
            let style = if self.letters.differ(rollout) { Style::Plain } else { Style::Dim };
            let letter = Line::styled(style, self.letters.letter(rollout).unwrap_or_default());
            let now = context.map(|one| one.now).unwrap_or_default();
            let name = context.map(|one| one.name.as_str()).unwrap_or_default();
            placed(Line::of(name), letter, columns.row(&rollout.view, now))
        };
        let unread = self.contexts.iter().filter_map(|one| Some((one, one.error.as_ref()?)));
        let unread = unread.map(|(one, error)| {
            let mut row = vec![Line::default(); names.len()];
            row[columns.state()] = Line::styled(Style::Bad, unread_state(error));
            if let Some(cause) = row.last_mut() {
                *cause = Line::of(error.to_string());
            }
            (placed(Line::of(&one.name), Line::default(), row), None)
        });
        let with_row = |rollout: &ContextRollout| (row(rollout), self.command(rollout));
        let is_complete = |rollout: &&ContextRollout| rollout.view.state() == RolloutState::Complete;
        let shown: Vec<_> = self.rollouts.iter().filter(|rollout| shown(rollout)).collect();
        let (complete, others): (Vec<_>, Vec<_>) = shown.into_iter().partition(is_complete);
        let rows = others.into_iter().map(with_row).chain(unread).chain(complete.into_iter().map(with_row));
        let (rows, commands): (Vec<_>, Vec<_>) = rows.unzip();
        let mut lines = Vec::new();
        if !rows.is_empty() {
            let header = placed(Line::of("CONTEXT"), Line::of("TEMPLATE"), columns.header());
            let rows: Vec<_> = layout.has_header().then_some(header).into_iter().chain(rows).collect();
            let names: Vec<_> = {
                let mut names = names;
                names.insert(workload + 1, "TEMPLATE");
                names.insert(0, "CONTEXT");
                names
            };
            let mut blocks = layout.blocks(rows, &names, columns.narrowings());
            if let Some(width) = layout.width.filter(|_| !layout.is_markdown()) {
                for (block, command) in blocks.iter_mut().skip(usize::from(layout.has_header())).zip(commands)
                {
                    block.extend(command.filter(|line| line.cells() <= width));
                }
            }
            lines = blocks.concat();
            lines.extend((layout.is_markdown() && layout.headers).then(Line::default));
        }
        if layout.headers {
            lines.extend(layout.wrapped(self.counts()));
            lines.extend(self.letters.lines(layout.namespaces).iter().flat_map(|line| layout.wrapped(line)));
        }
        lines
    }

    /// Returns the line below a row with the command that continues or ends a hold.
    fn command(self, rollout: &ContextRollout) -> Option<Line> {
        let below = command_below(&rollout.view)?;
        Some(Line::of(format!("{} {}", below.text(), self.flag(rollout))))
    }

    /// Returns the flag that names the context of a rollout.
    fn flag(self, rollout: &ContextRollout) -> String {
        let name = self.contexts.get(rollout.context).map(|one| one.name.as_str()).unwrap_or_default();
        command("--context {}", [Word::text(name, "NAME")])
    }

    /// Returns `4 contexts: 1 stuck, 1 unreachable, 2 complete`.
    fn counts(self) -> String {
        let counts = StateCounts::of(self.rollouts.iter().map(|rollout| &rollout.view));
        let states = counts.states();
        let has_complete = counts.iter().any(|(state, _)| state == RolloutState::Complete);
        let (others, complete) = match states.rsplit_once(", ") {
            Some((others, complete)) if has_complete => (others, complete),
            _ if has_complete => ("", states.as_str()),
            _ => (states.as_str(), ""),
        };
        let unread = ["unreachable", "unreadable"].map(|state| {
            let errors = self.contexts.iter().filter_map(|one| one.error.as_ref());
            match errors.filter(|error| unread_state(error) == state).count() {
                0 => String::new(),
                count => format!("{count} {state}"),
            }
        });
        let [unreachable, unreadable] = unread.each_ref().map(String::as_str);
        let all = [others, unreachable, unreadable, complete];
        let all: Vec<_> = all.into_iter().filter(|part| !part.is_empty()).collect();
        let contexts = plural(self.contexts.len(), "context");
        if all.is_empty() { contexts } else { format!("{contexts}: {}", all.join(", ")) }
    }

    /// Returns the name of a rollout's workload: `CONTEXT/NAMESPACE/KIND/NAME`.
    #[must_use]
    pub fn name(self, rollout: &ContextRollout) -> String {
        let context = self.contexts.get(rollout.context).map(|one| one.name.as_str()).unwrap_or_default();
        let workload = &rollout.view.workload;
        format!("{context}/{}/{}", workload.object().namespace(), workload.target())
    }

    /// Returns the document of the rollouts that are `shown`, with the states of all. docs/json.md documents the fields.
    #[must_use]
    pub fn json(self, shown: impl Fn(&ContextRollout) -> bool) -> Value {
        let item = |rollout: &ContextRollout| {
            let mut item = item_json(&rollout.view);
            item["context"] = self.contexts.get(rollout.context).map(|one| one.name.as_str()).into();
            item["template"] = self.letters.letter(rollout).into();
            if let Some(hint) = item["hint"].as_str() {
                item["hint"] = format!("{hint} {}", self.flag(rollout)).into();
            }
            item
        };
        let items: Vec<_> = self.rollouts.iter().filter(|rollout| shown(rollout)).map(item).collect();
        let counts = StateCounts::of(self.rollouts.iter().map(|rollout| &rollout.view));
        let counts: serde_json::Map<_, _> =
            counts.iter().map(|(state, count)| (state.word().to_owned(), count.into())).collect();
        let context = |one: &ListedContext| {
            let ahead = one.error.is_none().then(|| one.now.duration_since(self.local_time).as_secs());
            json!({
                "name": one.name,
                "serverVersion": one.server_version,
                "error": one.error.as_ref().map(|error| error_document(error, error.exit().code())),
                "clockAheadSeconds": ahead,
            })
        };
        let contexts: Vec<_> = self.contexts.iter().map(context).collect();
        document("RolloutList", json!({"items": items, "states": counts, "contexts": contexts}))
    }
}

/// Returns the state of a context that cannot be read.
fn unread_state(error: &Error) -> &'static str {
    if error.kind() == ErrorKind::Unreachable { "unreachable" } else { "unreadable" }
}
