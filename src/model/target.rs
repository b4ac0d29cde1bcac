//! The words that name what a command is about: `TYPE/NAME`, `TYPE NAME...`, `TYPE`.

use super::kind::{Kind, TypeWord, nearest_spelling, read_type};
use super::name;
use super::resource_type::ResourceType;
use crate::error::{Error, Result};

/// One thing that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// One object by name.
    Named(AskedType, String),
    /// Every object of a type.
    Every(AskedType),
}

/// The type in an [`Ask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedType {
    /// A kind with rollouts.
    Kind(Kind),
    /// A type without: kept until the object was looked for, because kubectl does so too.
    Other(&'static ResourceType),
}

impl AskedType {
    /// What the API serves it as.
    #[must_use]
    pub fn type_(self) -> &'static ResourceType {
        match self {
            Self::Kind(kind) => kind.type_(),
            Self::Other(type_) => type_,
        }
    }
}

/// Reads the words of a command line as kubectl's resource builder does.
///
/// Several types are separated by commas; with names they make the cross product.
///
/// # Errors
/// Usage errors in kubectl's own words, which are in everybody's fingers.
pub fn read_targets(words: &[String], has_selector: bool) -> Result<Vec<Ask>> {
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
        return Ok(types.into_iter().map(Ask::Every).collect());
    }
    if has_selector {
        return Err(Error::usage("name cannot be provided when a selector is specified"));
    }
    names.iter().try_for_each(|name| name::check_object(name))?;
    Ok(types
        .iter()
        .flat_map(|&type_| names.iter().map(move |name| Ask::Named(type_, name.clone())))
        .collect())
}

/// Takes the one workload at the beginning of `words` and leaves the rest. `example` is one that the verb
/// takes.
///
/// # Errors
/// As [`read_targets`]; also when the words name no single workload.
pub fn read_one<'w>(words: &'w [String], example: &str) -> Result<(Ask, &'w [String])> {
    let write_it_as = format!("write it as {example}");
    if words.is_empty() {
        return Err(Error::usage("required resource not specified").hint(write_it_as));
    }
    let one = |count: usize| -> Result<(Ask, &'w [String])> {
        let (target, rest) = words.split_at(count.min(words.len()));
        match read_targets(target, false)?.as_slice() {
            [ask @ Ask::Named(..)] => Ok((ask.clone(), rest)),
            _ => Err(Error::usage("exactly one workload must be named").hint(write_it_as.clone())),
        }
    };
    if words.first().is_some_and(|word| word.contains('/')) { one(1) } else { one(2) }
}

fn read_pairs(words: &[String], has_selector: bool) -> Result<Vec<Ask>> {
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

fn read_pair(word: &str) -> Result<Ask> {
    match word.split('/').collect::<Vec<_>>().as_slice() {
        [type_, name] if !type_.is_empty() && !name.is_empty() && !type_.contains(',') => {
            match read_types(type_)?.as_slice() {
                [type_] => name::check_object(name).map(|()| Ask::Named(*type_, (*name).to_owned())),
                _ => Err(single_form()),
            }
        }
        [_, _] => Err(single_form()),
        _ => Err(Error::usage("arguments in resource/name form may not have more than one slash")),
    }
}

fn read_types(words: &str) -> Result<Vec<AskedType>> {
    let mut types = Vec::new();
    for word in words.split(',') {
        match read_type(word) {
            TypeWord::Kind(kind) => types.push(AskedType::Kind(kind)),
            TypeWord::All => types.extend(Kind::ALL.map(AskedType::Kind)),
            TypeWord::Other(other) => types.push(AskedType::Other(other)),
            TypeWord::Unknown => return Err(unknown_type(word)),
        }
    }
    Ok(types)
}

fn unknown_type(word: &str) -> Error {
    let hint = match nearest_spelling(word) {
        Some(near) => format!("did you mean {near}?"),
        None => "use deployment, daemonset or statefulset".to_owned(),
    };
    Error::usage(format!("unknown type {word:?}"))
        .hint(hint)
        .in_compat(format!("the server doesn't have a resource type {word:?}"))
}

fn single_form() -> Error {
    Error::usage("arguments in resource/name form must have a single resource and name")
}

fn mixed_forms() -> Error {
    // kubectl's sentence lacks its last parenthesis; scripts may match it as it is.
    Error::usage("there is no need to specify a resource type as a separate argument when passing arguments in resource/name form")
        .hint("write every target as TYPE/NAME, or one TYPE followed by names")
        .in_compat(
            "there is no need to specify a resource type as a separate argument when passing arguments in \
             resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of \
             'kubectl get resource resource/<resource_name>'",
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::Kind::{DaemonSet, Deployment, StatefulSet};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn named(kind: Kind, name: &str) -> Ask {
        Ask::Named(AskedType::Kind(kind), name.to_owned())
    }

    fn every(kind: Kind) -> Ask {
        Ask::Every(AskedType::Kind(kind))
    }

    #[test]
    fn every_form_of_reference_1_1_names_what_kubectl_names() {
        for (line, asks) in [
            ("deployment/web", vec![named(Deployment, "web")]),
            ("deploy web api", vec![named(Deployment, "web"), named(Deployment, "api")]),
            ("sts/db ds/agent", vec![named(StatefulSet, "db"), named(DaemonSet, "agent")]),
            ("deploy,sts x", vec![named(Deployment, "x"), named(StatefulSet, "x")]),
            ("deploy,ds", vec![every(Deployment), every(DaemonSet)]),
            ("all", vec![every(DaemonSet), every(Deployment), every(StatefulSet)]),
        ] {
            assert_eq!(read_targets(&words(line), false).unwrap(), asks, "{line}");
        }
    }

    #[test]
    fn malformed_words_are_usage_errors() {
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
            ("zebra/foo", false, "unknown type \"zebra\""),
            ("deploy/web", true, "selectors and the all flag"),
            ("deploy web", true, "name cannot be provided"),
        ] {
            let error = read_targets(&words(line), selector).unwrap_err();
            assert!(error.sentence().contains(message), "{line}: {error:?}");
            assert_eq!(error.exit().code(), 2, "{line}");
        }
    }

    #[test]
    fn one_target_is_taken_and_the_rest_left() {
        let line = words("sts/db 3 live");
        assert_eq!(read_one(&line, "sts/db").unwrap(), (named(StatefulSet, "db"), &line[1..]));
        let line = words("sts db 3");
        assert_eq!(read_one(&line, "sts/db").unwrap(), (named(StatefulSet, "db"), &line[2..]));
        for line in ["sts", "sts,ds db", "all db", ""] {
            assert!(read_one(&words(line), "sts/db").is_err(), "{line}");
        }
    }
}
