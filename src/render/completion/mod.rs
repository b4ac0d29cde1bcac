//! The answer to a completion request, and the scripts that send the request.
//!
//! The protocol is cobra's, which kubectl uses for plugins. Each line has a candidate, a tab and a description.
//! The last line has a colon and a number, the directive.

pub mod candidate;

use self::candidate::Candidate;
use super::escape;

/// The instruction for the shell. All except [`Directive::Files`] disable the completion of file names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directive {
    /// Candidates are whole words.
    #[default]
    Words,
    /// The word continues after the candidate, so no space follows it.
    Unfinished,
    /// The shell must keep the order of the candidates.
    InThisOrder,
    /// The shell completes file names.
    Files,
}

impl Directive {
    /// Returns the sum of cobra's bits: 2 for no space, 4 for no file names, 32 to keep the order.
    fn number(self) -> u8 {
        match self {
            Self::Words => 4,
            Self::Unfinished => 4 + 2,
            Self::InThisOrder => 4 + 32,
            Self::Files => 0,
        }
    }
}

/// Formats the answer to a shell.
#[must_use]
pub fn answer(candidates: &[Candidate], directive: Directive) -> String {
    let lines = candidates.iter().map(|Candidate { word, description }| {
        if description.is_empty() {
            format!("{word}\n")
        } else {
            format!("{word}\t{}\n", escape::line(description))
        }
    });
    lines.collect::<String>() + &format!(":{}\n", directive.number())
}

/// The program that requests completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionClient {
    /// bash, 3.2 or newer.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
    /// `PowerShell`.
    PowerShell,
    /// kubectl, for a plugin.
    Kubectl,
}

/// Returns the script that connects a shell or kubectl to `rollout2`.
#[must_use]
pub fn script(client: CompletionClient) -> &'static str {
    match client {
        CompletionClient::Bash => include_str!("ask.bash"),
        CompletionClient::Zsh => include_str!("ask.zsh"),
        CompletionClient::Fish => include_str!("ask.fish"),
        CompletionClient::PowerShell => include_str!("ask.ps1"),
        CompletionClient::Kubectl => include_str!("../../../krew/kubectl_complete-rollout2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_one_escaped_line() {
        let candidates = [Candidate::new("5", "a\tb\nc\x1b[31m"), Candidate::new("4", "")];
        assert_eq!(answer(&candidates, Directive::InThisOrder), "5\ta\\tb\\nc^[[31m\n4\n:36\n");
    }
}
