//! The clients that changed a template: the last one, and those that began the uses of its revisions.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::model::api::managed_fields::{
    Authorship, last_template_author, owner_of_change, template_changers, template_owners,
};
use crate::model::api::patch::FieldPath;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::status::uses::{RevisionUse, UseStart, uses};

/// How long a controller may take to create the revision of a changed template. The stamps have whole seconds, so that a
/// controller that needs less than a second can be two seconds later.
const CONTROLLER_DELAY: SignedDuration = SignedDuration::from_secs(2);

/// How much the clocks of two API servers may differ.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(1);

/// Returns the client that changed the template last; none if it is not known.
///
/// A client that only removes fields can own none of them, so that managed fields do not have it. So the owner that wrote
/// last is the client only if its stamp fits: it is later than the creation of the revision before, and the current revision
/// was created just after it, unless it is used again. Another owner is the client only if it owns a field that differs from
/// the revision before.
#[must_use]
pub fn template_author(observed: &Observation) -> Option<Authorship> {
    let (object, revisions) = (observed.workload.object(), &observed.revisions);
    let author = last_template_author(object)?;
    let current = revisions.current();
    let Some(before) = revisions.steps_back(usize::from(current.is_some())) else { return Some(author) };
    let is_late = |created: Timestamp| created.duration_since(author.time) > CONTROLLER_DELAY;
    let follows = before.created.is_none_or(|created| author.time > created);
    if follows && !current.and_then(|current| current.created).is_some_and(is_late) {
        return Some(author);
    }
    let before = before.template().without_hash_labels();
    let owner = || owner_of_change(object, &FieldPath::template(), Some(&before));
    if before.is_null() { None } else { owner() }
}

/// A use of a revision, with the client that began it.
#[derive(Clone, Debug)]
pub struct AuthoredUse<'a> {
    /// The use. A return with an author began at the author's write.
    pub one: RevisionUse<'a>,
    /// The field manager that began it; none if no stamp fits or several do.
    pub by: Option<String>,
}

/// Returns the uses of the kept revisions with their authors, oldest first.
///
/// Managed fields keep only the last write of each manager. It is matched to the revision that was created just after it, or
/// to a return that can have begun then. If it matches several, the use in which the manager owns a changed field has it.
#[must_use]
pub fn authored_uses(observed: &Observation) -> Vec<AuthoredUse<'_>> {
    let mut uses = uses(observed);
    let stamps = Stamps::of(observed, &uses);
    let authors: Vec<_> = (0..uses.len()).map(|index| stamps.author_of(index, &uses)).collect();
    let mut next = None; // the latest time at which the use after it can have begun
    for (one, author) in uses.iter_mut().zip(&authors).rev() {
        next = match (&mut one.start, author) {
            (UseStart::At(time), _) => Some(*time),
            (start @ UseStart::Between { .. }, Some(author)) => {
                *start = UseStart::At(author.time);
                Some(author.time)
            }
            (UseStart::Between { latest, .. }, None) => {
                *latest = [*latest, next].into_iter().flatten().min();
                *latest
            }
        };
    }
    let mut before = None; // the earliest time at which the use before it can have begun
    for one in &mut uses {
        if let UseStart::Between { earliest, .. } = &mut one.start {
            *earliest = (*earliest).max(before.unwrap_or(*earliest));
        }
        before = Some(one.start.earliest());
    }
    let by = authors.into_iter().map(|author| author.map(|author| author.manager));
    uses.into_iter().zip(by).map(|(one, by)| AuthoredUse { one, by }).collect()
}

/// How well a stamp fits a use, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// Whether the manager owns a field that the use changed.
    owns_change: bool,
    /// Whether the stamp is not after the creation of the revision, which only clocks that differ explain.
    is_before: bool,
}

/// The stamps of the managers that own fields of a template, and the use that each one began.
struct Stamps<'a> {
    observed: &'a Observation,
    all: Vec<(Authorship, Option<(usize, Fit)>)>,
}

