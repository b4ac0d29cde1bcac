//! Plays one run, and reports what was wrong with it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::Run;
use harness::random::Dice;
use harness::test_cluster::{START, TestCluster};
use rollout2::world::process::Processes;
use simcluster::{Controllers, Key, KubeletTiming, Order, User};

use super::draw::{Draw, Kind};
use super::history::{Moment, history};
use super::oracle;
use crate::step_proof::external_changes::{Deed, Others, command};
use crate::step_proof::kill_switch::{Death, Mortal};
use crate::step_proof::user::{process, seed};

/// More often than this no command is typed.
const PATIENCE: usize = 40;

/// What came of a run.
pub(super) struct Played<K> {
    pub(super) draw: Draw<K>,
    /// The exit code of the last command; 1 when there is no end.
    pub(super) exit: u8,
    pub(super) transcript: String,
    pub(super) history: Vec<Moment>,
    pub(super) wrong: Vec<String>,
}

/// Plays the run of a seed on a runtime of its own.
pub(super) fn play<K: Kind>(kind: K, seed: u64) -> Played<K> {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, one(kind, seed))
}

async fn one<K: Kind>(kind: K, seed: u64) -> Played<K> {
    let draw = kind.draw(&mut Dice::new(seed));
    let pace = KubeletTiming { spread: draw.spread, ..KubeletTiming::default() };
    let builder = kind.builder(draw.pods).without_managed_fields().seed(seed);
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
    let exit = step_to_the_end(&cluster, &web, seed, &draw, &mut transcript).await;
    cluster.advance(300).await;
    let history = history(&cluster.sim, kind.resource(), from, &others.revisions());
    let mut wrong = K::judge(&draw, &history);
    wrong.extend(oracle::requests::<K>(&cluster.sim.requests()));
    wrong.extend(oracle::verdict(&draw, exit, history.last()).err());
    Played { draw, exit, transcript, history, wrong }
}

/// Types `step` until the end, the first time with words; each death is of one process.
async fn step_to_the_end<K: Kind>(
    cluster: &TestCluster,
    web: &Key,
    run: u64,
    draw: &Draw<K>,
    transcript: &mut String,
) -> u8 {
    let (line, deaths) = (&*draw.line(), &draw.deaths);
    let (mut words, mut refusals) = (line.to_owned(), 0);
    let mut again = line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    for number in 0..PATIENCE {
        let has_begun = cluster.object(web).to_string().contains("\\\"reason\\\":\\\"plan\\\"");
        if has_begun && number > 0 && refusals == 0 {
            words.clone_from(&again);
        }
        let output = step(cluster, &words, number, seed(run, number), deaths.get(number).copied()).await;
        let Some((exit, printed)) = output else {
            *transcript += &format!("--- {words}: killed\n");
            tokio::time::sleep(Duration::from_millis(700)).await;
            continue;
        };
        *transcript += &format!("--- {words}: exit {exit}\n{printed}");
        let is_held = cluster.object(web)["metadata"]["annotations"]["kubectl-rollout2/held"].is_string();
        if line.contains(" --node-selector ")
            && is_held
            && (exit == 0 || printed.contains("that --node-selector selects"))
        {
            again = format!("{again} --all --node-selector="); // the selected nodes are updated
            words.clone_from(&again);
            continue;
        }
        match exit {
            0 if !is_held => return 0,
            0 => {}
            5 if refusals < 6 => {
                refusals += 1;
                let is_paused = printed.contains("resume");
                if is_paused {
                    command(&cluster.sim, web, "resume").await;
                }
                words = if printed.contains("--new-plan") {
                    format!("{line} --new-plan")
                } else if printed.contains("to hold it again") || printed.contains("below its partition too")
                {
                    line.to_owned()
                } else {
                    again.clone()
                };
                cluster.advance(30).await;
            }
            exit => return exit,
        }
    }
    1
}

/// Runs one command: its exit code and what it printed; none if it was killed.
async fn step(
    cluster: &TestCluster,
    words: &str,
    number: usize,
    seed: u64,
    death: Option<Death>,
) -> Option<(u8, String)> {
    let user = format!("step-{number}");
    cluster.sim.users(|users| users.add(User::admin(&user)));
    let service = Mortal::new(cluster.sim.service_for(&user), death, seed);
    let client = kube::Client::new(service.clone(), "default");
    // Every process before it has ended on its host.
    let this = process(0, number);
    let processes = Processes::Simulated(this.clone(), Arc::new(Mutex::new([this].into())));
    let run = Run::of(words.split_whitespace()).at(START.parse().unwrap()).seed(seed).processes(processes);
    tokio::select! {
        biased;
        output = run.run_against(client) => Some((output.exit, output.transcript)),
        () = service.died() => None,
    }
}
