//! Formats the notices of the transport for stderr.

use std::time::Duration;

use crate::cluster::notice::{Exchange, Notice};

/// Formats a notice as one line.
#[must_use]
pub(super) fn line(notice: &Notice) -> String {
    match notice {
        Notice::Retrying { server, reason, pause } => {
            format!("note: {server}: {reason}; retrying in {}", seconds(*pause))
        }
        Notice::SlowResponse { server, since } => {
            format!("note: {server}: no answer for {}; still waiting", seconds(*since))
        }
        Notice::ReadsFail { server, resource, reason } => {
            format!("note: {server}: cannot read {resource}: {reason}; trying again")
        }
        Notice::ReadsWorkAgain { server, lasted } => {
            format!("note: {server}: reads work again, after {}", seconds(*lasted))
        }
        Notice::Forbidden(what) => {
            format!("note: causes are incomplete: cannot list {}", listed(what))
        }
        Notice::PluginOutput(line) => line.clone(),
        Notice::PluginRunning { command, limit } => {
            let limit = limit.map_or_else(String::new, |limit| format!(" up to {}", seconds(limit)));
            format!("note: waiting{limit} for the credential plugin {command}")
        }
        Notice::CredentialsWithheld { server, is_loopback } => {
            let flag = if *is_loopback { ", or add --insecure-loopback-credentials" } else { "" };
            format!(
                "warning: no credentials are sent to http://{server}, because plain HTTP is not encrypted; \
                 write the server as https://HOST:PORT{flag}"
            )
        }
        Notice::Warning(text) => format!("Warning: {text}"),
        Notice::Exchange(Exchange { verb, url, outcome, took, round_trip }) => {
            let took = took.as_millis();
            format!("{verb} {url} {outcome} in {took} milliseconds (round trip {round_trip})")
        }
    }
}

/// Joins words: `pods, events and replicasets`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Formats seconds, with one decimal below ten.
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
    use crate::render::line::Line;

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
                "note: 10.0.0.1:6443: 503 Service\\nUnavailable; retrying in 1.2s",
            ),
            (
                Notice::SlowResponse { server: server(), since: ms(5_000) },
                "note: 10.0.0.1:6443: no answer for 5s; still waiting",
            ),
            (
                Notice::ReadsFail {
                    server: server(),
                    resource: "deployments",
                    reason: "502 Bad Gateway".into(),
                },
                "note: 10.0.0.1:6443: cannot read deployments: 502 Bad Gateway; trying again",
            ),
            (
                Notice::ReadsWorkAgain { server: server(), lasted: ms(42_000) },
                "note: 10.0.0.1:6443: reads work again, after 42s",
            ),
            (
                Notice::Forbidden(vec!["pods", "events"]),
                "note: causes are incomplete: cannot list pods and events",
            ),
            (
                Notice::PluginRunning { command: "aws".into(), limit: Some(ms(60_000)) },
                "note: waiting up to 60s for the credential plugin aws",
            ),
            (
                Notice::PluginRunning { command: "aws".into(), limit: None },
                "note: waiting for the credential plugin aws",
            ),
            (
                Notice::CredentialsWithheld { server: "h:80".into(), is_loopback: false },
                "warning: no credentials are sent to http://h:80, because plain HTTP is not encrypted; \
                 write the server as https://HOST:PORT",
            ),
            (
                Notice::CredentialsWithheld { server: "[::1]:80".into(), is_loopback: true },
                "warning: no credentials are sent to http://[::1]:80, because plain HTTP is not encrypted; \
                 write the server as https://HOST:PORT, or add --insecure-loopback-credentials",
            ),
            (Notice::Warning("old\u{1b}[31m".into()), "Warning: old^[[31m"),
            (
                Notice::Exchange(Exchange {
                    verb: "GET".into(),
                    url: "https://h/api".into(),
                    outcome: "200 OK".into(),
                    took: ms(12),
                    round_trip: 2,
                }),
                "GET https://h/api 200 OK in 12 milliseconds (round trip 2)",
            ),
        ] {
            assert_eq!(Line::of(line(&notice)).text(), words, "as `MessageWriter::note` prints it");
        }
    }
}
