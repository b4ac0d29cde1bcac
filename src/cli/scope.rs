//! The arguments that select workloads: `TYPE/NAME`, `TYPE NAME...`, `TYPE`, a selector, manifests.

use std::path::PathBuf;

use clap::Args;

use super::common::CommonArgs;
use super::values::{check_stdin_once, go_bool};
use crate::error::{Error, Result};
use crate::model::api::selector::Selector;
use crate::model::kind::table::{TypeWord, nearest_spelling, read_type};
use crate::model::kind::{self, Kind};
use crate::model::text::shell_command::{Word, command};
use crate::model::text::untrusted;
use crate::world::InputPath;

/// The heading of these arguments in help.
const SELECTING: &str = "Selecting workloads";

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

/// The one workload of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTarget {
    /// Its kind.
    pub kind: &'static dyn Kind,
    /// Its name.
    pub name: String,
    /// The namespace (`-n`).
    pub namespace: Option<String>,
}

/// The arguments that select workloads.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// The workloads: TYPE/NAME..., TYPE NAME..., or TYPE for all of a type
    ///
    /// TYPE is deployment (deploy), daemonset (ds), statefulset (sts), cloneset, asts or ads of OpenKruise, a
    /// comma-separated list of these, or all.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,

    /// Select workloads by labels: app=web,tier!=cache or 'env in (prod,test)'
    #[arg(short = 'l', long, value_name = "SELECTOR", help_heading = SELECTING, value_parser = Selector::parse, default_value = "", hide_default_value = true)]
    pub selector: Selector,

    /// Select the workloads in these manifests: a file, a directory, a pattern, or - for standard input
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", value_delimiter = ',', help_heading = SELECTING, value_parser = manifest_path)]
    pub files: Vec<InputPath>,

    /// Read subdirectories too
    #[arg(
        short = 'R', long, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", help_heading = SELECTING, hide_short_help = true
    )]
    pub recursive: Option<bool>,

    /// Select workloads in all namespaces
    #[arg(short = 'A', long, help_heading = SELECTING)]
    pub all_namespaces: bool, // overrides -n, as in kubectl get

    /// Exit with 0 when nothing matches
    #[arg(long, help_heading = SELECTING, hide_short_help = true)]
    pub allow_empty: bool,

    /// Select the workloads in the clusters of these contexts: names, or globs such as 'prod-*'; !NAME excludes
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = SELECTING, hide_short_help = true)]
    pub contexts: Vec<String>,
}

impl ScopeArgs {
    /// Whether a word is among the targets.
    pub(super) fn has_target(&self, word: &str) -> bool {
        self.targets.iter().any(|target| target == word)
    }

    /// Selects all workloads if the command has no TARGET.
    pub(super) fn default_to_all(&mut self) {
        if self.targets.is_empty() && self.files.is_empty() {
            self.targets.push("all".to_owned());
        }
    }

    /// Checks the targets, and that standard input is read once.
    ///
    /// # Errors
    /// Usage errors with kubectl's messages.
    pub(super) fn validate(&self, common: &CommonArgs) -> Result<()> {
        self.targets()?;
        check_stdin_once(self.files.iter().chain(common.from.iter().map(|recording| &recording.path)))
    }

    /// Refuses targets of a kind that is only read, for a verb that needs revisions or writes.
    ///
    /// # Errors
    /// A usage error with the reason of the kind.
    pub(super) fn refuse_read_only(&self, verb: &str) -> Result<()> {
        self.targets()?.iter().try_for_each(|word| match word {
            TargetWord::Named(kind, name) => refuse_read_only(*kind, Some(name), verb),
            TargetWord::All(kind) | TargetWord::IfServed(kind) => refuse_read_only(*kind, None, verb),
        })
    }

    /// Returns the targets; empty if there are manifests.
    ///
    /// # Errors
    /// As `ScopeArgs::validate`.
    pub fn targets(&self) -> Result<Vec<TargetWord>> {
        match self.targets.as_slice() {
            [] if !self.files.is_empty() => Ok(Vec::new()),
            [_, ..] if !self.files.is_empty() => Err(Error::usage(
                "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well",
            )),
            words => read_workload_targets(words, self.selector != Selector::default()),
        }
    }
}

/// Refuses a workload, or a type, of a kind that is only read.
///
/// # Errors
/// A usage error with the reason of the kind.
pub(super) fn refuse_read_only(kind: &'static dyn Kind, name: Option<&str>, verb: &str) -> Result<()> {
    let Some(why) = kind.read_only() else { return Ok(()) };
    let type_ = kind.type_();
    let (target, hint) = match name {
        Some(name) => {
            let status =
                command("to follow it: kubectl rollout2 status {}", [Word::typed_name(type_.cli_name, name)]);
            (format!("{}/{name}", type_.cli_name), status)
        }
        None => (type_.plural.to_owned(), format!("to list them: kubectl rollout2 list {}", type_.plural)),
    };
    Err(Error::usage(format!("{verb} cannot be used with {target}: {why}")).hint(hint))
}

