//! The answer to a completion request, and the scripts that send the request.
//!
//! The protocol is cobra's, which kubectl uses for plugins. Each line has a candidate, a tab and a description.
//! The last line has a colon and a number, the directive.

use super::line::Line;

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

    /// Whether every shell reads the word as one literal word. A name from the cluster must not inject a command
    /// into the user's command line.
    #[must_use]
    pub fn is_one_word(&self) -> bool {
        let plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,@+".contains(character);
        !self.word.is_empty() && self.word.chars().all(plain)
    }
}

/// The instruction for the shell, as the sum of cobra's bits: 2 for no space, 4 for no file names, 32 to keep the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directive {
    /// Candidates are whole words.
    #[default]
    Words = 4,
    /// The word continues after the candidate, so no space follows it.
    Unfinished = 4 + 2,
    /// The shell must keep the order of the candidates.
    InThisOrder = 4 + 32,
    /// The shell completes file names.
    Files = 0,
}

/// Formats the answer to a shell.
#[must_use]
pub fn answer(candidates: &[Candidate], directive: Directive) -> String {
    let lines = candidates.iter().map(|Candidate { word, description }| {
        if description.is_empty() {
            format!("{word}\n")
        } else {
            format!("{word}\t{}\n", Line::of(description).text())
        }
    });
    lines.collect::<String>() + &format!(":{}\n", directive as u8)
}

/// The script for bash, 3.2 or newer.
pub const BASH: &str = include_str!("ask.bash");
/// The script for zsh.
pub const ZSH: &str = include_str!("ask.zsh");
/// The script for fish.
pub const FISH: &str = include_str!("ask.fish");
/// The script for `PowerShell`.
pub const POWERSHELL: &str = include_str!("ask.ps1");
/// The script that kubectl runs for a plugin.
pub const KUBECTL: &str = include_str!("../../../krew/kubectl_complete-rollout2");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_one_escaped_line() {
        let candidates = [Candidate::new("5", "a\tb\nc\x1b[31m"), Candidate::new("4", "")];
        assert_eq!(answer(&candidates, Directive::InThisOrder), "5\ta\\tb\\nc^[[31m\n4\n:36\n");
    }

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
