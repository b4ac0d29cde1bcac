//! Warns of autoscalers that count the surge pods of a plan.

use crate::cluster::list_query::ListQuery;
use crate::cluster::source::Source;
use crate::model::api::autoscaler::SurgeCountingAutoscaler;
use crate::model::api::resource_type::HORIZONTAL_POD_AUTOSCALER;
use crate::model::hold::plan::PlanRecord;
use crate::model::kind::Workload;
use crate::model::step::StepOptions;
use crate::render::message_writer::MessageWriter;

/// Warns before a new plan of a workload with surge pods. Silent if the autoscalers cannot be listed.
pub(super) async fn warn(
    options: &StepOptions,
    workload: &Workload,
    source: &Source,
    messages: &MessageWriter,
) {
    let has_surge = workload.update_budget().surge > 0 || options.pace.surge.is_some();
    let is_new = options.new_plan || PlanRecord::in_force(workload).is_none();
    if !workload.is_completion_blocked_by_hold() || !has_surge || !is_new {
        return;
    }
    let query = ListQuery::of(&HORIZONTAL_POD_AUTOSCALER, Some(workload.object().namespace()));
    let found = source.list(&query, |object| SurgeCountingAutoscaler::read(&object)).await;
    let found = found.unwrap_or_default().into_iter();
    for autoscaler in found.filter(|autoscaler| autoscaler.is_for(workload.object())) {
        let SurgeCountingAutoscaler { name, metric, .. } = autoscaler;
        messages.note(&format!(
            "warning: HorizontalPodAutoscaler {name} divides a metric of type {metric} by all pods of {}, surge pods \
             included, so that it may scale down during the plan",
            workload.target()
        ));
    }
}
