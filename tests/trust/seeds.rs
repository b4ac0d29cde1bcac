//! What the fuzz targets begin with, and what they found, run as ordinary tests.

use std::path::Path;

use crate::fuzz;

fn replay(target: &str, one: fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(target);
    let mut seeds: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(!seeds.is_empty());
    for seed in seeds {
        let data = std::fs::read(&seed).unwrap();
        assert!(data.len() <= 8192, "{} is too large for a seed", seed.display());
        one(&data);
    }
}

#[test]
fn snapshots() {
    replay("snapshot", fuzz::snapshot::one);
}

#[test]
fn diffs() {
    replay("diff", fuzz::diff::one);
}

#[test]
fn watches() {
    replay("watch", fuzz::watch::one);
}

#[test]
fn kubeconfigs() {
    replay("kubeconfig", fuzz::kubeconfig::one);
}
