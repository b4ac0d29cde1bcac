//! A simulated user who runs `step`, reads its outcome, and runs it again.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::cluster::START;
use harness::random::Dice;
use harness::{Cluster, Output, Run};
use rollout2::world::process::{Process, Processes};
use serde_json::Value;
use simcluster::{Key, User};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::step_proof::command::{SCRIPT, Words};
use crate::step_proof::external_changes::command;
use crate::step_proof::generator::Draw;
use crate::step_proof::kill_switch::{Death, Mortal, Suspension};
use crate::step_proof::scripted_check::{PROCESS, ScriptedCheck};
use crate::step_proof::timeline;

/// The maximum number of commands in one run.
const PATIENCE: usize = 80;

/// A terminal with a cluster at its other end.
pub(crate) struct Terminal<'a> {
    pub(crate) set: Key,
    pub(crate) cluster: &'a Cluster,
    pub(crate) processes: RefCell<Vec<timeline::Process>>,
    /// Whether writes can be hit by faults.
    pub(crate) is_disturbed: bool,
    /// The processes that have not ended.
    pub(crate) living: Arc<Mutex<BTreeSet<Process>>>,
    /// The seed of the run.
    pub(crate) seed: u64,
    pub(crate) check: ScriptedCheck,
}

/// A signal to a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) number: i32,
    /// How long after its begin.
    pub(crate) after: Duration,
    /// Whether the same comes once more a moment later, so that the process ends at once.
    pub(crate) is_repeated: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The last command had this exit code.
    Exit(u8),
    /// Another client rolled out another template.
    Overruled,
    /// It did not end.
    None,
}

impl Terminal<'_> {
    /// Runs one command; none if it was killed.
    pub(crate) async fn step(
        &self,
        words: &Words,
        host: u64,
        death: Option<Death>,
        signal: Option<Signal>,
        suspension: Option<Suspension>,
    ) -> Option<Output> {
        let number = self.processes.borrow().len();
        let user = format!("step-{number}");
        self.cluster.sim.users(|users| users.add(User::admin(&user)));
        let began = self.cluster.revision();
        self.processes.borrow_mut().push(timeline::Process {
            words: words.clone(),
            host,
            began,
            ended: u64::MAX,
            exit: None,
            transcript: String::new(),
            is_disturbed: self.is_disturbed
                || signal.is_some_and(|signal| signal.is_repeated)
                || suspension.is_some(),
        });
        let seed = seed(self.seed, number);
        let service = Mortal::new(self.cluster.sim.service_for(&user), death, seed).suspended(suspension);
        let this = process(host, number);
        self.living.lock().unwrap().insert(this.clone());
        let processes = Processes::Simulated(this.clone(), Arc::clone(&self.living));
        let words = words.to_string();
        let script = self.check.command();
        let words = words.split_whitespace().map(|word| if word == SCRIPT { &script } else { word });
        let (sender, numbers) = watch::channel(0);
        let run = Run::of(words)
            .at(START.parse().unwrap())
            .seed(seed)
            .signals(numbers)
            .env(PROCESS, number.to_string())
            .processes(processes);
        let output = tokio::select! {
            biased;
            output = service.run(run.run_against(service.client())) => Some(output),
            () = service.died() => None,
            never = send(sender, signal) => match never {},
        };
        self.living.lock().unwrap().remove(&this);
        let process = &mut self.processes.borrow_mut()[number];
        process.ended = self.cluster.revision();
        process.exit = output.as_ref().map(|output| output.exit);
        process.transcript = output.as_ref().map(|output| output.transcript.clone()).unwrap_or_default();
        output
    }

    /// Types it until the end, the first time with words; each death and each signal is of one process.
    pub(crate) async fn step_to_the_end(&self, draw: &Draw) -> Ending {
        let first = &draw.words;
        let mut words = first.clone();
        let (mut deaths, mut signals) = (draw.deaths.iter().copied(), draw.signals.iter().copied());
        let mut suspensions = draw.suspensions.iter().copied();
        let mut refused = 0;
        for number in 0..PATIENCE {
            let typed = words.clone();
            let (death, signal) = (deaths.next(), signals.next().flatten());
            let output = self.step(&words, draw.host(number), death, signal, suspensions.next()).await;
            let set = self.set();
            let is_another = set["spec"]["template"]["spec"]["containers"][0]["image"] != *draw.image;
            let Words { kind, check, is_scripted, .. } = *first;
            words = Words { kind, check, is_scripted, ..Words::default() };
            let says = |hint: &str| output.as_ref().is_some_and(|output| output.transcript.contains(hint));
            // Killed before that was written down.
            words.reach = first.reach.filter(|_| says("go below it") || says("below its partition too"));
            words.all_zones = says("--node-selector=");
            words.new_plan = says("--new-plan");
            words.undo = says("--on-failure hold").then_some(false);
            match output {
                Some(output) if output.exit == 4 || is_refused(&output) => return Ending::Exit(output.exit),
                _ if is_another && !rolls_back(&set) => return Ending::Overruled,
                Some(output)
                    if output.exit == 0 && (hold(&set).is_none() || says_none_is_outdated(&output)) =>
                {
                    return Ending::Exit(0);
                }
                Some(output)
                    if output.exit == 5
                        && says("rollout2 resume")
                        && !says("--release-all") // whoever wants batches does not end the plan
                        && (is_paused(&set) || first.kind.is_counted()) =>
                {
                    command(&self.cluster.sim, &self.set, "resume").await;
                }
                // Whoever typed it knows whether the other process still runs.
                Some(output) if output.exit == 5 && output.transcript.contains("--take-over") => {
                    sleep(Duration::from_secs(30)).await;
                    words = Words { take_over: self.living.lock().unwrap().is_empty(), ..typed };
                }
                Some(output) if output.exit == 5 && refused > 6 => return Ending::Exit(output.exit),
                Some(output) if output.exit == 5 => {
                    refused += 1;
                    self.cluster.advance(30).await;
                }
                Some(_) => self.cluster.advance(1).await,
                None => sleep(Duration::from_millis(700)).await,
            }
        }
        Ending::None
    }

    fn set(&self) -> Value {
        self.cluster.object(&self.set)
    }
}

