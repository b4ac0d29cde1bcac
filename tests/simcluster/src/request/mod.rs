//! From a request to a response, without I/O.

mod body;
mod discovery;
mod list;
mod log;
mod query;
mod route;
mod view;
mod watch;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};

pub(crate) use self::{
    list::expire_continue,
    watch::{Events, Plan},
};
pub use self::{
    query::Query,
    route::{Route, Target, Verb},
    view::View,
};
use crate::{
    object::{self, json_text},
    patch::Format,
    refusal::Refusal,
    rules::{Author, Deletion, Part},
    store::{Key, Store},
};

/// A parsed request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) route: Route,
    pub(crate) query: Query,
    pub(crate) view: View,
    pub(crate) content_type: String,
    pub(crate) user_agent: String,
    pub(crate) body: Bytes,
}

/// The response to a request.
#[derive(Debug)]
pub(crate) enum Reply {
    Json { code: u16, text: String },
    Text(String),
    Watch(Box<Plan>),
}

impl Reply {
    fn json(code: u16, text: String) -> Self {
        Self::Json { code, text }
    }

    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// Executes a request, or refuses it.
pub(crate) fn answer(store: &mut Store, call: &Call) -> Result<Reply, Refusal> {
    match &call.route {
        Route::Path(path) if call.method == Method::GET || call.method == Method::HEAD => {
            discovery::answer(path, store)
        }
        Route::Path(_) => Err(Refusal::no_such_path()),
        Route::Resource(target) if !store.serves(target.resource) => Err(Refusal::no_such_path()),
        Route::Resource(target) => answer_resource(store, call, target),
    }
}

fn answer_resource(store: &mut Store, call: &Call, target: &Target) -> Result<Reply, Refusal> {
    if target.name.is_none() && matches!(target.verb, Verb::Update | Verb::Patch) {
        return Err(Refusal::method_not_allowed());
    }
    match (target.verb, target.subresource.as_str()) {
        (Verb::Get, "log") => log::read(store, target, &call.query).map(Reply::Text),
        (Verb::Create, "eviction") => evict(store, call, target),
        (Verb::Get, "" | "status") => Ok(Reply::json(200, call.view.object(store.find(&target.key())?))),
        (Verb::List, "") => list::list(store, target, call).map(|list| Reply::json(200, list)),
        (Verb::Watch, "") => Plan::of(store, target, call).map(|plan| Reply::Watch(Box::new(plan))),
        (Verb::Create, "") if target.name.is_none() => {
            let value = body::read(call)?;
            let namespace = target.namespace.as_deref().unwrap_or_default();
            let created = store.create(target.resource, namespace, value, &call.author()?)?;
            Ok(Reply::json(201, call.view.object(&created)))
        }
        (Verb::Update, "" | "status") => {
            let wanted = body::read(call)?;
            let updated = store.update(&target.key(), part(target), wanted, &call.author()?)?;
            Ok(Reply::json(200, call.view.object(&updated)))
        }
        (Verb::Patch, "" | "status") => {
            let format = Format::of_media_type(&call.content_type)?;
            let patch = body::parse(&call.body)?;
            let patched = store.patch(&target.key(), part(target), format, &patch, &call.author()?)?;
            Ok(Reply::json(200, call.view.object(&patched)))
        }
        (Verb::Delete, "") => delete(store, call, &target.key(), &call.deletion()?),
        _ => Err(Refusal::method_not_allowed()),
    }
}

impl Call {
    /// Returns the field manager of the request: its `fieldManager`, else the first word of its user agent.
    fn author(&self) -> Result<Author, Refusal> {
        let manager = match self.query.get("fieldManager") {
            "" => self.user_agent.split('/').next().unwrap_or_default(),
            named => named,
        };
        Ok(Author {
            manager: manager.to_owned(),
            dry_run: self.query.dry_run()? || self.body_asks_for_dry_run(),
        })
    }

    /// A DELETE can have its `dryRun` in the body.
    fn body_asks_for_dry_run(&self) -> bool {
        self.method == Method::DELETE
            && body::parse(&self.body)
                .is_ok_and(|options| object::list(&options, &["dryRun"]).contains(&"All".into()))
    }

    /// The options of a DELETE, from its body and its query.
    fn deletion(&self) -> Result<Deletion, Refusal> {
        let mut options = if self.body.is_empty() { json!({}) } else { body::parse(&self.body)? };
        if let Some(seconds) = self.query.number("gracePeriodSeconds")? {
            options["gracePeriodSeconds"] = seconds.into();
        }
        Ok(Deletion::of_options(&options))
    }
}

fn part(target: &Target) -> Part {
    if target.subresource == "status" { Part::Status } else { Part::Object }
}

/// The response to a deletion: the object if it still exists or is a pod, else a `Status`.
fn delete(store: &mut Store, call: &Call, key: &Key, options: &Deletion) -> Result<Reply, Refusal> {
    let deleted = store.delete(key, options, &call.author()?)?;
    if key.resource.kind == "Pod" || store.get(key).is_some() {
        return Ok(Reply::json(200, call.view.object(&deleted)));
    }
    let details = json!({ "name": key.name, "group": key.resource.group, "kind": key.resource.plural, "uid": object::uid(&deleted) });
    Ok(Reply::json(200, json_text(&success(&details))))
}

fn success(details: &Value) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
}

/// Evicts a pod.
fn evict(store: &mut Store, call: &Call, target: &Target) -> Result<Reply, Refusal> {
    let eviction = body::parse(&call.body)?;
    let options = Deletion::of_options(eviction.get("deleteOptions").unwrap_or(&Value::Null));
    store.evict(&target.key(), &options, &call.author()?)?;
    let status =
        json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
    Ok(Reply::json(201, json_text(&status)))
}
