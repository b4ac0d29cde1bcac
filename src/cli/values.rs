//! Parses the values of flags: durations in Go's syntax, counts, times and revisions, and those of `-o`: words of a verb, and
//! templates of the user.

use std::ffi::OsStr;
use std::num::NonZeroU32;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use crate::command::read_template;
use crate::error::{Error, Result};
use crate::model::revision::RevisionWord;
use crate::model::text::go_duration;
use crate::model::text::jsonpath::JsonPath;
use crate::model::text::start_time::StartTime;
use crate::render::template_form::{CustomColumns, TemplateForm};
use crate::render::ui::{DocumentForm, TableForm};

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

/// Parses a count that must not be 0.
pub(super) fn positive_count(word: &str) -> Result<NonZeroU32, String> {
    NonZeroU32::new(count(word)?).ok_or_else(|| "must be more than 0".to_owned())
}

/// Parses a count. The parsers of the standard library describe a bad one in words of Rust.
pub(super) fn count<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| {
        let is_number = !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit());
        if is_number { "the number is too large" } else { "expected a whole number, such as 3" }.to_owned()
    })
}

/// Parses a duration before now, a time of day in UTC, or an RFC 3339 time.
pub(super) fn start_time(word: &str) -> Result<StartTime, &'static str> {
    StartTime::parse(word).ok_or(
        "expected a duration such as 1h or 30m, a time of day such as 14:10 (UTC), or a time such as 2026-11-24T14:10:00Z",
    )
}

/// Returns the revision of a verb's `--revision`, if it selects one. As in kubectl, 0 selects none.
pub(super) fn revision(word: Option<&str>) -> Result<Option<RevisionWord>> {
    let word = word.map(RevisionWord::read).transpose()?;
    Ok(word.filter(|word| *word != RevisionWord::Number(0)))
}

/// A value of `-o`.
#[derive(Clone, Debug)]
pub(super) enum OutputForm<T> {
    /// The form of a word of the verb: `json`.
    Word(T),
    /// A template: its form, and what follows the `=`.
    Template(TemplateWord, String),
}

/// The forms of a document.
pub(super) const DOCUMENTS: &Words<DocumentForm> =
    &[("json", "", DocumentForm::Json), ("yaml", "", DocumentForm::Yaml)];

/// The forms of a table.
pub(super) const TABLES: &Words<TableForm> = &[
    ("wide", "", TableForm::Wide),
    ("markdown", "", TableForm::Markdown),
    ("json", "", TableForm::Document(DocumentForm::Json)),
    ("yaml", "", TableForm::Document(DocumentForm::Yaml)),
    ("name", "", TableForm::Name),
];

/// The form of a verb that prints lines or JSON.
pub(super) const JSON: &Words<()> = &[("json", "", ())];

impl OutputForm<DocumentForm> {
    /// Returns the form of the document.
    ///
    /// # Errors
    /// As [`TemplateWord::parse`].
    pub(super) fn lower(self) -> Result<DocumentForm> {
        match self {
            Self::Word(form) => Ok(form),
            Self::Template(word, template) => word.parse(&template),
        }
    }
}

/// The forms of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateWord {
    JsonPath,
    JsonPathAsJson,
    JsonPathFile,
    CustomColumns,
    CustomColumnsFile,
    /// One of kubectl's forms of a Go template.
    Go(&'static str),
}

/// The forms by their names, in any case as in kubectl.
const WORDS: [(&str, TemplateWord); 9] = [
    ("jsonpath", TemplateWord::JsonPath),
    ("jsonpath-as-json", TemplateWord::JsonPathAsJson),
    ("jsonpath-file", TemplateWord::JsonPathFile),
    ("custom-columns", TemplateWord::CustomColumns),
    ("custom-columns-file", TemplateWord::CustomColumnsFile),
    ("go-template", TemplateWord::Go("go-template")),
    ("go-template-file", TemplateWord::Go("go-template-file")),
    ("template", TemplateWord::Go("template")),
    ("templatefile", TemplateWord::Go("templatefile")),
];

impl TemplateWord {
    /// Returns the form that a value of `-o` begins with, and what follows.
    fn read(value: &str) -> Option<(Self, &str)> {
        let (name, template) = value.split_once('=').unwrap_or((value, ""));
        let (_, word) = WORDS.iter().find(|(word, _)| name.eq_ignore_ascii_case(word))?;
        Some((*word, template))
    }

    /// Parses a template for the objects of `kubectl rollout`, which has no custom columns.
    ///
    /// # Errors
    /// As [`TemplateWord::parse`].
    pub(super) fn parse_as_rollout(self, template: &str) -> Result<DocumentForm> {
        match self {
            Self::CustomColumns | Self::CustomColumnsFile => {
                let word = if self == Self::CustomColumns { "custom-columns" } else { "custom-columns-file" };
                Err(no_such_form(&format!("{word}={template}")).hint("use -o jsonpath='{...}'"))
            }
            other => other.parse(template),
        }
    }

    /// Parses a template.
    ///
    /// # Errors
    /// Usage errors with kubectl's messages.
    pub(super) fn parse(self, template: &str) -> Result<DocumentForm> {
        let path = |text: &str| match text {
            "" => Err(Error::usage("template format specified but no template given")),
            text => JsonPath::parse(text)
                .map_err(|why| Error::usage(format!("error parsing jsonpath {text}, {why}"))),
        };
        let form = match self {
            Self::JsonPath => TemplateForm::JsonPath(path(template)?),
            Self::JsonPathAsJson => TemplateForm::JsonPathAsJson(path(template)?),
            Self::JsonPathFile => TemplateForm::JsonPath(path(&read_template(template)?)?),
            Self::CustomColumns => {
                TemplateForm::CustomColumns(CustomColumns::parse(template).map_err(Error::usage)?)
            }
            Self::CustomColumnsFile => {
                let columns = CustomColumns::parse_file(&read_template(template)?);
                TemplateForm::CustomColumns(columns.map_err(Error::usage)?)
            }
            Self::Go(word) => {
                return Err(Error::usage(format!("-o {word} is not supported"))
                    .hint("use -o jsonpath='{...}', or pass -o json to jq"));
            }
        };
        Ok(DocumentForm::Template(form))
    }
}

/// Returns kubectl's error for a form that `kubectl rollout` does not have. It lists those that this program has.
fn no_such_form(form: &str) -> Error {
    Error::usage(format!(
        "unable to match a printer suitable for the output format {form:?}, allowed formats are: \
         json,jsonpath,jsonpath-as-json,jsonpath-file,name,yaml"
    ))
}

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

/// Parses a value of `-o`: one of these words, or a template.
pub(super) fn output_form<T: Clone + Send + Sync>(
    forms: &'static Words<T>,
) -> impl TypedValueParser<Value = OutputForm<T>> {
    let template = |value: &str| {
        let (word, template) = TemplateWord::read(value)?;
        Some(Ok(OutputForm::Template(word, template.to_owned())))
    };
    WordsOr { words: words(forms).map(OutputForm::Word), other: template }
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
