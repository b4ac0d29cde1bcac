//! The selection of requests for a fault.

use crate::{
    request::{Route, Verb},
    resource::Resource,
};

/// The requests that a fault applies to.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    verb: Option<Verb>,
    resource: Option<&'static Resource>,
    name: Option<String>,
    subresource: Option<String>,
    continued: bool,
    writes: bool,
}

impl Requests {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requests that change something.
    pub fn writes() -> Self {
        Self { writes: true, ..Self::default() }
    }

    /// Requests with a verb on a resource, including its subresources.
    pub fn of(verb: Verb, resource: &'static Resource) -> Self {
        Self { verb: Some(verb), resource: Some(resource), ..Self::default() }
    }

    /// Requests with any verb on a resource, including its subresources.
    pub fn on(resource: &'static Resource) -> Self {
        Self { resource: Some(resource), ..Self::default() }
    }

    /// Requests with a verb on any resource.
    pub fn verb(verb: Verb) -> Self {
        Self { verb: Some(verb), ..Self::default() }
    }

    /// Of these, the requests for an object with this name.
    pub fn named(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// Of these, the requests for this subresource; `""` for the object itself.
    pub fn part(self, subresource: &str) -> Self {
        Self { subresource: Some(subresource.to_owned()), ..self }
    }

    /// Of these, the requests for the second or a later page of a list.
    pub fn continued(self) -> Self {
        Self { continued: true, ..self }
    }

    pub(super) fn include(&self, route: &Route, continued: bool) -> bool {
        if self.continued && !continued {
            return false;
        }
        match route {
            Route::Path(_) => self.verb.is_none() && self.resource.is_none() && !self.writes,
            Route::Resource(target) => {
                self.verb.is_none_or(|verb| verb == target.verb)
                    && !(self.writes && target.verb.is_read())
                    && self.resource.is_none_or(|resource| resource == target.resource)
                    && self.name.as_ref().is_none_or(|name| target.name.as_ref() == Some(name))
                    && self.subresource.as_ref().is_none_or(|part| *part == target.subresource)
            }
        }
    }
}