impl<'a> Stamps<'a> {
    fn of(observed: &'a Observation, uses: &[RevisionUse<'_>]) -> Self {
        let owners = template_owners(observed.workload.object()).into_iter();
        let all = owners.map(|author| (author.clone(), began(observed, &author, uses))).collect();
        Self { observed, all }
    }

    /// Returns the client that began a use. A manager comes first that owns a field that the use changed. Such a manager also
    /// began the last use if that is a new revision, and it wrote again later.
    fn author_of(&self, index: usize, uses: &[RevisionUse<'_>]) -> Option<Authorship> {
        let one = uses.get(index)?;
        let of_use = self.all.iter().filter_map(|(author, began)| Some((author, (*began)?)));
        let of_use: Vec<_> = of_use.filter(|(_, (use_index, _))| *use_index == index).collect();
        let changers = of_use.iter().filter(|(_, (_, fit))| fit.owns_change).map(|(author, _)| *author);
        if let Some(changer) = changers.max_by_key(|author| author.time) {
            return Some(changer.clone());
        }
        if let (None, true, Some(before)) =
            (one.end, self.observed.revisions.is_current(one.revision), one.before)
        {
            let changers = changers_in(self.observed, one);
            if !changers.is_empty() {
                let last = changers.into_iter().max_by_key(|author| author.time);
                let is_later =
                    |author: &Authorship| before.created.is_none_or(|created| author.time >= created);
                return last.filter(|author| !one.is_return && is_later(author));
            }
        }
        match of_use.as_slice() {
            [(only, _)] => Some(Authorship::clone(only)),
            _ => None,
        }
    }
}

/// Returns the use that a write began, with how well it fits; none if it fits none, or several equally.
fn began(observed: &Observation, author: &Authorship, uses: &[RevisionUse<'_>]) -> Option<(usize, Fit)> {
    let fits = uses.iter().enumerate().filter_map(|(index, one)| {
        let is_before = can_begin(author.time, one)?;
        let owns_change = changers_in(observed, one).contains(author);
        let created = one.before.and_then(|before| before.created);
        let follows = is_before && created.is_none_or(|created| author.time > created);
        (owns_change || follows).then_some((index, Fit { owns_change, is_before }))
    });
    let fits: Vec<_> = fits.collect();
    let best = fits.iter().map(|(_, fit)| *fit).max()?;
    let mut best_uses = fits.iter().rev().filter(|(_, fit)| *fit == best);
    let (last, is_only) = (*best_uses.next()?, best_uses.next().is_none());
    // Of several that match equally, the manager's last write began the latest.
    (is_only || best.owns_change).then_some(last)
}

fn changers_in(observed: &Observation, one: &RevisionUse<'_>) -> Vec<Authorship> {
    let Some(before) = one.before else { return Vec::new() };
    let [before, after] = [before, one.revision].map(|revision| revision.template().without_hash_labels());
    template_changers(observed.workload.object(), &before, &after)
}

/// Whether a write can have begun a use, and was not after the creation of its revision; none if it cannot. A write just
/// before the next use began the next use.
fn can_begin(time: Timestamp, one: &RevisionUse<'_>) -> Option<bool> {
    match one.start {
        UseStart::At(created) => {
            let delay = created.duration_since(time);
            (-CLOCK_SKEW <= delay && delay <= CONTROLLER_DELAY).then_some(!delay.is_negative())
        }
        UseStart::Between { earliest, latest } => {
            let is_before = |latest: Timestamp| match one.end {
                None => time.duration_since(latest) <= CLOCK_SKEW,
                Some(_) => latest.duration_since(time) > CONTROLLER_DELAY,
            };
            (time >= earliest && latest.is_none_or(is_before)).then_some(true)
        }
    }
}

/// The last change of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateChange {
    /// When it was.
    pub start: UseStart,
    /// The field manager that made it; none if it is not known.
    pub by: Option<String>,
}

/// Returns the last change of the template of a workload; none if no stamp shows it. A template without a revision, as of a
/// paused Deployment, changed when a field manager of it wrote last.
#[must_use]
pub fn last_change(observed: &Observation) -> Option<TemplateChange> {
    if observed.revisions.current().is_none() {
        let author = last_template_author(observed.workload.object())?;
        return Some(TemplateChange { start: UseStart::At(author.time), by: Some(author.manager) });
    }
    let last = authored_uses(observed).pop()?;
    Some(TemplateChange { start: last.one.start, by: last.by })
}

/// Returns when the last use of a revision began; none if no stamp shows it.
#[must_use]
pub fn start_of_last_use(observed: &Observation, revision: &Revision) -> Option<UseStart> {
    let uses = authored_uses(observed);
    Some(uses.iter().rev().find(|used| used.one.revision.name == revision.name)?.one.start)
}

