//! Measures the large cases: `cargo bench`, or `cargo bench -- WORD` for the cases with the word in their name.
//!
//! It prints one line for each case with the median of its runs.

mod fleet;

use std::hint::black_box;
use std::time::{Duration, Instant};

use harness::Run;
use harness::many_workloads::{Shape, WorkloadGenerator};
use rollout2::model::api::object::Object;
use rollout2::model::api::pod::Pod;
use rollout2::model::cause::{AllowedRestarts, causes_of};
use rollout2::model::diff::{Diff, SecretValues};
use rollout2::model::kind::Workload;
use rollout2::model::observation::Observation;
use rollout2::model::revision::Revisions;
use rollout2::model::revision::template::Template;
use rollout2::model::status::verdict;
use rollout2::model::view::history::History;
use rollout2::render::history::table;
use rollout2::render::output_form::OutputForm;
use rollout2::render::table::TableLayout;
use serde_json::{Value, json};

/// The measured runs of each case, after a warm-up.
const RUNS: usize = 9;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let cases: [(&str, CaseSetup); 4] = [
        ("history of 1,000 revisions", history),
        ("diff of two templates of 1 MB", diff),
        ("verdict and causes over 10,000 pods", verdict_and_causes),
        ("history from a snapshot of 50 MB", snapshot),
    ];
    for (name, case) in cases.into_iter().filter(|(name, _)| is_wanted(name)) {
        report(name, case()?);
    }
    // Takes minutes, so it runs only on request.
    if words.iter().any(|word| word == "fleet") {
        let nodes = std::env::var("ROLLOUT2_NODES").ok().and_then(|nodes| nodes.parse().ok());
        fleet::report(nodes.unwrap_or(5_000))?;
    }
    Ok(())
}

/// A function that prepares a case.
type CaseSetup = fn() -> std::io::Result<Case>;

/// The function that is measured.
type Case = Box<dyn FnMut()>;

#[expect(clippy::print_stdout, reason = "the result of a bench")]
fn report(name: &str, mut case: Case) {
    case();
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            case();
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!(
        "{name:38} median {:>9.3?}   least {:>9.3?}   most {:>9.3?}",
        times[RUNS / 2],
        times[0],
        times[RUNS - 1]
    );
}

fn history() -> std::io::Result<Case> {
    let observed = observed(Shape { revisions: 1_000, pods: 10, crashing: false })?;
    Ok(Box::new(move || {
        let history = History::of(&observed, k8s_openapi::jiff::Timestamp::UNIX_EPOCH);
        let layout = TableLayout { form: &OutputForm::Wide, namespaces: false, headers: true, width: None };
        black_box(table(&history, layout));
    }))
}

fn verdict_and_causes() -> std::io::Result<Case> {
    let observed = observed(Shape { revisions: 10, pods: 10_000, crashing: true })?;
    Ok(Box::new(move || {
        let (verdict, now) = (verdict(&observed), k8s_openapi::jiff::Timestamp::UNIX_EPOCH);
        let causes = causes_of(&observed, verdict.state, AllowedRestarts::default(), now);
        black_box((verdict, causes));
    }))
}

/// Compares two templates with 4,000 variables and 1,000 annotations, a tenth of which differ.
#[expect(clippy::unnecessary_wraps, reason = "as the other settings are")]
fn diff() -> std::io::Result<Case> {
    let template = |number: usize| {
        let value = |index: usize| {
            let own = if index.is_multiple_of(10) { number } else { 0 };
            format!("{own}{}", "x".repeat(180))
        };
        let variables: Vec<Value> = (0..4_000)
            .map(|index| json!({"name": format!("VARIABLE_{index}"), "value": value(index)}))
            .collect();
        let annotations: serde_json::Map<_, _> =
            (0..1_000).map(|index| (format!("example.org/{index}"), value(index).into())).collect();
        Template::new(&json!({
            "metadata": {"annotations": annotations},
            "spec": {"containers": [{"name": "app", "image": format!("app:{number}"), "env": variables}]},
        }))
    };
    let (from, to) = (template(1), template(2));
    Ok(Box::new(move || {
        let diff = Diff::between(&from, &to, SecretValues::Masked);
        black_box((diff.rows(), diff.hunks(3, Some(Instant::now() + Duration::from_millis(400)))));
    }))
}

/// Writes a snapshot once, and reads it with the complete program in every run.
fn snapshot() -> std::io::Result<Case> {
    let generator = WorkloadGenerator::from_recording();
    let shape = Shape { revisions: 5, pods: 5, crashing: false };
    let mut text = String::from("{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n");
    let mut index = 0;
    while text.len() < 50_000_000 {
        for object in generator.deployment("shop", &format!("web-{index}"), shape) {
            text += &format!("{}{object}", if text.ends_with("[\n") { "" } else { ",\n" });
        }
        index += 1;
    }
    text += "]}\n";
    let path = std::env::temp_dir().join(format!("rollout2-bench-{}.json", std::process::id()));
    std::fs::write(&path, text)?;
    let file = Temporary(path);
    Ok(Box::new(move || {
        let run = Run::of(["history", "deployment/web-7", "--from"]).arg(&file.0);
        assert_eq!(black_box(run.run()).exit, 0);
    }))
}

/// A file that is deleted when its case ends.
struct Temporary(std::path::PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // a remaining file does no harm
    }
}

fn observed(shape: Shape) -> std::io::Result<Observation> {
    let objects = WorkloadGenerator::from_recording().deployment("shop", "web", shape).into_iter();
    let mut objects = objects.map(|object| Object::read(object).map_err(std::io::Error::other));
    let workload = objects.next().transpose()?.and_then(Workload::of);
    let workload = workload.ok_or_else(|| std::io::Error::other("the first object is no workload"))?;
    let objects = objects.collect::<Result<Vec<_>, _>>()?;
    let (pods, sets): (Vec<_>, Vec<_>) = objects.into_iter().partition(|object| object.kind() == "Pod");
    let pods = Some(pods.iter().map(Pod::read).map(Into::into).collect());
    Ok(Observation { revisions: Revisions::of(&workload, sets), workload, pods, events: None })
}
