//! The revision that `undo` rolls back to, and whether the current revision is an earlier one that replaced another, as after a
//! rollback.

use crate::api::managed_fields::{FIELD_MANAGER, appliers, owner_of_change};
use crate::api::patch::FieldPath;
use crate::error::{Error, ErrorKind, Result};
use crate::hold::plan::is_rolling_back;
use crate::kind::Workload;
use crate::observation::Observation;
use crate::revision::{Revision, RevisionWord};
use crate::text::shell_command::command;

/// The value of `--to-revision`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetRevision {
    /// The default: the previous revision, or the current one while `step` rolls back to it.
    #[default]
    Default,
    /// `stable`: the stable revision.
    Stable,
    /// The default of `--failed`: the stable revision, or the one before the current one where no other revision has pods.
    StableOrPrevious,
    /// A revision by any of its words.
    Named(RevisionWord),
}

impl TargetRevision {
    /// Finds the revision.
    ///
    /// # Errors
    /// If there is none, or if several match equally. The message lists the candidates.
    pub fn find<'a>(&self, observation: &'a Observation) -> Result<&'a Revision> {
        match self {
            Self::Default if is_rolling_back(&observation.workload) => {
                observation.revisions.current().ok_or_else(|| no_previous_revision(&observation.workload))
            }
            Self::Default => {
                previous(observation)?.ok_or_else(|| no_previous_revision(&observation.workload))
            }
            Self::Stable => {
                let is_ready =
                    |one: &&Revision| observation.pod_count(one).is_none_or(|count| count.ready > 0);
                observation.stable().ok().filter(is_ready).ok_or_else(|| no_stable_revision(observation))
            }
            Self::StableOrPrevious => stable_or_previous(observation),
            Self::Named(word) => find_revision(word, "--to ", observation),
        }
    }
}

/// Returns the stable revision. In an outage, where every pod runs the current revision, it is the previous revision, and
/// nothing proves that this one works.
///
/// # Errors
/// If there is neither, if pods of the previous revision fail too, or if the current revision replaced the one found: `--failed`
/// never takes a rollback back.
fn stable_or_previous(observation: &Observation) -> Result<&Revision> {
    let found = match observation.stable() {
        Ok(stable) if observation.may_serve(stable) => stable,
        _ => unproven_previous(observation)?,
    };
    if is_rollback_from(observation, found) {
        return Err(already_rolled_back(observation, found));
    }
    Ok(found)
}

/// Returns the previous revision if no revision but the current one has pods, which would speak against it.
fn unproven_previous(observation: &Observation) -> Result<&Revision> {
    let is_only = observation.revisions.len() < 2;
    let counted = observation.pod_counts_or_status();
    let has_pods = |one: &Revision| !observation.revisions.is_current(one) && counted(one).total > 0;
    if is_only || observation.revisions.iter().any(has_pods) {
        return Err(no_stable_revision(observation));
    }
    TargetRevision::Default.find(observation)
}

fn already_rolled_back(observation: &Observation, from: &Revision) -> Error {
    let workload = &observation.workload;
    let current = observation.revisions.current().map_or_else(String::new, Revision::label);
    let serves = observation.pod_counts_or_status()(from).ready > 0;
    let (target, label) = (workload.target(), from.label());
    let (rest, hint) = if serves {
        let words = [workload.command_target(), observation.revisions.word_of(from)];
        let hint = command("to return to it: kubectl rollout2 undo {} --to {}", words);
        (format!("; revision {label} serves"), hint)
    } else {
        (" either".to_owned(), command("to see why: kubectl rollout2 status {}", [workload.command_target()]))
    };
    let sentence =
        format!("{target} was rolled back from revision {label} to {current}, which is not healthy{rest}");
    Error::new(ErrorKind::Refused, sentence).hint(hint)
}

/// Finds the revision that a word means, the same one for every verb.
///
/// `previous` is the revision that served before the hold in force, and without a hold the newest one but the current.
/// `-N` is the one `N - 1` before that, without the current one.
///
/// # Errors
/// If none or several match. The message lists the candidates; a hint with a number has it after `flag`.
pub fn find_revision<'a>(
    word: &RevisionWord,
    flag: &str,
    observation: &'a Observation,
) -> Result<&'a Revision> {
    let revisions = &observation.revisions;
    let found = match word {
        RevisionWord::Back(0) => revisions.current_or_newest(),
        RevisionWord::Back(steps) => previous(observation)?.and_then(|previous| {
            let others = revisions.iter().rev().filter(|one| !revisions.is_current(one));
            others.skip_while(|one| one.name != previous.name).nth(steps - 1)
        }),
        word => return word.find(flag, revisions),
    };
    found.ok_or_else(|| word.missing(flag, revisions))
}