/// Parses a value of `-f`. A URL is not supported: this program has no trust settings for other servers; `curl` has.
fn manifest_path(word: &str) -> Result<InputPath> {
    if word.starts_with("http://") || word.starts_with("https://") {
        let hint = command("curl -sSL {} | kubectl rollout2 ... -f -", [Word::text(word, "URL")]);
        return Err(Error::usage("-f does not fetch from a URL").hint(hint));
    }
    Ok(PathBuf::from(word).into())
}

/// Parses the words of a command line as kubectl's resource builder does.
///
/// Commas separate several types. Several types with several names give every combination.
///
/// # Errors
/// Usage errors with kubectl's messages.
pub(super) fn read_targets(words: &[String], has_selector: bool) -> Result<Vec<TargetWord>> {
    let Some((first, names)) = words.split_first() else {
        return Err(Error::usage("required resource not specified")
            .hint("name a workload, such as deployment/web, or a type, such as deployment, or all"));
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
    Ok(types.iter().flat_map(|type_| names.iter().map(|name| named(type_, name))).collect())
}

/// As [`read_targets`], for commands that take names. A single unknown word may be a name without its type.
///
/// # Errors
/// As [`read_targets`].
fn read_workload_targets(words: &[String], has_selector: bool) -> Result<Vec<TargetWord>> {
    read_targets(words, has_selector).map_err(|error| match words {
        [word] if may_be_name(word) => error.hint(with_type(word)),
        _ => error,
    })
}

/// Whether a word can be the name of an object, and is neither a type nor a mistyped one.
pub(super) fn may_be_name(word: &str) -> bool {
    read_type(word) == TypeWord::Other
        && nearest_spelling(word).is_none()
        && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.'))
}

fn with_type(name: &str) -> String {
    format!("name the type too, such as deployment/{name}")
}

/// Parses one workload at the beginning of `words`, and returns it with the remaining words. `example` is a
/// valid target for the hint.
///
/// # Errors
/// As [`read_targets`], and when the words do not name exactly one workload.
pub(super) fn read_one_target<'w>(words: &'w [String], example: &str) -> Result<(NamedTarget, &'w [String])> {
    let write_it_as = format!("write it as {example}");
    if words.is_empty() {
        return Err(Error::usage("required resource not specified").hint(write_it_as));
    }
    let one = |count: usize| -> Result<(NamedTarget, &'w [String])> {
        let (target, rest) = words.split_at(count.min(words.len()));
        let one = read_targets(target, false).map_err(|error| match target {
            [word, ..] if may_be_name(word) => error.hint(with_type(word)),
            _ => error,
        });
        match one?.as_slice() {
            [TargetWord::Named(kind, name)] => {
                Ok((NamedTarget { kind: *kind, name: name.clone(), namespace: None }, rest))
            }
            _ => Err(Error::usage("exactly one workload must be named").hint(write_it_as.clone())),
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
                [type_] => untrusted::check_object(name).map(|()| named(type_, name)),
                _ => Err(single_form()),
            }
        }
        [_, _] => Err(single_form()),
        _ => Err(Error::usage("arguments in resource/name form may not have more than one slash")),
    }
}

/// Returns one object of a type.
fn named(type_: &TargetWord, name: &str) -> TargetWord {
    let (TargetWord::Named(kind, _) | TargetWord::All(kind) | TargetWord::IfServed(kind)) = type_;
    TargetWord::Named(*kind, name.to_owned())
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

    fn one(kind: &'static dyn Kind, name: &str) -> TargetWord {
        TargetWord::Named(kind, name.to_owned())
    }

    fn every(kind: &'static dyn Kind) -> TargetWord {
        TargetWord::All(kind)
    }

    #[test]
    fn every_form_of_an_argument_selects_the_same_targets_as_in_kubectl() {
        for (line, asks) in [
            ("deployment/web", vec![one(&Deployment, "web")]),
            ("deploy web api", vec![one(&Deployment, "web"), one(&Deployment, "api")]),
            ("sts/db ds/agent", vec![one(&StatefulSet, "db"), one(&DaemonSet, "agent")]),
            ("deploy,sts x", vec![one(&Deployment, "x"), one(&StatefulSet, "x")]),
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
    fn a_url_is_no_manifest() {
        assert_eq!(manifest_path("a.yaml").unwrap(), InputPath::Path("a.yaml".into()));
        assert_eq!(manifest_path("-").unwrap(), InputPath::Stdin);
        let error = manifest_path("https://x/y.yaml").unwrap_err();
        assert_eq!(error.hint_text(), Some("curl -sSL https://x/y.yaml | kubectl rollout2 ... -f -"));
        assert!(check_stdin_once(&[InputPath::Stdin, InputPath::Stdin]).is_err());
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
            assert_eq!(error.hint_text(), Some(hint), "{line}");
        }
    }

    #[test]
    fn read_one_returns_one_target_and_the_remaining_words() {
        let db = NamedTarget { kind: &StatefulSet, name: "db".to_owned(), namespace: None };
        let line = words("sts/db 3 live");
        assert_eq!(read_one_target(&line, "sts/db").unwrap(), (db.clone(), &line[1..]));
        let line = words("sts db 3");
        assert_eq!(read_one_target(&line, "sts/db").unwrap(), (db, &line[2..]));
        for line in ["sts", "sts,ds db", "all db", ""] {
            assert!(read_one_target(&words(line), "sts/db").is_err(), "{line}");
        }
    }
}
