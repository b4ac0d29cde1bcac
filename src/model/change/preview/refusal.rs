//! Why the API server refuses an object that it accepts without a plan of `step`.

use crate::model::hold::end_command;
use crate::model::hold::plan::Hold;
use crate::model::kind::Workload;
use crate::model::kind::rolling_hold::NEVER_AVAILABLE;
use crate::model::text::shell_command::command;

/// The end of the API server's message (`ValidateDeploymentSpec`).
const DEADLINE: &str = "must be greater than minReadySeconds";

/// Returns that the plan that holds a Deployment is the reason for a refusal, and the command that ends it.
#[must_use]
pub fn refusal_by_plan(live: &Workload, message: &str) -> Option<String> {
    let is_held = Hold::in_force(live).is_some() && live.min_ready_seconds() == NEVER_AVAILABLE;
    (is_held && message.contains(DEADLINE)).then(|| {
        let end = command("to end the plan: {}", [end_command(live)]);
        format!("the API server rejects this manifest until the plan of step ends, which set minReadySeconds; {end}")
    })
}
