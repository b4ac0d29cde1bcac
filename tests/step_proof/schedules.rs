//! Seeded runs of each kind: every oracle holds at every moment, and the run ends as the rules say.
//!
//! `ROLLOUT2_STEPS=10000 cargo test --release --test all step_proof::schedules` runs more of them (`.ci/run` 100 of each kind),
//! `ROLLOUT2_STEP_LIST=1` prints a line for each, and
//! `ROLLOUT2_STEP_SEED=17 ROLLOUT2_STEP_KIND=DaemonSet cargo test --test all one_seed -- --ignored --nocapture`
//! shows one.

use harness::random::Dice;
use simcluster::Verb;

use crate::step_proof::external_changes::ExternalChange;
use crate::step_proof::generator::Draw;
use crate::step_proof::kind::Kind;
use crate::step_proof::run::{Played, play};
use crate::step_proof::timeline::{By, Change, Process, What};
use crate::step_proof::user::Ending;

/// How many runs of each kind a plain `cargo test` makes: what a contributor waits for.
const RUNS: u64 = 10;

/// From how many runs of a kind on each end and each fault must be met. `.ci/run` makes as many.
const COVERING: u64 = 100;

/// The runs of a kind in two tests, so that two processors share them.
macro_rules! seeded_runs {
    ($($even:ident, $odd:ident: $kind:ident;)*) => {$(
        #[test]
        fn $even() {
            run(Kind::$kind, 0);
        }

        #[test]
        fn $odd() {
            run(Kind::$kind, 1);
        }
    )*};
}

seeded_runs! {
    deployments_even, deployments_odd: Deployment;
    stateful_sets_even, stateful_sets_odd: StatefulSet;
    daemon_sets_even, daemon_sets_odd: DaemonSet;
    clone_sets_even, clone_sets_odd: CloneSet;
    advanced_stateful_sets_even, advanced_stateful_sets_odd: AdvancedStatefulSet;
    advanced_daemon_sets_even, advanced_daemon_sets_odd: AdvancedDaemonSet;
}

/// Seeds beyond those of a plain `cargo test` on which `step` and an oracle disagreed once.
const DISAGREED: [(Kind, u64); 25] = [
    (Kind::Deployment, 156),
    (Kind::Deployment, 224),
    (Kind::Deployment, 838),
    (Kind::Deployment, 2459),
    (Kind::Deployment, 3379),
    (Kind::Deployment, 4275),
    (Kind::Deployment, 8169),
    (Kind::StatefulSet, 219),
    (Kind::StatefulSet, 935),
    (Kind::StatefulSet, 3054),
    (Kind::StatefulSet, 4933),
    (Kind::StatefulSet, 7639),
    (Kind::DaemonSet, 132), // a suspended process deleted pods of another template
    (Kind::DaemonSet, 1026),
    (Kind::DaemonSet, 1443), // a batch was done of which no slot was released
    (Kind::DaemonSet, 5956), // a simulated controller gave a new pod the name of another pod
    (Kind::DaemonSet, 9810), // another client ended the hold after the lock was released, before the process ended
    (Kind::AdvancedStatefulSet, 146),
    (Kind::AdvancedStatefulSet, 1262),
    (Kind::AdvancedStatefulSet, 2546), // another client reserved an ordinal between a decision and its patch
    (Kind::AdvancedDaemonSet, 803),
    (Kind::AdvancedDaemonSet, 987),
    (Kind::AdvancedDaemonSet, 453), // --force kept the room of a pod that was back
    (Kind::CloneSet, 761),
    (Kind::Deployment, 214),
];

#[test]
fn seeds_that_disagreed_once() {
    for (kind, seed) in DISAGREED {
        let played = play(kind, seed);
        assert!(played.wrong.is_empty(), "{}", printed(seed, &played));
    }
}

