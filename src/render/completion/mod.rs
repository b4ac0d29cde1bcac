//! What a shell is told that asks how a line could go on, and the scripts by which it asks.
//!
//! The protocol is cobra's, because kubectl speaks it with its plugins: a candidate a line, a tab before
//! what it stands for, and a last line with a colon and a number, which says what to do besides.

use super::escape;
use crate::model::candidate::Candidate;

/// What a shell is told besides the candidates. All but [`Directive::Files`] say that file names are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directive {
    /// Nothing special.
    #[default]
    Words,
    /// The word goes on after the candidate: no blank behind it.
    Unfinished,
    /// The candidates are in an order that means something.
    InThisOrder,
    /// File names are what is wanted.
    Files,
}

impl Directive {
    /// The sum of cobra's bits: 2 no blank, 4 no files, 32 keep the order.
    fn number(self) -> u8 {
        match self {
            Self::Words => 4,
            Self::Unfinished => 4 + 2,
            Self::InThisOrder => 4 + 32,
            Self::Files => 0,
        }
    }
}

/// The answer to a shell.
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

/// Who asks how a line could go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// bash, 3.2 or newer.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
    /// `PowerShell`.
    PowerShell,
    /// kubectl, for its plugin.
    Kubectl,
}

/// The script by which it asks.
#[must_use]
pub fn script(asker: Asker) -> &'static str {
    match asker {
        Asker::Bash => include_str!("ask.bash"),
        Asker::Zsh => include_str!("ask.zsh"),
        Asker::Fish => include_str!("ask.fish"),
        Asker::PowerShell => include_str!("ask.ps1"),
        Asker::Kubectl => include_str!("../../../krew/kubectl_complete-rollout2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_stays_on_its_line_and_shows_what_a_terminal_would_obey() {
        let candidates = [Candidate::new("5", "a\tb\nc\x1b[31m"), Candidate::new("4", "")];
        assert_eq!(answer(&candidates, Directive::InThisOrder), "5\ta\\tb\\nc^[[31m\n4\n:36\n");
    }
}
