//! `pause` and `undo` while another process renews the lease of the plan.

use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::patch::Format;
use simcluster::resource::STATEFULSETS;
use simcluster::rules::{Author, Part};
use simcluster::{Verb, object};

use crate::setup::changed;

const HELD: &str = "kubectl-rollout2/held";

#[tokio::test(start_paused = true)]
async fn pause_and_undo_succeed_during_a_lease_renewal() {
    for (args, exit) in [("pause statefulset/db", 0), ("undo statefulset/db", 0)] {
        let (cluster, db) = changed(4, &json!({})).await;
        assert_eq!(cluster.run("step statefulset/db").await.exit, 0);
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
        cluster.sim.fault(Fault::on(Requests::of(Verb::Patch, &STATEFULSETS), renew).times(2));
        let output = cluster.run(args).await;
        assert_eq!(output.exit, exit, "{}", output.transcript);
    }
}
