//! The cleanup of old sets beyond `revisionHistoryLimit`.

use serde_json::Value;

use super::{Sync, annotations};
use crate::controller::count;
use crate::controller::owner::age_order;
use crate::object;
use crate::resource::REPLICASETS;
use crate::store::Key;

/// The limit that means "keep all".
const ALL: i64 = i32::MAX as i64;

impl Sync<'_> {
    /// Deletes the lowest revisions beyond the limit, except sets with pods.
    pub(super) fn clean_up(&mut self, new: Option<usize>) {
        let limit = object::at(&self.deployment, &["spec", "revisionHistoryLimit"]).and_then(Value::as_i64);
        let Some(limit) = limit.filter(|limit| *limit != ALL) else { return };
        let old: Vec<&Value> = self.old_sets(new).into_iter().map(|index| &self.sets[index]).collect();
        let gone: Vec<(Key, String)> = too_many(old, limit)
            .into_iter()
            .map(|set| (Key::of(&REPLICASETS, set), object::uid(set).to_owned()))
            .collect();
        for (key, uid) in gone {
            self.plan.delete(&key, &uid);
        }
    }
}

/// Returns the sets to delete: those without pods among the lowest ones beyond the limit.
fn too_many(sets: Vec<&Value>, limit: i64) -> Vec<&Value> {
    let mut staying: Vec<&Value> = sets.into_iter().filter(|set| !object::is_terminating(set)).collect();
    staying.sort_by(|one, other| {
        let by_age = age_order(one).cmp(&age_order(other));
        match (annotations::number(one), annotations::number(other)) {
            (Some(one), Some(other)) => one.cmp(&other).then(by_age),
            _ => by_age,
        }
    });
    let surplus = count::as_len(count::of(&staying) - limit);
    staying.into_iter().take(surplus).filter(|set| is_idle(set)).collect()
}

fn is_idle(set: &Value) -> bool {
    count::wanted(set) == 0
        && count::status(set, "replicas") == 0
        && object::generation(set) <= count::status(set, "observedGeneration")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(revision: &str, wanted: i64, there: i64) -> Value {
        let mut set = json!({
            "metadata": { "name": format!("r{revision}"), "annotations": { annotations::REVISION: revision } },
            "spec": { "replicas": wanted }, "status": { "replicas": there },
        });
        if revision.is_empty() {
            set["metadata"]["annotations"] = json!({});
        }
        set
    }

    fn gone(sets: &[Value], limit: i64) -> Vec<String> {
        too_many(sets.iter().collect(), limit).into_iter().map(|set| object::name(set).to_owned()).collect()
    }

    #[test]
    fn deleted_or_unobserved_sets_are_kept() {
        let mut deleting = set("1", 0, 0);
        deleting["metadata"]["deletionTimestamp"] = "2026-11-20T13:25:25Z".into();
        assert_eq!(gone(&[deleting, set("2", 0, 0)], 1), [""; 0]);
        let mut unseen = set("1", 0, 0);
        unseen["metadata"]["generation"] = 2.into();
        assert_eq!(gone(&[unseen, set("2", 0, 0)], 1), [""; 0]);
    }
}
