//! The job summary of GitHub Actions: a table of the rollouts, in Markdown.

use k8s_openapi::jiff::Timestamp;

use super::columns::code;
use super::follow::way_back;
use super::state_words::state_text;
use super::status::{NameContext, cause_words, serving_line};
use crate::model::follow::{FollowedTarget, Follower, Outcome};

/// The most causes of one workload.
const MAX_CAUSES: usize = 5;

/// One rollout of the table. Its texts are plain; [`markdown`] escapes them.
#[derive(Clone, Debug)]
pub struct ResultRow {
    workload: String,
    is_done: bool,
    result: String,
    serving: String,
    causes: Vec<String>,
    rollback_hint: Option<String>,
}

/// Returns the rows of followed rollouts. `now` is the server's time.
#[must_use]
pub fn of_follower(follower: &Follower, names: NameContext, now: Timestamp) -> Vec<ResultRow> {
    follower.targets().iter().map(|target| followed(target, names, now)).collect()
}

fn followed(target: &FollowedTarget, names: NameContext, now: Timestamp) -> ResultRow {
    let is_done = target.result().is_some_and(|result| result.outcome == Outcome::Reached);
    let view = target.view(now);
    let causes = target.causes().filter(|_| !is_done);
    let ended = view.as_ref().zip(target.result());
    let workload = target.workload();
    ResultRow {
        workload: names.name(workload),
        is_done,
        result: state_text(target).1,
        serving: view.as_ref().map(serving_line).unwrap_or_default(),
        causes: causes.map(|cause| cause_words(cause, workload, names)).collect(),
        rollback_hint: ended.and_then(|(view, result)| way_back(view, result)),
    }
}

/// Returns the table; empty without rows.
#[must_use]
pub fn markdown(rows: &[ResultRow]) -> String {
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
        let row = ResultRow {
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
