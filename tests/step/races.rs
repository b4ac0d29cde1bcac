//! A command that stops a plan is not in conflict with the process that steps it.

use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::patch::Format;
use simcluster::resource::STATEFULSETS;
use simcluster::rules::{Author, Part};
use simcluster::{Verb, object};

use crate::setup::changed;

const HELD: &str = "kubectl-rollout2/held";

#[tokio::test(start_paused = true)]
async fn pause_and_undo_win_against_a_lease_renewal() {
    for (words, exit) in [("pause statefulset/db", 0), ("undo statefulset/db", 0)] {
        let (lab, db) = changed(4, &json!({})).await;
        assert_eq!(lab.run("step statefulset/db").await.exit, 0);
        let target = db.clone();
        let renew = FaultAction::write_before(move |store| {
            let set = store.find(&target).unwrap();
            let mut held: Value =
                serde_json::from_str(object::text(set, &["metadata", "annotations", HELD])).unwrap();
            let turn = held["lease"]["turn"].as_i64().unwrap_or_default() + 1;
            held["lease"] = json!({"holder": "other", "turn": turn});
            let patch = json!({"metadata": {"annotations": {HELD: held.to_string()}}});
            store.patch(&target, Part::Object, Format::Merge, &patch, &Author::new("step")).unwrap();
        });
        lab.cluster.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), renew).times(2));
        let ended = lab.run(words).await;
        assert_eq!(ended.exit, exit, "{}", ended.transcript);
    }
}
