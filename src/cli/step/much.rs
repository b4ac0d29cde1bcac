//! How much a step releases, and how much at a time.

use clap::Args;

use crate::error::{Error, Result};
use crate::model::step::{Amount, Batches, Reach};

/// How large batches are, how many of them, and how many pods may be down.
#[derive(Debug, Args)]
#[command(next_help_heading = "How much")]
pub(super) struct MuchArgs {
    /// So many pods a batch, or per cent of the replicas: 2, 25% [default: 1]
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true, conflicts_with = "batches")]
    by: Option<String>,

    /// How many pods run the new revision after each batch: 1,10%,50%,100%
    #[arg(long, value_name = "N|N%,...", allow_hyphen_values = true)]
    batches: Option<String>,

    /// Go on until so many pods run the new revision
    ///
    /// A StatefulSet with a partition of its own is stepped down to that one, and further only with
    /// --to 100%.
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true, conflicts_with = "all")]
    to: Option<String>,

    /// Go on to the end
    #[arg(long)]
    all: bool,

    /// Do without the batch of one pod that goes ahead while no pod runs the new revision
    #[arg(long)]
    no_canary: bool,

    /// So many pods may be unavailable, those that are taken down included: 1, 10% [default: 1]
    #[arg(long, value_name = "N|N%", allow_hyphen_values = true)]
    max_unavailable: Option<String>,
}

impl MuchArgs {
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

/// A goal that is not above the one before it releases nothing. Pods and per cent are compared once the
/// replicas are known, before anything is written.
fn goals_of(words: &str) -> Result<Vec<Amount>> {
    let goals: Vec<Amount> = words.split(',').map(|word| amount("--batches", word)).collect::<Result<_>>()?;
    let (mut pods, mut per_cents) = (0, 0);
    for goal in &goals {
        let (number, last) = match goal {
            Amount::Pods(number) => (*number, &mut pods),
            Amount::PerCent(number) => (*number, &mut per_cents),
        };
        if number <= *last {
            return Err(Error::usage(format!(
                "--batches {words:?}: {goal} is not above what stands before it"
            ))
            .hint("each says how many pods run the new revision after a batch: 1,10%,50%,100%"));
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
            ("50%,3,100%,5", true), // which is more depends on the replicas
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
