//! Plays one run, and says what was wrong with it.

use std::time::Duration;

use harness::random::Dice;
use harness::test_cluster::TestCluster;
use simcluster::{Controllers, KubeletTiming, Order, SimCluster};

use super::generator::{Draw, Kind};
use super::oracle;
use crate::deployments::history::{Moment, history};
use crate::deployments::run::step_to_the_end;
use crate::external_changes::{Deed, Others, command};

/// What came of a run.
pub(super) struct Played {
    pub(super) draw: Draw,
    /// The exit code of the last command; 1 when there is no end.
    pub(super) exit: u8,
    pub(super) transcript: String,
    pub(super) history: Vec<Moment>,
    pub(super) wrong: Vec<String>,
}

/// Plays the run of a seed on a runtime of its own.
pub(super) fn play(kind: Kind, seed: u64) -> Played {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, one(kind, seed))
}

async fn one(kind: Kind, seed: u64) -> Played {
    let draw = Draw::of(kind, &mut Dice::new(seed));
    let pace = KubeletTiming { spread: draw.spread, ..KubeletTiming::default() };
    let nodes = if kind == Kind::DaemonSet { usize::try_from(draw.pods).unwrap() } else { 3 };
    let builder = SimCluster::builder().without_managed_fields().kruise().nodes(nodes).seed(seed);
    let cluster =
        TestCluster::from_builder(builder, Controllers::in_order(Order::Seeded(seed)).kubelet_timing(pace));
    let web = cluster.editor().create_workload(kind.resource(), "web", &draw.spec);
    cluster.advance(300).await;
    let (others, from) = (Others::default(), cluster.revision());
    if draw.is_paused_first {
        command(&cluster.sim, &web, "pause").await;
    }
    others.act(&cluster.sim, &web, &Deed::Image(draw.image)).await;
    if !draw.is_paused_first {
        tokio::time::sleep(draw.head_start).await;
    }
    for (after, deed) in draw.deeds.clone() {
        let (others, cluster, web) = (others.clone(), cluster.sim.clone(), web.clone());
        tokio::task::spawn_local(async move {
            tokio::time::sleep(Duration::from_millis(after)).await;
            others.act(&cluster, &web, &deed).await;
        });
    }
    let mut transcript = String::new();
    let exit = step_to_the_end(&cluster, &web, &draw.line(), &draw.deaths, &mut transcript).await;
    cluster.advance(300).await;
    let history = history(&cluster.sim, kind.resource(), from, &others.revisions());
    let mut wrong = oracle::judge(&draw, &history);
    wrong.extend(oracle::requests(&cluster.sim.requests()));
    wrong.extend(oracle::verdict(&draw, exit, history.last()).err());
    Played { draw, exit, transcript, history, wrong }
}
