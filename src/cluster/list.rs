//! Lists objects: which ones, how much of each, and in pages.
//!
//! The server decides whether there is another page, so the number of pages is limited here.

use std::collections::{HashMap, HashSet};

use http::StatusCode;

use crate::cluster::connection::{ApiRequest, ApiResponse, Connection, NoResponse, Policy, RequestError};
use crate::cluster::list_decoder::read_page;
use crate::cluster::served_versions::percent_encoded;
use crate::error::{Error, ErrorKind};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{EVENT, ResourceType};
use crate::model::api::selector::Selector;
use crate::snapshot::json::is_too_large;

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

/// The number of objects of a page, as in kubectl.
const PAGE_SIZE: usize = 500;

/// The limit of the objects of a list: three times as many as the pods of the largest cluster that Kubernetes supports.
const MOST_OBJECTS: usize = 500_000;

/// The limit of pages without objects in a list.
const EMPTY_PAGES: usize = 16;

/// Where a page starts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PageStart {
    /// At the first object.
    Beginning,
    /// At the `continue` token of the previous page.
    After(String),
    /// At the first object, with all objects on one page.
    Everything,
}

impl PageStart {
    /// Returns the query of the page, joined with the selectors in `selectors`.
    fn query(&self, selectors: &str) -> String {
        let mut query = match self {
            Self::Beginning => format!("limit={PAGE_SIZE}"),
            Self::After(rest) => format!("limit={PAGE_SIZE}&continue={}", percent_encoded(rest)),
            Self::Everything => String::new(),
        };
        if !selectors.is_empty() {
            let separator = if query.is_empty() { "" } else { "&" };
            query += &format!("{separator}{selectors}");
        }
        query
    }
}

/// The pages of a list: the next one to request, and the objects kept so far.
#[derive(Debug)]
pub(super) struct Pages<'a, T> {
    /// The path of the collection.
    path: &'a str,
    query: String,
    form: ListForm,
    connection: &'a Connection,
    type_: &'a ResourceType,
    next: Option<PageStart>,
    /// The `continue` tokens used so far.
    tokens: HashSet<String>,
    /// The number of pages read.
    page_count: usize,
    /// The number of items read.
    objects: usize,
    /// What the caller kept of the objects.
    kept: Vec<T>,
    /// The resourceVersion of the list, at which a watch can start.
    version: String,
}

impl<'a, T> Pages<'a, T> {
    /// Creates the pages of the collection with this path; `query` holds its selectors.
    pub(super) fn of(
        type_: &'a ResourceType,
        path: &'a str,
        query: String,
        form: ListForm,
        connection: &'a Connection,
    ) -> Self {
        Self {
            path,
            query,
            form,
            connection,
            type_,
            next: Some(PageStart::Beginning),
            tokens: HashSet::new(),
            page_count: 0,
            objects: 0,
            kept: Vec::new(),
            version: String::new(),
        }
    }

    /// Reads all pages one after another. Returns what `keep` makes of each object, and the resourceVersion of the list, at
    /// which a watch can start.
    ///
    /// # Errors
    /// When a request fails, or a response is not a page of the list.
    pub(super) async fn read(
        mut self,
        policy: Policy,
        keep: impl Fn(Object) -> Option<T>,
    ) -> Result<(Vec<T>, String), RequestError> {
        let mut deadline = None;
        while let Some(path) = self.next() {
            let request = match self.form {
                ListForm::Metadata => ApiRequest::metadata_list(&path),
                ListForm::Facts | ListForm::Whole => ApiRequest::get(&path),
            };
            let is_expired = |response: &ApiResponse| self.is_expired_page(response);
            let response = self.connection.send(&request, policy, &mut deadline, is_expired).await?;
            self.accept(&response, &keep).map_err(NoResponse::after_sending)?;
        }
        Ok((self.kept, self.version))
    }

    /// Returns the path of the next page; none after the last.
    fn next(&self) -> Option<String> {
        Some(format!("{}?{}", self.path, self.next.as_ref()?.query(&self.query)))
    }

    /// Whether a response says that the `continue` token expired, so that the list must start again. A list
    /// on one page has no token, so there the same response is a failure.
    fn is_expired_page(&self, response: &ApiResponse) -> bool {
        self.next != Some(PageStart::Everything) && is_expired(response)
    }

