//! Histories made by hand: an oracle finds what it is for, and nothing in a good one.

use std::collections::BTreeMap;
use std::sync::Arc;

use harness::random::Dice;
use serde_json::Value;

use super::draw::{Draw, Kind};
use super::history::{By, Moment};
use crate::step_proof::command::{Batches, Share};
use crate::step_proof::world::Pod;

/// Four pods `NAME-0` to `NAME-3` that are stepped by two, while one may be unavailable.
pub(crate) struct Story<K> {
    pub(crate) draw: Draw<K>,
    pub(crate) now: Moment,
    pub(crate) history: Vec<Moment>,
}

impl<K: Kind> Story<K> {
    pub(crate) fn of(kind: K, web: Value, name: &str) -> Self {
        let mut draw = kind.draw(&mut Dice::new(1));
        draw.deeds.clear();
        (draw.pods, draw.image, draw.is_paused_first) = (4, "app:2.0", true);
        draw.words.batches = Batches::By(Share::Pods(2));
        (draw.words.max_unavailable, draw.words.soak, draw.words.no_canary) = (Some(Share::Pods(1)), 5, true);
        let pods: BTreeMap<_, _> =
            (0..4).map(|number| (format!("{name}-{number}"), pod("app:1.0", Some(0)))).collect();
        let now = Moment { revision: 0, at: 1_000_000, by: By::Cluster, web: Arc::new(web), pods };
        Self { draw, history: vec![now.clone()], now }
    }

    pub(crate) fn push(&mut self, by: By) {
        self.now.revision += 1;
        self.now.by = by;
        self.history.push(self.now.clone());
    }

    pub(crate) fn pass(&mut self, seconds: i64) {
        self.now.at += seconds * 1000;
    }

    #[track_caller]
    pub(crate) fn is_wrong(&self, words: &str) {
        let wrong = K::judge(&self.draw, &self.history);
        assert!(wrong.iter().any(|wrong| wrong.contains(words)), "{wrong:#?}");
    }
}

pub(crate) fn pod(image: &str, ready: Option<i64>) -> Pod {
    let started = ready.unwrap_or_default();
    Pod { place: -1, image: image.to_owned(), is_leaving: false, ready, started, has_terminated: false }
}
