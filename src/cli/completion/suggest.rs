//! What completes the last word of an unfinished command line.
//!
//! clap parses complete lines only.

use clap::builder::{PossibleValue, Str};
use clap::{Arg, ArgAction, Command};

use super::request::{Lookup, Request};
use crate::cli::scope::{TargetWord, read_targets};
use crate::cli::status::SHARE;
use crate::cli::step;
use crate::model::cause::CauseId;
use crate::model::kind::table::{TypeWord, read_type};
use crate::model::kind::{self, Kind};
use crate::render::completion::{Candidate, Directive};

/// Returns what to offer for the last word of a line, without the source for look-ups.
pub(super) fn suggest(line: &PartialLine<'_>) -> Request {
    let (typed, request) = match line.last {
        LastWord::Flag(typed) => (typed, known(flags(line.command, typed))),
        LastWord::Value(flag, typed) => (typed, value(flag, typed, line)),
        LastWord::Word(typed) if !line.has_verb => {
            (typed, known(verbs(line.command, Candidate::new("help", "Print the help of a verb"))))
        }
        LastWord::Word(typed) => (typed, positional(typed, line)),
    };
    Request { typed: typed.to_owned(), ..request }
}

fn known(known: Vec<Candidate>) -> Request {
    Request { known, ..Request::default() }
}

fn looked_up(lookup: Option<Lookup>) -> Request {
    Request { lookup, ..Request::default() }
}

/// Returns the verbs, and another word of the same place. clap does not know `help`.
pub(super) fn verbs(program: &Command, other: Candidate) -> Vec<Candidate> {
    let verbs = program.get_subcommands().filter(|verb| !verb.is_hide_set());
    let verbs = verbs.map(|verb| Candidate::new(verb.get_name(), first_line(verb.get_about())));
    verbs.chain([other]).collect()
}

/// Returns the causes of `--fail-on` and `explain`.
fn causes() -> Vec<Candidate> {
    CauseId::ALL.map(|cause| Candidate::new(cause.name(), "")).into()
}

/// Returns the flags by their long names. Connection flags are added once a letter is typed.
fn flags(command: &Command, typed: &str) -> Vec<Candidate> {
    let is_begun = typed.len() > 2;
    let flags = command.get_arguments().filter(|flag| !flag.is_positional() && !flag.is_hide_set());
    let flags = flags.filter(|flag| is_begun || !flag.is_hide_long_help_set());
    flags
        .filter_map(|flag| {
            let is_on = flag.get_default_values().iter().any(|value| value == "true");
            let off = if is_on { "=false" } else { "" }; // the flag alone would repeat its default
            Some(Candidate::new(format!("--{}{off}", flag.get_long()?), first_line(flag.get_help())))
        })
        .collect()
}

fn value(flag: &Arg, typed: &str, line: &PartialLine<'_>) -> Request {
    let possible = flag.get_possible_values();
    if !possible.is_empty() {
        let mut values = possible_values(&possible);
        // This value of `--until` is not a word.
        values.extend(
            (flag.get_id() == "until").then(|| {
                Candidate::new(SHARE, "So many pods are available, such as 3 or 90%, or ready-nodes")
            }),
        );
        let directive = if typed.starts_with(SHARE) { Directive::Unfinished } else { Directive::default() };
        return Request { directive, ..known(values) };
    }
    let name = flag.get_value_names().and_then(<[_]>::first).map(Str::as_str).unwrap_or_default();
    match (name, flag.get_long().unwrap_or_default()) {
        ("BOOL", _) => known(["true", "false"].map(|word| Candidate::new(word, "")).to_vec()),
        ("REVISION", "to-revision") => {
            let words = [PREVIOUS, ("stable", "the revision that served before the rollout")];
            revisions(&line.words, &words, true)
        }
        ("REVISION", _) => revisions(&line.words, &[], false),
        (_, "fail-on") => Request { directive: Directive::Unfinished, ..known(causes()) },
        ("NAMESPACE", _) => looked_up(Some(Lookup::Namespaces)),
        (_, "context" | "with-context") => looked_up(Some(Lookup::Contexts { prefix: String::new() })),
        (_, "contexts") => {
            let prefix = typed.rfind(',').map_or("", |comma| &typed[..=comma]).to_owned();
            looked_up(Some(Lookup::Contexts { prefix }))
        }
        ("NAME", "cluster") => looked_up(Some(Lookup::Clusters)),
        ("NAME", "user") => looked_up(Some(Lookup::Users)),
        _ if is_literal(name) => known(name.split('|').map(|word| Candidate::new(word, "")).collect()),
        _ if name.contains("FILE") || name.contains("DIR") => {
            Request { directive: Directive::Files, ..Request::default() }
        }
        _ => known(Vec::new()),
    }
}

