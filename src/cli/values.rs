//! Parses the values of flags: durations in Go's syntax, counts, times and revisions, and those of `-o`: words of a verb, and
//! templates of the user.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::time::Duration;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command, ValueEnum};

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
pub(super) enum OutputForm<E> {
    /// A word of the verb: `json`.
    Word(E),
    /// A template: its form, and what follows the `=`.
    Template(TemplateWord, String),
}

/// The words of a verb that prints a document.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum DocumentWord {
    Json,
    Yaml,
}

impl From<DocumentWord> for DocumentForm {
    fn from(word: DocumentWord) -> Self {
        match word {
            DocumentWord::Json => Self::Json,
            DocumentWord::Yaml => Self::Yaml,
        }
    }
}

/// The words of a verb that prints a table.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum TableWord {
    Wide,
    Markdown,
    Json,
    Yaml,
    Name,
}

impl From<TableWord> for TableForm {
    fn from(word: TableWord) -> Self {
        match word {
            TableWord::Wide => Self::Wide,
            TableWord::Markdown => Self::Markdown,
            TableWord::Json => Self::Document(DocumentForm::Json),
            TableWord::Yaml => Self::Document(DocumentForm::Yaml),
            TableWord::Name => Self::Name,
        }
    }
}

/// The word of a verb that prints lines or JSON.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum JsonWord {
    Json,
}

impl OutputForm<DocumentWord> {
    /// Returns the form of the document.
    ///
    /// # Errors
    /// As [`TemplateWord::parse`].
    pub(super) fn lower(self) -> Result<DocumentForm> {
        match self {
            Self::Word(word) => Ok(word.into()),
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

/// Parses a value of `-o`.
#[derive(Clone, Debug)]
pub(super) struct OutputFormParser<E>(PhantomData<E>);

impl<E> OutputFormParser<E> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<E: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for OutputFormParser<E> {
    type Value = OutputForm<E>;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        match value.to_str().and_then(TemplateWord::read) {
            Some((word, template)) => Ok(OutputForm::Template(word, template.to_owned())),
            None => EnumValueParser::<E>::new().parse_ref(command, arg, value).map(OutputForm::Word),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values: Vec<_> = E::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
        Some(Box::new(values.into_iter()))
    }
}
