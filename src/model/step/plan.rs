//! The plan: what a `step` keeps in the cluster, so that any other process can go on with it.
//!
//! It is the member `plan` of the [hold](crate::model::hold). What can be seen of the objects is not in
//! it: how many pods run what, and how long they have been well. The rest is:
//!
//! | member | is |
//! |---|---|
//! | `template` | digest of the template that is released |
//! | `from` | the revision to go back to: what ran before it began |
//! | `by`, `batches`, `soak`, ... | the pace, in the words of the command line |
//! | `reach` | how far the command goes that is under way, or did not get there |
//! | `beyond` | `true` when it goes below the partition that the set had itself |
//! | `goesBack` | `true` when everything goes back, and `template` is the one that it goes back to |
//! | `batch` | the batch that was begun last: `number`, `canary`, `places`, `done` |
//! | `done` | how many places each batch before it released |

use serde_json::{Map, Value, json};

use super::pacing::{Pacing, Reach};
use super::words;
use crate::model::digest::Digest;
use crate::model::hold::{Hold, Reason};

/// What is remembered of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Digest of the template that is released, in hexadecimal.
    pub template: String,
    /// The name of the revision to go back to: what ran before it began, if that is known.
    pub from: Option<String>,
    /// The pace.
    pub pacing: Pacing,
    /// How far the command goes that is under way, or that did not get there.
    pub reach: Option<Reach>,
    /// Whether it goes below the partition that the set had itself.
    pub beyond: bool,
    /// Whether what was released goes back, to the template that is named: nothing more is released.
    pub goes_back: bool,
    /// The batch that was begun last.
    pub batch: Option<Begun>,
    /// How many places each batch before that one released.
    pub done: Vec<usize>,
    /// Members that only another version knows.
    pub(super) rest: Map<String, Value>,
}

/// A batch that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Which one, counted from 1.
    pub number: usize,
    /// Whether it is one pod that goes ahead of the others.
    pub is_canary: bool,
    /// What it releases, in the order of release: pods of a StatefulSet, nodes of a DaemonSet.
    pub places: Vec<String>,
    /// Whether it soaked, and was checked.
    pub is_done: bool,
}

impl Plan {
    /// A new plan.
    #[must_use]
    pub fn new(template: &Digest, from: Option<String>, pacing: Pacing) -> Self {
        Self {
            template: template.hex(),
            from,
            pacing,
            reach: None,
            beyond: false,
            goes_back: false,
            batch: None,
            done: Vec::new(),
            rest: Map::new(),
        }
    }

    /// The plan in a hold, if it is the hold of one.
    ///
    /// # Errors
    /// What cannot be read, as a fragment.
    pub fn of(hold: &Hold) -> Result<Option<Self>, String> {
        if hold.reason() != Some(Reason::Plan) {
            return Ok(None);
        }
        match hold.member("plan") {
            Some(Value::Object(members)) => Self::read(members).map(Some),
            _ => Err("there is no plan in it".to_owned()),
        }
    }

    fn read(members: &Map<String, Value>) -> Result<Self, String> {
        let mut rest = members.clone();
        let pacing = words::take_pacing(&mut rest)?;
        let template = words::take_text(&mut rest, "template")?.ok_or("it names no template")?;
        let from = words::take_text(&mut rest, "from")?;
        let reach = words::take_text(&mut rest, "reach")?.map(|text| words::reach(&text)).transpose()?;
        let beyond = words::take_flag(&mut rest, "beyond")?.unwrap_or_default();
        let goes_back = words::take_flag(&mut rest, "goesBack")?.unwrap_or_default();
        let batch = rest.remove("batch").map(|batch| Begun::read(&batch)).transpose()?;
        let done = rest.remove("done").map_or(Ok(Vec::new()), |done| {
            let counts = done.as_array().and_then(|counts| counts.iter().map(count).collect());
            counts.ok_or("done is no list of numbers")
        })?;
        Ok(Self { template, from, pacing, reach, beyond, goes_back, batch, done, rest })
    }

