//! What differs between two templates: the changes, and the words and lines that tell them.
//!
//! [`Diff`] is the whole comparison. Everything it shows (one line for history, the rows at the head
//! of a diff, the unified diff, JSON) follows from one list of [`Change`]s, in which secrets are
//! masked already: nothing that shows them can forget to.

mod apply;
mod brief;
mod change;
mod facts;
mod keys;
mod lines;
mod path;
mod scalar;
mod secret;
mod unified;
mod words;

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::Value;

pub use apply::apply;
pub use change::{Change, changes};
pub use keys::fields_of as identity_fields;
pub use path::{NotAPath, Path, Step, key_values};
pub use secret::{MASK_CHANGED, Secrets, without_secret_env};
pub use unified::{Hunk, HunkLine, Side, yaml};
pub use words::Row;

use super::template::Template;

/// The comparison of two templates.
#[derive(Clone, Debug)]
pub struct Diff {
    from: Value,
    changes: Vec<Change>,
    reordered: Vec<Path>,
    several_containers: bool,
}

impl Diff {
    /// Compares two templates.
    #[must_use]
    pub fn between(from: &Template, to: &Template, secrets: Secrets) -> Self {
        let (from, to) = (from.canonical(), to.canonical());
        let comparison = change::compare(&from, &to);
        let containers: BTreeSet<_> = [&from, &to].into_iter().flat_map(container_names).collect();
        let (from, changes) = match secrets {
            Secrets::Shown => (from, comparison.changes),
            Secrets::Masked => (secret::without_secret_env(&from), secret::mask_changes(comparison.changes)),
        };
        Self { from, changes, reordered: comparison.reordered, several_containers: containers.len() > 1 }
    }

    /// Whether nothing changed but perhaps the order of keyed lists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes, secret values masked unless they were to be shown.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The keyed lists whose elements stand in another order. That is no change to a reader, but it
    /// is to Kubernetes, which starts new pods for it.
    #[must_use]
    pub fn reordered(&self) -> &[Path] {
        &self.reordered
    }

    /// The two templates, canonical and masked like the changes, TO with the elements of its keyed
    /// lists in FROM's order: whatever compares them line by line sees the changes and no more.
    #[must_use]
    pub fn templates(&self) -> (&Value, Value) {
        (&self.from, apply(&self.from, &self.changes))
    }

    /// The unified diff of the two [`templates`](Self::templates), with `context` lines around each
    /// change. Without a deadline they are the fewest that do; with one they are ready in time.
    #[must_use]
    pub fn hunks(&self, context: usize, deadline: Option<Instant>) -> Vec<Hunk> {
        let (from, to) = self.templates();
        unified::hunks(from, &to, context, deadline)
    }

    /// What changed, as the parts of one line, the telling ones first: `image shop/web:1.1`,
    /// `env MODE=prod`, `+env CACHE`, `limits cpu 200m, memory 128Mi`; `restart only` when there is
    /// nothing but a `kubectl rollout restart`, and `order of env` when there is nothing but that.
    /// Empty when the templates are equal.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let order = |path: &Path| match path.steps().last() {
            Some(Step::Member(list)) => format!("order of {list}"),
            _ => "order".to_owned(),
        };
        if self.is_empty() {
            let lists: BTreeSet<String> = self.reordered.iter().map(order).collect();
            return lists.into_iter().collect();
        }
        words::line(&facts::facts(&self.changes), self.several_containers)
    }

    /// What changed, in full: one row a change, each container's rows together.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        words::rows(&facts::facts(&self.changes))
    }
}

fn container_names(template: &Value) -> Vec<String> {
    let elements = |list: &str| template.get("spec")?.get(list)?.as_array();
    let name = |container: &Value| container.get("name").map(ToString::to_string);
    change::CONTAINERS.iter().filter_map(|list| elements(list)).flatten().filter_map(name).collect()
}

#[cfg(test)]
mod tests;
