//! The verb and the resource of a request, from its method and path.

use http::Method;
use percent_encoding::percent_decode_str;

use super::query::Query;
use crate::{
    resource::{NAMESPACES, Resource},
    store::Key,
};

/// A verb of the API, as in RBAC rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// GET of an object.
    Get,
    /// GET of a collection.
    List,
    /// GET of a collection with `watch=true`.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH.
    Patch,
    /// DELETE of an object.
    Delete,
    /// DELETE of a collection.
    DeleteCollection,
}

impl Verb {
    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    /// Whether it changes nothing.
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::List | Self::Watch)
    }

    fn of(method: &Method, names_object: bool, watches: bool) -> Option<Self> {
        Some(match (method, names_object) {
            (&Method::GET | &Method::HEAD, true) => Self::Get,
            (&Method::GET | &Method::HEAD, false) if watches => Self::Watch,
            (&Method::GET | &Method::HEAD, false) => Self::List,
            (&Method::POST, _) => Self::Create,
            (&Method::PUT, _) => Self::Update,
            (&Method::PATCH, _) => Self::Patch,
            (&Method::DELETE, true) => Self::Delete,
            (&Method::DELETE, false) => Self::DeleteCollection,
            _ => return None,
        })
    }
}

/// The destination of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// A resource.
    Resource(Target),
    /// Anything else, such as discovery.
    Path(String),
}

/// A collection, an object or a subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The verb.
    pub verb: Verb,
    /// The row of the resource.
    pub resource: &'static Resource,
    /// `None` for all namespaces and for cluster-scoped resources.
    pub namespace: Option<String>,
    /// `None` for a collection.
    pub name: Option<String>,
    /// `status`, `scale`, `log`, `eviction` or `binding`; empty for the object itself.
    pub subresource: String,
}

impl Target {
    /// Returns the key of the object; for a collection, with an empty name.
    #[must_use]
    pub fn key(&self) -> Key {
        Key::new(
            self.resource,
            self.namespace.as_deref().unwrap_or_default(),
            self.name.as_deref().unwrap_or_default(),
        )
    }
}

impl Route {
    /// Reads a path. The path of a resource that is not served is no resource.
    #[must_use]
    pub fn of(method: &Method, path: &str, query: &Query) -> Self {
        let steps: Vec<String> = path
            .split('/')
            .filter(|step| !step.is_empty())
            .map(|step| percent_decode_str(step).decode_utf8_lossy().into_owned())
            .collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let target = match steps.as_slice() {
            ["api", version, rest @ ..] => target("", version, rest, method, query),
            ["apis", group, version, rest @ ..] => target(group, version, rest, method, query),
            _ => None,
        };
        target.map_or_else(|| Self::Path(path.to_owned()), Self::Resource)
    }
}

fn target(group: &str, version: &str, rest: &[&str], method: &Method, query: &Query) -> Option<Target> {
    // `namespaces/NAME/status` is a subresource of a namespace, `namespaces/NAME/pods` a collection in it.
    if let ["namespaces", name, subresource] = rest
        && NAMESPACES.subresources.contains(subresource)
        && group.is_empty()
    {
        return found(&NAMESPACES, None, &[name, subresource], method, query);
    }
    match rest {
        ["namespaces", namespace, plural, rest @ ..] => {
            let resource = Resource::in_url(group, version, plural).filter(|resource| resource.namespaced)?;
            found(resource, Some((*namespace).to_owned()), rest, method, query)
        }
        [plural, rest @ ..] => {
            let resource = Resource::in_url(group, version, plural)?;
            if resource.namespaced && !rest.is_empty() {
                return None;
            }
            found(resource, None, rest, method, query)
        }
        [] => None,
    }
}

fn found(
    resource: &'static Resource,
    namespace: Option<String>,
    rest: &[&str],
    method: &Method,
    query: &Query,
) -> Option<Target> {
    let (name, subresource) = match rest {
        [] => (None, ""),
        [name] => (Some((*name).to_owned()), ""),
        [name, subresource] if resource.subresources.contains(subresource) => {
            (Some((*name).to_owned()), *subresource)
        }
        _ => return None,
    };
    let verb = Verb::of(method, name.is_some(), query.flag("watch"))?;
    Some(Target { verb, resource, namespace, name, subresource: subresource.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{DEPLOYMENTS, PODS};

    fn target(method: &Method, path: &str, query: &str) -> Target {
        match Route::of(method, path, &Query::parse(query)) {
            Route::Resource(target) => target,
            Route::Path(path) => panic!("{path} is no resource"),
        }
    }

    #[test]
    fn paths_name_collections_objects_and_parts() {
        let all = target(&Method::GET, "/apis/apps/v1/deployments", "");
        assert_eq!((all.verb, all.resource, all.namespace), (Verb::List, &DEPLOYMENTS, None));
        let watched = target(&Method::GET, "/api/v1/namespaces/shop/pods", "watch=true");
        assert_eq!(
            (watched.verb, watched.resource, watched.namespace.as_deref()),
            (Verb::Watch, &PODS, Some("shop"))
        );
        let log = target(&Method::GET, "/api/v1/namespaces/shop/pods/web-1/log", "");
        assert_eq!(
            (log.verb, log.name.as_deref(), log.subresource.as_str()),
            (Verb::Get, Some("web-1"), "log")
        );
        let namespace = target(&Method::DELETE, "/api/v1/namespaces/shop", "");
        assert_eq!(
            (namespace.verb, namespace.resource, namespace.name.as_deref()),
            (Verb::Delete, &NAMESPACES, Some("shop"))
        );
    }

    #[test]
    fn what_is_not_served_is_a_plain_path() {
        for path in [
            "/version",
            "/apis",
            "/api/v1",
            "/apis/batch/v1/jobs",
            "/api/v1/pods/web-1",
            "/api/v1/namespaces/a/pods/b/exec",
        ] {
            assert_eq!(
                Route::of(&Method::GET, path, &Query::default()),
                Route::Path(path.to_owned()),
                "{path}"
            );
        }
    }
}
