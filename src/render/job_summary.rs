//! The job summary of GitHub Actions: a table of the rollouts, in Markdown.

use k8s_openapi::jiff::Timestamp;

use super::cause::cause_words;
use super::columns::code;
use super::state_words::{NameContext, serving_words, state_text};
use super::status::rollback_at_end;
use crate::model::follow::{Followed, Follower, Outcome, Rollbacks};

/// The most causes of one workload.
const MAX_CAUSES: usize = 5;

/// One rollout of the table: its row, and the command that rolls it back.
#[derive(Clone, Debug)]
pub struct ResultRow {
    row: String,
    rollback: Option<String>,
}

/// Returns the rows of followed rollouts. `now` is the server's time.
#[must_use]
pub fn of_follower(
    follower: &Follower,
    rollbacks: &Rollbacks,
    names: NameContext,
    now: Timestamp,
) -> Vec<ResultRow> {
    follower.followed(rollbacks).map(|one| row_of(one, names, now)).collect()
}

fn row_of(followed: Followed<'_>, names: NameContext, now: Timestamp) -> ResultRow {
    let target = followed.target;
    let is_done = followed.outcome() == Some(&Outcome::Reached);
    let (workload, view) = (target.workload(), target.view(now));
    // After the rollback the causes of the failure are gone.
    let failed = followed.rollback.filter(|_| followed.is_rollback_written());
    let causes = failed.into_iter().flat_map(|rollback| &rollback.causes).chain(target.causes());
    let causes = causes.filter(|_| !is_done).map(|cause| cause_words(cause, workload, names));
    let serving = view.as_ref().map(serving_words).unwrap_or_default();
    let rollback = view.as_ref().and_then(|view| rollback_at_end(view, followed));
    ResultRow {
        row: row(
            is_done,
            [names.name(workload), state_text(followed).1, serving],
            &causes.collect::<Vec<_>>(),
        ),
        rollback: rollback.map(code),
    }
}

/// Returns the row of a workload with its result and what serves. Its texts are plain here, and code in the row.
fn row(is_done: bool, cells: [String; 3], causes: &[String]) -> String {
    let mark = if is_done { "✅" } else { "❌" };
    let shown = causes.iter().take(MAX_CAUSES).map(|cause| code(cause));
    let more = causes.len().saturating_sub(MAX_CAUSES);
    let causes = shown.chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>();
    format!("| {mark} | {} | {} |\n", cells.map(|cell| code(&cell)).join(" | "), causes.join("<br>"))
}

/// Returns the table; empty without rows.
#[must_use]
pub fn markdown(rows: &[ResultRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "| | workload | result | serves | causes |\n|---|---|---|---|---|\n".to_owned();
    text.extend(rows.iter().map(|row| row.row.as_str()));
    for command in rows.iter().filter_map(|row| row.rollback.as_ref()) {
        text += &format!("\nTo roll back: {command}\n");
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line of a rollout with these causes.
    fn line_of(causes: &[&str]) -> String {
        let cells = ["deployment/web", "failed", "  3/3 available on revision 1"].map(str::to_owned);
        let causes: Vec<_> = causes.iter().map(|cause| (*cause).to_owned()).collect();
        let row = ResultRow { row: row(false, cells, &causes), rollback: None };
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
