//! Mistakes that the parser of the command line finds, in our words and in kubectl's.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::Error;

/// Whether nothing was asked; help is the answer then.
pub(super) fn lacks_verb(mistake: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    matches!(mistake.kind(), MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand)
}

/// A parser's error as one of ours: one sentence and where to read on.
pub(super) fn error(mistake: &clap::Error, args: &[OsString]) -> Error {
    let help = |program: &str| match verb(args) {
        Some(verb) => format!("{program} {verb} --help"),
        None => format!("{program} --help"),
    };
    let compat = in_kubectls_words(mistake, &help("kubectl rollout"));
    Error::usage(sentence(mistake)).hint(help("kubectl rollout2")).in_compat(compat)
}

/// The verb of a command line that the parser gave up on: the first word that could be one.
pub(super) fn verb(args: &[OsString]) -> Option<&str> {
    let program = super::definition();
    let mut words = args.iter().skip(1).filter_map(|word| word.to_str());
    words.find(|word| program.find_subcommand(word).is_some())
}

/// The first paragraph of the parser's message, on one line. What follows it is usage.
fn sentence(mistake: &clap::Error) -> String {
    let text = mistake.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<_> = paragraph.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

fn in_kubectls_words(mistake: &clap::Error, help: &str) -> String {
    let context = |kind| match mistake.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    match mistake.kind() {
        ErrorKind::UnknownArgument => {
            let argument = context(ContextKind::InvalidArg);
            let flag = argument.split('=').next().unwrap_or_default();
            match flag.strip_prefix("--") {
                Some(_) => format!("unknown flag: {flag}\nSee '{help}' for usage."),
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
        _ => sentence(mistake),
    }
}