/// The process of a number on a host.
pub(crate) fn process(host: u64, number: usize) -> Process {
    Process { host: format!("host-{host}"), id: number.to_string() }
}

/// The seed of a process in a run.
pub(crate) fn seed(run: u64, number: usize) -> u64 {
    Dice::new(run << 8 | number as u64).below(u64::MAX)
}

/// Sends a signal to a process, and never ends.
async fn send(sender: watch::Sender<i32>, signal: Option<Signal>) -> Infallible {
    if let Some(Signal { number, after, is_repeated }) = signal {
        sleep(after).await;
        sender.send_replace(number);
        if is_repeated {
            sleep(Duration::from_millis(1)).await;
            sender.send_replace(number);
        }
    }
    std::future::pending().await
}

fn hold(set: &Value) -> Option<Value> {
    serde_json::from_str(set["metadata"]["annotations"]["kubectl-rollout2/held"].as_str()?).ok()
}

/// Whether the numbers or the node selector of the command do not fit what there is.
fn is_refused(output: &Output) -> bool {
    output.exit == 2
        || output.exit == 1
            && ["nothing was written", "matches none of"].iter().any(|part| output.transcript.contains(part))
}

/// Whatever else is written down, nothing is left to step.
fn says_none_is_outdated(output: &Output) -> bool {
    output.transcript.contains("no pod is outdated")
}

/// The plan is rolling back, and the next `step` completes that.
fn rolls_back(set: &Value) -> bool {
    hold(set).is_some_and(|hold| hold["plan"]["rollingBack"] == true)
}

fn is_paused(set: &Value) -> bool {
    hold(set).is_some_and(|hold| hold["paused"] == true || hold.is_object() && hold["plan"].is_null())
}
