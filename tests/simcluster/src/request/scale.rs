//! The `scale` subresource.

use serde_json::{Value, json};

use super::{
    Call, body,
    route::{Target, Verb},
};
use crate::{object, patch::Format, refusal::Refusal, rules::Part, selector::selector_text, store::Store};

/// Reads or changes the scale of an object.
pub(super) fn answer(store: &mut Store, call: &Call, target: &Target) -> Result<Value, Refusal> {
    let key = target.key();
    let current = scale_of(store.find(&key)?);
    let wanted = match target.verb {
        Verb::Get => return Ok(current),
        Verb::Update => body::read(call)?,
        _ => Format::of_media_type(&call.content_type)?.apply(&current, &body::parse(&call.body)?)?,
    };
    let precondition = object::text(&wanted, &["metadata", "resourceVersion"]).to_owned();
    let replicas = object::at(&wanted, &["spec", "replicas"]).cloned().unwrap_or_else(|| 0.into());
    if replicas.as_i64().is_none_or(|replicas| replicas < 0) {
        let cause =
            crate::refusal::Cause::invalid("spec.replicas", &replicas, "must be greater than or equal to 0");
        return Err(Refusal::invalid(target.resource, &key.name, &[cause]));
    }
    let changed = store.edit(&key, Part::Object, &call.author()?, |value| {
        if !precondition.is_empty() {
            object::metadata(value).insert("resourceVersion".to_owned(), precondition.into());
        }
        value["spec"]["replicas"] = replicas;
    })?;
    Ok(scale_of(&changed))
}

fn scale_of(value: &Value) -> Value {
    let metadata: serde_json::Map<String, Value> =
        ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]
            .into_iter()
            .filter_map(|member| Some((member.to_owned(), value["metadata"].get(member)?.clone())))
            .collect();
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": { "replicas": value["spec"]["replicas"].as_i64().unwrap_or(0) },
        "status": { "replicas": value["status"]["replicas"].as_i64().unwrap_or(0), "selector": selector_text(&value["spec"]["selector"]) },
    })
}
