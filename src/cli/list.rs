//! The arguments of `list`.

use std::time::Duration;

use clap::Args;

use super::common::CommonArgs;
use super::scope::{TargetWord, may_be_name, read_targets};
use super::values::{TABLES, Words, duration, field_path, output_form, start_time, words};
use crate::error::{Error, Result};
use crate::model::api::field_selector::FieldSelector;
use crate::model::api::selector::Selector;
use crate::model::kind::verdict::RolloutState;
use crate::model::text::go_duration::StartTime;
use crate::model::text::jsonpath::JsonPath;
use crate::model::text::shell_command::{Word, command};
use crate::render::output_form::OutputForm;

/// List the rollouts of a namespace or a cluster, trouble first
///
/// Prints one line for each workload: outages first, then rollouts that failed, are stuck, are held, progress, are not
/// observed by their controller yet, and are complete; within that the longest first. SINCE is the age of the state: of a
/// rollout that progresses or is stuck, since it began or since its first cause. CAUSE is the first cause of status. On
/// a terminal that is too narrow it is below its row, and REVISION and UPDATED can be left out. The last line counts the
/// states.
///
/// A StatefulSet is complete, as for kubectl, when every pod at or above its partition is updated. UPDATED
/// then counts the pods that the partition keeps: 2/5, 3 held.
///
/// Each type is read with one list for the namespace, or with -A for the cluster.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct ListArgs {
    /// The types to list: deployment (deploy), daemonset (ds), statefulset (sts), job, or all [default: all]
    ///
    /// Types can also be separated by commas. all includes the types of OpenKruise where the server has
    /// them, and no Jobs.
    #[arg(value_name = "TYPE")]
    types: Vec<String>,

    /// Select workloads by labels: app=web,tier!=cache or 'env in (prod,test)'
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = Selector::parse, default_value = "", hide_default_value = true)]
    pub selector: Selector,

    /// Select workloads by fields: metadata.name=web or metadata.namespace!=kube-system
    #[arg(long, value_name = "SELECTOR", hide_short_help = true, value_parser = FieldSelector::parse, default_value = "", hide_default_value = true)]
    pub field_selector: FieldSelector,

    /// List the workloads of all namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,

    /// Show only these states
    ///
    /// stuck is a rollout of which a cause has needed a fix for 30 seconds. held includes paused, and complete
    /// StatefulSets whose partition keeps outdated pods. paused includes complete workloads whose pause holds the
    /// next change.
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',', ignore_case = true, value_parser = words(STATES))]
    states: Vec<&'static [RolloutState]>,

    /// Show only rollouts to look at, as --state failed,stuck,held,progressing does
    #[arg(long, conflicts_with = "states")]
    trouble: bool,

    /// Show only the rollouts whose template changed since a time: 30m, 14:10 (UTC), or an RFC 3339 time
    ///
    /// A new revision changed it at its creation, and a return to an earlier revision at the write of the field manager, as
    /// in history --since. A return without such a timestamp is shown if it can have been since then.
    #[arg(long, value_name = "TIME", conflicts_with = "watch", value_parser = start_time)]
    pub since: Option<StartTime>,

    /// Exit with the code of a rollout in one of these states, as status does
    ///
    /// The code is 4 for failed, 5 for held and paused, and 3 for progressing, stuck and unobserved. A
    /// complete StatefulSet does not fail, whatever its partition keeps.
    #[arg(long, value_name = "STATE", value_delimiter = ',', ignore_case = true, value_parser = words(FAILING_STATES))]
    pub fail_on_state: Vec<&'static [RolloutState]>,

    /// Redraw the list on a terminal, or print the rows that change, until a signal arrives
    ///
    /// A changed row is marked with * for 10 seconds. With -o json, each change is one document on one line.
    /// Recorded objects (--from) do not change, so they are listed once.
    #[arg(short, long, conflicts_with = "fail_on_state")]
    pub watch: bool,

    /// How long to watch, such as 90s or 1h30m; 0 is no limit
    #[arg(long, value_name = "DURATION", requires = "watch", value_parser = duration)]
    timeout: Option<Duration>,

    /// Exit with 0 when nothing matches
    #[arg(long)]
    pub allow_empty: bool,

    /// Sort by a field of the items of -o json, such as .workload.name, instead of trouble first
    ///
    /// FIELD is a JSONPath in kubectl's dialect. Numbers are sorted by value. Rollouts without a value come last.
    #[arg(long, value_name = "FIELD", conflicts_with = "watch", value_parser = field_path)]
    pub sort_by: Option<JsonPath>,

    /// Show these labels as columns; may be repeated
    #[arg(short = 'L', long, value_name = "LABEL", value_delimiter = ',')]
    pub label_columns: Vec<String>,

    /// Show all labels as the last column before CAUSE
    #[arg(long)]
    pub show_labels: bool,

    /// Leave out the header and the last line
    #[arg(long)]
    pub no_headers: bool,

    /// List the clusters of these contexts: names, or globs such as 'prod-*'; !NAME excludes
    ///
    /// A context that cannot be read is a row, and the exit code is 1. Contexts with the same server, user and namespace are
    /// listed once; with -n or -A, their namespaces do not matter. TEMPLATE is A for the template that most contexts have, and B and so on for the others; lines at the end
    /// have the changes from A.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', conflicts_with_all = ["watch", "sort_by"])]
    pub contexts: Vec<String>,

    /// Show only workloads whose templates differ between the contexts
    #[arg(long)]
    pub behind: bool,

    /// The output format
    ///
    /// wide adds the images, and when and by which field manager the template was changed last. markdown is the
    /// table for a ticket or a chat.
    /// jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE and custom-columns=SPEC print the document of json in kubectl's
    /// dialect of JSONPath.
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = output_form(TABLES), default_value = "", hide_default_value = true)]
    pub output: OutputForm,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 list
  kubectl rollout2 list -A --trouble
  kubectl rollout2 list -A -L app.kubernetes.io/part-of --sort-by .workload.name
  kubectl rollout2 list deploy,sts -l app=web -o wide
  kubectl rollout2 list -A --since 30m -o wide
  kubectl rollout2 list -A --fail-on-state failed -o json
  kubectl rollout2 list -o custom-columns=NAME:.workload.name,STATE:.state
  kubectl rollout2 list -A --watch
  kubectl rollout2 list --contexts 'prod-*' -l app=checkout
  kubectl rollout2 list --from snapshot.yaml";

