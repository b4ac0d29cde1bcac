//! The job summary of GitHub Actions: a table of the rollouts, in Markdown.

use k8s_openapi::jiff::Timestamp;

use super::columns::code;
use super::state_words::state_text;
use super::status::{NameContext, cause_words, rollback_hint, serving_line};
use crate::model::follow::{Follower, Outcome, TargetTracker};
use crate::model::kind::verdict::RolloutState;
use crate::model::view::RolloutView;

/// The most causes of one workload.
const MAX_CAUSES: usize = 5;

/// One rollout of the table. Its texts are plain; [`markdown`] escapes them.
#[derive(Clone, Debug)]
pub struct Row {
    workload: String,
    is_done: bool,
    result: String,
    serving: String,
    causes: Vec<String>,
    rollback_hint: Option<String>,
}

/// Returns the rows of followed rollouts. `now` is the server's time.
#[must_use]
pub fn of_follower(follower: &Follower, names: NameContext, now: Timestamp) -> Vec<Row> {
    follower.targets().iter().map(|tracker| followed(tracker, names, now)).collect()
}

/// Returns the row of a rollout that was read once.
#[must_use]
pub fn of_status(view: &RolloutView, names: NameContext) -> Row {
    Row {
        workload: names.name(&view.workload),
        is_done: view.state() == RolloutState::Complete,
        result: view.state().word().to_owned(),
        serving: serving_line(view),
        causes: view.causes.iter().map(|cause| cause_words(cause, &view.workload, names)).collect(),
        rollback_hint: rollback_hint(view).filter(|_| view.needs_a_fix),
    }
}

fn followed(tracker: &TargetTracker, names: NameContext, now: Timestamp) -> Row {
    let outcome = tracker.result().map(|result| &result.outcome);
    let is_done = matches!(outcome, Some(Outcome::Reached));
    let rollback = tracker.result().and_then(|result| result.rollback.as_ref());
    let view = tracker.view(now);
    let causes = tracker.causes().filter(|_| !is_done);
    let hint = view.as_ref().and_then(rollback_hint);
    let workload = tracker.workload();
    Row {
        workload: names.name(workload),
        is_done,
        result: state_text(tracker).1,
        serving: view.as_ref().map(serving_line).unwrap_or_default(),
        causes: causes.map(|cause| cause_words(cause, workload, names)).collect(),
        rollback_hint: hint.filter(|_| matches!(outcome, Some(Outcome::Failed(_))) && rollback.is_none()),
    }
}

/// Returns the table; empty without rows.
#[must_use]
pub fn markdown(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "| | workload | result | serves | causes |\n|---|---|---|---|---|\n".to_owned();
    for row in rows {
        let mark = if row.is_done { "✅" } else { "❌" };
        let shown = row.causes.iter().take(MAX_CAUSES).map(|cause| code(cause));
        let more = row.causes.len().saturating_sub(MAX_CAUSES);
        let more = (more > 0).then(|| format!("and {more} more"));
        let causes = shown.chain(more).collect::<Vec<_>>().join("<br>");
        let [workload, result, serving] = [&row.workload, &row.result, &row.serving].map(|cell| code(cell));
        text += &format!("| {mark} | {workload} | {result} | {serving} | {causes} |\n");
    }
    for command in rows.iter().filter_map(|row| row.rollback_hint.as_ref()) {
        text += &format!("\nTo roll back: {}\n", code(command.trim_start_matches("hint: ")));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line of a rollout with these causes.
    fn line_of(causes: &[&str]) -> String {
        let row = Row {
            workload: "deployment/web".to_owned(),
            is_done: false,
            result: "failed".to_owned(),
            serving: "  3/3 available on revision 1".to_owned(),
            causes: causes.iter().map(|cause| (*cause).to_owned()).collect(),
            rollback_hint: None,
        };
        markdown(&[row]).lines().nth(2).unwrap_or_default().to_owned()
    }

    #[test]
    fn text_from_the_cluster_is_code() {
        let last = line_of(&["! web-1  ![x](http://evil) `a` | <b>\nsecond"]);
        let expected = "| ❌ | `deployment/web` | `failed` | `3/3 available on revision 1` | \
                        `! web-1  ![x](http://evil) 'a' \\| <b>\\nsecond` |";
        assert_eq!(last, expected);
    }

    #[test]
    fn secrets_are_masked_and_causes_above_the_limit_are_counted() {
        let last = line_of(&["DB_PASSWORD=hunter2"]);
        assert!(last.ends_with("| `DB_PASSWORD=***` |"), "{last}");
        let last = line_of(&["a", "b", "c", "d", "e", "f", "g"]);
        assert!(last.ends_with("| `a`<br>`b`<br>`c`<br>`d`<br>`e`<br>and 2 more |"), "{last}");
    }
}
