//! Runs another program: on the streams of this one, or with its output captured; and the temporary files that
//! it reads.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
pub use std::process::Output;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::{Environment, Stream, random};

/// Returns the path of a program, as Go's `exec.LookPath` does: in `$PATH` unless it has a directory. A program that is started by
/// its path needs no `fork`, which copies the page tables of this process.
#[must_use]
pub fn find_program(program: &str, environment: &Environment) -> Option<PathBuf> {
    if program.contains(std::path::is_separator) {
        return Some(program.into()).filter(|path: &PathBuf| path.is_file());
    }
    let directories = std::env::split_paths(environment.get("PATH").unwrap_or_default());
    let mut candidates = directories.filter(|directory| directory.is_absolute()).flat_map(|directory| {
        let exe = directory.join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
        // Windows starts no program without an extension.
        let has_extension = Path::new(program).extension().is_some();
        std::iter::once(exe).chain(has_extension.then(|| directory.join(program)))
    });
    candidates.find(|candidate| is_executable(candidate))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// A program and its arguments, which no shell interprets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// A path, or a name to look up in `PATH`.
    pub name: OsString,
    /// The arguments.
    pub args: Vec<OsString>,
}

impl Program {
    /// Runs the program with exactly this environment and input, and captures its output. Dropping the future kills the
    /// program.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn capture(&self, environment: &Environment, input: &[u8]) -> io::Result<Output> {
        let mut command = self.command(environment);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program that does not read its input closes the pipe. Its exit code tells how it ended.
                let _ = stdin.write_all(input).await;
            }
        };
        let ((), output) = tokio::join!(write, child.wait_with_output());
        output
    }

    /// Runs the program with exactly this environment and empty input, and waits for it.
    ///
    /// The program inherits a stream of this process, so that it sees the terminal. Its output is copied into
    /// any other stream.
    ///
    /// Returns the exit code; `None` when a signal ended the program.
    ///
    /// # Errors
    /// When the program cannot be started or its output cannot be copied.
    pub async fn run(
        &self,
        environment: &Environment,
        out: &mut Stream,
        err: &mut Stream,
    ) -> io::Result<Option<i32>> {
        let mut command = self.command(environment);
        let child = command.stdin(Stdio::null()).stdout(stdio_for(out)).stderr(stdio_for(err)).spawn()?;
        let ended = child.wait_with_output().await?;
        out.write_bytes(&ended.stdout)?;
        err.write_bytes(&ended.stderr)?;
        Ok(ended.status.code())
    }

    fn command(&self, environment: &Environment) -> Command {
        let mut command = Command::new(&self.name);
        command.args(&self.args).env_clear().envs(environment.iter()).kill_on_drop(true);
        command
    }
}

/// Returns how a program ended: `exit code 3`.
#[must_use]
pub fn ended(code: Option<i32>) -> String {
    code.map_or_else(|| "killed by a signal".to_owned(), |code| format!("exit code {code}"))
}

fn stdio_for(stream: &Stream) -> Stdio {
    if stream.is_inherited { Stdio::inherit() } else { Stdio::piped() }
}

/// A temporary directory that only this user can read. It is removed when dropped.
#[derive(Debug)]
pub struct TempDir(PathBuf);

impl TempDir {
    /// Creates the directory in `TMPDIR`, or in the system's default.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn new(environment: &Environment) -> io::Result<Self> {
        let parent = environment.get("TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let path = parent.join(format!("rollout2-{:016x}", random()));
        private().create(&path)?;
        Ok(Self(path))
    }

