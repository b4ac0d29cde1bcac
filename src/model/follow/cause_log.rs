//! Which causes were told, and what is to be told of them now.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::event::{Ask, Event, LogPlace, Step};
use super::moment::TargetId;
use crate::model::cause::{Cause, CauseId};

/// A cause that is away for less than this did not go: crash loops run for a moment in between.
const LINGER: Duration = Duration::from_secs(10);

/// A cause that changes is told again at most this often: restarts count up, and pods come one by one.
const RESTATED: Duration = Duration::from_secs(10);

/// The causes of a target that were told.
#[derive(Debug, Default)]
pub(in crate::model) struct CauseLog(BTreeMap<Key, Entry>);

/// Which cause it is, however it is worded: the container, and which of several of its kind.
type Key = (CauseId, Option<String>, usize);

#[derive(Debug)]
struct Entry {
    told: Cause,
    told_at: Duration,
    now: Cause,
    /// Since when it is not there, if it is not.
    away: Option<Duration>,
    log_asked: bool,
}

impl CauseLog {
    /// Takes note of the causes there are now and tells what became of them.
    pub(in crate::model) fn take(
        &mut self,
        target: TargetId,
        causes: &[Cause],
        now: Duration,
        events: &mut Vec<Event>,
    ) {
        let mut there = BTreeSet::new();
        let mut count: BTreeMap<(CauseId, Option<&str>), usize> = BTreeMap::new();
        for cause in causes {
            let nth = count.entry((cause.id, cause.container.as_deref())).or_default();
            let key = (cause.id, cause.container.clone(), *nth);
            *nth += 1;
            there.insert(key.clone());
            self.see(target, key, cause, now, events);
        }
        for (key, entry) in &mut self.0 {
            if !there.contains(key) {
                entry.away.get_or_insert(now);
            }
        }
        self.tell_changes(target, now, events);
        self.tell_gone(target, |entry| entry.away.is_some_and(|away| now >= away + LINGER), events);
    }

    /// Tells at once of those that are away that they are gone: what they kept is reached. A hold may
    /// still be there.
    pub(in crate::model) fn close(&mut self, target: TargetId, events: &mut Vec<Event>) {
        self.tell_gone(target, |entry| entry.away.is_some(), events);
    }

    /// When something will have to be told that is not told yet.
    pub(in crate::model) fn due(&self) -> Option<Duration> {
        let entries = || self.0.values();
        let restated = entries().filter(|entry| entry.has_changed()).map(|entry| entry.told_at + RESTATED);
        let away = entries().filter_map(|entry| Some(entry.away? + LINGER));
        restated.chain(away).min()
    }

    /// The causes that were told and have not gone.
    pub(in crate::model) fn standing(&self) -> impl Iterator<Item = &Cause> {
        self.0.values().map(|entry| &entry.now)
    }

    fn see(&mut self, target: TargetId, key: Key, cause: &Cause, now: Duration, events: &mut Vec<Event>) {
        if !self.0.contains_key(&key) {
            events.push(Event::Cause { target, cause: cause.clone(), step: Step::Appeared });
        }
        let entry = self.0.entry(key).or_insert_with(|| Entry {
            told: cause.clone(),
            told_at: now,
            now: cause.clone(),
            away: None,
            log_asked: false,
        });
        (entry.now, entry.away) = (cause.clone(), None);
        if let Some(place) = log_of(cause).filter(|_| !entry.log_asked) {
            entry.log_asked = true;
            events.push(Event::Ask(Ask::Log(target, place)));
        }
    }

    fn tell_changes(&mut self, target: TargetId, now: Duration, events: &mut Vec<Event>) {
        let due = |entry: &&mut Entry| entry.has_changed() && now >= entry.told_at + RESTATED;
        for entry in self.0.values_mut().filter(due) {
            (entry.told, entry.told_at) = (entry.now.clone(), now);
            events.push(Event::Cause { target, cause: entry.now.clone(), step: Step::Changed });
        }
    }

    fn tell_gone(&mut self, target: TargetId, is_gone: impl Fn(&Entry) -> bool, events: &mut Vec<Event>) {
        self.0.retain(|_, entry| {
            let gone = is_gone(entry);
            if gone {
                events.push(Event::Cause { target, cause: entry.now.clone(), step: Step::Gone });
            }
            !gone
        });
    }
}

impl Entry {
    /// Whether it is worth telling again. The words of the component change with every try to pull an
    /// image, so only that there are some now is news.
    fn has_changed(&self) -> bool {
        let essence = |cause: &Cause| {
            (cause.summary.clone(), cause.pods.len(), cause.restarts, cause.evidence.is_some())
        };
        essence(&self.told) != essence(&self.now)
    }
}

/// Where the last words of a container that crashed are.
fn log_of(cause: &Cause) -> Option<LogPlace> {
    let crashed = matches!(
        cause.id,
        CauseId::CrashLoop
            | CauseId::InitCrash
            | CauseId::OutOfMemory
            | CauseId::LivenessProbe
            | CauseId::StartupProbe
    );
    let (pod, container) = (cause.pods.first()?.clone(), cause.container.clone()?);
    crashed.then_some(LogPlace { pod, container, previous: cause.restarts > 0 })
}
