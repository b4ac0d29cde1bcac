//! The pictures in the README, generated from real runs.

use harness::cluster::with;
use harness::prelude::*;

use crate::docs::generated::Files;
use crate::docs::picture;

/// The name of each picture of recorded objects, and its command line.
const PICTURES: [(&str, &str); 2] =
    [("history", "history deployment/web"), ("diff", "diff deployment/web 1 3")];

/// A command line that draws live frames, and a text that is on the screen at the moment of the picture.
const STATUS: (&str, &str) = ("status deployment/checkout", "4 restarts");
const STEP: (&str, &str) = ("step statefulset/db --by 2 --all --soak 5m", "db-3 db-2  soaking  healthy 3m");

/// Returns every picture by its path.
pub(crate) fn pictures() -> Files {
    let draw = |(name, line): (&str, &str)| {
        let run =
            Run::of(line.split(' ')).arg("--color").arg("always").arg("--from").arg(snapshot_path("shop"));
        let shown = run.terminal(110, 40).run().transcript;
        picture_of(name, line, &shown)
    };
    let live = [picture_of("status", STATUS.0, &status()), picture_of("step", STEP.0, &step())];
    PICTURES.map(draw).into_iter().chain(live).collect()
}

fn picture_of(name: &str, line: &str, shown: &str) -> (String, String) {
    (format!(".github/pictures/{name}.svg"), picture::of(&format!("kubectl rollout2 {line}"), shown))
}

/// Returns the terminal during the `status` of a Deployment whose new release crashes.
fn status() -> String {
    live(STATUS, async |cluster| {
        let template = |tag: &str| {
            let container = json!({"name": "checkout", "image": format!("shop/checkout:{tag}")});
            json!({"template": {"metadata": {"labels": {"app": "checkout"}}, "spec": {"containers": [container]}}})
        };
        let spec = with(json!({"replicas": 3}), &template("1.0"));
        let checkout = cluster.editor().create_workload(&DEPLOYMENTS, "checkout", &spec);
        cluster.advance(120).await;
        cluster.editor().patch(&checkout, &json!({"spec": template("2.0-crash")}));
        cluster.advance(1).await;
    })
}

/// Returns the terminal during `step` of a paused and changed StatefulSet.
fn step() -> String {
    live(STEP, async |cluster| {
        let db = cluster.stateful_set(5, &json!({}));
        cluster.advance(120).await;
        cluster.run("pause statefulset/db").await;
        cluster.editor().set_image(&db, "app:2.0");
        cluster.advance(5).await;
    })
}

/// Prepares a cluster with a paused clock, runs a command on a terminal, and returns the first screen with a text.
fn live((line, text): (&str, &str), prepare: impl AsyncFnOnce(&Cluster)) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let transcript = runtime.unwrap().block_on(async {
        let cluster = Cluster::simulated().start();
        prepare(&cluster).await;
        let run = cluster.command(line.split(' ')).arg("--color").arg("always");
        run.terminal(100, 30).run_async().await.transcript
    });
    let screens = screens(&transcript);
    let found = screens.into_iter().find(|screen| without_styles(screen).contains(text));
    assert!(found.is_some(), "{text:?} is never on the screen");
    found.unwrap_or_default()
}

/// Returns the screen after each complete frame. It interprets only the sequences that the program writes: cursor up and
/// clear row.
fn screens(transcript: &str) -> Vec<String> {
    let (mut lines, mut row, mut screens) = (vec![String::new()], 0_usize, Vec::new());
    for (index, piece) in transcript.split("\x1b[").enumerate() {
        let end = piece.find(|letter: char| letter.is_ascii_alphabetic()).filter(|_| index > 0);
        let (code, text) = end.map_or(("", piece), |end| piece.split_at(end + 1));
        match code.split_at(code.len().saturating_sub(1)) {
            (_, "K") => lines[row].clear(),
            (rows, "A") => row -= rows.parse::<usize>().unwrap(),
            (_, "J") => {
                lines.truncate(row);
                screens.push(lines.join("\n"));
                lines.push(String::new());
            }
            (_, "m") => lines[row] += &format!("\x1b[{code}"),
            _ => {}
        }
        for letter in text.chars().filter(|letter| *letter != '\r') {
            if letter == '\n' {
                row += 1;
                lines.resize(lines.len().max(row + 1), String::new());
            } else {
                lines[row].push(letter);
            }
        }
    }
    screens
}

fn without_styles(screen: &str) -> String {
    let mut pieces = screen.split("\x1b[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.filter_map(|piece| piece.split_once('m')).fold(first, |text, (_, piece)| text + piece)
}
