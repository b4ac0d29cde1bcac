//! What could come next on an unfinished command line.

use super::workload::Workload;

/// A word that could come next, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The word.
    pub word: String,
    /// What it stands for; empty when the word says it.
    pub description: String,
}

impl Candidate {
    /// A word and what it stands for.
    pub fn new(word: impl Into<String>, description: impl Into<String>) -> Self {
        Self { word: word.into(), description: description.into() }
    }

    /// A workload by its name, told apart by the images it runs.
    #[must_use]
    pub fn of_workload(workload: &Workload, form: &NameForm) -> Self {
        let word = match form {
            NameForm::Bare => workload.name().to_owned(),
            NameForm::After(type_) => format!("{type_}/{}", workload.name()),
        };
        Self::new(word, workload.template().images().join(", "))
    }

    /// Whether a shell reads the word as this one word. It may come from a cluster, and what it puts on
    /// somebody's command line is run when they press Enter.
    #[must_use]
    pub fn is_one_word(&self) -> bool {
        let plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,@+".contains(character);
        !self.word.is_empty() && self.word.chars().all(plain)
    }
}

/// How a name is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// `web`.
    Bare,
    /// `deploy/web`: after the type, as it was typed.
    After(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_apart_is_no_word() {
        for word in ["deployment/web", "--watch=false", "5", "arn:aws:eks:eu-1:1:cluster/x", "a@b"] {
            assert!(Candidate::new(word, "").is_one_word(), "{word}");
        }
        for word in ["", "a b", "$(id)", "a;b", "`x`", "a\nb", "a\tb", "'", "~", "*", "é"] {
            assert!(!Candidate::new(word, "").is_one_word(), "{word}");
        }
    }
}