    /// The member `plan` of a hold.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut members = self.rest.clone();
        members.insert("template".to_owned(), self.template.as_str().into());
        words::put_pacing(&mut members, &self.pacing);
        let optional = [
            ("from", self.from.as_deref().map(Value::from)),
            ("reach", self.reach.map(|reach| reach.to_string().into())),
            ("beyond", self.beyond.then_some(Value::Bool(true))),
            ("goesBack", self.goes_back.then_some(Value::Bool(true))),
            ("batch", self.batch.as_ref().map(Begun::json)),
            ("done", (!self.done.is_empty()).then(|| self.done.clone().into())),
        ];
        members.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        Value::Object(members)
    }

    /// Takes note that a batch soaked and was checked, if it is the one that was begun last.
    pub(super) fn note(&mut self, passed: Option<usize>) {
        if self.batch.as_ref().map(|batch| batch.number) == passed {
            self.end_batch();
        }
    }

    /// Takes note that the batch that was begun last is over.
    pub(super) fn end_batch(&mut self) {
        if let Some(batch) = &mut self.batch {
            batch.is_done = true;
        }
    }

    /// The batch that is under way: begun, and not done.
    #[must_use]
    pub fn under_way(&self) -> Option<&Begun> {
        self.batch.as_ref().filter(|batch| !batch.is_done)
    }
}

impl Begun {
    fn read(batch: &Value) -> Result<Self, String> {
        let number = batch.get("number").and_then(count).ok_or("its batch has no number")?;
        let places = batch.get("places").and_then(Value::as_array).ok_or("its batch has no places")?;
        let is = |name: &str| batch.get(name).and_then(Value::as_bool).unwrap_or_default();
        Ok(Self {
            number,
            is_canary: is("canary"),
            places: places.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            is_done: is("done"),
        })
    }

    fn json(&self) -> Value {
        let mut batch = json!({"number": self.number, "places": self.places});
        for (name, is) in [("canary", self.is_canary), ("done", self.is_done)] {
            if is {
                batch[name] = true.into();
            }
        }
        batch
    }
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|number| usize::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::amount::Amount;
    use super::super::pacing::{Batches, Check, OnFailure};
    use super::*;

    fn digest() -> Digest {
        Digest::of(&json!(1))
    }

    #[test]
    fn what_is_written_is_read_again() {
        let plain = Plan::new(&digest(), None, Pacing::default());
        let full = Plan {
            from: Some("db-1".to_owned()),
            pacing: Pacing {
                batches: Batches::Until(vec![Amount::Pods(1), Amount::PerCent(50)]),
                canary: false,
                max_unavailable: Some(Amount::PerCent(25)),
                soak: Duration::from_millis(90_500),
                final_soak: Duration::from_secs(3600),
                batch_timeout: Duration::from_secs(7),
                on_failure: OnFailure::Undo,
                check: Some(Check { digest: "ab".to_owned(), timeout: Duration::from_secs(60) }),
                ignore_unready_nodes: true,
                order: Some("zone".to_owned()),
                node_selector: Some("a=b".to_owned()),
                evict: true,
            },
            reach: Some(Reach::To(Amount::PerCent(100))),
            beyond: true,
            goes_back: true,
            batch: Some(Begun {
                number: 2,
                is_canary: true,
                places: vec!["db-1".to_owned(), "db-0".to_owned()],
                is_done: true,
            }),
            done: vec![1, 2],
            ..plain.clone()
        };
        for plan in [plain, full] {
            let json = plan.json();
            let members = json.as_object().unwrap();
            assert_eq!(Plan::read(members), Ok(plan), "{json}");
        }
    }

    #[test]
    fn what_a_newer_version_wrote_stays() {
        let mut json = Plan::new(&digest(), None, Pacing::default()).json();
        json["later"] = json!([1]);
        let plan = Plan::read(json.as_object().unwrap()).unwrap();
        assert_eq!(plan.json(), json);
    }

    #[test]
    fn what_is_no_plan_is_never_guessed_at() {
        let good = Plan::new(&digest(), None, Pacing::default()).json();
        for (member, value) in [
            ("template", json!(null)),
            ("soak", json!(5)),
            ("soak", json!("soon")),
            ("maxUnavailable", json!("0")),
            ("by", json!("-1")),
            ("batches", json!("all")),
            ("onFailure", json!("panic")),
            ("reach", json!("far")),
            ("batch", json!({"number": 1})),
            ("batch", json!(3)),
            ("done", json!(["x"])),
            ("check", json!("true")),
        ] {
            let mut bad = good.clone();
            bad[member] = value.clone();
            assert!(Plan::read(bad.as_object().unwrap()).is_err(), "{member}: {value}");
        }
    }
}