/// Whether a value's name lists literal values, such as `client|none`.
fn is_literal(name: &str) -> bool {
    name.split('|').all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn positional(typed: &str, line: &PartialLine<'_>) -> Request {
    let Some(positional) = line.command.get_positionals().next() else {
        return known(Vec::new());
    };
    let possible = positional.get_possible_values();
    if !possible.is_empty() {
        let is_first = line.words.is_empty();
        return known(if is_first { possible_values(&possible) } else { Vec::new() });
    }
    let name = positional.get_value_names().and_then(<[_]>::first).map(Str::as_str);
    if name == Some("CAUSE") {
        return known(if line.words.is_empty() { causes() } else { Vec::new() });
    }
    let takes_revisions = name.is_some_and(|name| name.contains("FROM"));
    let takes_one = line.command.get_name() == step::VERB;
    let reads = ["list", "status"].contains(&line.command.get_name());
    let is_supported = |kind: &&dyn Kind| {
        if takes_one { kind.mechanism().is_ok() } else { reads || kind.read_only().is_none() }
    };
    let kinds: Vec<_> = kind::all().filter(is_supported).collect();
    if line.words.is_empty() && !typed.contains(['/', ',']) {
        let mut request = types(typed, "", &kinds);
        let takes_several = !takes_one && !takes_revisions;
        request.known.extend(takes_several.then(|| Candidate::new("all", "all of these types")));
        return request;
    }
    if name == Some("TYPE") {
        return types(typed, "", &kinds);
    }
    let is_pair = line.words.first().is_some_and(|first| first.contains('/'));
    let (workload, rest) = line.words.split_at(line.words.len().min(if is_pair { 1 } else { 2 }));
    match rest {
        _ if workload.len() < 2 && !is_pair => target(typed, &line.words, &kinds),
        _ if takes_one => known(Vec::new()),
        _ if !takes_revisions => target(typed, &line.words, &kinds),
        [] | [_] => sides(workload),
        _ => known(Vec::new()),
    }
}

/// The word for the revision before the current one.
const PREVIOUS: (&str, &str) = ("previous", "the revision before the current one");

/// Suggests the revisions that `diff` compares, and the live template.
fn sides(target: &[String]) -> Request {
    revisions(
        target,
        &[("current", "the current revision"), PREVIOUS, ("live", "the template in the workload's spec")],
        false,
    )
}

/// Suggests the revisions of the first workload on the line, newest first.
fn revisions(targets: &[String], words: &[(&str, &str)], current_last: bool) -> Request {
    let targets = read_targets(targets, false).unwrap_or_default();
    let lookup = match targets.first() {
        Some(TargetWord::Named(kind, name)) => {
            Some(Lookup::Revisions { kind: *kind, name: name.clone(), current_last })
        }
        _ => None,
    };
    let known = words.iter().map(|(word, description)| Candidate::new(*word, *description)).collect();
    Request { known, lookup, directive: Directive::InThisOrder, ..Request::default() }
}

/// Suggests `TYPE/NAME...`, `TYPE NAME...` or `TYPE` for the kinds that the verb supports.
fn target(typed: &str, words: &[String], supported: &[&'static dyn Kind]) -> Request {
    if let Some((type_, _)) = typed.split_once('/') {
        let kinds = kinds(type_, supported);
        // Keep the type as typed: `sts/` completes to `sts/db`.
        let prefix = format!("{type_}/");
        let lookup = (kinds.len() == 1).then(|| Lookup::Names { kinds, prefix, exclude: words.to_vec() });
        return looked_up(lookup);
    }
    match words.split_first() {
        None => types(typed, "", supported), // a list of types
        Some((first, _)) if first.contains('/') => types(typed, "/", supported),
        Some((first, names)) => {
            let (kinds, prefix) = (kinds(first, supported), String::new());
            looked_up(Some(Lookup::Names { kinds, prefix, exclude: names.to_vec() }))
        }
    }
}

/// Suggests types, for the last one of a comma-separated list.
fn types(typed: &str, end: &str, supported: &[&'static dyn Kind]) -> Request {
    let before = typed.rfind(',').map_or("", |comma| &typed[..=comma]);
    let known = supported.iter().map(|kind| {
        let named = kind.type_();
        let alias = if named.cli_name == named.short { named.aliases.first() } else { None };
        let other_name = alias.unwrap_or(&named.short);
        Candidate::new(format!("{before}{}{end}", named.cli_name), format!("or {other_name}"))
    });
    let directive = if end.is_empty() { Directive::Words } else { Directive::Unfinished };
    Request { known: known.collect(), directive, ..Request::default() }
}

fn kinds(types: &str, supported: &[&'static dyn Kind]) -> Vec<&'static dyn Kind> {
    let kinds = types.split(',').map(|word| match read_type(word) {
        TypeWord::Kind(kind) => vec![kind],
        TypeWord::All => kind::built_in().collect(),
        TypeWord::Other => Vec::new(),
    });
    kinds.flatten().filter(|kind| supported.contains(kind)).collect()
}

fn possible_values(values: &[PossibleValue]) -> Vec<Candidate> {
    let shown = values.iter().filter(|value| !value.is_hide_set());
    shown.map(|value| Candidate::new(value.get_name(), first_line(value.get_help()))).collect()
}

fn first_line(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// A command line that may be unfinished.
#[derive(Debug)]
pub(in crate::cli) struct PartialLine<'d> {
    /// The verb, or the program when there is no verb yet.
    pub(super) command: &'d Command,
    /// Whether the line has a verb.
    pub(super) has_verb: bool,
    /// The positional words after the verb.
    pub(in crate::cli) words: Vec<String>,
    /// The namespaces, each with the number of positional words before it.
    pub(in crate::cli) namespaces: Vec<(usize, String)>,
    /// The common flags, as typed.
    pub(super) common: Vec<String>,
    /// The last word.
    pub(super) last: LastWord<'d>,
}

/// The role of the last word, with its typed prefix.
#[derive(Debug)]
pub(in crate::cli) enum LastWord<'d> {
    /// A positional word.
    Word(&'d str),
    /// A flag.
    Flag(&'d str),
    /// The value of a flag.
    Value(&'d Arg, &'d str),
}

impl<'d> PartialLine<'d> {
    /// Parses a line, whose last word may be empty; `None` when the line is invalid.
    pub(in crate::cli) fn read(program: &'d Command, words: &'d [String]) -> Option<Self> {
        let (last, before) = words.split_last()?;
        let mut line = Self {
            command: program,
            has_verb: false,
            words: Vec::new(),
            namespaces: Vec::new(),
            common: Vec::new(),
            last: LastWord::Word(last),
        };
        let mut waiting: Option<(&Arg, &str)> = None;
        let mut only_words = false;
        for word in before {
            if let Some((flag, name)) = waiting.take() {
                line.keep_common(flag, name, Some(word));
            } else if word == "--" && !only_words {
                only_words = true;
            } else if only_words || !is_flag(word) {
                if line.has_verb {
                    line.words.push(word.clone());
                } else {
                    line.command = program.find_subcommand(word)?;
                    line.has_verb = true;
                }
            } else {
                let (flag, is_whole) = line.find(word.split('=').next()?)?;
                if is_whole && !word.contains('=') && takes_value(flag) {
                    waiting = Some((flag, word));
                } else {
                    line.keep_common(flag, word, None);
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

    /// Keeps a common flag without the flags of the verb in the same word, such as `-An`.
    fn keep_common(&mut self, flag: &Arg, word: &str, value: Option<&String>) {
        if flag.is_global_set() {
            let short = flag.get_short().filter(|_| !word.starts_with("--"));
            let attached = short.and_then(|short| Some(word.split_once(short)?.1));
            if flag.get_id() == "namespace" {
                let attached = attached.or_else(|| Some(word.split_once('=')?.1)).unwrap_or_default();
                let namespace = value.map_or(attached, String::as_str).trim_start_matches('=');
                self.namespaces.push((self.words.len(), namespace.to_owned()));
            }
            let alone = short.zip(attached).map(|(short, attached)| format!("-{short}{attached}"));
            self.common.push(alone.unwrap_or_else(|| word.to_owned()));
            self.common.extend(value.cloned());
        }
    }
}

/// Whether a flag takes a value, without `=` too.
fn takes_value(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Set | ArgAction::Append) && !flag.is_require_equals_set()
}

/// Whether a word is a flag. `-` is standard input, and `-2` is a revision.
fn is_flag(word: &str) -> bool {
    word.len() > 1 && is_flag_begun(word)
}

fn is_flag_begun(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.starts_with(|first: char| first.is_ascii_digit()))
}
