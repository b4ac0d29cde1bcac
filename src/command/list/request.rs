//! The arguments of `list`.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use crate::command::targets::{KeptFields, TargetScope};
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::text::start_time::StartTime;
use crate::model::view::RolloutView;
use crate::render::list::TableOptions;
use crate::render::ui::DocumentForm;

/// The arguments of `list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The workloads to list.
    pub scope: TargetScope,
    /// The states to show; empty for all.
    pub states: Vec<RolloutState>,
    /// The states that fail the command.
    pub fail_on: Vec<RolloutState>,
    /// Since when the template must have changed; none lists all rollouts.
    pub since: Option<StartTime>,
    /// The output format.
    pub output: Output,
    /// Whether to watch the rollouts. A snapshot never changes, so it is only read once.
    pub watch: bool,
    /// How long to watch; none for no limit.
    pub timeout: Option<Duration>,
    /// Whether to leave out the header and the last line of the table.
    pub no_headers: bool,
}

/// The output formats of `list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// A table.
    #[default]
    Text,
    /// A table with images and the last change of the template.
    Wide,
    /// The table in Markdown.
    Markdown,
    /// `TYPE/NAME` of each workload.
    Name,
    /// A document, which is printed without rollouts too.
    Document(DocumentForm),
}

impl Request {
    /// Returns what is kept of workloads. Only documents and the last change of a template need the templates of complete
    /// rollouts.
    pub(super) fn kept_fields(&self) -> KeptFields {
        match self.output {
            Output::Text | Output::Markdown | Output::Name if self.since.is_none() => {
                KeptFields::UnmanagedWithoutTemplates
            }
            _ => KeptFields::TemplateOwners,
        }
    }

    /// Whether a rollout is shown.
    pub(super) fn shows(&self, rollout: &RolloutView) -> bool {
        self.states.is_empty() || rollout.is_in(&self.states)
    }

    /// Evaluates an observation, with the last change of the template if it is needed. None if the template has not changed
    /// since the time that was asked for.
    pub(super) fn view(&self, observed: &Observation, now: Timestamp) -> Option<RolloutView> {
        let view = RolloutView::of(observed, now);
        let view = if self.since.is_some() || self.output == Output::Wide {
            view.with_change(observed)
        } else {
            view
        };
        let is_recent = |since: StartTime| {
            view.change.as_ref().is_some_and(|change| change.start.may_be_since(since.resolve(now)))
        };
        self.since.is_none_or(is_recent).then_some(view)
    }

    /// Returns the options of the table at a time.
    pub(super) fn table_options(&self, now: Timestamp) -> TableOptions {
        TableOptions {
            wide: self.output == Output::Wide,
            namespaces: self.scope.all_namespaces,
            headers: !self.no_headers,
            changed_since: self.since.map(|since| since.resolve(now)),
            now,
        }
    }
}
