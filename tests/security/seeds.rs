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

/// Searches with changed seeds for `ROLLOUT2_FUZZ_SECONDS` seconds, for machines without `cargo fuzz`:
/// `cargo test --locked --test all -- --ignored --nocapture changed_seeds`.
#[test]
#[ignore = "runs for as long as ROLLOUT2_FUZZ_SECONDS says"]
#[expect(clippy::print_stderr, reason = "a long run by hand reports what it did")]
fn changed_seeds_cause_no_panic() {
    let seconds = std::env::var("ROLLOUT2_FUZZ_SECONDS").map_or(60, |text| text.parse().unwrap());
    let wanted = std::env::var("ROLLOUT2_FUZZ_TARGETS").unwrap_or_default();
    for (target, one) in
        TARGETS.into_iter().filter(|(target, _)| wanted.is_empty() || wanted.contains(target))
    {
        let seeds = seeds(target);
        let begun = std::time::Instant::now();
        let mut random = harness::random::Dice::new(0x5eed);
        let mut tries = 0_u64;
        while begun.elapsed().as_secs() < seconds {
            let data = changed(&seeds, &mut random);
            let shown = data.clone();
            let passed = std::panic::catch_unwind(move || one(&data)).is_ok();
            assert!(passed, "{target} after {tries} tries: {:?}", String::from_utf8_lossy(&shown));
            tries += 1;
        }
        eprintln!("{target}: {tries} tries in {:?}, nothing found", begun.elapsed());
    }
}

/// Returns a seed with changed bytes, with a part of another seed, or with tokens that parsers treat specially.
fn changed(seeds: &[Vec<u8>], random: &mut harness::random::Dice) -> Vec<u8> {
    const TOKENS: [&str; 16] = [
        "null",
        "-1",
        "18446744073709551615",
        "1e400",
        "\"\"",
        "[]",
        "{}",
        "true",
        "\\u0000",
        "\\ud800",
        "s3same",
        "\n",
        "\n=====\n",
        "\u{1b}[2J",
        "9999h",
        "../../x",
    ];
    let mut data = random.one_of(seeds).clone();
    for _ in 0..=random.index(6) {
        let at = random.index(data.len() + 1);
        let end = (at + random.index(24)).min(data.len());
        match random.below(5) {
            0 if at < data.len() => data[at] ^= 1 << random.below(8),
            1 => drop(data.drain(at..end)),
            2 => drop(data.splice(at..end, random.one_of(&TOKENS).bytes())),
            3 => {
                let other = random.one_of(seeds);
                let from = random.index(other.len() + 1);
                let piece = other[from..(from + random.index(64)).min(other.len())].to_vec();
                drop(data.splice(at..at, piece));
            }
            _ => {
                let piece = data[at..end].to_vec();
                drop(data.splice(at..at, piece));
            }
        }
    }
    data
}
