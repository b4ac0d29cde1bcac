//! The contexts of a kubeconfig that patterns select.

use std::collections::HashMap;

use kube::config::Kubeconfig;

use super::SharedKubeconfig;
use super::overrides::Overrides;
use crate::error::{Error, Result};
use crate::model::text::wildcard::matches;
use crate::world::Environment;

/// The contexts that patterns select.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SelectedContexts {
    /// Their names, in the order of the kubeconfig.
    pub names: Vec<String>,
    /// The contexts that are left out because another one [is the same](ContextIdentity): each with that one.
    pub same: Vec<(String, String)>,
}

/// What two contexts must have in common, besides the server, to count once.
#[derive(Clone, Copy, Debug)]
pub struct ContextIdentity {
    /// Whether the user counts: not for a write, of which each workload needs one.
    pub user: bool,
    /// Whether the namespace of the context counts: not if a flag overrides it.
    pub namespace: bool,
}

/// Selects contexts by names and globs (`*` and `?`). A pattern after `!` excludes. Without another pattern all contexts are
/// selected.
///
/// # Errors
/// When a file cannot be read, and when a pattern matches no context.
pub fn select_contexts(
    patterns: &[String],
    identity: ContextIdentity,
    kubeconfig: &SharedKubeconfig,
    overrides: &Overrides,
    environment: &Environment,
) -> Result<SelectedContexts> {
    select(patterns, identity, kubeconfig.read(overrides, environment)?)
}

fn select(
    patterns: &[String],
    identity: ContextIdentity,
    kubeconfig: &Kubeconfig,
) -> Result<SelectedContexts> {
    let names: Vec<&str> = kubeconfig.contexts.iter().map(|named| named.name.as_str()).collect();
    let (excluding, including): (Vec<_>, Vec<_>) =
        patterns.iter().map(|pattern| pattern.trim()).partition(|pattern| pattern.starts_with('!'));
    let excluding: Vec<_> = excluding.iter().map(|pattern| pattern.trim_start_matches('!')).collect();
    let is_unused = |pattern: &&&str| !names.iter().any(|name| matches(pattern, name));
    if let Some(pattern) = including.iter().chain(&excluding).find(is_unused) {
        return Err(Error::usage(format!("the kubeconfig has no context {pattern:?}"))
            .hint("kubectl config get-contexts"));
    }
    let is_selected = |name: &str| {
        let any = |patterns: &[&str]| patterns.iter().any(|pattern| matches(pattern, name));
        (including.is_empty() || any(&including)) && !any(&excluding)
    };
    let server_of = |cluster: &str| {
        let cluster = kubeconfig.clusters.iter().find(|one| one.name == cluster)?.cluster.as_ref()?;
        Some(cluster.server.as_deref()?.trim_end_matches('/'))
    };
    let (mut selected, mut known) = (SelectedContexts::default(), HashMap::new());
    for named in kubeconfig.contexts.iter().filter(|named| is_selected(&named.name)) {
        let context = named.context.as_ref();
        let server = context.and_then(|context| server_of(&context.cluster));
        let place = context.zip(server).map(|(context, server)| {
            let user = context.user.as_deref().filter(|_| identity.user);
            let namespace = context.namespace.as_deref().filter(|name| !name.is_empty()).unwrap_or("default");
            (server, user, identity.namespace.then_some(namespace))
        });
        let name = &named.name;
        match place.map(|place| *known.entry(place).or_insert(name)).filter(|first| *first != name) {
            Some(first) => selected.same.push((name.clone(), first.clone())),
            None => selected.names.push(name.clone()),
        }
    }
    if selected.names.is_empty() {
        return Err(Error::usage("--contexts excludes every context").hint("kubectl config get-contexts"));
    }
    Ok(selected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(patterns: &[&str]) -> Result<SelectedContexts> {
        selected_by(ContextIdentity { user: true, namespace: true }, patterns)
    }

    fn selected_by(identity: ContextIdentity, patterns: &[&str]) -> Result<SelectedContexts> {
        let kubeconfig = Kubeconfig::from_yaml(
            "
contexts:
- {name: prod-eu, context: {cluster: eu, user: dev}}
- {name: prod-us, context: {cluster: us, user: dev}}
- {name: admin-us, context: {cluster: us, user: admin}}
- {name: again-us, context: {cluster: also-us, user: dev, namespace: default}}
- {name: shop-us, context: {cluster: us, user: dev, namespace: shop}}
- {name: lost, context: {cluster: gone, user: dev}}
clusters:
- {name: eu, cluster: {server: 'https://eu'}}
- {name: us, cluster: {server: 'https://us'}}
- {name: also-us, cluster: {server: 'https://us/'}}
",
        );
        let patterns: Vec<_> = patterns.iter().map(|one| (*one).to_owned()).collect();
        select(&patterns, identity, &kubeconfig.unwrap())
    }

    #[test]
    fn patterns_select_and_exclude_in_the_order_of_the_kubeconfig() {
        for (patterns, names) in [
            (&["prod-us", "prod-eu"][..], &["prod-eu", "prod-us"][..]),
            (&["prod-*"], &["prod-eu", "prod-us"]),
            (&["*-u?", "!admin-*"], &["prod-us", "shop-us"]),
            (&["!*us"], &["prod-eu", "lost"]),
            (&["lost"], &["lost"]),
        ] {
            assert_eq!(selected(patterns).unwrap().names, names, "{patterns:?}");
        }
    }

    #[test]
    fn one_place_counts_once() {
        for (user, namespace, names, same) in [
            (true, true, &["prod-eu", "prod-us", "admin-us", "shop-us", "lost"][..], &["again-us"][..]),
            (true, false, &["prod-eu", "prod-us", "admin-us", "lost"], &["again-us", "shop-us"]),
            (false, true, &["prod-eu", "prod-us", "shop-us", "lost"], &["admin-us", "again-us"]),
            (false, false, &["prod-eu", "prod-us", "lost"], &["admin-us", "again-us", "shop-us"]),
        ] {
            let all = selected_by(ContextIdentity { user, namespace }, &["*"]).unwrap();
            let same: Vec<_> = same.iter().map(|name| ((*name).to_owned(), "prod-us".to_owned())).collect();
            assert_eq!(all.names, names, "{user} {namespace}");
            assert_eq!(all.same, same, "{user} {namespace}");
        }
    }

    #[test]
    fn a_pattern_without_a_match_is_a_usage_error() {
        for (patterns, message) in [
            (&["prod-eu", "x*"][..], "the kubeconfig has no context \"x*\""),
            (&["*", "!staging"], "the kubeconfig has no context \"staging\""),
            (&["prod-eu", "!prod-*"], "--contexts excludes every context"),
        ] {
            let error = selected(patterns).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.exit().code()), (message, 2));
        }
    }

    #[test]
    fn a_glob_matches_the_whole_name() {
        for (pattern, name, expected) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "abcd", false),
            ("*", "", true),
            ("?", "", false),
            ("?", "é", true),
            ("**a", "ba", true),
            ("?*", "?", true),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
