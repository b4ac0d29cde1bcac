//! Lists, a page at a time.

use super::connection::Answer;
use super::item::Item;
use super::list;
use crate::model::object::Object;
use crate::model::resource_type::ResourceType;
use http::StatusCode;

/// Objects on a page. kubectl asks for as many.
const LIMIT: usize = 500;

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Start {
    /// At the first object.
    Beginning,
    /// After the page that said so.
    After(String),
    /// At the first object, and all of them on one page.
    Everything,
}

impl Start {
    /// The query that asks for the page, with what is asked beside.
    fn query(&self, beside: &str) -> String {
        let mut query = match self {
            Self::Beginning => format!("limit={LIMIT}"),
            Self::After(rest) => format!("limit={LIMIT}&continue={}", percent_encoded(rest)),
            Self::Everything => String::new(),
        };
        if !beside.is_empty() {
            let separator = if query.is_empty() { "" } else { "&" };
            query += &format!("{separator}{beside}");
        }
        query
    }
}

/// The pages of a list, one after the other: which to ask for next, and what came of those so far.
#[derive(Debug)]
pub(super) struct Pages<'a, T> {
    type_: &'a ResourceType,
    collection: &'a str,
    query: &'a str,
    item: Item,
    next: Option<Start>,
    /// What was kept of the objects.
    pub(super) kept: Vec<T>,
    /// The version of the list, from which a watch goes on.
    pub(super) version: String,
}

impl<'a, T> Pages<'a, T> {
    /// Begins to read a collection; `query` is what is asked of it beside.
    pub(super) fn of(type_: &'a ResourceType, collection: &'a str, query: &'a str) -> Self {
        Self {
            type_,
            collection,
            query,
            item: Item::of(type_),
            next: Some(Start::Beginning),
            kept: Vec::new(),
            version: String::new(),
        }
    }

    /// Leaves nothing out of the objects.
    pub(super) fn whole(self) -> Self {
        Self { item: Item::WHOLE, ..self }
    }

    /// The path of the next page; none after the last.
    pub(super) fn next(&self) -> Option<String> {
        Some(format!("{}?{}", self.collection, self.next.as_ref()?.query(self.query)))
    }

    /// Whether an answer only says that the list has to be read anew. A list on one page begins at no
    /// place that could be forgotten, so the same answer to that is a failure.
    pub(super) fn may_begin_anew(&self, answer: &Answer) -> bool {
        self.next != Some(Start::Everything) && is_too_old(answer)
    }

    /// Takes in the page that was asked for, and keeps of each object what `keep` makes of it; false when
    /// what came is no list.
    #[must_use]
    pub(super) fn take(&mut self, answer: &Answer, keep: impl FnMut(Object) -> Option<T>) -> bool {
        if is_too_old(answer) {
            // The list changed under the pages. Whoever was too slow for them once will be again.
            self.kept.clear();
            self.next = Some(Start::Everything);
            return true;
        }
        let Some(page) = list::read(answer.body(), self.type_, self.item, keep) else {
            return false;
        };
        self.kept.extend(page.kept);
        self.next = (!page.rest.is_empty()).then_some(Start::After(page.rest));
        self.version = page.version;
        true
    }
}

/// The answer to a page that begins where the server no longer remembers.
fn is_too_old(answer: &Answer) -> bool {
    answer.status == StatusCode::GONE
}

/// The query that selects by labels; empty for no selector.
pub(super) fn label_query(selector: &str) -> String {
    if selector.is_empty() { String::new() } else { format!("labelSelector={}", percent_encoded(selector)) }
}

/// The query that selects warnings among events.
pub(super) fn warning_query() -> String {
    format!("fieldSelector={}", percent_encoded("type=Warning"))
}

/// A text as one piece of a URL: everything but letters, digits and `-._~` escaped.
pub(super) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_asked_for_by_where_it_begins() {
        assert_eq!(Start::Beginning.query(&label_query("")), "limit=500");
        assert_eq!(
            Start::Beginning.query(&label_query("a=b,c in (d)")),
            "limit=500&labelSelector=a%3Db%2Cc%20in%20%28d%29"
        );
        assert_eq!(Start::After("x/y".into()).query(""), "limit=500&continue=x%2Fy");
        assert_eq!(Start::Everything.query(&label_query("a")), "labelSelector=a");
        assert_eq!(Start::Everything.query(""), "");
    }
}
