//! A temporary directory, for files that another program reads.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use super::Environment;

/// A temporary directory that only this user can read. It is removed when dropped.
#[derive(Debug)]
pub struct TempDir(PathBuf);

/// The number of names that are tried.
const MAX_ATTEMPTS: u32 = 1000;

impl TempDir {
    /// Creates the directory in `TMPDIR`, or in the system's default.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn new(environment: &Environment) -> io::Result<Self> {
        let parent = environment.get("TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let mut last = io::ErrorKind::AlreadyExists.into();
        for attempt in 0..MAX_ATTEMPTS {
            let path = parent.join(format!("rollout2-{}-{attempt}", std::process::id()));
            match private().create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => last = taken,
                Err(error) => return Err(error),
            }
        }
        Err(last)
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
}
