//! Parses the values of flags: durations in Go's syntax, counts, times and revisions, and those of `-o`: words of a verb, and
//! templates of the user.

use std::ffi::OsStr;
use std::num::NonZeroU32;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use crate::error::{Error, Result};
use crate::model::revision::RevisionWord;
use crate::model::text::go_duration;
use crate::model::text::go_duration::StartTime;
use crate::model::text::jsonpath::JsonPath;
use crate::render::output_form::OutputForm;
use crate::render::template_form::{CustomColumns, TemplateForm, in_braces};
use crate::world::InputPath;

const NEEDS_UNIT: &str = "expected a duration with a unit, such as 90s or 1h30m";
const NEEDS_SECONDS: &str = "expected a duration such as 30s or 2m, or a number of seconds";

/// Parses a duration with a unit.
pub(super) fn duration(word: &str) -> Result<Duration, &'static str> {
    go_duration::parse(word).ok_or(NEEDS_UNIT)
}

/// Parses a duration that must not be 0.
pub(super) fn positive_duration(word: &str) -> Result<Duration, &'static str> {
    match duration(word)? {
        Duration::ZERO => Err("must be more than 0"),
        duration => Ok(duration),
    }
}

/// Parses `--request-timeout`: a duration, or a number of seconds.
pub(super) fn seconds_or_duration(word: &str) -> Result<Duration, &'static str> {
    go_duration::parse_or_seconds(word).ok_or(NEEDS_SECONDS)
}

/// Parses a count that must not be 0, of at most 31 bits, as numbers of Kubernetes are.
pub(super) fn positive_count(word: &str) -> Result<NonZeroU32, String> {
    let number = NonZeroU32::new(count(word)?).ok_or("must be more than 0")?;
    if number.get() > i32::MAX.unsigned_abs() {
        return Err("the number is too large".to_owned());
    }
    Ok(number)
}

/// Parses a count. The parsers of the standard library describe a bad one in words of Rust.
pub(super) fn count<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| {
        let is_number = !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit());
        if is_number { "the number is too large" } else { "expected a whole number, such as 3" }.to_owned()
    })
}

/// Parses a boolean as Go's flags do.
pub(super) fn go_bool(word: &str) -> Result<bool, String> {
    match word {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}

/// Parses a duration before now, a time of day in UTC, or an RFC 3339 time.
pub(super) fn start_time(word: &str) -> Result<StartTime, &'static str> {
    StartTime::parse(word).ok_or(
        "expected a duration such as 1h or 30m, a time of day such as 14:10 (UTC), or a time such as 2026-11-24T14:10:00Z",
    )
}

/// Parses the path of one field, `.workload.name` or `{.workload.name}`, as `kubectl get --sort-by` does.
///
/// # Errors
/// kubectl's messages.
pub(super) fn field_path(word: &str) -> Result<JsonPath, String> {
    in_braces(word)
        .and_then(|path| JsonPath::parse(&path))
        .map_err(|why| format!("error parsing jsonpath {word}, {why}"))
}

/// Returns the revision of a flag, if it selects one. As in kubectl, 0 selects none.
pub(super) fn selected(revision: Option<&RevisionWord>) -> Option<&RevisionWord> {
    revision.filter(|word| **word != RevisionWord::Number(0))
}

/// Checks that not more than one path is standard input.
///
/// # Errors
/// When two are.
pub(super) fn check_stdin_once<'a>(paths: impl IntoIterator<Item = &'a InputPath>) -> Result<()> {
    if paths.into_iter().filter(|path| **path == InputPath::Stdin).count() > 1 {
        return Err(Error::usage("standard input cannot be used for multiple arguments"));
    }
    Ok(())
}

/// The forms of a document.
pub(super) const DOCUMENTS: &Words<OutputForm> =
    &[("json", "", OutputForm::Json), ("yaml", "", OutputForm::Yaml)];

/// The forms of a table.
pub(super) const TABLES: &Words<OutputForm> = &[
    ("wide", "", OutputForm::Wide),
    ("markdown", "", OutputForm::Markdown),
    ("json", "", OutputForm::Json),
    ("yaml", "", OutputForm::Yaml),
    ("name", "", OutputForm::Name),
];

/// The form of a verb that prints lines or JSON.
pub(super) const JSON: &Words<OutputForm> = &[("json", "", OutputForm::Json)];

/// Words of a flag, each with its help, which may be empty, and its value.
pub(super) type Words<T> = [(&'static str, &'static str, T)];

/// Parses a word, in any case if the flag ignores it.
pub(super) fn words<T: Clone + Send + Sync>(words: &'static Words<T>) -> impl TypedValueParser<Value = T> {
    let possible = words.iter().map(|(word, help, _)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    });
    PossibleValuesParser::new(possible).try_map(|word| {
        let known = words.iter().find(|(known, ..)| known.eq_ignore_ascii_case(&word));
        known.map(|(.., value)| value.clone()).ok_or("unknown")
    })
}

