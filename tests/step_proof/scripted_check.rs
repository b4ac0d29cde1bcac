//! A check whose results differ from run to run, and that notes each of them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::step_proof::timeline::Checked;

/// The variable with the number of the process.
pub(crate) const PROCESS: &str = "PROCESS";

/// The script of one run, and the file with its results.
pub(crate) struct ScriptedCheck {
    log: PathBuf,
    failures: u64,
}

impl ScriptedCheck {
    /// Creates a script whose results are the bits of a number, again and again.
    pub(crate) fn new(failures: u64) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("scripted-check-{}-{number}", std::process::id());
        let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&log, "").unwrap();
        Self { log, failures }
    }

    /// Returns the command of `--check`.
    pub(crate) fn command(&self) -> String {
        format!(
            "n=0; while read -r _; do n=$((n + 1)); done < '{log}'; failed=$((({} >> n % 62) & 1)); \
             echo ${PROCESS} $ROLLOUT2_BATCH $failed >> '{log}'; exit $failed",
            self.failures,
            log = self.log.display(),
        )
    }

    /// Returns the runs of the check.
    pub(crate) fn runs(&self) -> Vec<Checked> {
        let log = std::fs::read_to_string(&self.log).unwrap();
        let runs = log.lines().map(|line| {
            let mut fields = line.split(' ');
            let mut number = || fields.next().unwrap().parse::<u64>().unwrap();
            let (process, batch) = (usize::try_from(number()).unwrap(), number());
            Checked { process, batch, has_passed: number() == 0 }
        });
        runs.collect()
    }
}

impl Drop for ScriptedCheck {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.log);
    }
}
