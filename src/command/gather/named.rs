//! Workloads by type and name, and all of a type.

use super::place::Place;
use crate::cluster::source::Source;
use crate::command::can_do_without;
use crate::error::{Error, ErrorKind, Result};
use crate::model::kind::Kind;
use crate::model::name;
use crate::model::object::Object;
use crate::model::resource_type::ResourceType;
use crate::model::selector::Selector;
use crate::model::target::AskedType;
use crate::model::workload::Workload;

/// What kubectl's verb says of an object, by type and name, that it does nothing for; each verb has its own words.
pub type Refusal = fn(&ResourceType, &str) -> String;

/// What is kept of the workloads that a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Details {
    /// All of it.
    All,
    /// All but who wrote which field, which takes most of the room.
    Unmanaged,
}

/// Where a command looks for workloads, and what it says of objects that are none.
pub(super) struct Search<'a> {
    pub(super) source: &'a Source,
    pub(super) refusal: Refusal,
    pub(super) details: Details,
    pub(super) place: Place,
}

impl Search<'_> {
    /// One workload by name, in the namespace that was asked for or in another that is named with it.
    pub(super) async fn named(
        &self,
        type_: AskedType,
        name: &str,
        namespace: Option<&str>,
    ) -> Result<Workload> {
        let Some(namespace) = namespace.or(self.place.namespace()) else {
            return Err(Error::usage("a resource cannot be retrieved by name across all namespaces")
                .hint("name its namespace with -n"));
        };
        name::check_object(name)?; // a manifest's names were not read by the command line
        if self.source.is_live() {
            name::check_namespace(namespace)?; // what is in a snapshot may have any name
        }
        let object = self.source.get(type_.type_(), namespace, name).await;
        // A snapshot without a single pod may still be asked for one; kubectl would not find it either.
        let object = match object {
            Err(error) if can_do_without(&error) && matches!(type_, AskedType::Other(_)) => None,
            object => object?,
        };
        let Some(object) = object else {
            // kubectl takes it for granted that `default` is there.
            if namespace != "default" && !self.source.has_namespace(namespace).await? {
                return Err(no_namespace(namespace));
            }
            return Err(self.not_found(type_.type_(), namespace, name));
        };
        self.workload(type_, object)
    }

    /// Every workload of a type that a selector matches.
    pub(super) async fn every(&self, type_: AskedType, selector: &Selector) -> Result<Vec<Workload>> {
        let keep = |object: Object| match self.details {
            Details::All => self.workload(type_, object),
            Details::Unmanaged => self.workload(type_, object.unmanaged()),
        };
        let found = self.source.list_as(type_.type_(), self.place.namespace(), selector, keep).await?;
        found.into_iter().collect()
    }

    /// What there is instead can be asked of a cluster; of a snapshot kubectl knows nothing.
    fn not_found(&self, type_: &ResourceType, namespace: &str, name: &str) -> Error {
        let error = Error::new(
            ErrorKind::NotFound,
            format!("no {} {name:?} in namespace {namespace:?}", type_.singular()),
        )
        .in_compat(format!("Error from server (NotFound): {} {name:?} not found", type_.resource()));
        match Kind::of(type_.title()) {
            Some(_) if self.source.is_live() => {
                error.hint(format!("kubectl get {} -n {namespace}", type_.plural()))
            }
            _ => error,
        }
    }

    fn workload(&self, type_: AskedType, object: Object) -> Result<Workload> {
        let name = object.name().to_owned();
        Workload::of(object).ok_or_else(|| {
            let type_ = type_.type_();
            Error::usage(format!("{} have no rollouts", type_.plural()))
                .in_compat((self.refusal)(type_, &name))
        })
    }
}

fn no_namespace(namespace: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no namespace {namespace:?}"))
        .hint("kubectl get namespaces")
        .in_compat(format!("Error from server (NotFound): namespaces {namespace:?} not found"))
}
