//! Words for what happens on the way to the cluster.

use std::time::Duration;

use super::escape;
use crate::model::notice::{Exchange, Notice};

/// A notice as one line for stderr.
#[must_use]
pub fn line(notice: &Notice) -> String {
    match notice {
        Notice::Retrying { server, reason, pause } => {
            format!("note: {server}: {}, trying again in {}", escape::line(reason), seconds(*pause))
        }
        Notice::Silent { server, since } => {
            format!("note: {server} has not answered for {}, still waiting", seconds(*since))
        }
        Notice::OutOfSight { server, reason } => {
            format!("note: {server}: {}, following on as soon as it answers", escape::line(reason))
        }
        Notice::Withheld(what) => {
            format!("note: {} may not be read, so less is told of why a rollout does not go on", listed(what))
        }
        Notice::PluginSaid(line) => escape::line(line).into_owned(),
        Notice::PluginRunning { command, limit } => {
            let patience = limit.map_or_else(String::new, |limit| format!(", for up to {}", seconds(limit)));
            format!("note: waiting for the credential plugin {command}{patience}")
        }
        Notice::Warning(text) => format!("Warning: {}", escape::line(text)),
        Notice::Exchanged(Exchange { verb, url, outcome, took }) => {
            format!("{verb} {url} {} in {} milliseconds", escape::line(outcome), took.as_millis())
        }
    }
}

/// `pods, events and replicasets`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Whole seconds, and tenths below ten.
fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 10.0 || duration.subsec_millis() == 0 {
        format!("{seconds:.0}s")
    } else {
        format!("{seconds:.1}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notice_is_one_line() {
        let server = || "10.0.0.1:6443".to_owned();
        let ms = Duration::from_millis;
        for (notice, words) in [
            (
                Notice::Retrying {
                    server: server(),
                    reason: "503 Service\nUnavailable".into(),
                    pause: ms(1_240),
                },
                "note: 10.0.0.1:6443: 503 Service\\nUnavailable, trying again in 1.2s",
            ),
            (
                Notice::Silent { server: server(), since: ms(5_000) },
                "note: 10.0.0.1:6443 has not answered for 5s, still waiting",
            ),
            (
                Notice::OutOfSight { server: server(), reason: "502 Bad Gateway".into() },
                "note: 10.0.0.1:6443: 502 Bad Gateway, following on as soon as it answers",
            ),
            (
                Notice::Withheld(vec!["pods", "events"]),
                "note: pods and events may not be read, so less is told of why a rollout does not go on",
            ),
            (
                Notice::PluginRunning { command: "aws".into(), limit: Some(ms(60_000)) },
                "note: waiting for the credential plugin aws, for up to 60s",
            ),
            (
                Notice::PluginRunning { command: "aws".into(), limit: None },
                "note: waiting for the credential plugin aws",
            ),
            (Notice::Warning("old\u{1b}[31m".into()), "Warning: old^[[31m"),
            (
                Notice::Exchanged(Exchange {
                    verb: "GET".into(),
                    url: "https://h/api".into(),
                    outcome: "200 OK".into(),
                    took: ms(12),
                }),
                "GET https://h/api 200 OK in 12 milliseconds",
            ),
        ] {
            assert_eq!(line(&notice), words);
        }
    }
}