/// Parses a value of `-o`: one of these words. As in kubectl, an empty value is as no flag.
pub(super) fn fixed_form(forms: &'static Words<OutputForm>) -> impl TypedValueParser<Value = OutputForm> {
    WordsOr { words: words(forms), other: |value| value.is_empty().then_some(Ok(OutputForm::Text)) }
}

/// Parses a value of `-o`: one of these words, or a template. As in kubectl, an empty value is as no flag.
pub(super) fn output_form(forms: &'static Words<OutputForm>) -> impl TypedValueParser<Value = OutputForm> {
    WordsOr { words: words(forms), other: template_form }
}

/// Parses a template of `-o`; `None` for the name of another form. The name is in any case, as in kubectl.
///
/// # Errors
/// kubectl's messages.
fn template_form(value: &str) -> OtherValue<OutputForm> {
    let (name, template) = value.split_once('=').unwrap_or((value, ""));
    let path = |text: &str| match text {
        "" => Err("template format specified but no template given".to_owned()),
        text => JsonPath::parse(text).map_err(|why| format!("error parsing jsonpath {text}, {why}")),
    };
    let form = match name.to_ascii_lowercase().as_str() {
        "" if value.is_empty() => return Some(Ok(OutputForm::Text)),
        "jsonpath" => path(template).map(TemplateForm::JsonPath),
        "jsonpath-as-json" => path(template).map(TemplateForm::JsonPathAsJson),
        "jsonpath-file" => Err(format!("-o {name} is not supported; use -o jsonpath=\"$(cat FILE)\"")),
        "custom-columns" => CustomColumns::parse(template).map(TemplateForm::CustomColumns),
        "custom-columns-file" => {
            Err(format!("-o {name} is not supported; use -o custom-columns=HEADER:PATH,..."))
        }
        word @ ("go-template" | "template") => Err(match jsonpath_of(template) {
            Some(path) => format!("-o {word} is not supported; use -o jsonpath='{path}'"),
            None => without_go_templates(word),
        }),
        word @ ("go-template-file" | "templatefile") => Err(without_go_templates(word)),
        "kyaml" => Err("-o kyaml is not supported; -o yaml prints the same document".to_owned()),
        _ => return None,
    };
    Some(form.map(OutputForm::Template))
}

fn without_go_templates(word: &str) -> String {
    format!("-o {word} is not supported; use -o jsonpath='{{...}}', or pass -o json to jq")
}

/// Returns the JSONPath that prints the same as a Go template; `None` for a template that is not only text, fields, strings and
/// `range` over a field.
fn jsonpath_of(template: &str) -> Option<String> {
    let is_field = |action: &str| {
        let mut names = action.split('.');
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        names.next() == Some("") && names.all(is_name)
    };
    let mut path = String::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once("{{") {
        let (action, after) = after.split_once("}}")?;
        path += text;
        path += &match action.trim() {
            "end" => "{end}".to_owned(),
            field if is_field(field) => format!("{{{field}}}"),
            string if string.len() > 1 && string.starts_with('"') && string.ends_with('"') => {
                format!("{{{string}}}")
            }
            range => format!(
                "{{range {}[*]}}",
                range.strip_prefix("range ").map(str::trim).filter(|f| is_field(f))?
            ),
        };
        rest = after;
    }
    path += rest;
    (!path.is_empty() && !path.contains('\'')).then_some(path)
}

/// A value that is no word, if it is recognized.
type OtherValue<T> = Option<Result<T, String>>;

/// Parses what `other` recognizes, and anything else as a word.
#[derive(Clone)]
pub(super) struct WordsOr<P: TypedValueParser> {
    pub(super) words: P,
    pub(super) other: fn(&str) -> OtherValue<P::Value>,
}

impl<P: TypedValueParser<Value: Sync>> TypedValueParser for WordsOr<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        match value.to_str().and_then(self.other) {
            Some(parsed) => {
                StringValueParser::new().try_map(move |_| parsed.clone()).parse_ref(command, arg, value)
            }
            None => self.words.parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.words.possible_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan with a larger number could not be read again.
    #[test]
    fn a_positive_count_has_31_bits() {
        for (word, is_valid) in [("1", true), ("2147483647", true), ("2147483648", false), ("0", false)] {
            assert_eq!(positive_count(word).is_ok(), is_valid, "{word}");
        }
    }

    #[test]
    fn a_simple_go_template_has_a_jsonpath() {
        for (template, path) in [
            ("{{.kind}}", Some("{.kind}")),
            ("{{ .metadata.name }}: {{.kind}}", Some("{.metadata.name}: {.kind}")),
            (r#"{{range .items}}{{.state}}{{"\n"}}{{end}}"#, Some(r#"{range .items[*]}{.state}{"\n"}{end}"#)),
            ("{{len .items}}", None),
            ("{{if .x}}a{{end}}", None),
            ("{{.x", None),
            ("{{.x | printf}}", None),
            ("", None),
        ] {
            assert_eq!(jsonpath_of(template).as_deref(), path, "{template}");
            assert!(path.is_none_or(|path| JsonPath::parse(path).is_ok()), "{template}");
        }
    }
}
