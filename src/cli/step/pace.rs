//! The flags of `step` that set the pace of a plan, its goal and its time limit.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;

use crate::cli::help::ADVANCED;
use crate::cli::status::timeout;
use crate::cli::values::{Words, duration, positive_count, positive_duration, words};
use crate::error::{Error, Result};
use crate::model::api::selector::Selector;
use crate::model::hold::plan::{
    Amount, BatchSize, LEAST_CHECK_INTERVAL, LONGEST_TEXT, OnFailure, PaceFlags, Reach,
};
use crate::model::text::json::Digest;

/// The size of batches, the goal, the soaks, and the failure of a batch.
#[derive(Debug, Args)]
pub(super) struct PaceArgs {
    /// The size of a batch, in pods or per cent of the replicas: 2, 25% [default: 1]
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true, conflicts_with = "batches", value_parser = by)]
    by: Option<BatchSize>,

    /// The number of updated pods after each batch: 1,10%,50%,100%
    #[arg(long, value_name = "N|N%,...", allow_hyphen_values = true, value_parser = batches, help_heading = ADVANCED, hide_short_help = true)]
    batches: Option<BatchSize>,

    /// Release batches until this number of pods is updated
    ///
    /// A StatefulSet with a partition is stepped down to that partition, and never below it.
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true, conflicts_with = "all", value_parser = to)]
    pub(super) to: Option<Reach>,

    /// Release all batches
    #[arg(long)]
    pub(super) all: bool,

    /// Do not start with a batch of one canary pod
    #[arg(long)]
    no_canary: bool,

    /// The limit of unavailable pods, including those being replaced: 1, 10%
    ///
    /// The default is 1, and 0 for a Deployment that replaces each pod by a surge pod first.
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true, value_parser = amount)]
    max_unavailable: Option<Amount>,

    /// Deployments: the limit of surge pods: 1, 25% [default: its own maxSurge]
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true, value_parser = amount, help_heading = ADVANCED, hide_short_help = true)]
    surge: Option<Amount>,

    /// How long released pods must stay available before the next batch, such as 5m [default: 10s]
    ///
    /// Of a DaemonSet, only the pods of the batch. The default lets pods settle, because a pod that crashes soon after its start is available for a moment. 0s
    /// turns it off, except for pods that have terminated since their release.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    soak: Option<Duration>,

    /// The additional soak of the last batch [default: 0s]
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = ADVANCED, hide_short_help = true)]
    final_soak: Option<Duration>,

    /// Skip the rest of the present soak
    #[arg(long, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) skip_soak: bool,

    /// Exit with 3 after this long, such as 1h30m, and keep the plan; 0 is no limit
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = timeout)]
    pub(super) timeout: Option<Duration>,

    /// Fail a batch once none of its pods became available for this long [default: 10m]
    ///
    /// The soak is not counted. A batch fails earlier when one of its pods has a cause that needs a fix for
    /// 30s: the causes of status --fail-fast.
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, help_heading = ADVANCED, hide_short_help = true)]
    batch_timeout: Option<Duration>,

    /// Run this command with sh -c after each batch; the batch fails unless it exits with 0
    ///
    /// Its output goes to standard error. The plan stores only the SHA-256 of the command, so continuing the
    /// plan needs the same command again. An empty command removes the check. A check is killed after 10m, and
    /// fails; for a shorter limit: --check 'timeout 60 ./smoke-test'.
    #[arg(long, value_name = "COMMAND")]
    pub(super) check: Option<String>,

    /// Run the check during the soak too, at this interval, such as 30s, and once more after it
    ///
    /// The first run is one interval after the pods became available. A run that lasts longer than the interval
    /// delays the next one. A run that has begun when the soak ends is the last one.
    #[arg(long, value_name = "DURATION", requires = "check", value_parser = check_interval, help_heading = ADVANCED, hide_short_help = true)]
    check_every: Option<Duration>,

    /// With --check-every: fail the batch after this many failed runs in a row [default: 1]
    ///
    /// A run that passes starts the count again. A process that continues the plan counts from 0. At the end of
    /// the soak a failed run is repeated after the interval, until it passes or fails the batch.
    #[arg(long, value_name = "N", requires = "check_every", value_parser = positive_count, help_heading = ADVANCED, hide_short_help = true)]
    check_failures: Option<NonZeroU32>,

    /// The reaction to a failed batch: hold the rollout, or roll it back [default: hold]
    #[arg(long, value_name = "REACTION", value_parser = words(REACTIONS))]
    on_failure: Option<OnFailure>,
}

