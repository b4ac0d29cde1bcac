//! WATCH: the events of a watcher, from the history of the store.

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

/// The longest timeout of a watch.
const LONGEST: u64 = 24 * 60 * 60;

/// The default timeout of a watch. The API server chooses a random time of at least half an hour.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// A requested watch: its first events, and its position afterwards.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The first events, each as JSON.
    pub(crate) first: Vec<String>,
    pub(crate) events: Events,
    pub(crate) timeout: Duration,
    pub(crate) bookmarks: bool,
}

/// The position of a watcher in the history.
#[derive(Debug)]
pub(crate) struct Events {
    resource: &'static Resource,
    namespace: Option<String>,
    selection: Selection,
    view: View,
    /// The last revision that the watcher knows; `None` after the watcher got a 410.
    seen: Option<u64>,
}

impl Plan {
    /// Reads a WATCH and collects its first events.
    pub(super) fn of(store: &Store, target: &Target, call: &Call) -> Result<Self, Refusal> {
        let query = &call.query;
        let selection =
            Selection::parse(target.resource, query.get("labelSelector"), query.get("fieldSelector"))?;
        if !query.get("sendInitialEvents").is_empty() {
            let why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
            let cause = Cause::forbidden("sendInitialEvents", why);
            return Err(Refusal::invalid(target.resource, "", &[cause]));
        }
        let asked = query.number("resourceVersion")?.unwrap_or(0);
        let mut events = Events {
            resource: target.resource,
            namespace: target.namespace.clone(),
            selection,
            view: call.view,
            seen: Some(if asked == 0 { store.revision() } else { asked }),
        };
        let mut first = if asked == 0 { events.everything(store) } else { Vec::new() };
        let bookmarks = query.flag("allowWatchBookmarks");
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

impl Events {
    /// Returns the events since the last call, oldest first. A watcher whose revision is too old gets one 410, and
    /// then nothing.
    pub(crate) fn catch_up(&mut self, store: &Store) -> Vec<String> {
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

    /// Whether the watch has ended.
    pub(crate) fn ended(&self) -> bool {
        self.seen.is_none()
    }

    /// Returns the 410 of a watcher whose revision is too old, and ends the watch.
    pub(crate) fn expire(&mut self, store: &Store) -> String {
        let seen = self.seen.take().unwrap_or(0);
        error_event(&Refusal::expired(seen, store.revision()))
    }

    /// Ends the watch with an internal error.
    pub(crate) fn fail(&mut self) -> String {
        self.seen = None;
        error_event(&Refusal::with_status(500, "etcdserver: request timed out"))
    }

    fn lost(&mut self, store: &Store) -> Option<String> {
        let seen = self.seen?;
        let oldest = store.changes_after(seen).err()?;
        self.seen = None;
        Some(error_event(&Refusal::expired(seen, oldest)))
    }

    fn everything(&self, store: &Store) -> Vec<String> {
        store
            .list(self.resource, self.namespace.as_deref())
            .filter(|(_, value)| self.selection.takes(value))
            .map(|(_, value)| event("ADDED", &self.view.object(value)))
            .collect()
    }

    /// Returns a bookmark.
    pub(crate) fn bookmark(&self) -> String {
        let metadata =
            json!({ "resourceVersion": self.seen.unwrap_or(0).to_string(), "creationTimestamp": null });
        let marked = json!({ "kind": self.resource.kind, "apiVersion": self.resource.api_version(), "metadata": metadata });
        event("BOOKMARK", &self.view.object(&marked))
    }

    /// Returns the event of a change for this watcher: a changed object can enter and leave the selection.
    fn event(&self, change: &Change) -> Option<String> {
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

fn event(kind: &str, object: &str) -> String {
    format!(r#"{{"object":{object},"type":"{kind}"}}"#)
}

fn error_event(refusal: &Refusal) -> String {
    event("ERROR", &refusal.body().to_string())
}
