//! The names of revisions that are foretold, compared with what real controllers wrote into the status.

use std::collections::BTreeMap;

use rollout2::model::kind::Workload;

use crate::kruise::recording::Step;

#[test]
fn the_foretold_name_is_the_update_revision() {
    let mut checked: BTreeMap<String, usize> = BTreeMap::new();
    for step in Step::all() {
        let object = step.workload();
        let status = &object["status"];
        let is_observed = status["observedGeneration"] == object["metadata"]["generation"];
        let workload = Workload::of_json(object).unwrap();
        let Some(name) = workload.name_of_next_revision().filter(|_| is_observed) else { continue };
        assert_eq!(status["updateRevision"], name, "{}", step.name);
        *checked.entry(workload.target()).or_default() += 1;
    }
    assert_eq!(checked.keys().collect::<Vec<_>>(), ["asts/web", "cloneset/web"]);
    assert!(checked.values().all(|count| *count > 50), "{checked:?}");
}