/// The nodes of a `DaemonSet`, their order, and how their pods are removed.
#[derive(Debug, Args)]
#[command(next_help_heading = ADVANCED)]
pub(super) struct NodeArgs {
    /// DaemonSets: step the nodes grouped by the value of this label [default: sorted by name]
    #[arg(long, value_name = "LABEL", hide_short_help = true)]
    order: Option<String>,

    /// DaemonSets of apps/v1: step only the nodes with these labels, and keep the others held
    #[arg(long, value_name = "SELECTOR", hide_short_help = true)]
    node_selector: Option<String>,

    /// DaemonSets: evict pods instead of deleting them, so that PodDisruptionBudgets apply
    #[arg(long, hide_short_help = true)]
    evict: bool,
}

const REACTIONS: &Words<OnFailure> = &[("hold", "", OnFailure::Hold), ("undo", "", OnFailure::Undo)];

impl PaceArgs {
    /// Returns the flags that set the pace. `force` is that flag.
    pub(super) fn flags(&self, nodes: &NodeArgs, force: bool) -> Result<PaceFlags> {
        if let Some(batches) = self.batches.as_ref().filter(|_| self.all) {
            batches.check_end()?;
        }
        let check = self.check()?;
        nodes.check()?;
        Ok(PaceFlags {
            batch_size: self.by.clone().or_else(|| self.batches.clone()),
            canary: self.no_canary.then_some(false),
            max_unavailable: self.max_unavailable,
            surge: self.surge,
            soak: self.soak,
            final_soak: self.final_soak,
            batch_timeout: self.batch_timeout,
            on_failure: self.on_failure,
            check,
            check_every: self.check_every,
            check_failures: self.check_failures,
            order: nodes.order.clone(),
            node_selector: nodes.node_selector.clone(),
            evict: nodes.evict.then_some(true),
            ignore_unready_nodes: force.then_some(true),
        })
    }

    /// Returns the SHA-256 of the check's command for the plan, which never stores the command; empty for no check.
    fn check(&self) -> Result<Option<String>> {
        let Some(command) = &self.check else { return Ok(None) };
        if !command.trim().is_empty() {
            return Ok(Some(Digest::of_text(command).hex()));
        }
        match self.check_every {
            Some(_) => Err(Error::usage("--check-every needs a check, and --check is empty")),
            None => Ok(Some(String::new())),
        }
    }
}

impl NodeArgs {
    /// Rejects values that a plan cannot store.
    fn check(&self) -> Result<()> {
        if self.order.as_deref().is_some_and(|label| label.trim().is_empty()) {
            return Err(
                Error::usage("--order requires a label").hint("such as --order topology.kubernetes.io/zone")
            );
        }
        self.node_selector.as_deref().map(Selector::parse).transpose()?;
        let is_too_long = |text: &&String| text.chars().count() > LONGEST_TEXT;
        if self.order.iter().chain(&self.node_selector).any(|text| is_too_long(&text)) {
            let sentence =
                format!("a plan stores at most {LONGEST_TEXT} characters of --order and --node-selector");
            return Err(Error::usage(sentence));
        }
        Ok(())
    }
}

fn amount(word: &str) -> Result<Amount, String> {
    word.trim().parse()
}

fn by(word: &str) -> Result<BatchSize, String> {
    amount(word).map(BatchSize::By)
}

fn to(word: &str) -> Result<Reach, String> {
    amount(word).map(Reach::To)
}

/// Parses `--batches`. Each goal must be above the one before it in the same unit.
fn batches(words: &str) -> Result<BatchSize, String> {
    let goals: Vec<Amount> = words.split(',').map(amount).collect::<Result<_, _>>()?;
    let (mut pods, mut per_cents) = (0, 0);
    for goal in &goals {
        let (number, last) = match goal {
            Amount::Pods(number) => (*number, &mut pods),
            Amount::PerCent(number) => (*number, &mut per_cents),
        };
        if number <= *last {
            return Err(format!(
                "{goal} is not above the goal before it, the number of updated pods after a batch"
            ));
        }
        *last = number;
    }
    Ok(BatchSize::Until(goals))
}

/// Parses `--check-every`.
fn check_interval(word: &str) -> Result<Duration, &'static str> {
    duration(word)
        .and_then(|every| if every < LEAST_CHECK_INTERVAL { Err("must be at least 1s") } else { Ok(every) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_rise() {
        for (words, is_right) in [
            ("1,10%,50%,100%", true),
            ("2, 4", true),
            ("50%,3,100%,5", true), // their order depends on the replicas
            ("2,2", false),
            ("50%,10%", false),
            ("3,50%,2", false),
            ("", false),
            ("1,,2", false),
            ("0,1", false),
            ("50%,101%", false),
        ] {
            assert_eq!(batches(words).is_ok(), is_right, "{words}");
        }
    }
}
