//! Containers that end again and again.

use serde_json::Value;

use super::CauseId;
use super::probe;
use super::sight::{Sight, Trouble};
use crate::model::container::{Container, State, Termination};
use crate::model::pod::Pod;

/// Containers that ended, and those that run again and are not ready yet: a crash loop passes through
/// both, and is one trouble all the while.
pub(super) fn of(container: &Container, pod: &Pod, sight: &Sight<'_>) -> Option<Trouble> {
    let ending = container.ending()?;
    let has_crashed = match &container.state {
        State::Waiting { reason, .. } => reason == "CrashLoopBackOff",
        State::Terminated(_) => !(container.init && ending.exit_code == 0),
        State::Running { .. } => container.restarts > 0,
        State::Unknown => false,
    };
    if !has_crashed {
        return None;
    }
    if ending.reason == "OOMKilled" {
        return Some(out_of_memory(container, ending, sight));
    }
    if let Some((id, which, words)) = killed_by_probe(container, ending, pod, sight) {
        return Some(Trouble::new(id, format!("killed by its {which} probe, {}", exit(ending)), words));
    }
    let what = if container.restarts > 0 { "CrashLoopBackOff" } else { "crashed" };
    Some(Trouble::new(CauseId::CrashLoop, format!("{what}, {}", exit(ending)), telling_line(&ending.message)))
}

fn out_of_memory(container: &Container, ending: &Termination, sight: &Sight<'_>) -> Trouble {
    let limit =
        sight.declared(&container.name).and_then(|declared| declared.pointer("/resources/limits/memory"));
    let limit =
        limit.and_then(Value::as_str).map(|limit| format!(", memory limit {limit}")).unwrap_or_default();
    Trouble::new(CauseId::OutOfMemory, format!("OOMKilled, exit {}{limit}", ending.exit_code), "")
}

/// Who is asked to end does so with 0 or by a signal; a container that fails by itself has a code of
/// its own, whatever its probes said meanwhile.
fn killed_by_probe<'a>(
    container: &Container,
    ending: &Termination,
    pod: &Pod,
    sight: &Sight<'a>,
) -> Option<(CauseId, &'static str, &'a str)> {
    if ![0, 137, 143].contains(&ending.exit_code) {
        return None;
    }
    let probes = [(CauseId::LivenessProbe, "liveness"), (CauseId::StartupProbe, "startup")];
    probes.into_iter().find_map(|(id, which)| {
        probe::last_failure(which, pod, &container.name, sight).map(|words| (id, which, words))
    })
}

/// `exit 1`; above 128 with the signal that ended it.
fn exit(ending: &Termination) -> String {
    let code = ending.exit_code;
    match code.checked_sub(128).and_then(signal) {
        Some(signal) => format!("exit {code} ({signal})"),
        None => format!("exit {code}"),
    }
}

fn signal(number: i64) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// The line of a termination message that tells most: a Go panic stands above its trace, the error of
/// most other languages below it.
fn telling_line(message: &str) -> &str {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let panics = |line: &&str| line.starts_with("panic: ") || line.starts_with("fatal error: ");
    lines.clone().find(panics).or_else(|| lines.next_back()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_tells_most_is_quoted() {
        for (message, line) in [
            ("", ""),
            (
                "panic: DB_URL is not set\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:9 +0x1d",
                "panic: DB_URL is not set",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'DB_URL'\n",
                "KeyError: 'DB_URL'",
            ),
        ] {
            assert_eq!(telling_line(message), line);
        }
    }

    #[test]
    fn a_signal_is_named() {
        for (exit_code, text) in [
            (0, "exit 0"),
            (1, "exit 1"),
            (137, "exit 137 (SIGKILL)"),
            (139, "exit 139 (SIGSEGV)"),
            (255, "exit 255"),
            (i64::MIN, "exit -9223372036854775808"),
        ] {
            assert_eq!(exit(&Termination { exit_code, ..Termination::default() }), text);
        }
    }
}
