//! Compares two templates.
//!
//! [`Diff`] is the whole comparison. Every output (the line in `history`, the rows above a diff,
//! the unified diff, JSON) comes from one list of [`Change`]s in which secrets are already masked.
//! No output can leak one.

mod change;
mod field_change;
mod list_keys;
mod path;
pub mod pod_update;
pub mod portable_template;
mod secret;
mod short_value;
mod summary;
mod unified;

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::Value;

pub use change::{Change, apply};
pub use list_keys::fields_of as identity_fields;
pub use path::{PathError, PathStep, TemplatePath, key_values};
pub use secret::{MASK_CHANGED, SecretValues, shown, without_secret_env};
pub use short_value::short_digests;
pub use summary::ChangeRow;
pub use unified::{DiffSide, Hunk, HunkLine, yaml};

use crate::model::revision::template::Template;

/// Returns a value as text for one line, shortened to about 60 characters.
#[must_use]
pub fn short_text(value: &Value) -> String {
    short_value::short_value(value).text
}

/// The comparison of two templates.
#[derive(Clone, Debug)]
pub struct Diff {
    from: Value,
    changes: Changes,
}

/// The changes between two templates, without the templates. A line of `history` needs no more.
#[derive(Clone, Debug)]
pub struct Changes {
    list: Vec<Change>,
    reordered: Vec<TemplatePath>,
    several_containers: bool,
}

impl Diff {
    /// Compares two templates.
    #[must_use]
    pub fn between(from: &Template, to: &Template, secrets: SecretValues) -> Self {
        let (from, to) = (from.canonical(), to.canonical());
        let changes = Changes::between(&from, &to, secrets);
        let from = match secrets {
            SecretValues::Shown => from,
            SecretValues::Masked => secret::without_secret_env(&from),
        };
        Self { from, changes }
    }

    /// Whether nothing changed, apart from the order of keyed lists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.list.is_empty()
    }

    /// Returns the changes, with secret values masked unless they are to be shown.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes.list
    }

    /// Returns the keyed lists whose elements changed their order. Kubernetes replaces pods for
    /// that, although the content is the same.
    #[must_use]
    pub fn reordered(&self) -> &[TemplatePath] {
        &self.changes.reordered
    }

    /// Returns both templates, canonical and masked. The elements of TO's keyed lists are in FROM's
    /// order, so a line diff shows the changes only.
    #[must_use]
    pub fn templates(&self) -> (&Value, Value) {
        (&self.from, apply(&self.from, &self.changes.list))
    }

    /// Returns the unified diff of the two [`templates`](Self::templates), with `context` lines
    /// around each change. Without a deadline the diff is the shortest.
    #[must_use]
    pub fn hunks(&self, context: usize, deadline: Option<Instant>) -> Vec<Hunk> {
        let (from, to) = self.templates();
        unified::hunks(from, &to, context, deadline)
    }

    /// Returns the changes as the parts of one line; see [`Changes::summary`].
    #[must_use]
    pub fn summary(&self) -> Vec<String> {
        self.changes.summary()
    }

    /// Returns one row for each change, grouped by container.
    #[must_use]
    pub fn rows(&self) -> Vec<ChangeRow> {
        summary::rows(&field_change::field_changes(self.changes()))
    }
}

impl Changes {
    /// Compares two canonical templates.
    #[must_use]
    pub fn between(from: &Value, to: &Value, secrets: SecretValues) -> Self {
        let comparison = change::compare(from, to);
        let list = match secrets {
            SecretValues::Shown => comparison.changes,
            SecretValues::Masked => secret::mask_changes(comparison.changes),
        };
        let mut containers = [from, to].into_iter().flat_map(container_names);
        let first = containers.next();
        let several_containers = containers.any(|name| Some(name) != first);
        Self { list, reordered: comparison.reordered, several_containers }
    }

    /// Returns the changes as the parts of one line, the most important first: `image
    /// shop/web:1.1`, `env MODE=prod`, `+env CACHE`, `limits cpu 200m, memory 128Mi`. `restart
    /// only` and `order of env` stand alone. Empty for equal templates.
    #[must_use]
    pub fn summary(&self) -> Vec<String> {
        let order = |path: &TemplatePath| match path.steps().last() {
            Some(PathStep::Member(list)) => format!("order of {list}"),
            _ => "order".to_owned(),
        };
        if self.list.is_empty() {
            let lists: BTreeSet<String> = self.reordered.iter().map(order).collect();
            return lists.into_iter().collect();
        }
        summary::line(&field_change::field_changes(&self.list), self.several_containers)
    }
}

fn container_names(template: &Value) -> impl Iterator<Item = &Value> {
    let elements = |list: &&str| template.get("spec")?.get(list)?.as_array();
    change::CONTAINERS.iter().filter_map(elements).flatten().filter_map(|container| container.get("name"))
}

#[cfg(test)]
mod tests;
