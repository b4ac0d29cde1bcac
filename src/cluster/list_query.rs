//! Which objects to list, and how much of each.

use super::served_versions::percent_encoded;
use crate::model::api::resource_type::{EVENT, ResourceType};
use crate::model::api::selector::Selector;

/// Which objects to list, and how much of each.
#[derive(Clone, Debug)]
pub struct ListQuery<'a> {
    pub(super) type_: &'a ResourceType,
    pub(super) namespace: Option<&'a str>,
    pub(super) selector: Selector,
    pub(super) form: ListForm,
}

/// How much of each object is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListForm {
    /// All fields; of objects other than workloads without `managedFields`.
    Facts,
    /// All fields.
    Whole,
    /// The metadata. No value of a Secret or ConfigMap is requested.
    Metadata,
}

impl<'a> ListQuery<'a> {
    /// Selects all objects of a type in one namespace, or in all. Objects other than workloads come without
    /// `managedFields`.
    #[must_use]
    pub fn of(type_: &'a ResourceType, namespace: Option<&'a str>) -> Self {
        Self { type_, namespace, selector: Selector::default(), form: ListForm::Facts }
    }

    /// Selects the events of type `Warning` in one namespace, or in all.
    #[must_use]
    pub fn warnings(namespace: Option<&'a str>) -> Self {
        Self::of(&EVENT, namespace)
    }

    /// Selects the objects with these labels.
    #[must_use]
    pub fn with_labels(self, selector: &Selector) -> Self {
        Self { selector: selector.clone(), ..self }
    }

    /// Keeps `managedFields`.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { form: ListForm::Whole, ..self }
    }

    /// Reads only metadata.
    #[must_use]
    pub fn metadata(self) -> Self {
        Self { form: ListForm::Metadata, ..self }
    }

    /// Returns the selectors as a query of the API.
    pub(super) fn selectors(&self) -> String {
        if self.type_ == &EVENT { warning_query() } else { label_query(&self.selector.to_query()) }
    }
}

/// Returns the query for a label selector; empty for no selector.
pub(super) fn label_query(selector: &str) -> String {
    if selector.is_empty() { String::new() } else { format!("labelSelector={}", percent_encoded(selector)) }
}

/// Returns the query that selects warnings among events.
pub(super) fn warning_query() -> String {
    format!("fieldSelector={}", percent_encoded("type=Warning"))
}
