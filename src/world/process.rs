//! The processes of this host: which one this is, and whether another one has ended.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A process, so that another one on its host can find it again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// The host on which the number is valid, with the boot and the namespace of process numbers: containers may share a
    /// host name and still count their own processes.
    pub host: String,
    /// The number of the process with its start time, because a number is used again.
    pub id: String,
}

/// The processes of the host.
#[derive(Clone, Debug, Default)]
pub enum Processes {
    /// Nothing is known of them.
    #[default]
    Unknown,
    /// Those of the operating system.
    System,
    /// Those of a test: this one, and the ones that live.
    Simulated(Process, Arc<Mutex<BTreeSet<Process>>>),
}

impl Processes {
    /// Returns this process, if it can be found again: on Linux. Elsewhere nothing tells two hosts of one name apart.
    #[must_use]
    pub fn this(&self) -> Option<Process> {
        match self {
            Self::Unknown => None,
            Self::System => this(),
            Self::Simulated(this, _) => Some(this.clone()),
        }
    }

    /// Whether a process has certainly ended: it ran on this host, and is not there any more.
    #[must_use]
    pub fn has_ended(&self, process: &Process) -> bool {
        let is_local = self.this().is_some_and(|this| this.host == process.host);
        is_local
            && match self {
                Self::Unknown => false,
                Self::System => is_gone(&process.id),
                Self::Simulated(_, living) => {
                    !living.lock().unwrap_or_else(PoisonError::into_inner).contains(process)
                }
            }
    }
}

/// Returns the name of this host, if it is known.
pub(super) fn host() -> Option<String> {
    #[cfg(unix)]
    return rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
    #[cfg(not(unix))]
    return std::env::var("COMPUTERNAME").ok();
}

#[cfg(target_os = "linux")]
fn this() -> Option<Process> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let numbers = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let host = format!("{}/{}/{}", host()?, boot.trim(), numbers.display());
    let number = std::process::id();
    let (_, started) = state_and_start(&number.to_string())?;
    Some(Process { host, id: format!("{number}/{started}") })
}

#[cfg(not(target_os = "linux"))]
fn this() -> Option<Process> {
    None
}

/// Whether no process of this host has this id.
#[cfg(target_os = "linux")]
fn is_gone(id: &str) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let Some((number, started)) = id.split_once('/') else { return false };
    let Some(pid) = number.parse().ok().and_then(Pid::from_raw) else { return false };
    // Another user's process answers with EPERM. That of a number which is used again has another start time.
    test_kill_process(pid) == Err(Errno::SRCH)
        || state_and_start(number)
            .is_some_and(|(state, now)| now != started || matches!(state.as_str(), "Z" | "X"))
}

#[cfg(not(target_os = "linux"))]
fn is_gone(_: &str) -> bool {
    false
}

/// Returns the state of a process, and when it started in ticks since the boot.
#[cfg(target_os = "linux")]
fn state_and_start(number: &str) -> Option<(String, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name in `12 (sh) S 3 12 ...` may contain spaces and parentheses.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.nth(18)?.to_owned()))
}

/// Makes this process, and those that it starts, leave no core dump (`RLIMIT_CORE`), which others may read: tokens and
/// passwords are in the memory. Windows writes none unless an administrator configures that for a program.
pub fn disable_core_dumps() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Core).maximum;
        // It can only fail for a limit above the maximum, and there is none below 0.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_ended_when_its_host_does_not_show_it() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let this = Processes::System.this().unwrap();
        let number = child.id().to_string();
        let id = format!("{number}/{}", state_and_start(&number).unwrap().1);
        let process = Process { host: this.host.clone(), id };
        assert!(!Processes::System.has_ended(&this));
        assert!(!Processes::System.has_ended(&process));
        let reused = Process { id: format!("{}/1", child.id()), ..process.clone() };
        assert!(Processes::System.has_ended(&reused), "the number is used again");
        child.kill().unwrap();
        while state_and_start(&child.id().to_string()).is_some_and(|(state, _)| state != "Z") {}
        assert!(Processes::System.has_ended(&process), "its parent has not asked for its exit code yet");
        child.wait().unwrap();
        assert!(Processes::System.has_ended(&process));
        let elsewhere = Process { host: "another".to_owned(), ..process.clone() };
        assert!(!Processes::System.has_ended(&elsewhere) && !Processes::Unknown.has_ended(&process));
    }

    #[test]
    fn an_id_that_is_no_process_has_not_ended() {
        let host = Processes::System.this().unwrap().host;
        for id in ["", "x", "0", "-1", "1/2/3x", "99999999999999"] {
            let process = Process { host: host.clone(), id: id.to_owned() };
            let is_first = id == "1/2/3x"; // process 1 lives, and started at another time
            assert_eq!(Processes::System.has_ended(&process), is_first, "{id}");
        }
    }
}
