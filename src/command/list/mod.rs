//! `list`: the rollouts of a namespace or a cluster, trouble first.

pub(super) mod contexts;
pub(super) mod watch;

use std::borrow::Borrow;

use k8s_openapi::jiff::Timestamp;

use super::CommandOutcome;
use super::context::Context;
use super::inputs::TargetScope;
use super::targets::{FoundTargets, TargetFinder};
use crate::cli::list::ListArgs;
use crate::cluster::objects::read::{Parts, are_in_few_namespaces, read_all};
use crate::cluster::source::Source;
use crate::error::Result;
use crate::exit::Exit;
use crate::model::finding::Finding;
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::text::go_duration::StartTime;
use crate::model::view::contexts::{LiveTemplate, TemplateTexts};
use crate::model::view::{RolloutView, sort};
use crate::render::list as render;
use crate::render::list::ListColumns;
use crate::render::output_form::OutputForm;
use crate::render::table::TableLayout;
use crate::render::ui::Ui;

impl ListArgs {
    /// Returns what is kept of a workload. Only documents and the last change of a template need more of complete rollouts
    /// than their rows.
    fn keep(&self, workload: Workload, texts: Option<&TemplateTexts>, now: Timestamp) -> Kept {
        match self.output {
            OutputForm::Text | OutputForm::Markdown | OutputForm::Name
                if self.since.is_none() && self.sort_by.is_none() =>
            {
                let workload = workload.without_managed_fields();
                match RolloutView::of_alone(&workload, now) {
                    Some(view) => {
                        let template = texts.map(|texts| texts.template_of(&workload));
                        Kept::Complete(self.reduced(view), template)
                    }
                    None => Kept::Unread(workload),
                }
            }
            _ => Kept::Unread(workload.with_template_owners_only()),
        }
    }

    /// Returns a view with what its row needs: the whole object only for labels.
    fn reduced(&self, view: RolloutView) -> RolloutView {
        if self.label_columns.is_empty() && !self.show_labels { view.with_identity_only() } else { view }
    }

    /// Returns the exit code of the states that fail the command.
    fn exit_of<'a>(&self, rollouts: impl IntoIterator<Item = &'a RolloutView>) -> Exit {
        let fails = |state: &RolloutState| self.fail_on_state.iter().any(|one| one.contains(state));
        let states = rollouts.into_iter().map(RolloutView::state);
        states.filter(fails).map(exit_of_state).fold(Exit::Done, Exit::worst)
    }

    /// Whether a rollout is shown.
    pub(super) fn shows(&self, rollout: &RolloutView) -> bool {
        let states = self.states();
        states.is_empty() || states.iter().any(|one| rollout.is_in(one))
    }

    /// Evaluates an observation, with the last change of the template if it is needed. `None` if the template has not changed
    /// since the time that was asked for.
    pub(super) fn view(&self, observed: &Observation, now: Timestamp) -> Option<RolloutView> {
        let view = RolloutView::of(observed, now);
        let shows_change =
            self.output == OutputForm::Wide || self.output.is_document() || self.sort_by.is_some();
        let view = if shows_change || self.since.is_some() { view.with_change(observed) } else { view };
        let is_recent = |since: StartTime| {
            view.change.as_ref().is_some_and(|change| change.start.may_be_since(since.resolve(now)))
        };
        self.since.is_none_or(is_recent).then_some(view)
    }

    /// Returns the columns of the table.
    pub(super) fn columns(&self, width: Option<usize>) -> ListColumns<'_> {
        let (namespaces, headers) = (self.all_namespaces, !self.no_headers);
        let layout = TableLayout { form: &self.output, namespaces, headers, width };
        ListColumns { layout, labels: &self.label_columns, has_all_labels: self.show_labels }
    }
}

/// What is kept of a workload while the others are listed.
#[expect(clippy::large_enum_variant, reason = "most are the large one")]
enum Kept {
    /// The view of a complete rollout, which follows from the workload, and its template if several contexts are listed.
    Complete(RolloutView, Option<LiveTemplate>),
    /// A workload of which more must be read.
    Unread(Workload),
}

impl Borrow<Workload> for Kept {
    fn borrow(&self) -> &Workload {
        match self {
            Self::Complete(view, _) => &view.workload,
            Self::Unread(workload) => workload,
        }
    }
}

