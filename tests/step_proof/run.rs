//! Plays one run, and returns the violations.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harness::random::Dice;
use simcluster::{Controllers, KubeletTiming, Order};

use crate::step_proof::external_changes::{ExternalChange, Others, command};
use crate::step_proof::generator::Draw;
use crate::step_proof::kind::Kind;
use crate::step_proof::oracle::{judge, outcomes};
use crate::step_proof::scripted_check::ScriptedCheck;
use crate::step_proof::timeline::Timeline;
use crate::step_proof::user::{Ending, Terminal};

/// No run takes longer, in its own time.
const LONGEST: Duration = Duration::from_secs(6 * 3600);

/// What came of a run.
pub(crate) struct Played {
    pub(crate) draw: Draw,
    pub(crate) ending: Ending,
    pub(crate) timeline: Timeline,
    /// How many nodes with an updated pod were not ready for a while.
    pub(crate) failed_nodes: usize,
    pub(crate) wrong: Vec<String>,
}

/// Plays the run of a seed on a separate runtime.
pub(crate) fn play(kind: Kind, seed: u64) -> Played {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, one(kind, seed))
}

async fn one(kind: Kind, seed: u64) -> Played {
    let draw = Draw::of(kind, &mut Dice::new(seed));
    let pace = KubeletTiming { spread: draw.spread, ..KubeletTiming::default() };
    let controllers = Controllers::in_order(Order::Seeded(seed)).kubelet_timing(pace);
    let cluster =
        kind.setup(&draw.created).with(|builder| builder.seed(seed)).controllers(controllers).start();
    let set = cluster.editor().create_workload(kind.resource(), "db", &draw.created.spec);
    cluster.advance(900).await;
    let others = Others::default();
    if let Some(image) = draw.earlier_image {
        others.act(&cluster.sim, &set, &ExternalChange::Image(image)).await;
        cluster.advance(60).await;
    }
    let from = cluster.revision();
    if draw.is_paused_first {
        command(&cluster.sim, &set, "pause").await;
    }
    others.act(&cluster.sim, &set, &ExternalChange::Image(draw.image)).await;
    if !draw.is_paused_first {
        tokio::time::sleep(Duration::from_millis(seed % 7 * 300)).await;
    }
    draw.faults.iter().for_each(|fault| cluster.sim.fault(fault.clone()));
    for (after, change) in draw.changes.clone() {
        let (others, cluster, set) = (others.clone(), cluster.sim.clone(), set.clone());
        tokio::task::spawn_local(async move {
            tokio::time::sleep(Duration::from_millis(after)).await;
            others.act(&cluster, &set, &change).await;
        });
    }
    let failed_nodes = Rc::new(Cell::new(0));
    for fault in draw.node_faults.clone() {
        let (others, cluster, set) = (others.clone(), cluster.sim.clone(), set.clone());
        let failed_nodes = Rc::clone(&failed_nodes);
        tokio::task::spawn_local(async move {
            let is_of_batch = others.fail_node(&cluster, &set, fault).await;
            failed_nodes.set(failed_nodes.get() + usize::from(is_of_batch));
        });
    }
    let terminal = Terminal {
        set,
        cluster: &cluster,
        processes: RefCell::default(),
        is_disturbed: !draw.faults.is_empty(),
        living: Arc::default(),
        seed,
        check: ScriptedCheck::new(draw.failed_checks),
    };
    let second = async {
        if let Some((after, words)) = &draw.second {
            tokio::time::sleep(Duration::from_millis(*after)).await;
            terminal.step(words, draw.host(1), None, None, None).await;
        }
    };
    let first = Box::pin(terminal.step_to_the_end(&draw));
    let both = async { tokio::join!(first, second).0 };
    let ending = Box::pin(tokio::time::timeout(LONGEST, both)).await.unwrap_or(Ending::None);
    cluster.sim.clear_faults();
    cluster.advance(300).await;
    let checks = terminal.check.runs();
    let processes = terminal.processes.into_inner();
    let timeline = Timeline {
        checks,
        is_undisturbed: draw.is_quiet() && draw.is_paused_first,
        ..Timeline::of((kind, &cluster.sim), from, &others.revisions(), processes)
    };
    let mut end = timeline.start.clone();
    timeline.changes.iter().for_each(|change| end.apply(&change.what));
    let mut wrong = judge(&timeline);
    wrong.extend(outcomes::of_run(&draw, ending, &timeline, &end).err());
    Played { draw, ending, timeline, failed_nodes: failed_nodes.get(), wrong }
}
