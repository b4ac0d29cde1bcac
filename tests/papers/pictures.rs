//! The pictures in the README: real runs, drawn.

use harness::{Run, data};

use crate::generated::Files;
use crate::picture;

/// The name of each picture, the line that is shown, and the recording that it is run on.
const PICTURES: [(&str, &str, &str); 3] = [
    ("history", "history deployment/web", "shop"),
    ("diff", "diff deployment/web 1 3", "shop"),
    ("status", "status deployment/crash deployment/badimage --watch=false", "broken"),
];

/// Every picture by its path.
pub(crate) fn pictures() -> Files {
    let draw = |(name, line, namespace): (&str, &str, &str)| {
        let snapshot = data().join(namespace).join("snapshot.json");
        let run = Run::of(line.split(' ')).arg("--color").arg("always").arg("--from").arg(snapshot);
        let shown = run.terminal(110, 40).run().transcript;
        (format!(".github/pictures/{name}.svg"), picture::of(&format!("kubectl rollout2 {line}"), &shown))
    };
    PICTURES.map(draw).into_iter().collect()
}