/// What was read of the rollouts of a source.
struct Listing {
    /// Each rollout, with its template if several contexts are listed.
    rollouts: Vec<(RolloutView, Option<LiveTemplate>)>,
    /// Whether no workload was found.
    is_empty: bool,
    outcome: CommandOutcome,
    notes: Vec<Finding>,
}

impl Listing {
    /// Reads the rollouts of a source, and of several contexts the templates too, whose texts they share.
    ///
    /// # Errors
    /// When the search cannot start.
    async fn read(
        request: &ListArgs,
        scope: &TargetScope,
        texts: Option<&TemplateTexts>,
        source: &Source,
    ) -> Result<Self> {
        let keep = |workload| request.keep(workload, texts, source.now());
        let found = TargetFinder::new(scope, source, true)?.search(scope, keep).await;
        let FoundTargets { workloads, mut outcome, mut notes } = found;
        let is_empty = workloads.is_empty();
        let (mut rollouts, mut unread) = (Vec::new(), Vec::new());
        for workload in workloads {
            match workload {
                Kept::Complete(view, template) => rollouts.push((view, template)),
                Kept::Unread(workload) => unread.push(workload),
            }
        }
        let parts = Parts::LIST.since(request.since.map(|since| since.resolve(source.now())));
        let is_few = !rollouts.is_empty() && are_in_few_namespaces(&unread);
        let everywhere = request.all_namespaces && !is_few;
        let (observations, unread) = read_all(unread, everywhere, parts, source).await;
        notes.extend(unread);
        let now = source.now();
        for observed in observations {
            match observed {
                Ok(observed) => rollouts.extend(request.view(&observed, now).map(|view| {
                    let template = texts.map(|texts| texts.template_of(&view.workload));
                    let shows_row = template.is_some() && request.output == OutputForm::Text;
                    (if shows_row { request.reduced(view) } else { view }, template)
                })),
                Err(error) => outcome.errors.push(error),
            }
        }
        Ok(Self { rollouts, is_empty, outcome, notes })
    }
}

/// Lists the rollouts.
pub(super) async fn run(request: &ListArgs, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    let scope = &context.inputs.scope;
    let Listing { rollouts, is_empty, mut outcome, notes } =
        Listing::read(request, scope, None, source).await?;
    ui.messages.findings(&notes);
    let mut rollouts: Vec<_> = rollouts.into_iter().map(|(view, _)| view).collect();
    sort(&mut rollouts);
    if let Some(path) = &request.sort_by {
        rollouts = render::sort_by(rollouts, path)?;
    }
    let shown: Vec<_> = rollouts.iter().filter(|rollout| request.shows(rollout)).collect();
    if request.output.is_document() {
        outcome.document = Some(render::json(&shown, &rollouts));
    } else if !(is_empty || rollouts.is_empty() && !outcome.errors.is_empty()) {
        print(&shown, &rollouts, request, source, ui);
    }
    outcome.exit = outcome.exit.worst(request.exit_of(&rollouts));
    Ok(outcome)
}

/// Prints the rollouts that are shown, of all `rollouts`.
fn print(shown: &[&RolloutView], rollouts: &[RolloutView], request: &ListArgs, source: &Source, ui: &mut Ui) {
    if request.output != OutputForm::Name {
        let (columns, now) = (request.columns(ui.width()), source.now());
        let since = request.since.map(|since| since.resolve(now));
        return ui.out_lines(&render::table(shown, rollouts, columns, since, now));
    }
    for rollout in shown {
        let workload = &rollout.workload;
        let namespace = workload.object().namespace();
        let flag = if request.all_namespaces { format!(" -n {namespace}") } else { String::new() };
        ui.out_line(&format!("{}{flag}", workload.reference()));
    }
}

/// Returns the exit code for a state.
fn exit_of_state(state: RolloutState) -> Exit {
    match state {
        RolloutState::Complete => Exit::Done,
        RolloutState::Progressing | RolloutState::Stuck | RolloutState::Unobserved => Exit::Unfinished,
        RolloutState::Paused | RolloutState::Held => Exit::Held,
        RolloutState::Failed => Exit::Failed,
    }
}
