//! The flags of `step` for the size of batches and the goal.

use clap::Args;

use crate::cli::help::ADVANCED;
use crate::error::{Error, Result};
use crate::model::hold::plan::{Amount, Batches, Reach};

/// The size of batches, the goal, and the limit of unavailable pods.
#[derive(Debug, Args)]
pub(super) struct BatchSizeArgs {
    /// The size of a batch, in pods or per cent of the replicas: 2, 25% [default: 1]
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true, conflicts_with = "batches")]
    by: Option<String>,

    /// The number of updated pods after each batch: 1,10%,50%,100%
    #[arg(long, value_name = "N|N%,...", allow_hyphen_values = true, help_heading = ADVANCED, hide_short_help = true)]
    batches: Option<String>,

    /// Release batches until this number of pods is updated
    ///
    /// A StatefulSet with a partition is stepped down to that partition, and below it only with --to 100%.
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true, conflicts_with = "all")]
    to: Option<String>,

    /// Release all batches
    #[arg(long)]
    all: bool,

    /// Do not start with a batch of one canary pod
    #[arg(long)]
    no_canary: bool,

    /// The limit of unavailable pods, including those being replaced: 1, 10% [default: 1]
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true)]
    max_unavailable: Option<String>,

    /// Deployments: the limit of surge pods: 1, 25% [default: its own maxSurge]
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true, help_heading = ADVANCED, hide_short_help = true)]
    surge: Option<String>,
}

impl BatchSizeArgs {
    pub(super) fn batches(&self) -> Result<Option<Batches>> {
        match (&self.by, &self.batches) {
            (Some(by), _) => amount("--by", by).map(|by| Some(Batches::By(by))),
            (None, Some(words)) => {
                let batches = Batches::Until(goals_of(words)?);
                if self.all {
                    batches.check_end()?;
                }
                Ok(Some(batches))
            }
            (None, None) => Ok(None),
        }
    }

    pub(super) fn canary(&self) -> Option<bool> {
        self.no_canary.then_some(false)
    }

    pub(super) fn max_unavailable(&self) -> Result<Option<Amount>> {
        self.max_unavailable.as_deref().map(|word| amount("--max-unavailable", word)).transpose()
    }

    pub(super) fn surge(&self) -> Result<Option<Amount>> {
        self.surge.as_deref().map(|word| amount("--surge", word)).transpose()
    }

    pub(super) fn reach(&self) -> Result<Option<Reach>> {
        match &self.to {
            Some(to) => amount("--to", to).map(|to| Some(Reach::To(to))),
            None => Ok(self.all.then_some(Reach::All)),
        }
    }
}

fn amount(flag: &str, word: &str) -> Result<Amount> {
    word.trim().parse().map_err(|why| Error::usage(format!("{flag} {word:?}: {why}")))
}

/// Parses `--batches`. Each goal must be above the one before it. Pods and per cent are compared later, when
/// the replicas are known.
fn goals_of(words: &str) -> Result<Vec<Amount>> {
    let goals: Vec<Amount> = words.split(',').map(|word| amount("--batches", word)).collect::<Result<_>>()?;
    let (mut pods, mut per_cents) = (0, 0);
    for goal in &goals {
        let (number, last) = match goal {
            Amount::Pods(number) => (*number, &mut pods),
            Amount::PerCent(number) => (*number, &mut per_cents),
        };
        if number <= *last {
            return Err(Error::usage(format!("--batches {words:?}: {goal} is not above the goal before it"))
                .hint("each goal is the number of updated pods after a batch: 1,10%,50%,100%"));
        }
        *last = number;
    }
    Ok(goals)
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
            assert_eq!(goals_of(words).is_ok(), is_right, "{words}");
        }
    }
}