/// The states that each word means. A pause is a hold.
const STATES: &Words<&[RolloutState]> = &[
    ("stuck", "", &[RolloutState::Stuck]),
    ("failed", "", &[RolloutState::Failed]),
    ("progressing", "", &[RolloutState::Progressing]),
    ("held", "", &[RolloutState::Held, RolloutState::Paused]),
    ("paused", "", &[RolloutState::Paused]),
    ("unobserved", "", &[RolloutState::Unobserved]),
    ("complete", "", &[RolloutState::Complete]),
];

/// The states that can fail the command. The exit code of a complete rollout is 0.
const FAILING_STATES: &Words<&[RolloutState]> = match STATES.split_last() {
    Some((_complete, failing)) => failing,
    None => STATES,
};

/// The states of `--trouble`.
const TROUBLE: &[RolloutState] = &[
    RolloutState::Failed,
    RolloutState::Stuck,
    RolloutState::Held,
    RolloutState::Paused,
    RolloutState::Progressing,
];

impl ListArgs {
    /// Checks the types, that a watch can print the form of the output, and what several clusters can be listed with.
    ///
    /// # Errors
    /// Usage errors.
    pub(super) fn validate(&self, common: &CommonArgs) -> Result<()> {
        self.targets()?;
        let has_recordings = common.from.len() > 1;
        if has_recordings && (self.watch || self.sort_by.is_some()) {
            return Err(Error::usage("--watch and --sort-by need one cluster").hint("give one --from"));
        }
        if self.behind && self.contexts.is_empty() && !has_recordings {
            return Err(Error::usage("--behind compares several clusters").hint("add --contexts"));
        }
        if self.watch && !matches!(self.output, OutputForm::Text | OutputForm::Wide | OutputForm::Json) {
            return Err(Error::usage("--watch prints tables or -o json")
                .hint("kubectl rollout2 list --watch -o json"));
        }
        Ok(())
    }

    /// Returns the types to list.
    ///
    /// # Errors
    /// When a word is no type.
    pub fn targets(&self) -> Result<Vec<TargetWord>> {
        read_types(&self.types)
    }

    /// Returns the states to show; empty for all.
    #[must_use]
    pub fn states(&self) -> &[&'static [RolloutState]] {
        if self.trouble { &[TROUBLE] } else { &self.states }
    }

    /// Returns how long to watch; `None` for no limit.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout.filter(|timeout| !timeout.is_zero())
    }
}

/// Parses the types. Without one, these are all types.
fn read_types(words: &[String]) -> Result<Vec<TargetWord>> {
    let all = ["all".to_owned()];
    let words = if words.is_empty() { &all } else { words };
    let mut types: Vec<TargetWord> = Vec::new();
    for word in words {
        if word.contains('/') {
            return Err(Error::usage(format!("list shows all workloads of a type, not {word}"))
                .hint(command("kubectl rollout2 status {} --watch=false", [Word::text(word, "TYPE/NAME")])));
        }
        let read = read_targets(std::slice::from_ref(word), false).map_err(|error| match words {
            [word] if may_be_name(word) => {
                let hint =
                    "use deployment, daemonset or statefulset; for a namespace: kubectl rollout2 list -n {}";
                error.hint(command(hint, [Word::text(word, "NAMESPACE")]))
            }
            _ => error,
        });
        for type_ in read? {
            if !types.contains(&type_) {
                types.push(type_);
            }
        }
    }
    Ok(types)
}
