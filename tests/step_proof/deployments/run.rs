//! Plays one run, and says what was wrong with it.

use std::time::Duration;

use harness::Run;
use harness::lab::{Lab, START};
use harness::random::Dice;
use serde_json::Value;
use simcluster::resource::DEPLOYMENTS;
use simcluster::{Controllers, Key, KubeletTiming, Order, SimCluster, User};

use super::generator::Draw;
use super::history::{Moment, history};
use super::oracle;
use crate::external_changes::{Deed, Others, command};
use crate::kill_switch::{Death, Mortal};

/// More often than this no command is typed.
const PATIENCE: usize = 40;

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
pub(super) fn play(seed: u64) -> Played {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, one(seed))
}

async fn one(seed: u64) -> Played {
    let draw = Draw::of(&mut Dice::new(seed));
    let pace = KubeletTiming { spread: draw.spread, ..KubeletTiming::default() };
    let builder = SimCluster::builder().without_managed_fields().nodes(3).seed(seed);
    let lab = Lab::built(builder, Controllers::in_order(Order::Seeded(seed)).kubelet_timing(pace));
    let web = lab.hands().workload(&DEPLOYMENTS, "web", &draw.spec);
    lab.pass(300).await;
    let (others, from) = (Others::default(), lab.revision());
    if draw.is_paused_first {
        command(&lab.cluster, &web, "pause").await;
    }
    others.act(&lab.cluster, &web, &Deed::Image(draw.image)).await;
    if !draw.is_paused_first {
        tokio::time::sleep(draw.head_start).await;
    }
    for (after, deed) in draw.deeds.clone() {
        let (others, cluster, web) = (others.clone(), lab.cluster.clone(), web.clone());
        tokio::task::spawn_local(async move {
            tokio::time::sleep(Duration::from_millis(after)).await;
            others.act(&cluster, &web, &deed).await;
        });
    }
    let mut transcript = String::new();
    let exit = step_to_the_end(&lab, &web, &draw, &mut transcript).await;
    lab.pass(300).await;
    let history = history(&lab.cluster, from, &others.revisions());
    let mut wrong = oracle::judge(&draw, &history);
    wrong.extend(oracle::requests(&lab.cluster.requests()));
    wrong.extend(oracle::verdict(&draw, exit, history.last()).err());
    Played { draw, exit, transcript, history, wrong }
}

/// Types `step` until the end, the first time with words; each death is of one process.
async fn step_to_the_end(lab: &Lab, web: &Key, draw: &Draw, transcript: &mut String) -> u8 {
    let (mut words, mut refusals) = (draw.line(), 0);
    for number in 0..PATIENCE {
        let has_begun = object(lab, web).to_string().contains("\\\"reason\\\":\\\"plan\\\"");
        if has_begun && number > 0 && refusals == 0 {
            "step deployment/web".clone_into(&mut words);
        }
        let ended = step(lab, &words, number, draw.deaths.get(number).copied()).await;
        let Some((exit, printed)) = ended else {
            *transcript += &format!("--- {words}: killed\n");
            tokio::time::sleep(Duration::from_millis(700)).await;
            continue;
        };
        *transcript += &format!("--- {words}: exit {exit}\n{printed}");
        let is_held = object(lab, web)["metadata"]["annotations"]["kubectl-rollout2/held"].is_string();
        match exit {
            0 if !is_held => return 0,
            0 => {}
            5 if refusals < 6 => {
                refusals += 1;
                let is_paused = printed.contains("resume");
                if is_paused {
                    command(&lab.cluster, web, "resume").await;
                }
                words = if printed.contains("--new-plan") {
                    format!("{} --new-plan", draw.line())
                } else if printed.contains("to hold it again") {
                    draw.line()
                } else {
                    "step deployment/web".to_owned()
                };
                lab.pass(30).await;
            }
            exit => return exit,
        }
    }
    1
}

/// Runs one command: its exit code and what it printed; none if it was killed.
async fn step(lab: &Lab, words: &str, number: usize, death: Option<Death>) -> Option<(u8, String)> {
    let user = format!("step-{number}");
    lab.cluster.users(|users| users.add(User::admin(&user)));
    let service = Mortal::new(lab.cluster.service_for(&user), death);
    let client = kube::Client::new(service.clone(), "default");
    let run = Run::of(words.split_whitespace()).at(START.parse().unwrap());
    tokio::select! {
        ended = run.run_through(client) => Some((ended.exit, ended.transcript)),
        () = service.died() => None,
    }
}

fn object(lab: &Lab, web: &Key) -> Value {
    lab.cluster.store(|store| Value::clone(store.find(web).unwrap()))
}
