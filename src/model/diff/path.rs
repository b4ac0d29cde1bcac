//! The path of a change: where in a template it is, in a form that a person reads and a program parses.
//!
//! ```text
//! spec.containers[web].env[MODE].value
//! metadata.annotations."prometheus.io/scrape"
//! spec.containers[web].ports[containerPort=8080,protocol=TCP].name
//! ```
//!
//! A member follows a dot, an element of a keyed list stands in brackets, and a name that could be
//! taken for something else is a JSON string. JSON pointers would be parsed by more programs, but
//! they name list elements by position, and the position is what a path through a template must not
//! depend on.

use std::fmt;
use std::str::FromStr;

/// One step down into a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// Into a member of an object, by its name as it is.
    Member(String),
    /// Into an element of a list, by its key: `MODE`, `"a b"`, `containerPort=80,protocol=TCP`, `MODE#2` when doubled.
    Element(String),
}

/// The steps from the root of a template to one value in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(Vec<Step>);

impl Path {
    /// The steps, from the root.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    pub(super) fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }
}

impl From<&[Step]> for Path {
    fn from(steps: &[Step]) -> Self {
        Self(steps.to_vec())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Member(name) => {
                    let dot = if index == 0 { "" } else { "." };
                    write!(f, "{dot}{}", member(name))?;
                }
                Step::Element(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

/// A member's name: bare when it consists of what field names do.
fn member(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted(name) }
}

/// A text as part of an element's key: bare unless it could be taken for a number, a truth value or
/// a part of the path.
pub(super) fn key_text(text: &str) -> String {
    let mark = |c: char| c.is_whitespace() || c.is_control() || "[]\"=,#".contains(c);
    let other_type = || serde_json::from_str::<serde_json::Value>(text).is_ok();
    if text.is_empty() || text.contains(mark) || other_type() { quoted(text) } else { text.to_owned() }
}

/// The values in an element's key, as they are: `web` of `[web]`, `8080` and `TCP` of
/// `[containerPort=8080,protocol=TCP]`.
#[must_use]
pub fn key_values(key: &str) -> Vec<String> {
    let (key, _) = cut(key, '#');
    let mut rest = Some(key);
    let next = || {
        let (part, more) = cut(rest.take()?, ',');
        rest = more;
        let value = cut(part, '=').1.unwrap_or(part);
        Some(serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned()))
    };
    std::iter::from_fn(next).collect()
}

/// The text before and after the first `mark` that is not in a JSON string.
fn cut(text: &str, mark: char) -> (&str, Option<&str>) {
    match token_end(text, |c| c == mark) {
        Some(end) => (&text[..end], Some(&text[end + mark.len_utf8()..])),
        None => (text, None),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text that is no path, with what is wrong and where (in bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAPath {
    /// What was missing.
    pub expected: &'static str,
    /// Where it was missing.
    pub at: usize,
}

impl fmt::Display for NotAPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.at)
    }
}

impl FromStr for Path {
    type Err = NotAPath;

    fn from_str(text: &str) -> Result<Self, NotAPath> {
        let mut path = Self::default();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let expected = |expected| NotAPath { expected, at };
            if let Some(inner) = rest.strip_prefix('[') {
                let end = token_end(inner, |c| c == ']').ok_or(expected("a closing bracket"))?;
                path.push(Step::Element(inner[..end].to_owned()));
                at += end + 2;
            } else {
                let dot = usize::from(!path.0.is_empty());
                let name = if dot == 1 { rest.strip_prefix('.').ok_or(expected("a dot"))? } else { rest };
                let end = token_end(name, |c| c == '.' || c == '[').unwrap_or(name.len());
                path.push(Step::Member(read_member(&name[..end]).ok_or(expected("a name"))?));
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

/// Where the first character outside of JSON strings is that `ends` holds for.
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

    fn member(name: &str) -> Step {
        Step::Member(name.to_owned())
    }

    #[test]
    fn paths_read_as_people_write_them() {
        let path = Path(vec![
            member("spec"),
            member("containers"),
            Step::Element(key_text("web")),
            member("volumeMounts"),
            Step::Element(key_text("/etc/web")),
            member("a b"),
        ]);
        assert_eq!(path.to_string(), r#"spec.containers[web].volumeMounts[/etc/web]."a b""#);
    }

    #[test]
    fn names_that_could_be_something_else_are_quoted() {
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
    fn what_is_no_path_is_refused() {
        for text in ["a[b", "a[b]c", "a..b", ".a", r#"a."b"#, r#"a."b"c"#, "a b"] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            any::<String>().prop_map(Step::Member),
            (any::<String>(), 1..3_u8).prop_map(|(text, nth)| {
                let key = key_text(&text);
                Step::Element(if nth == 1 { key } else { format!("{key}#{nth}") })
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_path_is_parsed_back(steps in prop::collection::vec(any_step(), 0..6)) {
            let path = Path(steps);
            prop_assert_eq!(path.to_string().parse::<Path>(), Ok(path));
        }

        #[test]
        fn any_text_is_a_path_or_is_refused(text in any::<String>()) {
            let _ = text.parse::<Path>();
        }
    }
}
