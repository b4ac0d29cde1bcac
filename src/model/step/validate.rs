//! Validation of a request against the number of pods.

use super::request::Request;
use crate::error::{Error, ErrorKind, Result};
use crate::model::change::plan::{Amount, Batches, Reach};
use crate::model::workload::Workload;

/// Refuses numbers that are impossible for the present replicas. It checks only the flags of this command, because a
/// plan may have begun with more replicas.
pub(super) fn check_numbers(request: &Request, workload: &Workload) -> Result<()> {
    let wanted = usize::try_from(workload.wanted()).unwrap_or_default();
    if wanted == 0 {
        return Ok(()); // the controller has not observed it yet
    }
    let target = workload.target();
    if let Some(amount) = request.pace.max_unavailable.filter(|_| wanted > 1)
        && amount.pods_of(wanted) >= wanted
    {
        return Err(refused(format!(
            "--max-unavailable {amount} would let all {wanted} pods of {target} be down at a time"
        )));
    }
    match (&request.pace.batches, request.reach) {
        (_, Some(Reach::To(amount))) if amount.pods_of(wanted) > wanted => {
            let pods = if wanted == 1 { "the only pod".to_owned() } else { format!("the {wanted} pods") };
            Err(refused(format!("--to {amount} is more than {pods} of {target}; nothing was written"))
                .hint("all of them are --to 100%, or --all"))
        }
        (Some(Batches::Until(goals)), _) => check_goals(goals, wanted),
        _ => Ok(()),
    }
}

/// Refuses a goal below the one before it. With few replicas two goals may be equal; then the second batch is skipped.
fn check_goals(goals: &[Amount], wanted: usize) -> Result<()> {
    let fall = goals.windows(2).find_map(|pair| match pair {
        [before, after] if after.pods_of(wanted) < before.pods_of(wanted) => Some((before, after)),
        _ => None,
    });
    let Some((before, after)) = fall else { return Ok(()) };
    let counted = |goal: &Amount| match goal {
        Amount::Pods(_) => goal.to_string(),
        Amount::PerCent(_) => format!("{goal}, which is {} of {wanted} here,", goal.pods_of(wanted)),
    };
    let sentence = format!("{} comes after {}", counted(after), counted(before));
    let sentence = sentence.trim_end_matches(',');
    Err(refused(format!("--batches {} goes down: {sentence}; nothing was written", listed(goals))).hint(
        "each says how many pods run the new revision after a batch, of as many as there are: 1,10%,50%,100%",
    ))
}

/// Returns the error for numbers that are valid, but not for the present replicas: a state, not a usage mistake.
fn refused(sentence: String) -> Error {
    Error::new(ErrorKind::Refused, sentence)
}

impl Batches {
    /// Refuses a list that does not end at 100%, for a command with `--all`.
    ///
    /// # Errors
    /// A usage error, whose hint is a list that ends at 100%.
    pub fn check_end(&self) -> Result<()> {
        let Self::Until(goals) = self else { return Ok(()) };
        if goals.last() == Some(&Amount::PerCent(100)) {
            return Ok(());
        }
        let goals = listed(goals);
        Err(Error::usage(format!("--batches {goals:?} does not lead to the end, and --all does"))
            .hint(format!("--batches {goals},100% says that the rest is one batch")))
    }
}

fn listed(goals: &[Amount]) -> String {
    goals.iter().map(Amount::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goals(words: &str) -> Vec<Amount> {
        words.split(',').map(|word| word.parse().unwrap()).collect()
    }

    #[test]
    fn goals_never_fall_for_the_replicas_there_are() {
        for (words, wanted, fall) in [
            ("1,10%,50%,100%", 10, None),
            ("1,10%,50%,100%", 1, None),
            ("1,10%,100%", 5, None), // 10% of 5 is the canary again
            ("50%,3,100%", 6, None),
            ("50%,3,100%", 10, Some("3 comes after 50%, which is 5 of 10 here")),
            ("9,50%", 10, Some("50%, which is 5 of 10 here, comes after 9")),
            ("1,40%,3,50%", 6, None),
            ("2,100%", 1, Some("100%, which is 1 of 1 here, comes after 2")),
        ] {
            let refused = check_goals(&goals(words), wanted).err().map(|error| error.sentence());
            match fall {
                None => assert_eq!(refused, None, "{words} of {wanted}"),
                Some(fall) => {
                    let sentence = format!("--batches {words} goes down: {fall}; nothing was written");
                    assert_eq!(refused, Some(sentence), "{words} of {wanted}");
                }
            }
        }
    }

    #[test]
    fn a_list_of_batches_must_end_at_100_per_cent_for_all() {
        assert!(Batches::By(Amount::Pods(1)).check_end().is_ok());
        assert!(Batches::Until(goals("1,100%")).check_end().is_ok());
        assert!(Batches::Until(goals("1,10%")).check_end().is_err());
    }
}
