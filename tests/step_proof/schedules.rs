//! Seeded runs: every oracle holds at every moment, and the run ends as
//! the rules say.
//!
//! `ROLLOUT2_STEPS=10000 cargo test --release --test all step_proof::schedules` runs more of them, and
//! `ROLLOUT2_STEP_LIST=1` prints a line for each, and
//! `ROLLOUT2_STEP_SEED=17 ROLLOUT2_STEP_KIND=daemonset cargo test --test all one_seed -- --ignored --nocapture`
//! shows one.

use simcluster::Verb;

use crate::step_proof::command::{Reach, Share};
use crate::step_proof::external_changes::Deed;
use crate::step_proof::generator::{Draw, Kind};
use crate::step_proof::run::{Played, play};
use crate::step_proof::timeline::{By, Process, Timeline};
use crate::step_proof::user::Left;
use crate::step_proof::world::{World, partition};

/// How many runs of each kind a plain `cargo test` makes.
const RUNS: u64 = 100;

#[test]
fn seeded_runs_of_stateful_sets_even() {
    run(Kind::StatefulSet, 0);
}

#[test]
fn seeded_runs_of_stateful_sets_odd() {
    run(Kind::StatefulSet, 1);
}

#[test]
fn seeded_runs_of_daemon_sets_even() {
    run(Kind::DaemonSet, 0);
}

#[test]
fn seeded_runs_of_daemon_sets_odd() {
    run(Kind::DaemonSet, 1);
}

/// Half of the runs, so that two processors share them.
#[expect(clippy::print_stdout, reason = "the figures of a long run")]
fn run(kind: Kind, half: u64) {
    let asked = std::env::var("ROLLOUT2_STEPS").ok().and_then(|count| count.parse().ok());
    let (mut ends, mut met, mut failed, mut transcripts) = ([0; 8], Met::default(), 0, String::new());
    for seed in (half..asked.unwrap_or(RUNS)).step_by(2) {
        let played = play(kind, seed);
        ends[match played.left {
            Left::With(exit) => usize::from(exit.min(5)),
            Left::Overruled => 6,
            Left::InDespair => 7,
        }] += 1;
        met.count(&played);
        if std::env::var_os("ROLLOUT2_STEP_LIST").is_some() {
            println!("{}", line(kind, seed, &played));
        }
        if !played.wrong.is_empty() {
            failed += 1;
            if failed <= 8 {
                transcripts += &printed(seed, &played);
            }
        }
    }
    println!("exits 0 to 5, overruled, in despair: {ends:?}; {met:?}");
    assert!(failed == 0, "{failed} runs are wrong\n{transcripts}");
    // Each kind of end is met, so that none is right by never happening.
    assert!([0, 4, 6].iter().all(|end| ends[*end] > 0), "{ends:?}");
    met.check(kind);
}

/// One run in a line, so that two engines can be compared.
fn line(kind: Kind, seed: u64, Played { left, timeline, draw, wrong }: &Played) -> String {
    let exits: Vec<_> = timeline.processes.iter().map(|process| process.exit).collect();
    let count = |verb| timeline.asked.iter().filter(|asked| asked.verb == verb).count();
    let (patches, deletions, evictions) = (count(Verb::Patch), count(Verb::Delete), count(Verb::Create));
    format!(
        "run {kind:?} {seed}: {left:?}, exits {exits:?}, {patches} patches, {deletions} deletions, \
         {evictions} evictions, {} signals, {} wrong",
        draw.signals.len(),
        wrong.len(),
    )
}

/// In how many runs what can happen to a process did.
#[derive(Debug, Default)]
struct Met {
    signals: usize,
    failed_patches: usize,
    failed_deletions: usize,
    failed_evictions: usize,
    tainted_nodes: usize,
    /// Runs with a batch that failed because of a check that watches, and with one that was done after such a failure.
    failed_checks: usize,
    passed_again: usize,
}

impl Met {
    fn count(&mut self, Played { timeline, draw, .. }: &Played) {
        let failed =
            |verb| usize::from(timeline.asked.iter().any(|asked| asked.verb == verb && asked.has_failed));
        let is_signal = |process: &Process| process.exit.is_some_and(|exit| exit > 128);
        self.signals += usize::from(timeline.processes.iter().any(is_signal));
        self.failed_patches += failed(Verb::Patch);
        self.failed_deletions += failed(Verb::Delete);
        self.failed_evictions += failed(Verb::Create);
        let says = |words| usize::from(timeline.processes.iter().any(|one| one.transcript.contains(words)));
        if draw.words.watch.is_some() {
            self.failed_checks += says(": the check of batch");
            self.passed_again += says("passed again");
        }
        self.tainted_nodes += usize::from(draw.deeds.iter().any(|(_, deed)| matches!(deed, Deed::Taint(_))));
    }

    /// No kind of them is right by never happening.
    fn check(&self, kind: Kind) {
        let of_all = [self.signals, self.failed_patches, self.failed_checks, self.passed_again];
        assert!(of_all.iter().all(|count| *count > 0), "{self:?}");
        let of_nodes = [self.failed_deletions, self.failed_evictions, self.tainted_nodes];
        assert!(kind == Kind::StatefulSet || of_nodes.iter().all(|count| *count > 0), "{self:?}");
    }
}

/// A wrong run is looked into by repeating it, so every draw comes from its seed. Only a check is a process of the system,
/// which ends in its own time.
#[test]
fn a_seed_has_one_outcome() {
    for (kind, seed) in [(Kind::DaemonSet, 1083), (Kind::DaemonSet, 1227), (Kind::StatefulSet, 1227)] {
        let outcomes = [0; 3].map(|_| play(kind, seed));
        assert_eq!((outcomes[0].draw.words.check, outcomes[0].draw.words.watch), (None, None));
        let [first, others @ ..] = outcomes.map(|played| printed(seed, &played));
        assert!(others.iter().all(|other| *other == first), "{first}\n{others:?}");
    }
}

