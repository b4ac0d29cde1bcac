//! The job summary of GitHub Actions: a table of the rollouts, in Markdown.

use k8s_openapi::jiff::Timestamp;

use super::cause::cause_words;
use super::columns::code;
use super::state_words::{NameContext, serving_words, state_text};
use super::status::rollback_at_end;
use crate::model::engine::Now;
use crate::model::follow::{Followed, Follower, Outcome, Rollbacks};
use crate::model::text::shell_command::{Word, command};

/// The most causes of one workload.
const MAX_CAUSES: usize = 5;

/// One rollout of the table: its row, and the command that rolls it back.
#[derive(Clone, Debug)]
pub struct ResultRow {
    /// The context, if there are several.
    context: Option<String>,
    is_done: bool,
    /// The other cells.
    row: String,
    rollback: Option<String>,
}

/// Returns the rows of followed rollouts.
#[must_use]
pub fn of_follower(
    follower: &Follower,
    rollbacks: &Rollbacks,
    names: NameContext<'_>,
    now: Now,
) -> Vec<ResultRow> {
    let row = |one: Followed<'_>| row_of(one, names, one.target.at(now).server_time);
    follower.followed(rollbacks).map(row).collect()
}

fn row_of(followed: Followed<'_>, names: NameContext<'_>, now: Timestamp) -> ResultRow {
    let target = followed.target;
    let is_done = followed.outcome() == Some(&Outcome::Reached);
    let (workload, view) = (target.workload(), target.view(now));
    // After the rollback the causes of the failure are gone.
    let failed = followed.rollback.filter(|_| followed.is_rollback_written());
    let causes = failed.into_iter().flat_map(|rollback| &rollback.causes).chain(target.causes());
    let causes = causes.filter(|_| !is_done).map(|cause| cause_words(cause, workload, names));
    let serving = view.as_ref().map(serving_words).unwrap_or_default();
    let rollback = view.as_ref().and_then(|view| rollback_at_end(view, followed));
    let flag = |context| command(" --context {}", [Word::text(context, "NAME")]);
    let flag = target.context().map(flag).unwrap_or_default();
    ResultRow {
        context: target.context().map(code),
        is_done,
        row: row([names.name(workload), state_text(followed).1, serving], &causes.collect::<Vec<_>>()),
        rollback: rollback.map(|rollback| code(&format!("{rollback}{flag}"))),
    }
}

/// Returns the cells of a workload, of its result, of what serves and of its causes. Its texts are plain here, and code in the row.
fn row(cells: [String; 3], causes: &[String]) -> String {
    let shown = causes.iter().take(MAX_CAUSES).map(|cause| code(cause));
    let more = causes.len().saturating_sub(MAX_CAUSES);
    let causes = shown.chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>();
    format!("{} | {} |\n", cells.map(|cell| code(&cell)).join(" | "), causes.join("<br>"))
}

/// Returns the table; empty without rows.
#[must_use]
pub fn markdown(rows: &[ResultRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let has_contexts = rows.iter().any(|row| row.context.is_some());
    let (context, line) = if has_contexts { ("context | ", "---|") } else { ("", "") };
    let mut text =
        format!("| | {context}workload | result | serves | causes |\n|---|{line}---|---|---|---|\n");
    for ResultRow { context, is_done, row, .. } in rows {
        let mark = if *is_done { "✅" } else { "❌" };
        let context = context.as_ref().map(|context| format!("{context} | ")).unwrap_or_default();
        text += &format!("| {mark} | {context}{row}");
    }
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
        let row = ResultRow { context: None, is_done: false, row: row(cells, &causes), rollback: None };
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
