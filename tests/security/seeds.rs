//! Runs the seeds of the fuzz targets, and the inputs that they found, as ordinary tests.

use std::path::Path;

use crate::security::fuzz;

/// The name of a fuzz target, and what it runs on each input.
type FuzzTarget = (&'static str, fn(&[u8]));

const TARGETS: [FuzzTarget; 8] = [
    ("annotation", fuzz::annotation::one),
    ("diff", fuzz::diff::one),
    ("events", fuzz::events::one),
    ("exec_credential", fuzz::exec_credential::one),
    ("kubeconfig", fuzz::kubeconfig::one),
    ("list", fuzz::list::one),
    ("snapshot", fuzz::snapshot::one),
    ("watch", fuzz::watch::one),
];

/// Returns the seeds of a target, ordered by the names of their files.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(target);
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

#[test]
fn seeds_cause_no_panic_and_are_small() {
    for (target, one) in TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{target}");
        for seed in seeds {
            assert!(seed.len() <= 8192, "{target}: {}", String::from_utf8_lossy(&seed[..80]));
            one(&seed);
        }
    }
}
