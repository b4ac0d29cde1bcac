//! Programs that are shell scripts.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Writes an executable shell script.
///
/// Another process writes it. If this one did, a thread could fork while the file is open for writing, and the start of the
/// script would fail with `ETXTBSY`.
pub fn write_script(path: &Path, script: &str) {
    let mut writer = Command::new("sh");
    writer.args(["-c", "cat > \"$0\" && chmod +x \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut writer = writer.spawn().unwrap();
    write!(writer.stdin.take().unwrap(), "#!/bin/sh\n{script}\n").unwrap();
    assert!(writer.wait().unwrap().success(), "{} was not written", path.display());
}

/// Returns a program in kubectl's place that prints each manifest of `-f` unchanged, as an API server would that sets no
/// defaults.
pub(crate) fn applying_kubectl() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let script = "PATH=/usr/bin:/bin\n\
                      for word; do case $word in --filename=-) cat;; --filename=*) cat \"${word#*=}\";; esac; done";
        crate::files::program("kubectl", script)
    });
    &PROGRAM
}
