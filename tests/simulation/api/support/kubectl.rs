//! The real kubectl, if it is installed.

use std::{path::PathBuf, process::Stdio};

use simcluster::{Clock, Served, SimCluster};
use tokio::process::Command;

use super::snapshot;

/// A kubectl for one served cluster, with its own directory.
pub(crate) struct Kubectl {
    directory: PathBuf,
    _served: Served,
}

/// The output of one run of kubectl.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Kubectl {
    /// `None` if kubectl is not installed, after a message.
    pub(crate) async fn against(cluster: &SimCluster) -> Option<Self> {
        let found = Command::new("kubectl")
            .args(["version", "--client"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .await;
        if !found.is_ok_and(|status| status.success()) {
            #[expect(
                clippy::print_stderr,
                reason = "whoever reads the test's output should know what was not tested"
            )]
            {
                eprintln!("skipped: kubectl is not on this machine");
            }
            return None;
        }
        let served = cluster.serve().unwrap();
        // No other server has this port, so the directory is unique.
        let directory =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kubectl-{}", served.address().port()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        served.write_kubeconfig(&directory.join("config"), "shop").unwrap();
        Some(Self { directory, _served: served })
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> Run {
        let output = Command::new("kubectl")
            .arg("--kubeconfig")
            .arg(self.directory.join("config"))
            .arg("--cache-dir")
            .arg(self.directory.join("cache"))
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    pub(crate) async fn ok(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments).await;
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        run.out
    }

    /// Writes a file for kubectl to read, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Kubectl {
    fn drop(&mut self) {
        // Files that cannot be removed stay in the build directory.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The recorded shop with nodes, on the system clock, which kubectl uses.
pub(crate) fn live_shop() -> SimCluster {
    SimCluster::builder().clock(Clock::System).snapshot(&snapshot("shop")).unwrap().nodes(3).build()
}
