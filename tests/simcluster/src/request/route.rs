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
}

impl Verb {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }

    /// Whether it changes nothing.
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
    /// `status`, `scale`, `log` or `eviction`; empty for the object itself.
    pub subresource: String,
}

impl Target {
    /// Returns the key of the object; for a collection, with an empty name.
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
