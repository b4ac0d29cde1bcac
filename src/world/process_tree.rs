//! The processes that a shell command started, found by their parents.

use std::collections::BTreeSet;

use rustix::process::{Pid, Signal, kill_process};

/// Kills a process with its descendants, also those in sessions of their own (`setsid`). A process whose parent
/// exited is not found. Linux only: reads the parents from `/proc/PID/stat`.
pub(super) fn kill_tree(root: Pid) {
    let root = root.as_raw_nonzero().get();
    let mut found = BTreeSet::from([root]);
    // A stopped process starts no others, and does not continue when its child is killed.
    send(root, Signal::STOP);
    loop {
        let children: Vec<i32> = processes()
            .filter(|(process, parent)| found.contains(parent) && !found.contains(process))
            .map(|(process, _)| process)
            .collect();
        if children.is_empty() {
            break;
        }
        for child in children {
            send(child, Signal::STOP);
            found.insert(child);
        }
    }
    found.remove(&root);
    for process in std::iter::once(root).chain(found) {
        send(process, Signal::KILL);
    }
}

fn send(process: i32, signal: Signal) {
    if let Some(process) = Pid::from_raw(process) {
        let _ = kill_process(process, signal); // it may have exited
    }
}

/// Returns every process with its parent.
fn processes() -> impl Iterator<Item = (i32, i32)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        Some((process, parent(&stat)?))
    })
}

/// Returns the parent from a line such as `12 (sh) S 3 12 ...`. The name in parentheses may contain spaces and
/// parentheses.
fn parent(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parent;

    #[test]
    fn the_parent_follows_the_name_and_the_state() {
        for (stat, expected) in [
            ("12 (sh) S 3 12 12 0", Some(3)),
            ("12 (a) b (c) R 4 12", Some(4)),
            ("12 (sh", None),
            ("12 (sh) Z", None),
        ] {
            assert_eq!(parent(stat), expected, "{stat}");
        }
    }
}
