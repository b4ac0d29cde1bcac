//! What could come next on a line, decided from the definition of the command line: the name of a value
//! says what it is, so a new verb or flag is completed as soon as it is defined.

use clap::builder::{PossibleValue, Str};
use clap::{Arg, Command};

use super::line::{Last, Line};
use crate::cli::step;
use crate::command::complete::Lookup;
use crate::model::candidate::{Candidate, NameForm};
use crate::model::kind::{Kind, TypeWord, read_type};
use crate::model::target::{Ask, AskedType, read_targets};
use crate::render::completion::Directive;

/// What could come next.
#[derive(Debug, Default)]
pub(super) struct Offer {
    pub(super) typed: String,
    pub(super) known: Vec<Candidate>,
    pub(super) lookup: Option<Lookup>,
    pub(super) directive: Directive,
}

impl Offer {
    /// What could come next on a line.
    pub(super) fn of(line: &Line<'_>) -> Self {
        match line.last {
            Last::Flag(typed) => Self::known(typed, flags(line.command, typed)),
            Last::Value(flag, typed) => value(flag, typed, line),
            Last::Word(typed) if !line.has_verb => Self::known(typed, verbs(line.command)),
            Last::Word(typed) => word(typed, line),
        }
    }

    fn known(typed: &str, known: Vec<Candidate>) -> Self {
        Self { typed: typed.to_owned(), known, ..Self::default() }
    }

    fn looked_up(typed: &str, lookup: Option<Lookup>) -> Self {
        Self { typed: typed.to_owned(), lookup, ..Self::default() }
    }

    fn files(typed: &str) -> Self {
        Self { typed: typed.to_owned(), directive: Directive::Files, ..Self::default() }
    }
}

fn verbs(program: &Command) -> Vec<Candidate> {
    let verbs = program.get_subcommands().filter(|verb| !verb.is_hide_set());
    verbs.map(|verb| Candidate::new(verb.get_name(), first_line(verb.get_about()))).collect()
}

/// The flags by their long names. The thirty about the connection come when one of them is begun.
fn flags(command: &Command, typed: &str) -> Vec<Candidate> {
    let is_begun = typed.len() > 2;
    let flags = command.get_arguments().filter(|flag| !flag.is_positional() && !flag.is_hide_set());
    let flags = flags.filter(|flag| is_begun || !flag.is_hide_short_help_set());
    flags
        .filter_map(|flag| {
            let is_on = flag.get_default_values().iter().any(|value| value == "true");
            let off = if is_on { "=false" } else { "" }; // naming what is so anyway says nothing
            Some(Candidate::new(format!("--{}{off}", flag.get_long()?), first_line(flag.get_help())))
        })
        .collect()
}

fn value(flag: &Arg, typed: &str, line: &Line<'_>) -> Offer {
    let possible = flag.get_possible_values();
    if !possible.is_empty() {
        return Offer::known(typed, possible_values(&possible));
    }
    let name = flag.get_value_names().and_then(<[_]>::first).map(Str::as_str).unwrap_or_default();
    match (name, flag.get_long().unwrap_or_default()) {
        ("BOOL", _) => Offer::known(typed, ["true", "false"].map(|word| Candidate::new(word, "")).to_vec()),
        ("REVISION", _) => revisions(typed, &line.words, &[]),
        ("NAMESPACE", _) => Offer::looked_up(typed, Some(Lookup::Namespaces)),
        ("NAME", "context") => Offer::looked_up(typed, Some(Lookup::Contexts)),
        ("NAME", "cluster") => Offer::looked_up(typed, Some(Lookup::Clusters)),
        ("NAME", "user") => Offer::looked_up(typed, Some(Lookup::Users)),
        _ if is_the_word_itself(name) => {
            Offer::known(typed, name.split('|').map(|word| Candidate::new(word, "")).collect())
        }
        _ if name.contains("FILE") || name.contains("DIR") => Offer::files(typed),
        _ => Offer::known(typed, Vec::new()),
    }
}

