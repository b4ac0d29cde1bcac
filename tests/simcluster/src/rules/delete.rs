//! Deletion: preconditions, grace period and finalizers. The garbage collector deletes the dependents afterwards.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::{Author, generation};
use crate::{
    clock::{later, stamp},
    object,
    refusal::Refusal,
    resource::NAMESPACES,
    store::{Finalization, Key, Store},
};

/// The options of a deletion.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Deletion {
    /// The precondition on the uid.
    pub uid: Option<String>,
    /// The grace period of a pod in seconds; without it, the one of the pod's spec.
    pub grace_seconds: Option<i64>,
}

impl Deletion {
    /// Reads a `DeleteOptions` object.
    pub fn of_options(options: &Value) -> Self {
        let uid = object::at(options, &["preconditions", "uid"]).and_then(Value::as_str);
        Self {
            uid: uid.map(str::to_owned),
            grace_seconds: options.get("gracePeriodSeconds").and_then(Value::as_i64),
        }
    }
}

impl Store {
    /// Deletes an object, or begins its deletion, and returns its last state. [`Store::get`] shows whether it was
    /// removed.
    pub fn delete(&mut self, key: &Key, options: &Deletion, author: &Author) -> Result<Arc<Value>, Refusal> {
        let current = Arc::clone(self.find(key)?);
        check_preconditions(key, &current, options)?;
        if author.dry_run {
            return Ok(current);
        }
        Ok(self.begin_deletion(key, current, options))
    }

    /// Removes an object, or sets its deletion timestamp.
    fn begin_deletion(&mut self, key: &Key, current: Arc<Value>, options: &Deletion) -> Arc<Value> {
        let grace = self.grace(&current, options);
        if grace == 0 && object::finalizers(&current).next().is_none() {
            return self.remove(key).unwrap_or(current);
        }
        self.mark_deleted(key, &current, grace)
    }

    /// Removes an object; of a namespace also the objects in it, because there is no namespace controller.
    pub(super) fn remove(&mut self, key: &Key) -> Option<Arc<Value>> {
        let gone = self.take(key)?;
        if key.resource == &NAMESPACES {
            let inhabitants = self.all().map(|(key, _)| key).filter(|inside| inside.namespace == key.name);
            for inside in inhabitants.cloned().collect::<Vec<_>>() {
                self.take(&inside);
            }
        }
        Some(gone)
    }

    /// Returns the grace period of a pod. Without kubelets, it is zero.
    fn grace(&self, current: &Value, options: &Deletion) -> i64 {
        let runs = !object::text(current, &["spec", "nodeName"]).is_empty()
            && !matches!(object::text(current, &["status", "phase"]), "Succeeded" | "Failed");
        if current["kind"] != "Pod" || !runs || self.finalization() == Finalization::ByServer {
            return 0;
        }
        let own = object::at(current, &["spec", "terminationGracePeriodSeconds"])
            .and_then(Value::as_i64)
            .unwrap_or(30);
        match options.grace_seconds {
            Some(negative) if negative < 0 => 1,
            Some(asked) => asked,
            None => own,
        }
    }

    /// Sets the deletion timestamp. A later deletion can only shorten the grace period.
    fn mark_deleted(&mut self, key: &Key, current: &Arc<Value>, grace: i64) -> Arc<Value> {
        let under_way =
            object::at(current, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
        let mut marked = Value::clone(current);
        let metadata = object::metadata(&mut marked);
        if under_way.is_none_or(|begun| grace < begun) {
            let end = later(self.now(), Duration::from_secs(u64::try_from(grace).unwrap_or(0)));
            metadata.insert("deletionTimestamp".to_owned(), stamp(end).into());
            metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
        }
        object::drop_noise(&mut marked);
        if under_way.is_none() {
            generation::bump(&mut marked);
        }
        if marked == **current { Arc::clone(current) } else { self.put(key, marked) }
    }
}

fn check_preconditions(key: &Key, current: &Value, options: &Deletion) -> Result<(), Refusal> {
    let there = object::uid(current);
    if let Some(asked) = options.uid.as_deref().filter(|asked| *asked != there) {
        let why = format!(
            "the UID in the precondition ({asked}) does not match the UID in record ({there}). The object might have been deleted and then recreated"
        );
        return Err(Refusal::precondition(key.resource, &key.name, &why));
    }
    Ok(())
}
