//! Which workloads a command is about: `TYPE/NAME`, `TYPE NAME...`, `TYPE`, a selector, manifests.

use std::collections::HashSet;

use crate::command::CommandOutcome;
use crate::error::{Error, Result};
use crate::model::api::object::Object;
use crate::model::api::selector::Selector;
use crate::model::kind::table::{TypeWord, nearest_spelling, read_type};
use crate::model::kind::{self, Kind, Workload};
use crate::model::text::untrusted;

/// Which workloads the user named or selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetScope {
    /// The names and types on the command line.
    pub targets: Vec<TargetWord>,
    /// The label selector (`-l`).
    pub selector: Selector,
    /// The namespace (`-n`).
    pub namespace: Option<String>,
    /// Whether to search all namespaces (`-A`).
    pub all_namespaces: bool,
    /// Whether a search that finds nothing is a success (`--allow-empty`).
    pub allow_empty: bool,
    /// The objects in the manifests (`-f`).
    pub manifest_objects: Vec<Object>,
    /// The errors of manifests that cannot be read.
    pub manifest_errors: Vec<Error>,
}

impl TargetScope {
    /// Returns the scope of one target.
    #[must_use]
    pub fn of(target: TargetWord, namespace: Option<String>) -> Self {
        Self { targets: vec![target], namespace, ..Self::default() }
    }

    /// Whether a target is a type without a name, so that it may match several workloads.
    #[must_use]
    pub fn is_selection(&self) -> bool {
        self.targets.iter().any(|word| matches!(word, TargetWord::All(_) | TargetWord::IfServed(_)))
    }
}

/// The workloads of a scope, in the order of the command line, or what is kept of them.
#[derive(Debug)]
pub struct FoundTargets<T = Workload> {
    /// The workloads.
    pub workloads: Vec<T>,
    /// The errors of single targets, which do not stop the search for the others. A search that found nothing has one too,
    /// because a pipeline must notice a misspelled selector, unless `--allow-empty` is set.
    pub outcome: CommandOutcome,
    /// What is to be printed about the search.
    pub(in crate::command) notes: Vec<String>,
}

impl<T> Default for FoundTargets<T> {
    fn default() -> Self {
        Self { workloads: Vec::new(), outcome: CommandOutcome::default(), notes: Vec::new() }
    }
}

impl FoundTargets {
    /// Removes repeated workloads: two arguments, or two manifests, may mean one. Its second write would conflict with the
    /// first one.
    pub(in crate::command) fn without_duplicates(mut self) -> Self {
        let mut found = HashSet::new();
        self.workloads.retain(|workload| {
            let object = workload.object(); // a recorded one may have no uid
            found.insert([object.uid(), object.namespace(), &workload.reference()].map(str::to_owned))
        });
        self
    }
}