/// Whether the template can have changed at or after a time. False if no stamp shows when it changed.
#[must_use]
pub fn may_have_changed_since(observed: &Observation, since: Timestamp) -> bool {
    last_change(observed).is_some_and(|change| change.start.may_be_since(since))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::object::Object;
    use crate::model::kind::Workload;
    use crate::model::revision::Revisions;
    use serde_json::{Value, json};

    fn template(image: &str, env: &Value) -> Value {
        json!({"spec": {"containers": [{"name": "app", "image": image, "env": env}]}})
    }

    /// A Deployment with its field managers: the time of each one's last write, and what it owns of the container. Revisions
    /// are those of the numbers 1, 2, ...
    fn observation(
        managers: &[(&str, &str, Value)],
        live: &Value,
        revisions: &[(&str, &Value)],
    ) -> Observation {
        let managers = managers.iter().map(|(manager, time, owned)| {
            let containers = json!({"k:{\"name\":\"app\"}": owned});
            json!({"manager": manager, "time": format!("2026-11-20T{time}Z"),
                "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": containers}}}}})
        });
        let managers: Vec<_> = managers.collect();
        let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "w", "uid": "w", "managedFields": managers}, "spec": {"template": live}});
        let workload = Workload::of_json(&workload).unwrap();
        let replica_set = |(index, (created, template)): (usize, &(&str, &Value))| {
            let replica_set = json!({"kind": "ReplicaSet", "spec": {"template": template}, "metadata": {
                "name": format!("r{index}"), "creationTimestamp": format!("2026-11-20T{created}Z"),
                "annotations": {"deployment.kubernetes.io/revision": (index + 1).to_string()},
                "ownerReferences": [{"controller": true, "uid": "w"}]}});
            Object::read(replica_set).unwrap()
        };
        let revisions = Revisions::of(&workload, revisions.iter().enumerate().map(replica_set));
        Observation { workload, revisions, pods: None, events: None }
    }

    #[test]
    fn an_owner_is_named_only_if_its_write_fits_the_revisions() {
        let (no_env, env) = (json!([]), json!([{"name": "A", "value": "1"}]));
        let (one, live, with_env) =
            (template("x:1", &no_env), template("x:2", &no_env), template("x:2", &env));
        // The owner of every field wrote at 13:00:00.
        for (what, revisions, is_known) in [
            ("a first revision", vec![("13:00:00", &live)], true),
            ("a change", vec![("11:00:00", &one), ("13:00:05", &live)], true),
            ("two changes in one second", vec![("13:00:00", &one), ("13:00:00", &live)], true),
            ("a rollback", vec![("11:00:00", &with_env), ("10:00:00", &live)], true),
            ("a change during a pause", vec![("11:00:00", &one), ("14:00:00", &live)], true),
            ("a change that has no revision yet", vec![("11:00:00", &one)], true),
            ("a removal by the owner", vec![("11:00:00", &with_env), ("13:00:01", &live)], true),
            ("a removal by another client", vec![("12:00:00", &with_env), ("13:00:34", &live)], false),
            ("a removal 5 s after a change", vec![("13:00:00", &with_env), ("13:00:05", &live)], false),
            ("a removal 1 s after a change", vec![("13:00:00", &with_env), ("13:00:01", &live)], false),
            ("a removal that has no revision yet", vec![("13:00:00", &with_env)], false),
            ("a rollback by another client", vec![("13:00:00", &with_env), ("10:00:00", &live)], false),
        ] {
            let owned = json!({".": {}, "f:name": {}, "f:image": {}});
            let observed =
                observation(&[("kubectl-client-side-apply", "13:00:00", owned)], &live, &revisions);
            assert_eq!(template_author(&observed).is_some(), is_known, "{what}");
        }
    }
    /// Helm applied the release again after another client had changed the environment.
    #[test]
    fn a_write_long_after_the_creation_of_a_revision_did_not_begin_it() {
        let (no_env, env) = (json!([]), json!([{"name": "A", "value": "1"}]));
        let (one, two, live) = (template("x:1", &no_env), template("x:2", &no_env), template("x:2", &env));
        for (time, expected) in [("12:00:00", Some("helm")), ("14:00:00", None)] {
            let managers = [
                ("helm", time, json!({"f:image": {}})),
                (
                    "kubectl-edit",
                    "13:00:00",
                    json!({"f:env": {"k:{\"name\":\"A\"}": {".": {}, "f:value": {}}}}),
                ),
            ];
            let revisions = [("11:00:00", &one), ("12:00:00", &two), ("13:00:00", &live)];
            let observed = observation(&managers, &live, &revisions);
            let authors: Vec<_> = authored_uses(&observed).into_iter().map(|one| one.by).collect();
            let expected = [None, expected, Some("kubectl-edit")].map(|author| author.map(str::to_owned));
            assert_eq!(authors, expected, "{time}");
        }
    }
}
