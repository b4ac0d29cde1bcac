//! The options of one command, and the pace that results from several commands.

use std::fmt;

use crate::step_proof::kind::Kind;

/// So many pods, or per cent of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    Pods(i64),
    PerCent(i64),
}

impl Share {
    /// Rounded down, at least 1.
    pub(crate) fn of(self, replicas: i64) -> i64 {
        match self {
            Self::Pods(pods) => pods,
            Self::PerCent(share) => (replicas * share / 100).max(1),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pods(pods) => write!(f, "{pods}"),
            Self::PerCent(share) => write!(f, "{share}%"),
        }
    }
}

/// How large batches are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Batches {
    By(Share),
    Until(Vec<Share>),
}

/// How far a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    To(Share),
    All,
}

/// The options of one `step` command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct Words {
    pub(crate) kind: Kind,
    /// DaemonSets: by zone.
    pub(crate) by_zone: bool,
    /// DaemonSets: only the nodes of the zone of this number.
    pub(crate) zone: Option<i64>,
    /// DaemonSets: all nodes after all.
    pub(crate) all_zones: bool,
    pub(crate) evict: bool,
    pub(crate) batches: Option<Batches>,
    pub(crate) reach: Option<Reach>,
    pub(crate) max_unavailable: Option<Share>,
    /// Deployments: the surge of a batch.
    pub(crate) surge: Option<Share>,
    /// Seconds.
    pub(crate) soak: Option<i64>,
    pub(crate) final_soak: Option<i64>,
    pub(crate) batch_timeout: Option<i64>,
    pub(crate) undo: Option<bool>,
    /// The check passes, or fails.
    pub(crate) check: Option<bool>,
    /// The check is the script of the run, whose results differ.
    pub(crate) is_scripted: bool,
    /// The check runs every so many seconds, and may fail less than so many times in a row.
    pub(crate) watch: Option<(i64, usize)>,
    pub(crate) no_canary: bool,
    pub(crate) force: bool,
    pub(crate) take_over: bool,
    pub(crate) skip_soak: bool,
    pub(crate) new_plan: bool,
    pub(crate) timeout: Option<i64>,
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}", self.kind.target())?;
        if self.by_zone {
            f.write_str(" --order topology.kubernetes.io/zone")?;
        }
        if let Some(zone) = self.zone {
            write!(f, " --node-selector topology.kubernetes.io/zone=z{zone}")?;
        }
        if self.all_zones {
            f.write_str(" --node-selector=")?;
        }
        match &self.batches {
            Some(Batches::By(share)) => write!(f, " --by {share}")?,
            Some(Batches::Until(list)) => {
                let list: Vec<String> = list.iter().map(Share::to_string).collect();
                write!(f, " --batches {}", list.join(","))?;
            }
            None => {}
        }
        match self.reach {
            Some(Reach::To(share)) => write!(f, " --to {share}")?,
            Some(Reach::All) => f.write_str(" --all")?,
            None => {}
        }
        if let Some(share) = self.max_unavailable {
            write!(f, " --max-unavailable {share}")?;
        }
        if let Some(share) = self.surge {
            write!(f, " --surge {share}")?;
        }
        for (name, seconds) in [
            ("soak", self.soak),
            ("final-soak", self.final_soak),
            ("batch-timeout", self.batch_timeout),
            ("timeout", self.timeout),
        ] {
            if let Some(seconds) = seconds {
                write!(f, " --{name} {seconds}s")?;
            }
        }
        if let Some(undo) = self.undo {
            write!(f, " --on-failure {}", if undo { "undo" } else { "hold" })?;
        }
        if let Some(yes) = self.check {
            write!(f, " --check {yes}")?;
        }
        if self.is_scripted {
            write!(f, " --check {SCRIPT}")?;
        }
        if let Some((every, failures)) = self.watch {
            write!(f, " --check-every {every}s --check-failures {failures}")?;
        }
        for (name, is_said) in [
            ("no-canary", self.no_canary),
            ("evict", self.evict),
            ("force", self.force),
            ("take-over", self.take_over),
            ("skip-soak", self.skip_soak),
            ("new-plan", self.new_plan),
        ] {
            if is_said {
                write!(f, " --{name}")?;
            }
        }
        Ok(())
    }
}

/// The word in the place of the script that a run has as its check.
pub(crate) const SCRIPT: &str = "SCRIPT";

/// The default of `--soak`, in seconds.
pub(crate) const SETTLING: i64 = 10;

/// The pace that holds after some commands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Pace {
    pub(crate) batches: Batches,
    pub(crate) has_canary: bool,
    pub(crate) max_unavailable: Option<Share>,
    pub(crate) soak: i64,
    pub(crate) final_soak: i64,
    pub(crate) undo: bool,
    /// The result of the check, if there is one.
    pub(crate) check: Option<bool>,
    /// After how many failures in a row the script fails a batch.
    pub(crate) failures: usize,
    pub(crate) ignores_unready: bool,
    pub(crate) by_zone: bool,
    pub(crate) zone: Option<i64>,
}

impl Default for Pace {
    /// The defaults of a command without options.
    fn default() -> Self {
        Self {
            batches: Batches::By(Share::Pods(1)),
            has_canary: true,
            max_unavailable: None,
            soak: SETTLING,
            final_soak: 0,
            undo: false,
            check: None,
            failures: 1,
            ignores_unready: false,
            by_zone: false,
            zone: None,
        }
    }
}

impl Pace {
    /// How many of so many pods may be unavailable.
    pub(crate) fn allowed(&self, replicas: i64) -> i64 {
        self.max_unavailable.unwrap_or(Share::Pods(1)).of(replicas)
    }

    /// How long the last batch soaks: `--final-soak` is how much longer than the others.
    pub(crate) fn last_soak(&self) -> i64 {
        self.soak + self.final_soak
    }

    /// The same pace with the options of a command.
    pub(crate) fn then(&self, words: &Words) -> Self {
        Self {
            batches: words.batches.clone().unwrap_or_else(|| self.batches.clone()),
            has_canary: self.has_canary && !words.no_canary,
            max_unavailable: words.max_unavailable.or(self.max_unavailable),
            soak: words.soak.unwrap_or(self.soak),
            final_soak: words.final_soak.unwrap_or(self.final_soak),
            undo: words.undo.unwrap_or(self.undo),
            check: words.check.or(self.check),
            failures: words.watch.map_or(self.failures, |(_, failures)| failures),
            ignores_unready: words.force || self.ignores_unready,
            by_zone: words.by_zone || self.by_zone,
            zone: words.zone.or(self.zone).filter(|_| !words.all_zones),
        }
    }
}