/// Returns the revision that served before a hold, or else the newest revision other than the current one. Once the
/// controller observed the live template, this is the one before the current revision. Until then it is the revision that
/// the pods run.
fn previous(observation: &Observation) -> Result<Option<&Revision>> {
    let revisions = &observation.revisions;
    if let Some(before) = revision_before_hold(observation)? {
        return Ok(Some(before));
    }
    let others = || revisions.iter().filter(|revision| !revisions.is_current(revision));
    let Some(newest) = others().next_back() else { return Ok(None) };
    match newest.number.known() {
        // Several revisions have the number: refuse, as for --to-revision.
        Some(number) if others().filter(|other| other.number.known() == Some(number)).count() > 1 => {
            RevisionWord::Number(number).find("--to ", revisions).map(Some)
        }
        _ => Ok(Some(newest)),
    }
}

/// Returns the revision that served before the hold in force: the start of its plan, or the stable
/// revision during a pause. If the template changed twice during a hold, there is a revision
/// that no pod ever ran. It must not be the default of `undo`.
///
/// # Errors
/// When the stable revision of a plan is not stored any more. Any other revision would replace pods that the plan has
/// not released.
fn revision_before_hold(observation: &Observation) -> Result<Option<&Revision>> {
    let Some(hold) = observation.workload.held().in_force() else { return Ok(None) };
    let Some(plan) = &hold.plan else { return Ok(observation.stable().ok()) };
    let Some(from) = &plan.from else { return Ok(None) };
    match observation.revisions.iter().find(|one| one.name == *from) {
        Some(one) => Ok(Some(one).filter(|one| !observation.revisions.is_current(one))),
        None => Err(plan_revision_not_stored(&observation.workload, from)),
    }
}

fn plan_revision_not_stored(workload: &Workload, from: &str) -> Error {
    let sentence = format!(
        "revision {from}, from which the plan of {} began, is not stored any more",
        workload.target()
    );
    Error::new(ErrorKind::NotFound, sentence).hint(choose_one(workload))
}

fn choose_one(workload: &Workload) -> String {
    command("to choose a number: kubectl rollout2 history {}", [workload.command_target()])
}

fn no_previous_revision(workload: &Workload) -> Error {
    Error::new(ErrorKind::NotFound, format!("{} has no revision to roll back to", workload.target()))
        .hint(command("kubectl rollout2 history {}", [workload.command_target()]))
}

fn no_stable_revision(observation: &Observation) -> Error {
    let workload = &observation.workload;
    let sentence = match only_revision_with_pods(observation) {
        Some(only) if observation.revisions.len() == 1 => {
            let why =
                command("to see what is wrong: kubectl rollout2 status {}", [workload.command_target()]);
            let sentence = format!(
                "{} has only revision {}, so there is none to go back to",
                workload.target(),
                only.label()
            );
            return Error::new(ErrorKind::NotFound, sentence).hint(why);
        }
        Some(only) => {
            format!("{} has no stable revision: every pod runs revision {}", workload.target(), only.label())
        }
        None => format!("{} has no stable revision: {}", workload.target(), ready_pods_of_all(observation)),
    };
    Error::new(ErrorKind::NotFound, sentence).hint(choice(observation))
}

/// Returns the command that rolls back to the revision before the current one. If a rollback replaced that one, it is the
/// command that lists all.
fn choice(observation: &Observation) -> String {
    let target = observation.workload.command_target();
    match TargetRevision::Default.find(observation) {
        Ok(previous) if !is_replaced_by_current(observation, previous) => command(
            "for the revision before it: kubectl rollout2 undo {} --to {}",
            [target, observation.revisions.word_of(previous)],
        ),
        _ => command("to choose one for --to: kubectl rollout2 history {}", [target]),
    }
}

fn ready_pods_of_all(observation: &Observation) -> String {
    let counted = observation.pod_counts_or_status();
    let ready = |one: &Revision| format!("{} ({} ready)", one.label(), counted(one).ready);
    let all: Vec<_> = observation.revisions.iter().map(ready).collect();
    if all.is_empty() { "there are no revisions".to_owned() } else { all.join(", ") }
}

