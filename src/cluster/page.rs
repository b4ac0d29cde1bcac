//! Reads a list in pages.
//!
//! The server decides whether there is another page, so the number of pages is limited here.

use std::collections::HashSet;

use super::connection::{ApiRequest, ApiResponse, Connection, Policy, RequestError};
use super::list::ListReader;
use super::list_query::ListForm;
use super::memory::COMMAND_TOO_LARGE;
use super::served_versions::percent_encoded;
use crate::error::{Error, ErrorKind};
use crate::model::api::object::Object;
use crate::model::api::resource_type::ResourceType;
use http::StatusCode;

/// The number of objects of a page, as in kubectl.
const LIMIT: usize = 500;

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
            Self::Beginning => format!("limit={LIMIT}"),
            Self::After(rest) => format!("limit={LIMIT}&continue={}", percent_encoded(rest)),
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
    collection: &'a str,
    query: String,
    form: ListForm,
    connection: &'a Connection,
    reader: ListReader<'a>,
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
    /// Creates the pages of a collection; `query` holds its selectors.
    pub(super) fn of(
        type_: &'a ResourceType,
        collection: &'a str,
        query: String,
        form: ListForm,
        connection: &'a Connection,
    ) -> Self {
        let (is_whole, held) = (form == ListForm::Whole, connection.memory.hold());
        Self {
            collection,
            query,
            form,
            connection,
            reader: ListReader { type_, is_whole, held, is_too_large: false },
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
            let accepted = self.accept(&response, &keep);
            accepted.map_err(|why| RequestError::NotSent(unusable_list(self.reader.type_, why)))?;
        }
        let list = format!("{}?{}", self.collection, self.query);
        self.connection.memory.keep_list(list, self.reader.held);
        Ok((self.kept, self.version))
    }

    /// Returns the path of the next page; none after the last.
    fn next(&self) -> Option<String> {
        Some(format!("{}?{}", self.collection, self.next.as_ref()?.query(&self.query)))
    }

    /// Whether a response says that the `continue` token expired, so that the list must start again. A list
    /// on one page has no token, so there the same response is a failure.
    fn is_expired_page(&self, response: &ApiResponse) -> bool {
        self.next != Some(PageStart::Everything) && is_expired(response)
    }

    /// Adds a page, and keeps what `keep` makes of each object.
    ///
    /// # Errors
    /// What is wrong with the response, as a fragment: `is not a list`.
    fn accept(
        &mut self,
        response: &ApiResponse,
        keep: impl FnMut(Object) -> Option<T>,
    ) -> Result<(), &'static str> {
        if is_expired(response) {
            // The token expired between two pages. Paging again could expire again, so read one large page.
            self.kept.clear();
            self.reader.held = self.connection.memory.hold();
            self.next = Some(PageStart::Everything);
            return Ok(());
        }
        let Some(page) = self.reader.read(response.body(), keep) else {
            return Err(if self.reader.is_too_large { COMMAND_TOO_LARGE } else { "is not a list" });
        };
        self.page_count += 1;
        self.objects += page.items;
        self.kept.extend(page.kept);
        self.version = page.version;
        self.next = (!page.rest.is_empty()).then(|| PageStart::After(page.rest.clone()));
        if self.next.is_some() && self.page_count > self.objects + EMPTY_PAGES {
            return Err("has more pages than objects");
        }
        if self.next.is_some() && !self.tokens.insert(page.rest) {
            return Err("repeats a continue token");
        }
        Ok(())
    }
}

fn unusable_list(type_: &ResourceType, why: &str) -> Error {
    let plural = type_.plural();
    let error = Error::new(ErrorKind::Malformed, format!("the server's list of {plural} {why}"));
    if why != COMMAND_TOO_LARGE {
        return error;
    }
    error.hint(format!("select fewer with -n or -l; to count them: kubectl get {plural} -A -o name | wc -l"))
}

/// Whether the `continue` token of the request has expired (410).
fn is_expired(response: &ApiResponse) -> bool {
    response.status == StatusCode::GONE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::list_query::label_query;

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
}
