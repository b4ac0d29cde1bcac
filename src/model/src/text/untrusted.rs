//! Text from outside that something would obey: characters that a terminal obeys or hides, lines of a log that a CI system would
//! execute as commands, and names that would change the path of a URL, as `..` and `/` do.
//!
//! GitHub Actions runs `::stop-commands::` and `::add-mask::` at the start of a line, blanks or not, and
//! `##[group]` anywhere in one; GitLab folds at `section_start:`; Azure Pipelines and `TeamCity` obey `##vso[`
//! and `##teamcity[`. Text from the cluster can contain such lines. Where a CI system reads the log, they are changed so
//! that they are printed and not executed. JSON and YAML write the commands with an escape, which stays the same value.

use std::borrow::Cow;

use crate::error::{Error, Result};

/// The prefix that disarms a line.
const PREFIX: &str = "| ";

/// Commands that are executed at the start of a line, after optional white space.
const AT_THE_START: [&str; 3] = ["::", "section_start:", "section_end:"];

/// Commands that are executed anywhere in a line. A backslash after the hashes disarms them.
const ANYWHERE: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// Percent-encodes every byte but letters, digits, `-._~` and the `kept` ones.
#[must_use]
pub fn percent_encoded(text: &str, kept: &str) -> String {
    let is_kept =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.as_bytes().contains(&byte);
    let encoded = |byte| if is_kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encoded).collect()
}

/// Returns the text with every such line changed, so that a CI system does not execute it.
#[must_use]
pub fn disarmed(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| begins_command(line) || holds(line)) {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let line = ANYWHERE
            .iter()
            .fold(line.to_owned(), |line, command| line.replace(command, &format!("##\\{}", &command[2..])));
        if begins_command(&line) { format!("{PREFIX}{line}") } else { line }
    });
    Cow::Owned(lines.collect())
}

/// Returns JSON text with such commands escaped. Hashes are part of strings only.
#[must_use]
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    if !holds(json) {
        return Cow::Borrowed(json);
    }
    let escape = |json: String, command: &&str| json.replace(*command, &command.replace('#', ESCAPED_HASH));
    Cow::Owned(ANYWHERE.iter().fold(json.to_owned(), escape))
}

/// A hash in a string of JSON, and in a double-quoted one of YAML.
pub(super) const ESCAPED_HASH: &str = "\\u0023";

/// Whether a string has such a command anywhere in a line, or at the start of one of several lines.
pub(super) fn is_command(text: &str) -> bool {
    holds(text) || text.contains('\n') && text.lines().any(begins_command)
}

/// Whether a line begins with such a command.
pub(super) fn begins_command(line: &str) -> bool {
    AT_THE_START.iter().any(|command| line.trim_start().starts_with(command))
}

fn holds(line: &str) -> bool {
    ANYWHERE.iter().any(|command| line.contains(command))
}

/// Whether a character can mislead a terminal or a reader.
///
/// These are C0 and C1 controls, delete, line and paragraph separators, bidirectional formatting,
/// and every `Default_Ignorable_Code_Point` of Unicode: zero-width characters, fillers, tags and
/// variation selectors. A whole text can be hidden in those. The joiners inside emoji and some
/// scripts are among them; in names and messages from a cluster that is acceptable.
#[must_use]
pub fn is_misleading(character: char) -> bool {
    !matches!(character, ' '..='~') // almost every character: tested alone, before the list
        && matches!(character,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// The longest label of RFC 1123.
const LONGEST_LABEL: usize = 63;

/// The longest subdomain of RFC 1123.
const LONGEST_SUBDOMAIN: usize = 253;

/// Checks the name of an object as kubectl does before a request.
///
/// # Errors
/// kubectl's usage error.
pub fn check_object(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::usage("resource name may not be empty"));
    }
    check_piece("resource name", name)
}

/// Checks the name of a namespace as kubectl does before a request.
///
/// # Errors
/// kubectl's usage error.
pub fn check_namespace(name: &str) -> Result<()> {
    check_piece("namespace", name)
}

/// Checks the name of a namespace that a person typed. kubectl sends any name that a URL can contain, and finds nothing in it.
///
/// # Errors
/// A usage error when no namespace can have the name.
pub fn check_namespace_name(name: &str) -> Result<()> {
    if is_namespace_name(name) {
        return Ok(());
    }
    Err(Error::usage(format!("{name:?} is not a valid namespace name"))
        .hint("use up to 63 lower-case letters, digits and '-', with a letter or digit at both ends"))
}

/// Whether a namespace can have this name: a label of RFC 1123.
#[must_use]
pub fn is_namespace_name(name: &str) -> bool {
    name.len() <= LONGEST_LABEL && is_label(name)
}

/// Whether a workload, a pod or a node can have this name: a subdomain of RFC 1123.
#[must_use]
pub fn is_object_name(name: &str) -> bool {
    name.len() <= LONGEST_SUBDOMAIN && name.split('.').all(is_label)
}

/// Whether the text is a label of RFC 1123, of any length.
fn is_label(label: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (first, last) = (label.bytes().next(), label.bytes().last());
    label.bytes().all(|byte| is_plain(byte) || byte == b'-')
        && first.is_some_and(is_plain)
        && last.is_some_and(is_plain)
}

/// Escaping is not enough: servers and proxies resolve `%2E%2E` as they resolve `..`.
fn check_piece(what: &str, name: &str) -> Result<()> {
    let faults: Vec<String> = match name {
        "." | ".." => vec![format!("may not be '{name}'")],
        _ => ['/', '%']
            .iter()
            .filter(|&&c| name.contains(c))
            .map(|c| format!("may not contain '{c}'"))
            .collect(),
    };
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!("invalid {what} {name:?}: [{}]", faults.join(" "))))
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
        let json = serde_json::json!({"##[a": "##vso[b]\\##teamcity[c]###[d", "#": "##"}).to_string();
        let escaped = escaped_json(&json);
        assert!(!holds(&escaped), "{escaped}");
        let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(same(&escaped), same(&json));
        for text in ["", "a ::b::\n", "| ::x", "# [x]", "a\n\nb\n"] {
            assert!(matches!(disarmed(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn a_namespace_is_a_label() {
        for name in ["a", "shop", "a-b", "0", &"a".repeat(63)] {
            assert!(is_namespace_name(name), "{name}");
        }
        for name in ["", "-", "a-", "-a", "A", "a.b", "a/b", "..", "ä", &"a".repeat(64)] {
            assert!(!is_namespace_name(name), "{name}");
        }
    }

    #[test]
    fn an_object_is_a_subdomain() {
        for name in ["a", "web-1", "db.v2", "0", "ip-10-0-0-1.ec2.internal", &"a".repeat(253)] {
            assert!(is_object_name(name), "{name}");
        }
        for name in ["", ".", "a.", ".a", "a..b", "-a", "A", "a b", "a;b", "ä", &"a".repeat(254)] {
            assert!(!is_object_name(name), "{name}");
        }
    }

    #[test]
    fn names_that_change_a_url_are_refused() {
        for name in [".", "..", "a/b", "../x", "%2e%2e"] {
            assert!(check_object(name).is_err() && check_namespace(name).is_err(), "{name}");
        }
        assert!(check_object("a..b").is_ok() && check_object("").is_err());
    }
}