/// One target on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetWord {
    /// One object.
    Named(&'static dyn Kind, String),
    /// Every object of a kind.
    All(&'static dyn Kind),
    /// Every object of a kind that `all` includes where the server has it.
    IfServed(&'static dyn Kind),
}

impl TargetWord {
    /// Returns one object of the type.
    fn with_name(&self, name: &str) -> Self {
        match self {
            Self::Named(kind, _) | Self::All(kind) | Self::IfServed(kind) => {
                Self::Named(*kind, name.to_owned())
            }
        }
    }
}

/// Parses the words of a command line as kubectl's resource builder does.
///
/// Commas separate several types. Several types with several names give every combination.
///
/// # Errors
/// Usage errors with kubectl's messages.
pub fn read_targets(words: &[String], has_selector: bool) -> Result<Vec<TargetWord>> {
    let Some((first, names)) = words.split_first() else {
        return Err(Error::usage("required resource not specified")
            .hint("name a workload, such as deployment/web, or a type, such as deployment"));
    };
    if first.contains('/') {
        return read_pairs(words, has_selector);
    }
    if words.iter().any(|word| word.contains('/')) {
        return Err(mixed_forms());
    }
    let types = read_types(first)?;
    if names.is_empty() {
        return Ok(types);
    }
    if has_selector {
        return Err(Error::usage("name cannot be provided when a selector is specified"));
    }
    names.iter().try_for_each(|name| untrusted::check_object(name))?;
    Ok(types.iter().flat_map(|type_| names.iter().map(|name| type_.with_name(name))).collect())
}

/// As [`read_targets`], for commands that take names. A single unknown word may be a name without its type.
///
/// # Errors
/// As [`read_targets`].
pub fn read_workload_targets(words: &[String], has_selector: bool) -> Result<Vec<TargetWord>> {
    read_targets(words, has_selector).map_err(|error| match words {
        [word]
            if read_type(word) == TypeWord::Other
                && nearest_spelling(word).is_none()
                && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.')) =>
        {
            error.hint(format!("name the type too, such as deployment/{word}"))
        }
        _ => error,
    })
}

/// Parses one workload at the beginning of `words`, and returns it with the remaining words. `example` is a
/// valid target for the hint.
///
/// # Errors
/// As [`read_targets`], and when the words do not name exactly one workload.
pub fn read_one_target<'w>(words: &'w [String], example: &str) -> Result<(TargetWord, &'w [String])> {
    let write_it_as = format!("write it as {example}");
    if words.is_empty() {
        return Err(Error::usage("required resource not specified").hint(write_it_as));
    }
    let one = |count: usize| -> Result<(TargetWord, &'w [String])> {
        let (target, rest) = words.split_at(count.min(words.len()));
        match read_targets(target, false)?.as_slice() {
            [target @ TargetWord::Named(..)] => Ok((target.clone(), rest)),
            _ => Err(not_one().hint(write_it_as.clone())),
        }
    };
    if words.first().is_some_and(|word| word.contains('/')) { one(1) } else { one(2) }
}

fn read_pairs(words: &[String], has_selector: bool) -> Result<Vec<TargetWord>> {
    if !words.iter().all(|word| word.contains('/')) {
        return Err(mixed_forms());
    }
    if has_selector {
        return Err(Error::usage(
            "selectors and the all flag cannot be used when passing resource/name arguments",
        ));
    }
    words.iter().map(|word| read_pair(word)).collect()
}

fn read_pair(word: &str) -> Result<TargetWord> {
    match word.split('/').collect::<Vec<_>>().as_slice() {
        [type_, name] if !type_.is_empty() && !name.is_empty() && !type_.contains(',') => {
            match read_types(type_)?.as_slice() {
                [type_] => untrusted::check_object(name).map(|()| type_.with_name(name)),
                _ => Err(single_form()),
            }
        }
        [_, _] => Err(single_form()),
        _ => Err(Error::usage("arguments in resource/name form may not have more than one slash")),
    }
}

/// Parses a list of types, each of which selects all of its objects.
fn read_types(words: &str) -> Result<Vec<TargetWord>> {
    let mut types = Vec::new();
    for word in words.split(',') {
        match read_type(word) {
            TypeWord::Kind(kind) => types.push(TargetWord::All(kind)),
            TypeWord::All => {
                types.extend(kind::built_in().map(TargetWord::All));
                types.extend(kind::optional().map(TargetWord::IfServed));
            }
            TypeWord::Other => return Err(no_kind(word)),
        }
    }
    Ok(types)
}

fn no_kind(word: &str) -> Error {
    let hint = match nearest_spelling(word) {
        Some(near) => format!("did you mean {near}?"),
        None => "use deployment, daemonset or statefulset".to_owned(),
    };
    Error::usage(format!("{word:?} is not a type with rollouts")).hint(hint)
}

/// Returns the error for a command of one workload that gets none or several.
pub(in crate::command) fn not_one() -> Error {
    Error::usage("exactly one workload must be named")
}

fn single_form() -> Error {
    Error::usage("arguments in resource/name form must have a single resource and name")
}

fn mixed_forms() -> Error {
    // kubectl's message lacks the closing parenthesis. Scripts may match it.
    Error::usage("there is no need to specify a resource type as a separate argument when passing arguments in resource/name form")
        .hint("write every target as TYPE/NAME, or one TYPE followed by names")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::daemon_set::DaemonSet;
    use crate::model::kind::deployment::Deployment;
    use crate::model::kind::stateful_set::StatefulSet;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn named(kind: &'static dyn Kind, name: &str) -> TargetWord {
        TargetWord::Named(kind, name.to_owned())
    }

    fn every(kind: &'static dyn Kind) -> TargetWord {
        TargetWord::All(kind)
    }

    #[test]
    fn every_form_of_an_argument_selects_the_same_targets_as_in_kubectl() {
        for (line, asks) in [
            ("deployment/web", vec![named(&Deployment, "web")]),
            ("deploy web api", vec![named(&Deployment, "web"), named(&Deployment, "api")]),
            ("sts/db ds/agent", vec![named(&StatefulSet, "db"), named(&DaemonSet, "agent")]),
            ("deploy,sts x", vec![named(&Deployment, "x"), named(&StatefulSet, "x")]),
            ("deploy,ds", vec![every(&Deployment), every(&DaemonSet)]),
        ] {
            assert_eq!(read_targets(&words(line), false).unwrap(), asks, "{line}");
        }
    }

    #[test]
    fn all_means_the_built_in_kinds_and_the_others_where_the_server_has_them() {
        let all = read_targets(&words("all"), false).unwrap();
        let built_in = [every(&DaemonSet), every(&Deployment), every(&StatefulSet)];
        assert_eq!(all[..3], built_in);
        assert!(all[3..].iter().all(|word| matches!(word, TargetWord::IfServed(_))));
    }

    #[test]
    fn malformed_arguments_are_usage_errors() {
        for (line, selector, message) in [
            ("", false, "required resource not specified"),
            ("pods/foo bar", false, "no need to specify a resource type"),
            ("deploy deploy/web", false, "no need to specify a resource type"),
            (",pods/foo", false, "must have a single resource and name"),
            ("deploy,sts/foo", false, "must have a single resource and name"),
            ("all/foo", false, "must have a single resource and name"),
            ("/bar", false, "must have a single resource and name"),
            ("deploy/", false, "must have a single resource and name"),
            ("a/b/c", false, "more than one slash"),
            ("zebra/foo", false, "\"zebra\" is not a type with rollouts"),
            ("deploy/web", true, "selectors and the all flag"),
            ("deploy web", true, "name cannot be provided"),
        ] {
            let error = read_targets(&words(line), selector).unwrap_err();
            assert!(error.to_string().contains(message), "{line}: {error:?}");
            assert_eq!(error.exit().code(), 2, "{line}");
        }
    }

    #[test]
    fn a_name_without_a_type_has_a_hint_with_a_type() {
        for (line, hint) in [
            ("web", "name the type too, such as deployment/web"),
            ("web api", "use deployment, daemonset or statefulset"),
            ("web,api", "use deployment, daemonset or statefulset"),
            ("deploymnt", "did you mean deployment?"),
        ] {
            let error = read_workload_targets(&words(line), false).unwrap_err();
            assert_eq!(error.next_step(), Some(hint), "{line}");
        }
    }

    #[test]
    fn read_one_returns_one_target_and_the_remaining_words() {
        let line = words("sts/db 3 live");
        assert_eq!(read_one_target(&line, "sts/db").unwrap(), (named(&StatefulSet, "db"), &line[1..]));
        let line = words("sts db 3");
        assert_eq!(read_one_target(&line, "sts/db").unwrap(), (named(&StatefulSet, "db"), &line[2..]));
        for line in ["sts", "sts,ds db", "all db", ""] {
            assert!(read_one_target(&words(line), "sts/db").is_err(), "{line}");
        }
    }
}
