//! Finds workloads by type and name, and all workloads of a type.

use crate::cluster::list_query::ListQuery;
use crate::cluster::reader::without_needless_template;
use crate::cluster::source::Source;
use crate::command::targets::namespace_scope::NamespaceScope;
use crate::command::targets::target_words::TargetType;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::managed_fields::with_template_owners_only;
use crate::model::api::object::Object;
use crate::model::api::resource_type::ResourceType;
use crate::model::api::selector::Selector;
use crate::model::kind;
use crate::model::kind::Workload;
use crate::model::text::name;
use crate::model::text::shell_command::{Word, command};

/// What the workloads of a search keep of their objects. `metadata.managedFields` are the largest part of most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptFields {
    /// All fields.
    All,
    /// Of `metadata.managedFields` only what is owned of the template, to find its last writer.
    TemplateOwners,
    /// All fields but `metadata.managedFields`.
    Unmanaged,
    /// As `Unmanaged`, without the [needless templates](without_needless_template).
    UnmanagedWithoutTemplates,
}

/// Finds the workloads of one command.
pub(super) struct TargetFinder<'a> {
    pub(super) source: &'a Source,
    pub(super) kept_fields: KeptFields,
    pub(super) namespaces: NamespaceScope,
    /// Whether the error of a missing workload suggests a similar name, which needs a list.
    pub(super) suggests_names: bool,
}

impl TargetFinder<'_> {
    /// Finds a workload by name, in `namespace` or else in the namespace of the command.
    pub(super) async fn named(
        &self,
        type_: TargetType,
        name: &str,
        namespace: Option<&str>,
    ) -> Result<Workload> {
        let Some(namespace) = namespace.or(self.namespaces.namespace()) else {
            return Err(Error::usage("a resource cannot be retrieved by name across all namespaces")
                .hint("name its namespace with -n"));
        };
        name::check_object(name)?; // the name may come from a manifest, unchecked
        if self.source.is_live() {
            name::check_namespace(namespace)?; // a snapshot may hold namespaces of any name
        }
        let Some(object) = self.source.get(type_.type_(), namespace, name).await? else {
            if self.is_missing(namespace).await? {
                return Err(no_namespace(namespace));
            }
            return Err(self.not_found(type_.type_(), namespace, name).await);
        };
        workload(type_, object)
    }

    /// Finds all workloads of a type that a selector matches.
    pub(super) async fn all(&self, type_: TargetType, selector: &Selector) -> Result<Vec<Workload>> {
        let keep = |object: Object| match self.kept_fields {
            KeptFields::All => workload(type_, object),
            KeptFields::TemplateOwners => workload(type_, with_template_owners_only(object)),
            KeptFields::Unmanaged => workload(type_, object.into_unmanaged()),
            KeptFields::UnmanagedWithoutTemplates => {
                workload(type_, object.into_unmanaged()).map(without_needless_template)
            }
        };
        let query = ListQuery::of(type_.type_(), self.namespaces.namespace()).with_labels(selector);
        let found = self.source.list(&query, |object| Some(keep(object))).await?;
        found.into_iter().collect()
    }

    /// Whether a namespace does not exist. As in kubectl, the namespace `default` is never checked.
    async fn is_missing(&self, namespace: &str) -> Result<bool> {
        Ok(namespace != "default" && !self.source.has_namespace(namespace).await?)
    }

    /// Returns a note if the namespace of the search does not exist, which a search that found nothing does not show.
    pub(super) async fn missing_namespace(&self) -> Option<String> {
        let namespace = self.namespaces.namespace()?;
        let is_missing = self.is_missing(namespace).await.unwrap_or_default();
        is_missing.then(|| format!("note: there is no namespace {namespace:?}"))
    }

    /// Returns the "not found" error. Its hint is the nearest name in the namespace, or for a live cluster a
    /// kubectl command.
    async fn not_found(&self, type_: &ResourceType, namespace: &str, name: &str) -> Error {
        let error = Error::new(
            ErrorKind::NotFound,
            format!("no {} {name:?} in namespace {namespace:?}", type_.typed()),
        );
        let Some(kind) = kind::of_type(type_).filter(|_| self.suggests_names) else {
            return error; // without a hint, so that no list is needed
        };
        let everything = ListQuery::of(type_, Some(namespace));
        let names = self.source.list(&everything, |one| Some(one.name().to_owned())).await;
        let names = names.unwrap_or_default(); // the error is about the missing workload
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        match similar::get_close_matches(name, &names, 1, 0.6)[..] {
            [near, ..] => error.hint(format!("did you mean {}/{near}?", type_.typed())),
            [] if self.source.is_live() => {
                // kubectl reads `statefulsets` as those of `apps/v1`.
                let resource = if kind.is_built_in() { type_.plural() } else { &type_.resource() };
                let words = [Word::name(resource, "TYPE"), Word::in_namespace(namespace)];
                error.hint(command("kubectl get {}{}", words))
            }
            [] => error,
        }
    }
}

fn workload(type_: TargetType, object: Object) -> Result<Workload> {
    Workload::of(object).ok_or_else(|| Error::usage(format!("{} have no rollouts", type_.type_().plural())))
}

fn no_namespace(namespace: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no namespace {namespace:?}"))
        .hint("kubectl get namespaces")
}