#[test]
#[ignore = "shows the run of one seed"]
#[expect(clippy::print_stdout, reason = "to be read")]
fn one_seed() {
    let seed = std::env::var("ROLLOUT2_STEP_SEED").unwrap().parse().unwrap();
    let is_daemon_set = std::env::var("ROLLOUT2_STEP_KIND").is_ok_and(|kind| kind == "daemonset");
    let kind = if is_daemon_set { Kind::DaemonSet } else { Kind::StatefulSet };
    let played = play(kind, seed);
    println!("{}", printed(seed, &played));
    for change in &played.timeline.changes {
        if change.by != By::Cluster {
            println!("{} {} {:?} {:?}", change.revision, change.at, change.by, change.known);
        }
    }
    assert!(played.wrong.is_empty(), "{:#?}", played.wrong);
}

/// A run to be read.
fn printed(seed: u64, played: &Played) -> String {
    let mut printed = format!("=== seed {seed}: {:?}\n{:?}\n", played.left, played.draw);
    let count = played.timeline.processes.len();
    for (number, process) in played.timeline.processes.iter().enumerate() {
        if (6..count.saturating_sub(2)).contains(&number) {
            continue;
        }
        let exit = process.exit.map_or("killed".to_owned(), |exit| format!("exit {exit}"));
        printed += &format!(
            "--- {number}: {}: {exit}, revisions {}..{}\n",
            process.words, process.began, process.ended
        );
        printed += &process.transcript;
    }
    printed += &format!("wrong: {:#?}\n", played.wrong);
    printed
}

/// Returns the slots that the final strategy releases.
fn must_be_updated(end: &World) -> Vec<i64> {
    if end.is_daemon_set() { end.wanted() } else { end.released().collect() }
}

/// Whether a run ended as the rules say.
pub(crate) fn verdict(draw: &Draw, left: Left, timeline: &Timeline, end: &World) -> Result<(), String> {
    let lock_is_left = end.hold().is_some_and(|hold| !hold["lock"].is_null());
    let last = timeline.processes.last();
    if left == Left::InDespair {
        return Err("it never ends".to_owned());
    }
    let may_be_empty = draw.words.zone.is_some() && !draw.is_quiet(); // its nodes may have gone
    // A scaler may leave fewer pods than the words ask for.
    let may_be_fewer = matches!(draw.words.reach, Some(Reach::To(Share::Pods(_)))) && !draw.is_quiet();
    if matches!(left, Left::With(1 | 2)) && !may_be_empty && !may_be_fewer {
        return Err("the command was refused".to_owned());
    }
    if !draw.is_quiet() {
        return Ok(());
    }
    let (now, own) = (i64::MAX, partition(&draw.spec["updateStrategy"]));
    let goes_below = draw.words.reach == Some(Reach::To(Share::PerCent(100)));
    let is_all_kept = !end.is_daemon_set() && own >= end.replicas();
    if is_all_kept && !goes_below {
        return Ok(()); // its own partition lets no pod go
    }
    let is_refused = |process: &Process| process.transcript.contains("use --take-over"); // another one steps
    let processes = timeline.processes.iter().filter(|process| !is_refused(process));
    let exits: Vec<u8> = processes.filter_map(|process| process.exit).collect();
    // The own partition keeps pods outdated that the command wants to be updated.
    let is_short = !goes_below
        && matches!(draw.words.reach, Some(Reach::To(share)) if share.of(end.replicas()) > end.replicas() - own);
    let is_expected = |exit: &&u8| match exit {
        0 | 4 => true,
        3 => draw.words.timeout.is_some(),
        129 | 130 | 143 => !draw.signals.is_empty(),
        // It was broken before it was held, or another process rolled back.
        5 => {
            is_short || !draw.is_paused_first || is_all_kept // killed before it wrote how far it goes
                || draw.second.is_some() && draw.is_broken() || draw.words.zone.is_some() // the other zones stay held until they are selected
        }
        _ => false,
    };
    if let Some(odd) = exits.iter().find(|exit| !is_expected(exit)) {
        return Err(format!("nothing happened, and it ended with {odd}"));
    }
    if lock_is_left && last.is_some_and(|last| last.exit.is_some()) {
        return Err("a lock is left".to_owned());
    }
    let all_available = end.wanted().into_iter().all(|ordinal| end.is_available(ordinal, now));
    // The script of the run may fail the batch of a working revision.
    let is_failed_by_script = draw.words.is_scripted && left == Left::With(4);
    if !draw.is_broken() && !is_failed_by_script {
        let is_complete = (left == Left::With(0) || is_short && left == Left::With(5))
            && end.hold().is_none()
            && all_available
            && must_be_updated(end).iter().all(|place| end.is_updated(*place))
            && end.image() == draw.image;
        return if is_complete { Ok(()) } else { Err(format!("not complete: {left:?}")) };
    }
    let is_undone = end.image() != draw.image;
    match left {
        Left::With(4) if is_undone => {
            let is_back = all_available && end.wanted().into_iter().all(|ordinal| end.is_updated(ordinal));
            if is_back { Ok(()) } else { Err("undone, and not back".to_owned()) }
        }
        Left::With(4) if end.has_plan() => Ok(()),
        Left::With(0 | 5) if !draw.is_paused_first => Ok(()), // broken before it was held
        Left::Overruled if is_undone => Ok(()),               // killed during the rollback
        left => Err(format!("it is broken, and ended: {left:?}")),
    }
}
