//! Turns clap's parse errors into errors for the user.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::Error;
use crate::model::text::secret::without_secrets;

/// Whether the command line has no verb, so that help is printed.
pub(super) fn is_missing_verb(clap_error: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    matches!(clap_error.kind(), MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand)
}

/// Returns the error of a parser of ours for a value. It has its own words, as those of kubectl, and its secrets are not masked.
pub(super) fn of_value(clap_error: &clap::Error) -> Option<&Error> {
    std::error::Error::source(clap_error)?.downcast_ref()
}

/// Turns a parse error into an error with one sentence and a hint at the help.
pub(super) fn error(clap_error: &clap::Error, verb: Option<&str>, program: &clap::Command) -> Error {
    let verb_words = verb.map(|verb| format!(" {verb}")).unwrap_or_default();
    let help = format!("kubectl rollout2{verb_words} --help");
    let hint = flag_hint(clap_error, verb, program, &help).unwrap_or_else(|| {
        let near = suggestion(clap_error).filter(|near| is_near(clap_error, near));
        near.map_or_else(|| help.clone(), |near| format!("did you mean {near}?"))
    });
    Error::usage(sentence(clap_error)).hint(hint)
}

/// Returns the verb of a command line that could not be parsed: the first word that is a verb.
pub(super) fn verb<'a>(args: &'a [OsString], program: &clap::Command) -> Option<&'a str> {
    let mut words = args.iter().skip(1).filter_map(|word| word.to_str());
    words.find(|word| program.find_subcommand(word).is_some())
}

/// Returns the hint for a flag before its verb, for a flag of other verbs, for the beginning of flags, and for the two ways to
/// read a manifest without a server that no longer exist. clap compares
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
    if matches!((verb, flag), ("diff", "with-file") | ("preview", "applied")) {
        return Some(
            "to compare a manifest: kubectl rollout2 preview -f FILE, or kubectl diff -f FILE".to_owned(),
        );
    }
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
    if !begun.is_empty() {
        return Some(format!("did you mean {}?", begun.join(" or ")));
    }
    let known: Vec<_> = program.find_subcommand(verb).into_iter().flat_map(flags).collect();
    let near = similar::get_close_matches(flag, &known, 1, NEAR);
    near.first().map(|near| format!("did you mean --{near}?"))
}

/// How similar a word must be to the one that the user wrote, to be suggested.
const NEAR: f32 = 0.6;

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

/// Whether a suggestion of clap is near to the value or the flag that it replaces. clap suggests any word with some of its
/// letters.
fn is_near(clap_error: &clap::Error, suggestion: &str) -> bool {
    let (replaced, near) = match clap_error.kind() {
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, 0.7), // `--pass` is not `--as`
        _ => (ContextKind::InvalidValue, NEAR),
    };
    match clap_error.get(replaced) {
        Some(ContextValue::String(word)) => !similar::get_close_matches(
            word.trim_start_matches('-'),
            &[suggestion.trim_start_matches('-')],
            1,
            near,
        )
        .is_empty(),
        _ => true,
    }
}

/// Returns the first paragraph of clap's message on one line, without the usage below it.
fn sentence(clap_error: &clap::Error) -> String {
    if let Some(ContextValue::String(word)) = clap_error.get(ContextKind::InvalidSubcommand) {
        return format!("unknown verb {word:?}");
    }
    let text = clap_error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<_> = paragraph.split_whitespace().collect();
    masked(words.join(" ").trim_start_matches("error: "), clap_error)
}

/// Masks secrets in a message of clap, but no word after the name of a flag: `'--secret' found` has no value.
fn masked(sentence: &str, clap_error: &clap::Error) -> String {
    let named =
        [ContextKind::InvalidArg, ContextKind::PriorArg].into_iter().flat_map(|kind| {
            match clap_error.get(kind) {
                Some(ContextValue::String(flag)) => vec![flag],
                Some(ContextValue::Strings(flags)) => flags.iter().collect(),
                _ => Vec::new(),
            }
        });
    let flags: Vec<_> = named.filter(|word| word.starts_with('-')).collect();
    let placeholder = |index: usize| format!("\u{1}{index}\u{1}");
    let hidden = flags.iter().enumerate();
    let hidden =
        hidden.fold(sentence.to_owned(), |text, (index, flag)| text.replace(*flag, &placeholder(index)));
    let shown = flags.iter().enumerate();
    shown.fold(without_secrets(&hidden), |text, (index, flag)| text.replace(&placeholder(index), flag))
}
