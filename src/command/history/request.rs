//! The arguments of `history`, and what its output contains.

use crate::command::targets::TargetScope;
use crate::model::revision::RevisionWord;
use crate::model::text::go_duration::StartTime;
use crate::render::history as render;
use crate::render::ui::{DocumentForm, TableForm, Ui};

/// The arguments of `history`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The workloads to show.
    pub scope: TargetScope,
    /// The only revision to show.
    pub revision: Option<RevisionWord>,
    /// Since when; shows the rollouts that began since then instead of the histories.
    pub since: Option<StartTime>,
    /// The output format.
    pub output: TableForm,
    /// Whether documents keep `metadata.managedFields`.
    pub show_managed_fields: bool,
}

impl Request {
    /// Whether the output is a table, or one revision as kubectl describes it.
    pub(super) fn is_for_reading(&self) -> bool {
        matches!(self.output, TableForm::Text | TableForm::Wide | TableForm::Markdown)
    }

    /// Whether the output is our table. An empty line separates two tables.
    pub(super) fn shows_tables(&self) -> bool {
        self.is_for_reading() && self.revision.is_none()
    }

    /// Whether the output shows pods and states: our table and our JSON do, kubectl's formats do not.
    pub(super) fn shows_pods(&self) -> bool {
        self.shows_tables() || self.facts().is_some()
    }

    /// Whether the output is the objects that store the revisions, as kubectl prints them.
    pub(super) fn shows_documents(&self) -> bool {
        !self.is_for_reading() && self.facts().is_none()
    }

    pub(super) fn table_options(&self, ui: &Ui) -> render::HistoryTableOptions {
        render::HistoryTableOptions {
            wide: self.output == TableForm::Wide,
            markdown: self.output == TableForm::Markdown,
            namespaces: self.scope.all_namespaces,
            terminal: ui.terminal(),
        }
    }

    /// Returns the form of our document, which has the content of the tables of all workloads. In YAML, and for one revision,
    /// kubectl's objects are printed instead.
    pub(super) fn facts(&self) -> Option<&DocumentForm> {
        match &self.output {
            TableForm::Document(form) if *form != DocumentForm::Yaml && self.revision.is_none() => Some(form),
            _ => None,
        }
    }
}
