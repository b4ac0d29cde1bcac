//! The path of a change, in a form that is readable and can be parsed.
//!
//! ```text
//! spec.containers[web].env[MODE].value
//! metadata.annotations."prometheus.io/scrape"
//! spec.containers[web].ports[containerPort=8080,protocol=TCP].name
//! ```
//!
//! A member follows a dot, and an element of a keyed list stands in brackets. An ambiguous name is
//! a JSON string. JSON pointers identify list elements by position, which changes between
//! revisions.

use std::fmt;
use std::str::FromStr;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathStep {
    /// A member of an object, by its name.
    Member(String),
    /// An element of a list, by its key: `MODE`, `"a b"`, `containerPort=80,protocol=TCP`. `MODE#2`
    /// is the second element with that key.
    Element(String),
}

/// The steps from the root of a template to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TemplatePath(Vec<PathStep>);

impl TemplatePath {
    /// Returns the steps, from the root.
    #[must_use]
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    pub(super) fn push(&mut self, step: PathStep) {
        self.0.push(step);
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }
}

impl From<&[PathStep]> for TemplatePath {
    fn from(steps: &[PathStep]) -> Self {
        Self(steps.to_vec())
    }
}

impl fmt::Display for TemplatePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Member(name) => {
                    let dot = if index == 0 { "" } else { "." };
                    write!(f, "{dot}{}", member(name))?;
                }
                PathStep::Element(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

/// Returns the name of a member, quoted unless it only has the characters of field names.
fn member(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted(name) }
}

/// Returns a text as part of a key, quoted if it could be read as a number, a boolean or a part of
/// the path.
pub(super) fn key_text(text: &str) -> String {
    let mark = |c: char| c.is_whitespace() || c.is_control() || "[]\"=,#".contains(c);
    let other_type = || serde_json::from_str::<serde_json::Value>(text).is_ok();
    if text.is_empty() || text.contains(mark) || other_type() { quoted(text) } else { text.to_owned() }
}

/// Returns the values in a key: `web` of `[web]`, `8080` and `TCP` of
/// `[containerPort=8080,protocol=TCP]`.
#[must_use]
pub fn key_values(key: &str) -> Vec<String> {
    let (key, _) = cut(key, '#');
    let mut rest = Some(key);
    let next = || {
        let (key_part, more) = cut(rest.take()?, ',');
        rest = more;
        let value = cut(key_part, '=').1.unwrap_or(key_part);
        Some(serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned()))
    };
    std::iter::from_fn(next).collect()
}

/// Splits at the first `mark` outside of JSON strings.
fn cut(text: &str, mark: char) -> (&str, Option<&str>) {
    match token_end(text, |c| c == mark) {
        Some(end) => (&text[..end], Some(&text[end + mark.len_utf8()..])),
        None => (text, None),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Why a text is not a path, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathError {
    /// What was expected.
    pub expected: &'static str,
    /// The byte offset.
    pub at: usize,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.at)
    }
}

impl FromStr for TemplatePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut path = Self::default();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let expected = |expected| PathError { expected, at };
            if let Some(inner) = rest.strip_prefix('[') {
                let end = token_end(inner, |c| c == ']').ok_or(expected("a closing bracket"))?;
                path.push(PathStep::Element(inner[..end].to_owned()));
                at += end + 2;
            } else {
                let dot = usize::from(!path.0.is_empty());
                let name = if dot == 1 { rest.strip_prefix('.').ok_or(expected("a dot"))? } else { rest };
                let end = token_end(name, |c| c == '.' || c == '[').unwrap_or(name.len());
                path.push(PathStep::Member(read_member(&name[..end]).ok_or(expected("a name"))?));
                at += dot + end;
            }
        }
        Ok(path)
    }
}

fn read_member(name: &str) -> Option<String> {
    if name.starts_with('"') { serde_json::from_str(name).ok() } else { Some(name.to_owned()) }
        .filter(|text| name.starts_with('"') || member(text) == name)
}

/// Returns the offset of the first character outside of JSON strings for which `ends` holds.
fn token_end(text: &str, ends: impl Fn(char) -> bool) -> Option<usize> {
    let (mut in_string, mut escaped) = (false, false);
    for (index, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if !in_string && ends(c) => return Some(index),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn member(name: &str) -> PathStep {
        PathStep::Member(name.to_owned())
    }

    #[test]
    fn paths_are_printed_in_the_documented_form() {
        let path = TemplatePath(vec![
            member("spec"),
            member("containers"),
            PathStep::Element(key_text("web")),
            member("volumeMounts"),
            PathStep::Element(key_text("/etc/web")),
            member("a b"),
        ]);
        assert_eq!(path.to_string(), r#"spec.containers[web].volumeMounts[/etc/web]."a b""#);
    }

    #[test]
    fn ambiguous_names_are_quoted() {
        for (text, key) in [
            ("web", "web"),
            ("8080", r#""8080""#),
            ("true", r#""true""#),
            ("", r#""""#),
            ("a]b", r#""a]b""#),
            ("a#2", r#""a#2""#),
            ("a=b", r#""a=b""#),
        ] {
            assert_eq!(key_text(text), key);
            assert_eq!(key_values(&format!("{key}#2")), [text]);
            assert_eq!(key_values(&format!("a={key},b={key}")), [text, text]);
        }
    }

    #[test]
    fn invalid_paths_are_refused() {
        for text in ["a[b", "a[b]c", "a..b", ".a", r#"a."b"#, r#"a."b"c"#, "a b"] {
            assert!(text.parse::<TemplatePath>().is_err(), "{text}");
        }
    }

    fn any_step() -> impl Strategy<Value = PathStep> {
        prop_oneof![
            any::<String>().prop_map(PathStep::Member),
            (any::<String>(), 1..3_u8).prop_map(|(text, nth)| {
                let key = key_text(&text);
                PathStep::Element(if nth == 1 { key } else { format!("{key}#{nth}") })
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_path_is_parsed_back(steps in prop::collection::vec(any_step(), 0..6)) {
            let path = TemplatePath(steps);
            prop_assert_eq!(path.to_string().parse::<TemplatePath>(), Ok(path));
        }

        #[test]
        fn any_text_is_a_path_or_is_refused(text in any::<String>()) {
            let _ = text.parse::<TemplatePath>();
        }
    }
}
