//! The columns of `list`: one cell for each fact of a rollout.

use k8s_openapi::jiff::Timestamp;

use crate::model::api::managed_fields::last_template_author;
use crate::model::status::list::ListedRollout;
use crate::model::workload::strategy::update_strategy;
use crate::model::workload::verdict::RolloutState;
use crate::render::age::age;
use crate::render::frame::FrameLine;
use crate::render::status::cause_style;
use crate::render::style::Style;

/// The options of the table.
#[derive(Clone, Copy, Debug)]
pub struct TableOptions {
    /// Whether to show images, the strategy and the last writer of the template too.
    pub wide: bool,
    /// Whether to show the namespaces.
    pub namespaces: bool,
    /// Whether to print the header and the last line.
    pub headers: bool,
    /// The time that ages are relative to.
    pub now: Timestamp,
}

/// One row of the table.
#[derive(Clone, Debug, Default)]
pub(super) struct ListRow {
    /// The cells before the cause.
    pub(super) cells: Vec<FrameLine>,
    /// Why the rollout does not progress; empty if nothing is wrong.
    pub(super) cause: FrameLine,
}

/// How wide the cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellWidth {
    /// Full names: `deployment/web`, REVISION, AVAILABLE.
    Full,
    /// Short names, for a narrow terminal: `deploy/web`, REV, AVAIL.
    Short,
}

/// Returns the names of the columns.
pub(super) fn header(options: TableOptions, width: CellWidth) -> ListRow {
    let mut names = match width {
        CellWidth::Full => vec!["WORKLOAD", "REVISION", "STATE", "UPDATED", "AVAILABLE", "SINCE"],
        CellWidth::Short => vec!["WORKLOAD", "REV", "STATE", "UPDATED", "AVAIL", "SINCE"],
    };
    if options.namespaces {
        names.insert(0, "NAMESPACE");
    }
    if options.wide {
        names.extend(["IMAGES", "STRATEGY", "CHANGED BY"]);
    }
    ListRow { cells: names.into_iter().map(FrameLine::of).collect(), cause: FrameLine::of("CAUSE") }
}

/// Returns the row of a rollout.
pub(super) fn row(rollout: &ListedRollout, options: TableOptions, width: CellWidth) -> ListRow {
    let state = FrameLine::styled(state_style(rollout), rollout.state().word());
    row_with(rollout, options, width, state)
}

/// Returns the row of a rollout with a word for its state.
pub(super) fn row_with(
    rollout: &ListedRollout,
    options: TableOptions,
    width: CellWidth,
    state: FrameLine,
) -> ListRow {
    let workload = &rollout.workload;
    let mut cells = vec![
        FrameLine::of(match width {
            CellWidth::Full => workload.target(),
            CellWidth::Short => format!("{}/{}", workload.kind().type_().short(), workload.name()),
        }),
        FrameLine::of(revision(rollout)),
        state,
        updated(rollout),
        available(rollout),
        FrameLine::of(rollout.since.map_or_else(|| "-".to_owned(), |since| age(since, options.now))),
    ];
    if options.namespaces {
        cells.insert(0, FrameLine::of(workload.object().namespace()));
    }
    if options.wide {
        let author = last_template_author(workload.object());
        cells.extend([
            FrameLine::of(workload.template().images().join(",")),
            FrameLine::of(strategy(rollout)),
            FrameLine::of(author.map_or_else(|| "-".to_owned(), |author| author.manager)),
        ]);
    }
    ListRow { cells, cause: cause(rollout) }
}

/// Returns the number of the current revision: `new` while the live template has none, `-` if revisions are unknown.
fn revision(rollout: &ListedRollout) -> String {
    match rollout.revision {
        Some(number) => number.to_string(),
        None if rollout.revision_name.is_none() && !rollout.unknown.contains(&"revisions") => {
            "new".to_owned()
        }
        None => "-".to_owned(),
    }
}

/// Returns the updated pods: `2/5`, or `2/5, 3 held` for a complete rollout whose partition keeps the others. Before the
/// controller has observed the live template, its counters are about another one.
fn updated(rollout: &ListedRollout) -> FrameLine {
    let (counts, held) = (rollout.counts, rollout.held_pods());
    match rollout.state() {
        RolloutState::Unobserved => FrameLine::of(format!("-/{}", counts.wanted)),
        _ if held > 0 => FrameLine::of(format!("{}/{}, {held} held", counts.updated, counts.wanted)),
        _ => FrameLine::of(format!("{}/{}", counts.updated, counts.wanted)),
    }
}

/// Returns the available pods: `3/3`, or `0/3 outage` if none serves.
fn available(rollout: &ListedRollout) -> FrameLine {
    let wanted = rollout.counts.wanted;
    let style = if rollout.available == Some(0) && wanted > 0 { Style::Bad } else { Style::Plain };
    let available =
        rollout.available.map_or_else(|| "-".to_owned(), |available| format!("{available}/{wanted}"));
    FrameLine::styled(style, if rollout.is_outage { available + " outage" } else { available })
}

fn state_style(rollout: &ListedRollout) -> Style {
    match rollout.state() {
        RolloutState::Complete if rollout.held_pods() == 0 => Style::Good,
        RolloutState::Failed => Style::Bad,
        RolloutState::Complete | RolloutState::Paused | RolloutState::Held => Style::Warning,
        RolloutState::Progressing | RolloutState::Unobserved => Style::Plain,
    }
}

/// Returns the first cause, and the number of the others: `app: CrashLoopBackOff, exit 1 (and 1 more)`. Without a cause,
/// a failure, a hold and a change that the controller has not observed have the line of their verdict, and a complete
/// rollout has the hold of its next change.
fn cause(rollout: &ListedRollout) -> FrameLine {
    match (rollout.causes.as_slice(), rollout.state()) {
        ([], RolloutState::Failed) => FrameLine::styled(Style::Bad, &rollout.verdict.line),
        ([], RolloutState::Unobserved | RolloutState::Held) => FrameLine::of(&rollout.verdict.line),
        ([], _) => match &rollout.next_change_hold {
            Some(hold) => FrameLine::default().with(Style::Warning, hold),
            None => FrameLine::default(),
        },
        ([first, others @ ..], _) => {
            let container = first.container.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            let more =
                if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
            FrameLine::styled(cause_style(first), format!("{container}{}{more}", first.summary))
        }
    }
}

/// Returns the update strategy as words: `RollingUpdate maxSurge=25% maxUnavailable=25%`.
fn strategy(rollout: &ListedRollout) -> String {
    let Some(strategy) = update_strategy(&rollout.workload) else { return "-".to_owned() };
    let mut words: Vec<String> = Vec::new();
    words.extend(strategy.get("type").and_then(serde_json::Value::as_str).map(str::to_owned));
    let fields = [strategy.get("rollingUpdate"), Some(strategy)].into_iter().flatten();
    for (name, value) in fields.filter_map(serde_json::Value::as_object).flatten() {
        match value {
            serde_json::Value::String(text) if name != "type" => words.push(format!("{name}={text}")),
            serde_json::Value::Number(number) => words.push(format!("{name}={number}")),
            serde_json::Value::Bool(flag) => words.push(format!("{name}={flag}")),
            _ => {}
        }
    }
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}
