//! A pace in the words of the command line, as a plan keeps it.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::amount::Amount;
use super::pacing::{Batches, Check, OnFailure, Pacing, Reach};
use crate::model::go_duration;

type Members = Map<String, Value>;

/// Takes the members out that say the pace; what is not said is the default.
///
/// # Errors
/// What cannot be read, as a fragment.
pub(super) fn take_pacing(members: &mut Members) -> Result<Pacing, String> {
    let default = Pacing::default();
    Ok(Pacing {
        batches: take_batches(members)?.unwrap_or(default.batches),
        canary: take_flag(members, "canary")?.unwrap_or(default.canary),
        max_unavailable: take_text(members, "maxUnavailable")?.map(|text| amount(&text)).transpose()?,
        soak: take_time(members, "soak")?.unwrap_or(default.soak),
        final_soak: take_time(members, "finalSoak")?.unwrap_or(default.final_soak),
        batch_timeout: take_time(members, "batchTimeout")?.unwrap_or(default.batch_timeout),
        on_failure: take_text(members, "onFailure")?
            .map_or(Ok(default.on_failure), |text| on_failure(&text))?,
        check: members.remove("check").map(|check| read_check(&check)).transpose()?,
        ignore_unready_nodes: take_flag(members, "ignoreUnreadyNodes")?.unwrap_or_default(),
        order: take_text(members, "order")?,
        node_selector: take_text(members, "nodeSelector")?,
        evict: take_flag(members, "evict")?.unwrap_or_default(),
    })
}

/// Puts the pace in; what is the default and may stay unsaid is left out.
pub(super) fn put_pacing(members: &mut Members, pacing: &Pacing) {
    let time = |time: Duration| Value::from(go_duration::write(time));
    let flag = |is: bool| is.then_some(Value::Bool(true));
    let (by, batches) = match &pacing.batches {
        Batches::By(amount) => (Some(amount.to_string().into()), None),
        Batches::Until(goals) => (None, Some(goals.iter().map(Amount::to_string).collect())),
    };
    let all = [
        ("by", by),
        ("batches", batches),
        ("canary", Some(pacing.canary.into())),
        ("maxUnavailable", pacing.max_unavailable.map(|amount| amount.to_string().into())),
        ("soak", Some(time(pacing.soak))),
        ("finalSoak", Some(time(pacing.final_soak))),
        ("batchTimeout", Some(time(pacing.batch_timeout))),
        ("onFailure", Some(pacing.on_failure.word().into())),
        (
            "check",
            pacing
                .check
                .as_ref()
                .map(|check| json!({"sha256": check.digest, "timeout": time(check.timeout)})),
        ),
        ("ignoreUnreadyNodes", flag(pacing.ignore_unready_nodes)),
        ("order", pacing.order.as_deref().map(Value::from)),
        ("nodeSelector", pacing.node_selector.as_deref().map(Value::from)),
        ("evict", flag(pacing.evict)),
    ];
    members.extend(all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
}

/// `next`, `all`, or an amount.
pub(super) fn reach(text: &str) -> Result<Reach, String> {
    Ok(match text {
        "next" => Reach::Next,
        "all" => Reach::All,
        text => Reach::To(amount(text)?),
    })
}

pub(super) fn take_text(members: &mut Members, name: &str) -> Result<Option<String>, String> {
    match members.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("{name} is {other}")),
    }
}

pub(super) fn take_flag(members: &mut Members, name: &str) -> Result<Option<bool>, String> {
    match members.remove(name) {
        None => Ok(None),
        Some(Value::Bool(is)) => Ok(Some(is)),
        Some(other) => Err(format!("{name} is {other}")),
    }
}

fn take_time(members: &mut Members, name: &str) -> Result<Option<Duration>, String> {
    let text = take_text(members, name)?;
    text.map(|text| go_duration::parse(&text).ok_or(format!("{name} is {text:?}"))).transpose()
}

fn take_batches(members: &mut Members) -> Result<Option<Batches>, String> {
    let by = take_text(members, "by")?.map(|text| amount(&text)).transpose()?;
    let Some(list) = members.remove("batches") else { return Ok(by.map(Batches::By)) };
    let goals = list.as_array().ok_or(format!("batches is {list}"))?.iter();
    let goals: Result<Vec<Amount>, String> =
        goals.map(|goal| amount(goal.as_str().unwrap_or_default())).collect();
    Ok(Some(Batches::Until(goals?)))
}

fn read_check(check: &Value) -> Result<Check, String> {
    let text = |name: &str| check.get(name).and_then(Value::as_str);
    let read = || {
        let timeout = go_duration::parse(text("timeout")?)?;
        Some(Check { digest: text("sha256")?.to_owned(), timeout })
    };
    read().ok_or_else(|| format!("check is {check}"))
}

fn amount(text: &str) -> Result<Amount, String> {
    text.parse().map_err(|why| format!("{text:?} is no amount: {why}"))
}

fn on_failure(text: &str) -> Result<OnFailure, String> {
    let known = [OnFailure::Hold, OnFailure::Undo].into_iter().find(|known| known.word() == text);
    known.ok_or_else(|| format!("onFailure is {text:?}"))
}
