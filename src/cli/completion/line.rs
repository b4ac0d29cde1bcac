//! An unfinished command line, word by word: what is said already, and what the last word is to be.
//!
//! clap is no help here: it reads a line that is whole, and tells what is wrong with this one.

use clap::{Arg, ArgAction, Command};

/// What an unfinished line says.
#[derive(Debug)]
pub(super) struct Line<'d> {
    /// The verb, or the program while there is no verb yet.
    pub(super) command: &'d Command,
    /// Whether a verb was named.
    pub(super) has_verb: bool,
    /// The words that are no flags, the verb not among them.
    pub(super) words: Vec<String>,
    /// The flags that every verb takes, as they were typed.
    pub(super) common: Vec<String>,
    /// What the last word is to be.
    pub(super) last: Last<'d>,
}

/// What the last word is to be, and what of it was typed.
#[derive(Debug)]
pub(super) enum Last<'d> {
    /// A word that is no flag.
    Word(&'d str),
    /// A flag.
    Flag(&'d str),
    /// The value of a flag.
    Value(&'d Arg, &'d str),
}

impl<'d> Line<'d> {
    /// Reads a line, whose last word may be empty. None when it makes no sense: nothing can come next.
    pub(super) fn read(program: &'d Command, words: &'d [String]) -> Option<Self> {
        let (last, before) = words.split_last()?;
        let mut line = Self {
            command: program,
            has_verb: false,
            words: Vec::new(),
            common: Vec::new(),
            last: Last::Word(last),
        };
        let mut waiting: Option<(&Arg, &str)> = None;
        let mut only_words = false;
        for word in before {
            if let Some((flag, name)) = waiting.take() {
                line.take(flag, &[name, word]);
            } else if word == "--" && !only_words {
                only_words = true;
            } else if only_words || !is_flag(word) {
                line.word(word)?;
            } else {
                let (flag, is_whole) = line.find(before_equals(word))?;
                let is_alone = is_whole && !word.contains('=') && !flag.is_require_equals_set();
                if is_alone && takes_value(flag) {
                    waiting = Some((flag, word));
                } else {
                    line.take(flag, &[word]);
                }
            }
        }
        line.last = match waiting {
            Some((flag, _)) => Last::Value(flag, last),
            None if only_words || !is_flag_begun(last) => Last::Word(last),
            None => match last.split_once('=') {
                Some((name, value)) => Last::Value(line.find(name)?.0, value),
                None => Last::Flag(last),
            },
        };
        Some(line)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        if self.has_verb {
            self.words.push(word.to_owned());
        } else {
            self.command = self.command.find_subcommand(word)?;
            self.has_verb = true;
        }
        Some(())
    }

    /// The flag that a word names, and whether the word ends with it: a short flag may be followed by its
    /// value in the same word. Of short flags in one word, such as `-Rl`, the last one counts.
    fn find(&self, name: &str) -> Option<(&'d Arg, bool)> {
        let flags = || self.command.get_arguments().filter(|flag| !flag.is_positional());
        if let Some(long) = name.strip_prefix("--") {
            return flags().find(|flag| flag.get_long() == Some(long)).map(|flag| (flag, true));
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

    fn take(&mut self, flag: &Arg, words: &[&str]) {
        if flag.is_global_set() {
            self.common.extend(words.iter().map(|word| (*word).to_owned()));
        }
    }
}

fn before_equals(word: &str) -> &str {
    word.split('=').next().unwrap_or_default()
}

/// Whether a flag is followed by a value.
fn takes_value(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Set | ArgAction::Append)
}

/// `-` alone is standard input, and `-2` the second revision before the current one.
fn is_flag(word: &str) -> bool {
    word.len() > 1 && is_flag_begun(word)
}

fn is_flag_begun(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.starts_with(|first: char| first.is_ascii_digit()))
}
