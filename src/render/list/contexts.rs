//! The rollouts of several contexts as a table and as a document.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::{ListColumns, command_below};
use super::{item_json, states_json, table_lines};
use crate::model::kind::verdict::RolloutState;
use crate::model::view::StateCounts;
use crate::model::view::contexts::{ContextRollout, TemplateLetters};
use crate::render::contexts::{ReadContext, counts, unread_state};
use crate::render::json::document;
use crate::render::line::{Line, Style};
use crate::render::message_writer::with_context_flag;

/// The rollouts of several contexts, in order.
#[derive(Clone, Copy, Debug)]
pub struct ListedContexts<'a> {
    /// The contexts.
    pub contexts: &'a [ReadContext],
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
            let style = if self.letters.differ(rollout) { Style::Plain } else { Style::Dim };
            let letter = Line::styled(style, self.letters.letter(rollout).unwrap_or_default());
            let now = self.contexts.get(rollout.context).map(|one| one.now).unwrap_or_default();
            let (name, mut row) = (self.context_name(rollout), columns.row(&rollout.view, now));
            if let Some(cause) = row.last_mut() {
                *cause = std::mem::take(cause).map(|text| with_context_flag(text, Some(name)).into_owned());
            }
            placed(Line::of(name), letter, row)
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
        let rows: Vec<_> = rows.collect();
        let mut lines = Vec::new();
        if !rows.is_empty() {
            let header = placed(Line::of("CONTEXT"), Line::of("TEMPLATE"), columns.header());
            let mut names = names.clone();
            names.insert(workload + 1, "TEMPLATE");
            names.insert(0, "CONTEXT");
            lines = table_lines(header, rows, &names, columns);
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
        Some(below.map(|text| with_context_flag(text, Some(self.context_name(rollout))).into_owned()))
    }

    fn context_name(&self, rollout: &ContextRollout) -> &str {
        self.contexts.get(rollout.context).map(|one| one.name.as_str()).unwrap_or_default()
    }

    /// Returns `4 contexts: 1 stuck, 1 unreachable, 2 complete`.
    fn counts(self) -> String {
        let states = StateCounts::of(self.rollouts.iter().map(|rollout| &rollout.view));
        let mut all = states.parts();
        let has_complete = states.iter().any(|(state, _)| state == RolloutState::Complete);
        let complete = has_complete.then(|| all.pop()).flatten();
        let (contexts, unread) = counts(self.contexts);
        all.extend(unread);
        all.extend(complete);
        if all.is_empty() { contexts } else { format!("{contexts}: {}", all.join(", ")) }
    }

    /// Returns the name of a rollout's workload: `CONTEXT/NAMESPACE/KIND/NAME`.
    #[must_use]
    pub fn name(self, rollout: &ContextRollout) -> String {
        let workload = &rollout.view.workload;
        format!("{}/{}/{}", self.context_name(rollout), workload.object().namespace(), workload.target())
    }

    /// Returns the document of the rollouts that are `shown`, with the states of all. docs/json.md documents the fields.
    #[must_use]
    pub fn json(self, shown: impl Fn(&ContextRollout) -> bool) -> Value {
        let item = |rollout: &ContextRollout| {
            let mut item = item_json(&rollout.view);
            item["context"] = self.context_name(rollout).into();
            item["template"] = self.letters.letter(rollout).into();
            if let Some(hint) = item["hint"].as_str() {
                item["hint"] = with_context_flag(hint, Some(self.context_name(rollout))).into();
            }
            item
        };
        let items: Vec<_> = self.rollouts.iter().filter(|rollout| shown(rollout)).map(item).collect();
        let counts = states_json(&StateCounts::of(self.rollouts.iter().map(|rollout| &rollout.view)));
        let contexts: Vec<_> = self.contexts.iter().map(|one| one.json(self.local_time)).collect();
        document("RolloutList", json!({"items": items, "states": counts, "contexts": contexts}))
    }
}
