//! What every oracle does: it looks at each change, at each write of ours, and at the end.

use serde_json::Value;
use simcluster::{RecordedRequest, Route, Verb};

use super::draw::{Draw, Kind};
use super::history::{Moment, count};
use crate::step_proof::command::{Batches, Share};
use crate::step_proof::world::Millis;

/// How old a state may be on which a process decides: the time of its reads.
const DECIDED_WITHIN: Millis = 3_000;

/// Returns what is wrong with a history. `checks` gets the states before and after each change, and those that a process
/// may have read before it.
pub(crate) fn judge<const N: usize>(
    history: &[Moment],
    mut checks: impl FnMut(&Moment, &Moment, &[&Moment]) -> [Result<(), String>; N],
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (index, pair) in history.windows(2).enumerate() {
        let [before, now] = pair else { continue };
        let views: Vec<&Moment> = history[..=index]
            .iter()
            .rev()
            .take_while(|view| view.revision == before.revision || view.at >= now.at - DECIDED_WITHIN)
            .collect();
        let found = checks(before, now, &views).into_iter().filter_map(Result::err);
        wrong.extend(found.map(|why| format!("at {}: {why}", now.revision)));
    }
    wrong
}

/// How many pods may be updated after a batch that begins with so many.
pub(crate) fn end_of_batch(batches: &Batches, is_canary: bool, updated: i64, wanted: i64) -> i64 {
    let most = match batches {
        _ if is_canary => 1,
        Batches::By(share) => updated + share.of(wanted),
        Batches::Until(goals) => {
            let goals = goals.iter().map(|goal: &Share| goal.of(wanted));
            goals.filter(|goal| *goal > updated).min().unwrap_or(wanted)
        }
    };
    most.min(wanted)
}

/// Without other clients a controller never takes an available pod when fewer than `least` are left.
pub(crate) fn check_least(had: i64, has: i64, least: i64) -> Result<(), String> {
    if has < had && has < least {
        return Err(format!("{has} available pods, and at least {least} have to be"));
    }
    Ok(())
}

/// Returns a number of pods, or a percentage of the wanted ones with so many hundredths added before it is cut.
pub(crate) fn resolved(limit: &Value, wanted: i64, up: i64) -> i64 {
    let percent = limit.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    percent.map_or(limit.as_i64().unwrap_or_default(), |percent| (percent * wanted + up) / 100)
}

/// Returns what is wrong with the writes of ours.
pub(crate) fn requests<K: Kind>(requests: &[RecordedRequest]) -> Vec<String> {
    let ours =
        requests.iter().filter(|one| one.user.as_deref().is_some_and(|user| user.starts_with("step-")));
    let reads = [Some(Verb::Get), Some(Verb::List), Some(Verb::Watch)];
    let writes = ours.filter(|one| !reads.contains(&one.verb()) && matches!(one.route, Route::Resource(_)));
    writes.filter_map(|write| K::check_write(write.verb(), &write.body).err()).collect()
}

/// A write is one JSON Patch that begins with the tests of these fields.
pub(crate) fn check_patch(verb: Option<Verb>, body: &[u8], tested: &[&str]) -> Result<(), String> {
    let shown = || String::from_utf8_lossy(body).into_owned();
    let operations: Vec<Value> = serde_json::from_slice(body).unwrap_or_default();
    if verb != Some(Verb::Patch) || operations.is_empty() {
        return Err(format!("a write that is none of ours: {verb:?} {}", shown()));
    }
    let tests: Vec<&Value> = operations.iter().take_while(|one| one["op"] == "test").collect();
    let is_tested = |place: &&&str| {
        tests.iter().any(|test| {
            let path = test["path"].as_str().unwrap_or_default();
            path == **place || test["value"].is_null() && place.starts_with(&format!("{path}/"))
        })
    };
    match tested.iter().find(|place| !is_tested(place)) {
        None => Ok(()),
        Some(place) => Err(format!("{place} is not tested: {}", shown())),
    }
}

/// Whether a run ended as the rules say.
pub(crate) fn verdict<K: Kind>(draw: &Draw<K>, exit: u8, end: Option<&Moment>) -> Result<(), String> {
    let Some(end) = end.filter(|_| draw.is_quiet()) else { return Ok(()) };
    let (new, old) = (count(end.on(draw.image, true)), count(end.on(draw.image, false)));
    let ready = end.available(draw.image, true, 0, end.at);
    let own = K::kept_in_the_end(draw, end.wanted());
    match exit {
        0 if !draw.is_broken() && end.hold().is_none() && (ready, old) == (end.wanted() - own, own) => Ok(()),
        4 if draw.is_broken() && draw.words.is_undone && end.hold().is_none() && new == 0 => Ok(()),
        4 if draw.is_broken() && !draw.words.is_undone && end.hold().is_some() => Ok(()),
        // The process that rolled back was killed after its last write. No plan is left that the next one could report.
        0 if draw.is_broken()
            && draw.words.is_undone
            && !draw.deaths.is_empty()
            && end.hold().is_none()
            && (new, old) == (0, end.wanted()) =>
        {
            Ok(())
        }
        // The rollout ran, and was broken before it was held, or over before it was stepped.
        0 | 4 | 5 if !draw.is_paused_first && draw.is_broken() => Ok(()),
        exit => Err(format!("exit {exit}, {new} new pods, {ready} ready, {old} old ones: {end}")),
    }
}
