//! Reads a list in pages.
//!
//! The server decides whether there is another page, so the number of pages is limited here.

use std::collections::HashSet;

use super::connection::ApiResponse;
use super::list::ListReader;
use super::memory::{COMMAND_TOO_LARGE, CommandMemory};
use super::served_versions::percent_encoded;
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
    query: &'a str,
    memory: &'a CommandMemory,
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
        query: &'a str,
        memory: &'a CommandMemory,
    ) -> Self {
        Self {
            collection,
            query,
            memory,
            reader: ListReader { type_, is_whole: false, held: memory.hold(), is_too_large: false },
            next: Some(PageStart::Beginning),
            tokens: HashSet::new(),
            page_count: 0,
            objects: 0,
            kept: Vec::new(),
            version: String::new(),
        }
    }

    /// Keeps `managedFields` in the objects.
    pub(super) fn whole(mut self) -> Self {
        self.reader.is_whole = true;
        self
    }

    /// Returns the path of the next page; none after the last.
    pub(super) fn next(&self) -> Option<String> {
        Some(format!("{}?{}", self.collection, self.next.as_ref()?.query(self.query)))
    }

    /// Whether a response says that the `continue` token expired, so that the list must start again. A list
    /// on one page has no token, so there the same response is a failure.
    pub(super) fn is_expired_page(&self, response: &ApiResponse) -> bool {
        self.next != Some(PageStart::Everything) && is_expired(response)
    }

    /// Adds a page, and keeps what `keep` makes of each object.
    ///
    /// # Errors
    /// What is wrong with the response, as a fragment: `is not a list`.
    pub(super) fn accept(
        &mut self,
        response: &ApiResponse,
        keep: impl FnMut(Object) -> Option<T>,
    ) -> Result<(), &'static str> {
        if is_expired(response) {
            // The token expired between two pages. Paging again could expire again, so read one large page.
            self.kept.clear();
            self.reader.held = self.memory.hold();
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

    /// Returns what the caller kept of the objects, and the resourceVersion of the list, at which a watch can start.
    pub(super) fn finish(self) -> (Vec<T>, String) {
        self.memory.keep_list(format!("{}?{}", self.collection, self.query), self.reader.held);
        (self.kept, self.version)
    }
}

/// Whether the `continue` token of the request has expired (410).
fn is_expired(response: &ApiResponse) -> bool {
    response.status == StatusCode::GONE
}

/// Returns the query for a label selector; empty for no selector.
pub(super) fn label_query(selector: &str) -> String {
    if selector.is_empty() { String::new() } else { format!("labelSelector={}", percent_encoded(selector)) }
}

/// Returns the query that selects warnings among events.
pub(super) fn warning_query() -> String {
    format!("fieldSelector={}", percent_encoded("type=Warning"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