    /// Adds a page, and keeps what `keep` makes of each object.
    ///
    /// # Errors
    /// What is wrong with the response.
    fn accept(&mut self, response: &ApiResponse, keep: impl FnMut(Object) -> Option<T>) -> Result<(), Error> {
        if is_expired(response) {
            // The token expired between two pages. Paging again could expire again, so read one large page.
            self.kept.clear();
            self.objects = 0;
            self.next = Some(PageStart::Everything);
            return Ok(());
        }
        let type_ = self.type_;
        if is_too_large(response.body()) {
            return Err(too_large_list(type_, "takes more than 1 GiB of memory"));
        }
        let page = read_page(response.body(), type_, self.form == ListForm::Whole, keep);
        let page = page.ok_or_else(|| unusable_list(type_, "is not a list"))?;
        self.page_count += 1;
        self.objects += page.items;
        self.kept.extend(page.kept);
        self.version = page.version;
        if self.objects > MOST_OBJECTS {
            return Err(too_large_list(type_, "has more than 500,000 objects"));
        }
        self.next = (!page.rest.is_empty()).then(|| PageStart::After(page.rest.clone()));
        if self.next.is_some() && self.page_count > self.objects + EMPTY_PAGES {
            return Err(unusable_list(type_, "has more pages than objects"));
        }
        if self.next.is_some() && !self.tokens.insert(page.rest) {
            return Err(unusable_list(type_, "repeats a continue token"));
        }
        Ok(())
    }
}

fn unusable_list(type_: &ResourceType, why: &str) -> Error {
    Error::new(ErrorKind::Malformed, format!("the server's list of {} {why}", type_.plural()))
}

fn too_large_list(type_: &ResourceType, why: &str) -> Error {
    let count = format!("kubectl get {} -A -o name | wc -l", type_.plural());
    unusable_list(type_, why).hint(format!("select fewer with -n or -l; to count them: {count}"))
}

/// Whether the `continue` token of the request has expired (410).
fn is_expired(response: &ApiResponse) -> bool {
    response.status == StatusCode::GONE
}

/// One label that the selector of each workload requires, so that the pods of others are dropped as they are read.
#[derive(Debug, Default)]
pub(super) struct PodLabels {
    /// Values by key.
    required: HashMap<String, HashSet<String>>,
    /// Whether a selector requires no label of one value, so that every pod may belong to its workload.
    any: bool,
}

impl PodLabels {
    /// Adds the selector of a workload.
    pub(super) fn add(&mut self, selector: &Selector) {
        match selector.required_labels().next() {
            Some((key, values)) => {
                self.required.entry(key.to_owned()).or_default().extend(values.iter().cloned());
            }
            None => self.any = true,
        }
    }

    /// Whether a pod may belong to one of the workloads.
    pub(super) fn may_belong(&self, pod: &Object) -> bool {
        let has = |(key, values): (&String, &HashSet<String>)| {
            pod.label(key).is_some_and(|value| values.contains(value))
        };
        self.any || self.required.iter().any(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_page_is_requested_by_its_start() {
        assert_eq!(PageStart::Beginning.query(&label_query("")), "limit=500");
        assert_eq!(
            PageStart::Beginning.query(&label_query("a=b,c in (d)")),
            "limit=500&labelSelector=a%3Db%2Cc%20in%20%28d%29"
        );
        assert_eq!(PageStart::After("x/y".into()).query(""), "limit=500&continue=x%2Fy");
        assert_eq!(PageStart::Everything.query(&label_query("a")), "labelSelector=a");
        assert_eq!(PageStart::Everything.query(""), "");
    }

    #[test]
    fn a_selector_without_a_required_label_keeps_every_pod() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "p", "labels": {"app": "web"}}});
        let pod = Object::read(pod).unwrap();
        for (selectors, is_kept) in [
            (&["app=web"][..], true),
            (&["app=db"], false),
            (&["!legacy"], true),
            (&["app=db", "!legacy"], true),
        ] {
            let mut labels = PodLabels::default();
            for text in selectors {
                labels.add(&Selector::parse(text).unwrap());
            }
            assert_eq!(labels.may_belong(&pod), is_kept, "{selectors:?}");
        }
    }
}