/// Returns the current revision, if it has pods and no other one has any.
fn only_revision_with_pods(observation: &Observation) -> Option<&Revision> {
    let current = observation.revisions.current()?;
    let counted = observation.pod_counts_or_status();
    let is_alone =
        observation.revisions.iter().all(|one| one.name == current.name || counted(one).total == 0);
    (is_alone && counted(current).total > 0).then_some(current)
}

/// Whether the current revision is an earlier one that replaced `revision`.
fn is_replaced_by_current(observation: &Observation, revision: &Revision) -> bool {
    observation.revisions.current().is_some_and(|current| is_replaced_by_earlier(revision, current))
}

/// Whether the rollout is a rollback from `revision`. An `undo` is one. If `revision` does not serve, so is the return of another
/// client to an earlier revision, unless that one was rolled back to `revision` before: then it is rolled out again. If `revision`
/// serves, other clients return to earlier templates for other reasons.
pub(super) fn is_rollback_from(observation: &Observation, revision: &Revision) -> bool {
    let is_stable = || observation.stable().is_ok_and(|stable| stable.name == revision.name);
    let is_again =
        || observation.revisions.current().is_some_and(|current| was_replaced_by(current, revision));
    is_replaced_by_current(observation, revision)
        && (is_undo(&observation.workload, revision) == Some(true) || !is_stable() && !is_again())
}

/// Whether the return to `revision` replaced the earlier use of `current`: its number before is between the two of `revision`.
fn was_replaced_by(current: &Revision, revision: &Revision) -> bool {
    let [before, used] = [revision, current].map(|one| one.past_numbers.last().copied());
    before < used && used < revision.number.known() && before.is_some()
}

/// Whether `undo` replaced the template of `revision` by the live one; none if another kubectl command did.
///
/// Each command of kubectl has its own field manager (`kubectl-set`), but `kubectl rollout undo` has only `kubectl`, as has
/// server-side apply. Other clients, such as Helm, can roll back or release an earlier template again. Where fields were only
/// removed, no manager owns the difference.
pub(super) fn is_undo(workload: &Workload, revision: &Revision) -> Option<bool> {
    let (object, path) = (workload.object(), FieldPath::template());
    let owner = owner_of_change(object, &path, Some(&revision.template().without_hash_labels()));
    match owner.as_ref().map(|owner| owner.manager.as_str()) {
        Some(FIELD_MANAGER) => Some(true),
        Some("kubectl") => Some(appliers(object, &path).all(|applier| applier != "kubectl")),
        Some(manager) if manager.starts_with("kubectl-") => None,
        _ => Some(false),
    }
}

