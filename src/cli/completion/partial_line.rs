//! Parses an unfinished command line, and classifies its last word.
//!
//! clap parses complete lines only.

use clap::{Arg, ArgAction, Command};

/// An unfinished command line.
#[derive(Debug)]
pub(super) struct PartialLine<'d> {
    /// The verb, or the program when there is no verb yet.
    pub(super) command: &'d Command,
    /// Whether the line has a verb.
    pub(super) has_verb: bool,
    /// The positional words after the verb.
    pub(super) words: Vec<String>,
    /// The common flags, as typed.
    pub(super) common: Vec<String>,
    /// The last word.
    pub(super) last: LastWord<'d>,
}

/// The role of the last word, with its typed prefix.
#[derive(Debug)]
pub(super) enum LastWord<'d> {
    /// A positional word.
    Word(&'d str),
    /// A flag.
    Flag(&'d str),
    /// The value of a flag.
    Value(&'d Arg, &'d str),
}

impl<'d> PartialLine<'d> {
    /// Parses a line, whose last word may be empty; none when the line is invalid.
    pub(super) fn read(program: &'d Command, words: &'d [String]) -> Option<Self> {
        let (last, before) = words.split_last()?;
        let mut line = Self {
            command: program,
            has_verb: false,
            words: Vec::new(),
            common: Vec::new(),
            last: LastWord::Word(last),
        };
        let mut waiting: Option<(&Arg, &str)> = None;
        let mut only_words = false;
        for word in before {
            if let Some((flag, name)) = waiting.take() {
                line.keep_common(flag, &[name, word]);
            } else if word == "--" && !only_words {
                only_words = true;
            } else if only_words || !is_flag(word) {
                line.push_word(word)?;
            } else {
                let (flag, is_whole) = line.find(before_equals(word))?;
                let is_alone = is_whole && !word.contains('=') && !flag.is_require_equals_set();
                if is_alone && takes_value(flag) {
                    waiting = Some((flag, word));
                } else {
                    line.keep_common(flag, &[word]);
                }
            }
        }
        line.last = match waiting {
            Some((flag, _)) => LastWord::Value(flag, last),
            None if only_words || !is_flag_begun(last) => LastWord::Word(last),
            None => match last.split_once('=') {
                Some((name, value)) => LastWord::Value(line.find(name)?.0, value),
                None => LastWord::Flag(last),
            },
        };
        Some(line)
    }

    fn push_word(&mut self, word: &str) -> Option<()> {
        if self.has_verb {
            self.words.push(word.to_owned());
        } else {
            self.command = self.command.find_subcommand(word)?;
            self.has_verb = true;
        }
        Some(())
    }

    /// Returns the flag of a word, and whether the word ends with it: a short flag may be followed by its
    /// value in the same word. For combined short flags, such as `-Rl`, it is the last one.
    fn find(&self, name: &str) -> Option<(&'d Arg, bool)> {
        let flags = || self.command.get_arguments().filter(|flag| !flag.is_positional());
        if let Some(long) = name.strip_prefix("--") {
            let is_long = |flag: &&clap::Arg| {
                flag.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long))
            };
            return flags().find(is_long).map(|flag| (flag, true));
        }
        let mut shorts = name.strip_prefix('-')?.chars();
        loop {
            let short = shorts.next()?;
            let flag = flags().find(|flag| flag.get_short() == Some(short))?;
            let is_last = shorts.as_str().is_empty();
            if is_last || takes_value(flag) {
                return Some((flag, is_last));
            }
        }
    }

    fn keep_common(&mut self, flag: &Arg, words: &[&str]) {
        if flag.is_global_set() {
            self.common.extend(words.iter().map(|word| (*word).to_owned()));
        }
    }
}

fn before_equals(word: &str) -> &str {
    word.split('=').next().unwrap_or_default()
}

/// Whether a flag takes a value.
fn takes_value(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Whether a word is a flag. `-` is standard input, and `-2` is a revision.
fn is_flag(word: &str) -> bool {
    word.len() > 1 && is_flag_begun(word)
}

fn is_flag_begun(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.starts_with(|first: char| first.is_ascii_digit()))
}
