//! A candidate for the next word of a command line.

use crate::model::workload::Workload;

/// A candidate and its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The word.
    pub word: String,
    /// The description; may be empty.
    pub description: String,
}

impl Candidate {
    /// Creates a candidate.
    pub fn new(word: impl Into<String>, description: impl Into<String>) -> Self {
        Self { word: word.into(), description: description.into() }
    }

    /// Creates the candidate for a workload, described by its images.
    #[must_use]
    pub fn of_workload(workload: &Workload, form: &NameForm) -> Self {
        let word = match form {
            NameForm::Bare => workload.name().to_owned(),
            NameForm::After(type_) => format!("{type_}/{}", workload.name()),
        };
        Self::new(word, workload.template().images().join(", "))
    }

    /// Whether every shell reads the word as one literal word. A name from the cluster must not inject a command
    /// into the user's command line.
    #[must_use]
    pub fn is_one_word(&self) -> bool {
        let plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,@+".contains(character);
        !self.word.is_empty() && self.word.chars().all(plain)
    }
}

/// How a name is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// The name alone: `web`.
    Bare,
    /// The type as typed, a slash and the name: `deploy/web`.
    After(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_a_shell_would_split_is_dropped() {
        for word in ["deployment/web", "--watch=false", "5", "arn:aws:eks:eu-1:1:cluster/x", "a@b"] {
            assert!(Candidate::new(word, "").is_one_word(), "{word}");
        }
        for word in ["", "a b", "$(id)", "a;b", "`x`", "a\nb", "a\tb", "'", "~", "*", "é"] {
            assert!(!Candidate::new(word, "").is_one_word(), "{word}");
        }
    }
}