/// Half of the runs.
#[expect(clippy::print_stdout, reason = "the figures of a long run")]
fn run(kind: Kind, half: u64) {
    let asked = std::env::var("ROLLOUT2_STEPS").ok().and_then(|count| count.parse().ok());
    let runs = asked.unwrap_or(RUNS);
    let (mut ends, mut covered, mut failed, mut transcripts) =
        ([0; 8], Coverage::default(), 0, String::new());
    for seed in (half..runs).step_by(2) {
        let played = play(kind, seed);
        ends[match played.ending {
            Ending::Exit(exit) => usize::from(exit.min(5)),
            Ending::Overruled => 6,
            Ending::None => 7,
        }] += 1;
        covered.count(&played);
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
    println!("{kind:?}: exits 0 to 5, overruled, no end: {ends:?}; {covered:?}");
    assert!(failed == 0, "{failed} runs are wrong\n{transcripts}");
    if runs < COVERING {
        return;
    }
    // Each kind of end is met, so that none is right by never happening.
    assert!([0, 4, 6].iter().all(|end| ends[*end] > 0), "{ends:?}");
    covered.check(kind);
}

/// One run in a line, so that two engines can be compared.
fn line(kind: Kind, seed: u64, Played { ending, timeline, draw, wrong, .. }: &Played) -> String {
    let exits: Vec<_> = timeline.processes.iter().map(|process| process.exit).collect();
    let count = |verb| timeline.asked.iter().filter(|asked| asked.verb == verb).count();
    let (patches, deletions, evictions) = (count(Verb::Patch), count(Verb::Delete), count(Verb::Create));
    format!(
        "run {kind:?} {seed}: {ending:?}, exits {exits:?}, {patches} patches, {deletions} deletions, \
         {evictions} evictions, {} signals, {} wrong",
        draw.signals.len(),
        wrong.len(),
    )
}

/// In how many runs what can happen to a process did.
#[derive(Debug, Default)]
struct Coverage {
    signals: usize,
    failed_patches: usize,
    failed_deletions: usize,
    failed_evictions: usize,
    tainted_nodes: usize,
    lost_nodes: usize,
    /// Runs in which a node with an updated pod was not ready for a while.
    failed_nodes: usize,
    /// Runs of a workload with reserved ordinals, in another order than that of the ordinals, and with a node selector.
    reserved: usize,
    unordered: usize,
    selected: usize,
    /// Runs in which time passed between a refresh and a deletion.
    late_deletions: usize,
    /// Runs in which a command met a paused plan.
    pauses: usize,
    /// Runs to the end of a workload with a partition of its own.
    own_partitions: usize,
    /// Runs with a batch that failed because of a check that watches, and with one that was done after such a failure.
    failed_checks: usize,
    passed_again: usize,
}

impl Coverage {
    fn count(&mut self, Played { timeline, draw, ending, failed_nodes, .. }: &Played) {
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
        let drawn =
            |is: fn(&ExternalChange) -> bool| usize::from(draw.changes.iter().any(|(_, change)| is(change)));
        self.tainted_nodes += drawn(|change| matches!(change, ExternalChange::Taint(_)));
        self.lost_nodes += drawn(|change| matches!(change, ExternalChange::NodeGone(_)));
        self.failed_nodes += usize::from(*failed_nodes > 0);
        let spec = &draw.created.spec;
        self.reserved += usize::from(!spec["reserveOrdinals"].is_null());
        self.unordered += usize::from(!spec["updateStrategy"]["rollingUpdate"]["unorderedUpdate"].is_null());
        self.selected += usize::from(draw.words.zone.is_some());
        let is_late = |change: &Change| {
            let is_deletion = matches!(change.by, By::Process(_)) && matches!(change.what, What::Pod(..));
            is_deletion && change.looked_at.is_some_and(|looked| change.at > looked + 8_000)
        };
        self.late_deletions += usize::from(timeline.changes.iter().any(is_late));
        self.pauses += says("the plan is paused");
        let partition = &draw.created.spec["updateStrategy"]["rollingUpdate"]["partition"];
        let has_partition = !partition.is_null() && *partition != 0;
        self.own_partitions += usize::from(has_partition && *ending == Ending::Exit(0));
    }

    /// No kind of them is right by never happening.
    fn check(&self, kind: Kind) {
        let of_all = [self.failed_checks, self.failed_nodes];
        assert!(of_all.iter().all(|count| *count > 0), "{self:?}");
        // An Advanced StatefulSet has few writes: 50 runs of the even seeds meet no fault of one.
        assert!(kind == Kind::AdvancedStatefulSet || self.failed_patches > 0, "{self:?}");
        let can_have_partition = !matches!(kind, Kind::Deployment | Kind::DaemonSet);
        assert!(!can_have_partition || self.own_partitions > 0, "{self:?}");
        assert!(kind != Kind::DaemonSet || self.selected > 0, "{self:?}");
        let of_ordinals = self.reserved.min(self.unordered);
        assert!(kind != Kind::AdvancedStatefulSet || of_ordinals > 0, "{self:?}");
        if kind.is_counted() {
            return; // the rest is the same code for every kind, and rarely met by few pods
        }
        let of_requests = [self.signals, self.passed_again, self.pauses];
        assert!(of_requests.iter().all(|count| *count > 0), "{self:?}");
        let of_nodes = [
            self.failed_deletions,
            self.failed_evictions,
            self.tainted_nodes,
            self.lost_nodes,
            self.late_deletions,
        ];
        assert!(kind != Kind::DaemonSet || of_nodes.iter().all(|count| *count > 0), "{self:?}");
    }
}

/// A wrong run is looked into by repeating it, so every draw comes from its seed. Only a check is a process of the system,
/// which ends in its own time.
#[test]
fn a_seed_has_one_outcome() {
    for kind in Kind::ALL {
        let has_check = |seed: &u64| {
            let words = Draw::of(kind, &mut Dice::new(*seed)).words;
            words.check.is_some() || words.watch.is_some()
        };
        let seed = (0..1_000).find(|seed| !has_check(seed)).unwrap();
        let [first, second] = [0; 2].map(|_| printed(seed, &play(kind, seed)));
        assert_eq!(first, second);
    }
}

#[test]
#[ignore = "shows the run of one seed"]
#[expect(clippy::print_stdout, reason = "to be read")]
fn one_seed() {
    let seed = std::env::var("ROLLOUT2_STEP_SEED").unwrap().parse().unwrap();
    let name = std::env::var("ROLLOUT2_STEP_KIND").unwrap();
    let kind = Kind::ALL.into_iter().find(|kind| format!("{kind:?}") == name).unwrap();
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
    let mut printed = format!("=== seed {seed}: {:?}\n{:?}\n", played.ending, played.draw);
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