/// Whether the rollout of `current` was a rollback from `revision`: `current` had a lower number before, or is older.
/// The controller of a Deployment records past numbers; the other controllers only renumber.
pub(super) fn is_replaced_by_earlier(revision: &Revision, current: &Revision) -> bool {
    let numbers = current.past_numbers.last().zip(revision.number.known());
    let was_lower = numbers.is_some_and(|(was, number)| *was < number);
    let is_older = current.created.zip(revision.created).is_some_and(|(current, other)| current < other);
    was_lower || is_older
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::undo::is_unproven;
    use crate::hold::plan::Hold;
    use crate::hold::plan::{Pace, Plan, Reach};
    use crate::kind::fields::HoldFields;
    use crate::observation::fixture::{self, pod, revision, template};
    use serde_json::{Value, json};

    /// Revisions by number, image and available pods.
    fn observation(kind: &str, live: &str, status: &Value, kept: &[(i64, &str, i64)]) -> Observation {
        let object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u"},
            "spec": {"template": template(live)}, "status": status});
        let name = |number: i64| format!("w-{number}");
        let revisions =
            kept.iter().map(|(number, image, _)| revision(&name(*number), *number, &template(image)));
        let pods = kept.iter().flat_map(|(number, _, available)| {
            let revision = name(*number);
            (0..*available).map(move |index| pod(kind, &format!("{revision}-{index}"), &revision, true))
        });
        fixture::observation(&object, revisions, pods)
    }

    /// Holds a workload by a pause or a plan that began at a revision, and stores it as `step` and `pause` do.
    fn held(observed: &Observation, plan_from: Option<&str>) -> Observation {
        let (workload, mut observed) = (&observed.workload, observed.clone());
        let fields = match workload.object().kind() {
            "StatefulSet" => HoldFields::from([(
                "updateStrategy",
                json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 9}}),
            )]),
            _ => HoldFields::from([("updateStrategy", json!({"type": "OnDelete"}))]),
        };
        let hold = Hold::new(workload, fields.clone());
        let plan = |from: &str| {
            Plan::new(&workload.template_digest(), Some(from.to_owned()), Pace::default(), Reach::All)
        };
        let hold = plan_from.into_iter().fold(hold, |hold, from| hold.with_plan(plan(from)));
        let stored = hold.into_patch(workload, Some(fields)).unwrap().1;
        observed.replace_workload(Workload::of_json(stored.after()).unwrap());
        observed
    }

    /// Revision 3 served, 4 was released during the hold, and 5 replaced it. Every verb gets its revision from here.
    #[test]
    fn a_word_that_counts_back_means_one_revision() {
        let kept = [(2, "x:2", 0), (3, "x:3", 3), (4, "x:4", 1), (5, "x:5", 0)];
        let words = |observed: &Observation| {
            [1, 2, 3].map(|steps| {
                let found = find_revision(&RevisionWord::Back(steps), "", observed).ok();
                found.and_then(|revision| revision.number.known())
            })
        };
        for kind in ["DaemonSet", "StatefulSet"] {
            let observed = observation(kind, "x:5", &json!({}), &kept);
            assert_eq!(words(&observed), [Some(4), Some(3), Some(2)], "{kind}");
            for plan_from in [None, Some("w-3")] {
                let held = held(&observed, plan_from);
                assert_eq!(words(&held), [Some(3), Some(2), None], "{kind} {plan_from:?}");
                assert_eq!(found(&TargetRevision::Default, &held), Some(3), "{kind} {plan_from:?}");
            }
        }
        for (live, expected) in [
            ("x:9", [Some(5), Some(4), Some(3)]), // the change has no revision yet, as during a pause
            ("x:3", [Some(5), Some(4), Some(2)]), // rolled back to 3, and not renumbered yet
        ] {
            let observed = observation("Deployment", live, &json!({}), &kept);
            assert_eq!(words(&observed), expected, "{live}");
            assert_eq!(found(&TargetRevision::Default, &observed), expected[0], "{live}");
        }
    }

    fn found(goal: &TargetRevision, observation: &Observation) -> Option<i64> {
        goal.find(observation).ok().and_then(|revision| revision.number.known())
    }

    #[test]
    fn the_default_is_the_newest_revision_beside_the_current_one() {
        let kept = [(1, "x:1", 0), (2, "x:2", 0), (3, "x:3", 3)];
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            for (live, expected) in [
                ("x:3", Some(2)),
                ("x:9", Some(3)), // the change has no revision yet: the pods run 3
                ("x:2", Some(3)), // rolled back to 2, and not renumbered yet: the pods run 3
            ] {
                assert_eq!(
                    found(&TargetRevision::Default, &observation(kind, live, &json!({}), &kept)),
                    expected,
                    "{kind} {live}"
                );
            }
            assert_eq!(
                found(&TargetRevision::Default, &observation(kind, "x:1", &json!({}), &kept[..1])),
                None
            );
            assert_eq!(found(&TargetRevision::Default, &observation(kind, "x:1", &json!({}), &[])), None);
        }
    }

    #[test]
    fn steps_back_are_counted_from_the_live_template() {
        let kept = [(1, "x:1", 0), (2, "x:2", 0), (3, "x:3", 3)];
        for (live, expected) in [
            ("x:3", [Some(2), Some(1), None]),
            ("x:9", [Some(3), Some(2), Some(1)]), // the change has no revision yet: the pods run 3
        ] {
            let observed = observation("Deployment", live, &json!({}), &kept);
            let back = |steps| found(&TargetRevision::Named(RevisionWord::Back(steps)), &observed);
            assert_eq!([back(1), back(2), back(3)], expected, "{live}");
        }
    }

    #[test]
    fn stable_is_an_error_on_a_tie() {
        let kept = [(1, "x:1", 2), (2, "x:2", 4), (3, "x:3", 0), (4, "x:4", 9)];
        for kind in ["Deployment", "DaemonSet"] {
            assert_eq!(
                found(&TargetRevision::Stable, &observation(kind, "x:4", &json!({}), &kept)),
                Some(2),
                "{kind}"
            );
            let equal = [(1, "x:1", 2), (2, "x:2", 2), (3, "x:3", 1)];
            assert_eq!(
                found(&TargetRevision::Stable, &observation(kind, "x:3", &json!({}), &equal)),
                None,
                "{kind}"
            );
            assert_eq!(
                found(&TargetRevision::Stable, &observation(kind, "x:4", &json!({}), &kept[3..])),
                None,
                "{kind}"
            );
        }
        let updating = json!({"currentRevision": "w-1", "updateRevision": "w-4"});
        assert_eq!(
            found(&TargetRevision::Stable, &observation("StatefulSet", "x:4", &updating, &kept)),
            Some(1)
        );
        let at_rest = json!({"currentRevision": "w-4", "updateRevision": "w-4"});
        let refused =
            TargetRevision::Stable.find(&observation("StatefulSet", "x:4", &at_rest, &kept)).unwrap_err();
        assert!(refused.to_string().contains("2 (4 ready)"), "{refused}");
    }

    #[test]
    fn an_ambiguous_revision_number_is_rejected() {
        let kept = [(1, "x:1", 0), (2, "x:2", 0), (2, "x:3", 0), (4, "x:4", 3)];
        let refused =
            TargetRevision::Default.find(&observation("Deployment", "x:4", &json!({}), &kept)).unwrap_err();
        assert!(refused.to_string().contains('2'), "{refused}");
        let kept = [(1, "x:1", 0), (1, "x:2", 0), (3, "x:3", 0), (4, "x:4", 3)];
        assert_eq!(
            found(&TargetRevision::Default, &observation("Deployment", "x:4", &json!({}), &kept)),
            Some(3)
        );
    }

    /// Returns an observation in which no pod of a revision is ready.
    fn unready(mut observation: Observation, revision: &str) -> Observation {
        for pod in observation.pods.iter_mut().flatten().filter(|pod| pod.name.starts_with(revision)) {
            std::sync::Arc::make_mut(pod).ready = false;
        }
        observation
    }

    /// A StatefulSet also records a first revision that never served.
    #[test]
    fn a_revision_is_not_stable_because_its_controller_records_it() {
        let word = TargetRevision::StableOrPrevious;
        for (recorded, kept, failed, expected) in [
            ("w-1", vec![(1, "x:1", 2), (2, "x:2", 1)], &["w-2"][..], (Some(1), Some((1, false)))),
            ("w-1", vec![(1, "x:1", 2), (2, "x:2", 1)], &["w-1", "w-2"], (None, None)),
            ("w-1", vec![(1, "x:1", 0), (2, "x:2", 3)], &["w-2"], (None, Some((1, true)))),
            ("w-2", vec![(1, "x:0", 0), (2, "x:1", 0), (3, "x:2", 3)], &["w-3"], (None, Some((2, false)))),
        ] {
            let observed = observation("StatefulSet", "x:2", &json!({"currentRevision": recorded}), &kept);
            let observed = failed.iter().fold(observed, |observed, revision| unready(observed, revision));
            let of_failed = word.find(&observed).ok();
            let of_failed =
                of_failed.map(|to| (to.number.known().unwrap(), is_unproven(&observed, to, &word)));
            assert_eq!(
                (found(&TargetRevision::Stable, &observed), of_failed),
                expected,
                "{kept:?} {failed:?}"
            );
        }
    }

    /// Revision 2 replaced 1, and one of them has pods: none of them is ready, but for `available` ones.
    #[test]
    fn what_failed_goes_back_to_the_revision_before_where_no_other_has_pods() {
        let goal = TargetRevision::StableOrPrevious;
        for kind in ["Deployment", "DaemonSet"] {
            let outage = observation(kind, "x:2", &json!({}), &[(1, "x:1", 0), (2, "x:2", 3)]);
            let outage = unready(outage, "w-2");
            assert_eq!(found(&goal, &outage), Some(1), "{kind}: nothing speaks against 1");
            let stable = TargetRevision::Stable.find(&outage).unwrap_err();
            let sentence = stable.to_string();
            assert!(sentence.ends_with("w has no stable revision: every pod runs revision 2"), "{sentence}");
            assert!(stable.hint_text().is_some_and(|hint| hint.ends_with(" --to 1")), "{kind}");

            let served = observation(kind, "x:3", &json!({}), &[(1, "x:1", 2), (2, "x:2", 0), (3, "x:3", 0)]);
            assert_eq!(found(&goal, &served), Some(1), "{kind}: it serves");
            let fails = observation(kind, "x:2", &json!({}), &[(1, "x:1", 2), (2, "x:2", 1)]);
            assert_eq!(found(&goal, &unready(unready(fails, "w-1"), "w-2")), None, "{kind}: 1 fails too");
            let only = observation(kind, "x:1", &json!({}), &[(1, "x:1", 2)]);
            assert_eq!(found(&goal, &unready(only, "w-1")), None, "{kind}: there is no other one");
        }
    }
}
