//! WATCH: which events a watcher is owed, computed from the store's history.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Call, View, route::Target};
use crate::{
    object,
    refusal::{Cause, Refusal},
    resource::Resource,
    selector::Selection,
    store::{Change, Key, Store},
};

/// No watch lasts longer, whatever it asks for.
const LONGEST: u64 = 24 * 60 * 60;

/// How long a watch lasts that does not say so; the API server picks a random time from half an hour up.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// A watch that has been asked for: what it begins with, and what it goes on with.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) first: Vec<Value>,
    pub(crate) events: Events,
    pub(crate) timeout: Duration,
    pub(crate) bookmarks: bool,
}

/// The place of a watcher in the history.
#[derive(Debug)]
pub(crate) struct Events {
    resource: &'static Resource,
    namespace: Option<String>,
    selection: Selection,
    view: View,
    /// The last revision the watcher knows; none once it has been told that it lost its place.
    seen: Option<u64>,
}

impl Plan {
    /// Reads a WATCH and collects what it begins with.
    pub(super) fn of(store: &Store, target: &Target, call: &Call) -> Result<Self, Refusal> {
        let query = &call.query;
        let selection =
            Selection::parse(target.resource, query.get("labelSelector"), query.get("fieldSelector"))?;
        check_initial_events(target, call)?;
        let asked = query.number("resourceVersion")?.unwrap_or(0);
        let streams_list = query.flag("sendInitialEvents");
        let begins_with_all = streams_list || asked == 0 && query.get("sendInitialEvents").is_empty();
        let from_now = begins_with_all || asked == 0;
        let mut events = Events {
            resource: target.resource,
            namespace: target.namespace.clone(),
            selection,
            view: call.view,
            seen: Some(if from_now { store.revision() } else { asked }),
        };
        let mut first = if begins_with_all { events.everything(store) } else { Vec::new() };
        let bookmarks = query.flag("allowWatchBookmarks");
        if streams_list && bookmarks {
            first.push(events.bookmark(&json!({ "k8s.io/initial-events-end": "true" })));
        }
        if let Some(lost) = events.lost(store) {
            first.push(lost);
        }
        let timeout = query
            .number("timeoutSeconds")?
            .filter(|seconds| *seconds > 0)
            .map_or(DEFAULT_TIMEOUT, |seconds| Duration::from_secs(seconds.min(LONGEST)));
        Ok(Self { first, events, timeout, bookmarks })
    }
}

fn check_initial_events(target: &Target, call: &Call) -> Result<(), Refusal> {
    let (asks, matching) =
        (!call.query.get("sendInitialEvents").is_empty(), call.query.get("resourceVersionMatch"));
    let why = match (asks, matching) {
        (true, "NotOlderThan") | (false, "") => return Ok(()),
        (true, _) => "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        (false, _) => "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    };
    let field = if asks { "sendInitialEvents" } else { "resourceVersionMatch" };
    Err(Refusal::invalid(target.resource, "", &[Cause::forbidden(field, why)]))
}

impl Events {
    /// The events since the last call, oldest first. A watcher that lost its place is told so once, and then nothing
    /// more.
    pub(crate) fn catch_up(&mut self, store: &Store) -> Vec<Value> {
        let Some(seen) = self.seen else {
            return Vec::new();
        };
        if let Some(lost) = self.lost(store) {
            return vec![lost];
        }
        self.seen = Some(store.revision().max(seen));
        match store.changes_after(seen) {
            Ok(changes) => changes.filter_map(|change| self.event(change)).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Whether nothing more will come.
    pub(crate) fn ended(&self) -> bool {
        self.seen.is_none()
    }

    /// Tells a watcher that history does not reach back to it, and ends the watch.
    pub(crate) fn expire(&mut self, store: &Store) -> Value {
        let seen = self.seen.take().unwrap_or(0);
        error_event(&Refusal::expired(seen, store.revision()))
    }

    fn lost(&mut self, store: &Store) -> Option<Value> {
        let seen = self.seen?;
        let oldest = store.changes_after(seen).err()?;
        self.seen = None;
        Some(error_event(&Refusal::expired(seen, oldest)))
    }

    fn everything(&self, store: &Store) -> Vec<Value> {
        store
            .list(self.resource, self.namespace.as_deref())
            .filter(|(_, value)| self.selection.takes(value))
            .map(|(_, value)| event("ADDED", &self.view.object(value)))
            .collect()
    }

    /// A mark of how far the watcher has got.
    pub(crate) fn bookmark(&self, annotations: &Value) -> Value {
        let mut metadata =
            json!({ "resourceVersion": self.seen.unwrap_or(0).to_string(), "creationTimestamp": null });
        if annotations.as_object().is_some_and(|map| !map.is_empty()) {
            metadata["annotations"] = annotations.clone();
        }
        let marked = json!({ "kind": self.resource.kind, "apiVersion": self.resource.api_version(), "metadata": metadata });
        event("BOOKMARK", &self.view.object(&marked))
    }

    /// What a change is to this watcher: an object can come into its selection and fall out of it.
    fn event(&self, change: &Change) -> Option<Value> {
        if !self.concerns(&change.key) {
            return None;
        }
        let selected = |value: &Value| self.selection.takes(value);
        let before = change.before.as_deref().filter(|value| selected(value));
        let after = change.after.as_deref().filter(|value| selected(value));
        Some(match (before, after) {
            (None, None) => return None,
            (None, Some(after)) => event("ADDED", &self.view.object(after)),
            (Some(_), Some(after)) => event("MODIFIED", &self.view.object(after)),
            (Some(before), None) => {
                let mut last = before.clone();
                object::metadata(&mut last)
                    .insert("resourceVersion".to_owned(), change.revision.to_string().into());
                event("DELETED", &self.view.object(&last))
            }
        })
    }

    fn concerns(&self, key: &Key) -> bool {
        key.resource == self.resource && self.namespace.as_ref().is_none_or(|wanted| key.namespace == *wanted)
    }
}

fn event(kind: &str, object: &Value) -> Value {
    json!({ "type": kind, "object": object })
}

fn error_event(refusal: &Refusal) -> Value {
    event("ERROR", &refusal.body())
}
