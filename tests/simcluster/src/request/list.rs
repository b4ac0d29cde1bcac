//! GET of a collection.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{Call, route::Target, view::View};
use crate::{
    object,
    refusal::Refusal,
    selector::Selection,
    store::{Key, Store},
};

/// Answers a LIST of all objects or of one page, as JSON.
pub(super) fn list(store: &Store, target: &Target, call: &Call) -> Result<String, Refusal> {
    let query = &call.query;
    let selection =
        Selection::parse(target.resource, query.get("labelSelector"), query.get("fieldSelector"))?;
    let page = Page::asked(call)?;
    let revision = page.revision.unwrap_or_else(|| store.revision());
    let all = match store.list_at(revision, target.resource, target.namespace.as_deref()) {
        Ok(all) => all,
        Err(_) if page.start.is_some() => {
            return Err(Refusal::continue_expired(page.fresh_token()));
        }
        Err(oldest) => return Err(Refusal::expired(revision, oldest)),
    };
    let selected: Vec<(Key, _)> = all
        .into_iter()
        .filter(|(key, value)| {
            page.start.as_ref().is_none_or(|start| position(key) > *start) && selection.takes(value)
        })
        .collect();
    let limit =
        query.number("limit")?.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
    let (shown, rest) = selected.split_at(limit.unwrap_or(selected.len()).min(selected.len()));
    let mut metadata = json!({ "resourceVersion": revision.to_string() });
    if let (Some((last, _)), false) = (shown.last(), rest.is_empty()) {
        metadata["continue"] = token(revision, &position(last)).into();
    }
    let items: Vec<String> = shown.iter().map(|(_, value)| call.view.item(value)).collect();
    let (api_version, kind) = match call.view {
        View::Whole => (target.resource.api_version(), format!("{}List", target.resource.kind)),
        View::Metadata => ("meta.k8s.io/v1".to_owned(), "PartialObjectMetadataList".to_owned()),
    };
    Ok(format!(
        r#"{{"apiVersion":"{api_version}","items":[{}],"kind":"{kind}","metadata":{metadata}}}"#,
        items.join(",")
    ))
}

/// Returns the 410 for a continue token that a fault lets expire.
pub(crate) fn expire_continue(text: &str) -> Refusal {
    match Page::of_token(text) {
        Ok(page) => Refusal::continue_expired(page.fresh_token()),
        Err(refusal) => refusal,
    }
}

/// The position and the revision at which a page begins.
struct Page {
    /// `None` for the present revision.
    revision: Option<u64>,
    start: Option<(String, String)>,
}

impl Page {
    fn asked(call: &Call) -> Result<Self, Refusal> {
        let query = &call.query;
        if !query.get("continue").is_empty() {
            return Self::of_token(query.get("continue"));
        }
        Ok(Self { revision: None, start: None })
    }

    fn of_token(text: &str) -> Result<Self, Refusal> {
        let unreadable = || Refusal::bad_request("continue key is not valid: encoded version is invalid");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| unreadable())?;
        let read: Value = serde_json::from_slice(&bytes).map_err(|_| unreadable())?;
        let revision = read["rv"].as_u64().ok_or_else(unreadable)?;
        let start =
            (object::text(&read, &["namespace"]).to_owned(), object::text(&read, &["name"]).to_owned());
        // Revision 0 is in a token from a 410: the page continues at the present revision.
        Ok(Self { revision: (revision > 0).then_some(revision), start: Some(start) })
    }

    /// Returns a token that continues from here at the revision that is present then.
    fn fresh_token(&self) -> String {
        token(0, &self.start.clone().unwrap_or_default())
    }
}

fn position(key: &Key) -> (String, String) {
    (key.namespace.clone(), key.name.clone())
}

fn token(revision: u64, (namespace, name): &(String, String)) -> String {
    URL_SAFE_NO_PAD.encode(
        json!({ "v": "meta.k8s.io/v1", "rv": revision, "namespace": namespace, "name": name }).to_string(),
    )
}
