//! What a test stands on: a served cluster, a kubeconfig that leads to it, and runs of ours.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use harness::{Run, data};
use serde_json::Value;
use simcluster::{Served, ServerCertificate, SimCluster, User};

/// A cluster that holds a recorded snapshot and is served on a socket of its own.
pub(crate) struct Ground {
    pub(crate) cluster: SimCluster,
    pub(crate) served: Served,
}

impl Ground {
    /// The cluster of a recorded namespace. It must be made on a test's runtime.
    pub(crate) fn of(namespace: &str) -> Self {
        Self::with(namespace, ServerCertificate::Good, &[])
    }

    /// The same, with a certificate that a client may not like, and further users.
    pub(crate) fn with(namespace: &str, certificate: ServerCertificate, users: &[User]) -> Self {
        let snapshot = std::fs::read_to_string(data().join(namespace).join("snapshot.json")).unwrap();
        let snapshot: Value = serde_json::from_str(&snapshot).unwrap();
        Self::serving(&snapshot, certificate, users)
    }

    /// The cluster of a list of objects.
    pub(crate) fn holding(list: &Value) -> Self {
        Self::serving(list, ServerCertificate::Good, &[])
    }

    fn serving(list: &Value, certificate: ServerCertificate, users: &[User]) -> Self {
        let builder = SimCluster::builder().snapshot(list).unwrap();
        let cluster = users.iter().cloned().fold(builder, simcluster::Builder::user).build();
        let served = cluster.serve_with(certificate).unwrap();
        Self { cluster, served }
    }

    /// The kubeconfig of an administrator with a client certificate, in namespace `shop`.
    pub(crate) fn kubeconfig(&self) -> Value {
        self.served.kubeconfig("admin", "shop").unwrap()
    }

    /// A command line that reaches this cluster through that kubeconfig.
    pub(crate) fn run<A: Into<std::ffi::OsString>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        run_with(&self.kubeconfig(), args)
    }

    /// The requests so far, each as its method and path.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.cluster.requests().iter().map(simcluster::Recorded::line).collect()
    }
}

/// A command line that reads a kubeconfig.
pub(crate) fn run_with<A: Into<std::ffi::OsString>>(
    kubeconfig: &Value,
    args: impl IntoIterator<Item = A>,
) -> Run {
    let path = file("kubeconfig", &kubeconfig.to_string());
    Run::of(args).env("KUBECONFIG", path)
}

/// A file with this content, in the directory that cargo keeps for tests.
pub(crate) fn file(name: &str, content: &str) -> PathBuf {
    let path = directory().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// A directory that no other test has.
pub(crate) fn directory() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("live-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}
