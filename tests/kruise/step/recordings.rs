//! The plan that `step` would begin in every recorded state of a real controller.

use serde_json::{Value, json};

use crate::kruise::recording::Step;

/// The batches have exactly the outdated pods that the partition of the user releases, as the controller counts them.
#[test]
fn batches_have_the_pods_that_the_controller_would_update() {
    let mut plans = 0;
    for step in Step::all().iter().filter(|step| step.settled) {
        let workload = step.workload();
        let output = step.run(&["step", step.target(), "--all", "--dry-run", "-o", "json"]);
        let plan: Value = serde_json::from_str(&output.stdout)
            .unwrap_or_else(|_| panic!("{}: {}", step.name, output.transcript));
        let wanted = plan["pods"]["wanted"].as_u64();
        let Some(wanted) = wanted else {
            let outcome = plan["outcome"].as_str().unwrap_or_default();
            assert!(["nothing-outdated", "stopped"].contains(&outcome), "{}: {plan}", step.name);
            continue;
        };
        plans += 1;
        let updated = plan["pods"]["updated"].as_u64().unwrap();
        let sizes = plan["batches"].as_array().unwrap().iter().map(|batch| batch["size"].as_u64().unwrap());
        let sizes: u64 = sizes.sum();
        let (status, strategy) = (&workload["status"], &workload["spec"]["updateStrategy"]);
        let count = |name: &str| status[name].as_u64().unwrap_or_default();
        let reported = count("updatedReplicas").max(count("updatedNumberScheduled"));
        assert_eq!(updated, reported, "{}: {plan}", step.name);
        if let Some(expected) = status["expectedUpdatedReplicas"].as_u64() {
            assert_eq!(updated + sizes, expected.max(updated), "{}: {plan}", step.name);
        } else if strategy["rollingUpdate"]["partition"].as_u64().unwrap_or_default() == 0 {
            assert!(updated + sizes <= wanted && sizes > 0, "{}: {plan}", step.name);
        }
        let is_flat = workload["kind"] == "CloneSet" && workload["apiVersion"] == "apps.kruise.io/v1alpha1";
        let field = if is_flat { "partition" } else { "rollingUpdate.partition" };
        assert_eq!(plan["holdsBy"], json!({"field": format!("spec.updateStrategy.{field}"), "value": null}));
    }
    assert!(plans > 20, "{plans}");
}
