//! Disarms lines of a log that a CI system would execute as commands.
//!
//! GitHub Actions runs `::stop-commands::` and `::add-mask::` at the start of a line, blanks or not, and
//! `##[group]` anywhere in one; GitLab folds at `section_start:`; Azure Pipelines and `TeamCity` obey `##vso[`
//! and `##teamcity[`. Text from the cluster can contain such lines. If `CI` is set, they are changed so that they are
//! printed and not executed.

use std::borrow::Cow;

/// The prefix that disarms a line.
const PREFIX: &str = "| ";

/// Commands that are executed at the start of a line, after optional white space.
const AT_THE_START: [&str; 3] = ["::", "section_start:", "section_end:"];

/// Commands that are executed anywhere in a line. A backslash after the hashes disarms them.
const ANYWHERE: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// Returns the text with every such line changed, so that a CI system does not execute it.
#[must_use]
pub fn disarmed(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| begins(line) || holds(line)) {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let line = ANYWHERE
            .iter()
            .fold(line.to_owned(), |line, command| line.replace(command, &format!("##\\{}", &command[2..])));
        if begins(&line) { format!("{PREFIX}{line}") } else { line }
    });
    Cow::Owned(lines.collect())
}

fn begins(line: &str) -> bool {
    AT_THE_START.iter().any(|command| line.trim_start().starts_with(command))
}

fn holds(line: &str) -> bool {
    ANYWHERE.iter().any(|command| line.contains(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ci_command_is_escaped() {
        for (text, safe) in [
            ("::stop-commands::x\n", "| ::stop-commands::x\n"),
            ("a\n \t::add-mask::y\nb", "a\n|  \t::add-mask::y\nb"),
            ("\u{3000}::error::y", "| \u{3000}::error::y"),
            ("section_start:1:a", "| section_start:1:a"),
            ("x ##[group]y", "x ##\\[group]y"),
            ("##vso[task.setvariable]x", "##\\vso[task.setvariable]x"),
            ("##teamcity[x]\n", "##\\teamcity[x]\n"),
        ] {
            assert_eq!(disarmed(text), safe);
            assert!(matches!(disarmed(safe), Cow::Borrowed(_)), "once is enough");
        }
        for text in ["", "a ::b::\n", "| ::x", "# [x]", "a\n\nb\n"] {
            assert!(matches!(disarmed(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }
}
