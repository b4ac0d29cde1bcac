//! A directory for files that another program is to read.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use super::Environment;

/// A new directory that nobody else may look into, gone with everything in it when this is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

/// How many names are tried; more are taken only by someone who means harm.
const TRIES: u32 = 1000;

impl Scratch {
    /// Makes the directory in `TMPDIR`, or where the system has such files.
    ///
    /// # Errors
    /// When it cannot be made there.
    pub fn new(environment: &Environment) -> io::Result<Self> {
        let parent = environment.get("TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let mut last = io::ErrorKind::AlreadyExists.into();
        for attempt in 0..TRIES {
            let path = parent.join(format!("rollout2-{}-{attempt}", std::process::id()));
            match private().create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => last = taken,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Writes a file into a directory of this one, and returns that directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, directory: &str, file: &str, text: &str) -> io::Result<PathBuf> {
        let directory = self.0.join(directory);
        private().recursive(true).create(&directory)?;
        fs::write(directory.join(file), text)?;
        Ok(directory)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is the system's to remove, as with all temporary files.
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
    fn a_scratch_directory_is_private_and_goes_away() {
        let environment = Environment::default();
        let (one, other) = (Scratch::new(&environment).unwrap(), Scratch::new(&environment).unwrap());
        assert_ne!(one.path(), other.path());
        let directory = one.write("FROM-1", "file", "text").unwrap();
        assert_eq!(fs::read_to_string(directory.join("file")).unwrap(), "text");
        #[cfg(unix)]
        {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&fs::metadata(one.path()).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o700);
        }
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists());
    }
}