/// `client|none`: a name in small letters is no name, but what may be written.
fn is_the_word_itself(name: &str) -> bool {
    name.split('|').all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn word(typed: &str, line: &Line<'_>) -> Offer {
    let Some(positional) = line.command.get_positionals().next() else {
        return Offer::known(typed, Vec::new());
    };
    let possible = positional.get_possible_values();
    if !possible.is_empty() {
        let is_first = line.words.is_empty();
        return Offer::known(typed, if is_first { possible_values(&possible) } else { Vec::new() });
    }
    let name = positional.get_value_names().and_then(<[_]>::first).map(Str::as_str);
    let takes_revisions = name.is_some_and(|name| name.contains("FROM"));
    let takes_one = line.command.get_name() == step::VERB;
    let kinds: &[Kind] = if takes_one { &step::KINDS } else { &Kind::ALL };
    let is_pair = line.words.first().is_some_and(|first| first.contains('/'));
    let (workload, rest) = line.words.split_at(line.words.len().min(if is_pair { 1 } else { 2 }));
    match rest {
        _ if workload.len() < 2 && !is_pair => target(typed, &line.words, kinds),
        _ if takes_one => Offer::known(typed, Vec::new()),
        _ if !takes_revisions => target(typed, &line.words, kinds),
        [] | [_] => sides(typed, workload),
        _ => Offer::known(typed, Vec::new()),
    }
}

/// What `diff` compares: a revision, or the live template, which is none.
fn sides(typed: &str, target: &[String]) -> Offer {
    revisions(
        typed,
        target,
        &[
            ("current", "the revision that runs"),
            ("previous", "the one before it"),
            ("live", "the template of the workload itself"),
        ],
    )
}

/// The revisions of the first workload that is named; a number means little where there are several.
fn revisions(typed: &str, targets: &[String], besides: &[(&str, &str)]) -> Offer {
    let asks = read_targets(targets, false).unwrap_or_default();
    let lookup = match asks.first() {
        Some(Ask::Named(AskedType::Kind(kind), name)) => Some(Lookup::Revisions(*kind, name.clone())),
        _ => None,
    };
    let known = besides.iter().map(|(word, description)| Candidate::new(*word, *description)).collect();
    Offer { typed: typed.to_owned(), known, lookup, directive: Directive::InThisOrder }
}

/// `TYPE/NAME...`, `TYPE NAME...` or `TYPE`, each as far as it goes, of the kinds that the verb takes.
fn target(typed: &str, words: &[String], taken: &[Kind]) -> Offer {
    if let Some((type_, _)) = typed.split_once('/') {
        let kinds = kinds(type_, taken);
        // A name is written after the type as it was typed: `sts/db` for whoever types `sts/`.
        let form = NameForm::After(type_.to_owned());
        let lookup = (kinds.len() == 1).then(|| Lookup::Names { kinds, form, but: words.to_vec() });
        return Offer::looked_up(typed, lookup);
    }
    match words.split_first() {
        None => types(typed, "", taken),
        Some((first, _)) if first.contains('/') => types(typed, "/", taken),
        Some((first, names)) => {
            let (kinds, form) = (kinds(first, taken), NameForm::Bare);
            Offer::looked_up(typed, Some(Lookup::Names { kinds, form, but: names.to_vec() }))
        }
    }
}

/// Types, the last one of a list with commas if there is one.
fn types(typed: &str, end: &str, taken: &[Kind]) -> Offer {
    let before = typed.rfind(',').map_or("", |comma| &typed[..=comma]);
    let known = taken.iter().map(|kind| {
        let (name, short) = (kind.type_().singular(), kind.type_().short());
        Candidate::new(format!("{before}{name}{end}"), format!("or {short}"))
    });
    let directive = if end.is_empty() { Directive::Words } else { Directive::Unfinished };
    Offer { typed: typed.to_owned(), known: known.collect(), directive, ..Offer::default() }
}

fn kinds(types: &str, taken: &[Kind]) -> Vec<Kind> {
    let kinds = types.split(',').map(|word| match read_type(word) {
        TypeWord::Kind(kind) => vec![kind],
        TypeWord::All => Kind::ALL.to_vec(),
        TypeWord::Other(_) | TypeWord::Unknown => Vec::new(),
    });
    kinds.flatten().filter(|kind| taken.contains(kind)).collect()
}

fn possible_values(values: &[PossibleValue]) -> Vec<Candidate> {
    let shown = values.iter().filter(|value| !value.is_hide_set());
    shown.map(|value| Candidate::new(value.get_name(), first_line(value.get_help()))).collect()
}

fn first_line(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}
