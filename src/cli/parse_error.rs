//! Turns clap's parse errors into errors for the user, with kubectl's text for `--compat`.

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::duration::InvalidDuration;
use crate::error::Error;

/// Whether the command line has no verb, so that help is printed.
pub(super) fn is_missing_verb(clap_error: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    matches!(clap_error.kind(), MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand)
}

/// Turns a parse error into an error with one sentence and a hint at the help.
pub(super) fn error(clap_error: &clap::Error, verb: Option<&str>, program: &clap::Command) -> Error {
    let help = |program: &str| match verb {
        Some(verb) => format!("{program} {verb} --help"),
        None => format!("{program} --help"),
    };
    let compat = kubectl_message(clap_error, &help("kubectl rollout"));
    let help = help("kubectl rollout2");
    let hint = flag_hint(clap_error, verb, program, &help).unwrap_or_else(|| {
        suggestion(clap_error).map_or_else(|| help.clone(), |near| format!("did you mean {near}?"))
    });
    Error::usage(sentence(clap_error)).hint(hint).in_compat(compat)
}

/// Returns the verb of a command line that could not be parsed: the first word that is a verb.
pub(super) fn verb<'a>(args: &'a [OsString], program: &clap::Command) -> Option<&'a str> {
    let mut words = args.iter().skip(1).filter_map(|word| word.to_str());
    words.find(|word| program.find_subcommand(word).is_some())
}

/// Returns the hint for a flag before its verb, for a flag of other verbs, and for the beginning of flags. clap compares
/// only the letters, and with the connection flags too, so its suggestion would be wrong.
fn flag_hint(
    clap_error: &clap::Error,
    verb: Option<&str>,
    program: &clap::Command,
    help: &str,
) -> Option<String> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(argument))) =
        (clap_error.kind(), clap_error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let flag = argument.split('=').next().and_then(|flag| flag.strip_prefix("--"))?;
    let verb = verb?;
    let verbs = program.get_subcommands().filter(|verb| flags(verb).any(|known| known == flag));
    let verbs: Vec<_> = verbs.map(clap::Command::get_name).collect();
    if verbs.contains(&verb) {
        return Some(format!("write --{flag} after {verb}"));
    }
    if !verbs.is_empty() {
        return Some(format!("--{flag} is a flag of {}; {help}", verbs.join(", ")));
    }
    let begun = program.find_subcommand(verb).into_iter().flat_map(flags);
    let begun = begun.filter(|known| known.starts_with(flag)).map(|known| format!("--{known}"));
    let begun: Vec<String> = begun.collect();
    (!begun.is_empty()).then(|| format!("did you mean {}?", begun.join(" or ")))
}

/// Returns the long names of the flags that the help of a verb lists.
fn flags(verb: &clap::Command) -> impl Iterator<Item = &str> {
    let shown = verb.get_arguments().filter(|flag| !flag.is_hide_set() && !flag.is_hide_long_help_set());
    shown.flat_map(|flag| flag.get_long_and_visible_aliases().unwrap_or_default())
}

/// Returns the word that clap suggests for a misspelled one. The last of several is the nearest.
fn suggestion(clap_error: &clap::Error) -> Option<&String> {
    use ContextKind::{SuggestedArg, SuggestedSubcommand, SuggestedValue};
    [SuggestedSubcommand, SuggestedArg, SuggestedValue].into_iter().find_map(|kind| {
        match clap_error.get(kind)? {
            ContextValue::String(word) => Some(word),
            ContextValue::Strings(words) => words.last(),
            _ => None,
        }
    })
}

/// Returns the first paragraph of clap's message on one line, without the usage below it.
fn sentence(clap_error: &clap::Error) -> String {
    if let Some(ContextValue::String(word)) = clap_error.get(ContextKind::InvalidSubcommand) {
        return format!("unknown verb {word:?}");
    }
    let text = clap_error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<_> = paragraph.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

/// Returns kubectl's error for a flag that its verb does not have.
pub(super) fn unknown_flag(flag: &str, verb: &str) -> Error {
    Error::usage(unknown_flag_message(flag, &format!("kubectl rollout {verb} --help")))
}

fn unknown_flag_message(flag: &str, help: &str) -> String {
    format!("unknown flag: {flag}\nSee '{help}' for usage.")
}

fn kubectl_message(clap_error: &clap::Error, help: &str) -> String {
    let context = |kind| match clap_error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    match clap_error.kind() {
        ErrorKind::UnknownArgument => {
            let argument = context(ContextKind::InvalidArg);
            let flag = argument.split('=').next().unwrap_or_default();
            match flag.strip_prefix("--") {
                Some(_) => unknown_flag_message(flag, help),
                None => format!(
                    "unknown shorthand flag: {:?} in {flag}\nSee '{help}' for usage.",
                    flag.chars().nth(1).unwrap_or('-')
                ),
            }
        }
        ErrorKind::InvalidSubcommand => {
            let word = context(ContextKind::InvalidSubcommand);
            format!("unknown command {word:?}\nSee 'kubectl rollout -h' for help and examples")
        }
        ErrorKind::ValueValidation => {
            let invalid = clap_error.source().and_then(|source| source.downcast_ref::<InvalidDuration>());
            let argument = context(ContextKind::InvalidArg);
            let flag = argument.split([' ', '=']).next().unwrap_or_default();
            invalid.map_or_else(|| sentence(clap_error), |invalid| invalid.kubectl_message(flag, help))
        }
        _ => sentence(clap_error),
    }
}
