//! `-o`: the words of a verb, and the templates of the user.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command, ValueEnum};

use crate::command::template_file;
use crate::error::{Error, Result};
use crate::model::text::jsonpath::JsonPath;
use crate::render::template_form::CustomColumns;
use crate::render::template_form::TemplateForm;

/// A value of `-o`.
#[derive(Clone, Debug)]
pub(super) enum OutputForm<E> {
    /// A word of the verb: `json`.
    Word(E),
    /// A template: its form, and what follows the `=`.
    Template(TemplateWord, String),
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
    pub(super) fn parse_as_rollout(self, template: &str) -> Result<TemplateForm> {
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
    pub(super) fn parse(self, template: &str) -> Result<TemplateForm> {
        let path = |text: &str| match text {
            "" => Err(Error::usage("template format specified but no template given")),
            text => JsonPath::parse(text)
                .map_err(|why| Error::usage(format!("error parsing jsonpath {text}, {why}"))),
        };
        match self {
            Self::JsonPath => Ok(TemplateForm::JsonPath(path(template)?)),
            Self::JsonPathAsJson => Ok(TemplateForm::JsonPathAsJson(path(template)?)),
            Self::JsonPathFile => Ok(TemplateForm::JsonPath(path(&template_file::read(template)?)?)),
            Self::CustomColumns => {
                Ok(TemplateForm::CustomColumns(CustomColumns::parse(template).map_err(Error::usage)?))
            }
            Self::CustomColumnsFile => {
                let columns = CustomColumns::parse_file(&template_file::read(template)?);
                Ok(TemplateForm::CustomColumns(columns.map_err(Error::usage)?))
            }
            Self::Go(word) => Err(Error::usage(format!("-o {word} is not supported"))
                .hint("use -o jsonpath='{...}', or pass -o json to jq")),
        }
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