    /// Writes a new file that only this user can read into a subdirectory, and returns the subdirectory's path.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, directory: &str, file: &str, text: &str) -> io::Result<PathBuf> {
        let directory = self.0.join(directory);
        private().recursive(true).create(&directory)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(directory.join(file))?.write_all(text.as_bytes())?;
        Ok(directory)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // The system removes leftover temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A text that child processes of this one read by a path, such as a secret for another program.
///
/// On Linux it is a deleted file that they inherit, so that nothing is left of it when this process is killed. Elsewhere it is
/// a file that only this user can read, which is removed when dropped: a path of a descriptor can be read once there.
#[derive(Debug)]
pub struct PrivateFile {
    path: PathBuf,
    _file: File,
    _directory: Option<TempDir>,
}

impl PrivateFile {
    /// Writes the text.
    ///
    /// # Errors
    /// When the file cannot be written or read.
    pub fn new(environment: &Environment, name: &str, text: &str) -> io::Result<Self> {
        let directory = TempDir::new(environment)?;
        let path = directory.write("private", name, text)?.join(name);
        let file = File::open(&path)?;
        let inherited = inherited_path(&file)?;
        Ok(match inherited {
            Some(path) => Self { path, _file: file, _directory: None },
            None => Self { path, _file: file, _directory: Some(directory) },
        })
    }

    /// Returns the path for a child process.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Lets child processes inherit a file, and returns its path for them; `None` where they cannot open it again.
#[cfg(target_os = "linux")]
fn inherited_path(file: &File) -> io::Result<Option<PathBuf>> {
    use std::os::fd::AsRawFd;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    if !path.exists() {
        return Ok(None); // there is no /proc
    }
    rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?;
    Ok(Some(path))
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
fn inherited_path(_: &File) -> io::Result<Option<PathBuf>> {
    Ok(None)
}

fn private() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_directory_is_private_and_removed() {
        let environment = Environment::default();
        let (one, other) = (TempDir::new(&environment).unwrap(), TempDir::new(&environment).unwrap());
        assert_ne!(one.0, other.0);
        let directory = one.write("FROM-1", "file", "text").unwrap();
        assert_eq!(fs::read_to_string(directory.join("file")).unwrap(), "text");
        #[cfg(unix)]
        {
            let mode = |path: &std::path::Path| {
                std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
            };
            assert_eq!((mode(&one.0), mode(&directory.join("file"))), (0o700, 0o600));
        }
        let path = one.0.clone();
        drop(one);
        assert!(!path.exists());
    }

    /// They run `/bin/sh`.
    #[cfg(unix)]
    mod programs {
        use harness::held_pipe::HeldPipe;

        use super::*;

        fn shell(script: &str) -> Program {
            Program { name: "/bin/sh".into(), args: ["-c", script].map(Into::into).to_vec() }
        }

        fn path() -> Environment {
            [("PATH", "/usr/bin:/bin")].into_iter().collect()
        }

        #[tokio::test]
        async fn input_output_messages_and_exit_code_are_captured() {
            let ended = shell("cat; echo no >&2; exit 3").capture(&path(), b"in").await.unwrap();
            assert_eq!(ended.status.code(), Some(3));
            assert_eq!((ended.stdout.as_slice(), ended.stderr.as_slice()), (&b"in"[..], &b"no\n"[..]));
            // A pipe holds less than this.
            let input = vec![b'x'; 1 << 20];
            let ended = shell("cat").capture(&path(), &input).await.unwrap();
            assert_eq!(ended.stdout.len(), 1 << 20);
            let ended = shell("exit 0").capture(&path(), &input).await.unwrap();
            assert_eq!(ended.status.code(), Some(0), "input that is not read is no error");
        }

        #[tokio::test]
        async fn a_dropped_future_kills_the_program() {
            let mut held = HeldPipe::new();
            let (environment, program) = (path(), shell(&format!("{}; exec sleep 1000", held.script())));
            tokio::select! {
                ended = program.capture(&environment, b"") => panic!("{ended:?}"),
                () = held.is_opened() => {}
            }
            assert!(held.is_closed().await, "the program survived");
        }

        #[tokio::test]
        async fn a_missing_program_is_an_error() {
            let program = Program { name: "no-such-program".into(), args: Vec::new() };
            assert_eq!(program.capture(&path(), b"").await.unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }
}
