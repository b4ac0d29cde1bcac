//! The test environment: a served simulated cluster, its kubeconfig, and runs of the program.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use harness::{Run, snapshot};
use serde_json::Value;
use simcluster::{Protocols, Served, ServerCertificate, SimCluster, User};

/// A simulated cluster that is served on a socket.
pub(crate) struct TestServer {
    pub(crate) cluster: SimCluster,
    pub(crate) served: Served,
}

impl TestServer {
    /// Serves the snapshot of a recorded namespace. Call it on the runtime of the test.
    pub(crate) fn of(namespace: &str) -> Self {
        Self::with(namespace, ServerCertificate::Good, &[])
    }

    /// Serves the snapshot of a recorded namespace over these protocols only.
    pub(crate) fn over(protocols: Protocols, namespace: &str) -> Self {
        Self::serving(&snapshot(namespace), ServerCertificate::Good, protocols, &[])
    }

    /// Serves the snapshot of a recorded namespace with another server certificate and more users.
    pub(crate) fn with(namespace: &str, certificate: ServerCertificate, users: &[User]) -> Self {
        Self::serving(&snapshot(namespace), certificate, Protocols::default(), users)
    }

    /// Serves a cluster with these objects.
    pub(crate) fn holding(list: &Value) -> Self {
        Self::serving(list, ServerCertificate::Good, Protocols::default(), &[])
    }

    /// Serves the cluster of a builder.
    pub(crate) fn built(builder: simcluster::Builder) -> Self {
        Self::serve(builder, ServerCertificate::Good, Protocols::default())
    }

    fn serving(list: &Value, certificate: ServerCertificate, protocols: Protocols, users: &[User]) -> Self {
        let builder = SimCluster::builder().snapshot(list).unwrap();
        Self::serve(users.iter().cloned().fold(builder, simcluster::Builder::user), certificate, protocols)
    }

    fn serve(builder: simcluster::Builder, certificate: ServerCertificate, protocols: Protocols) -> Self {
        let cluster = builder.build();
        let served = cluster.serve_with(certificate, protocols).unwrap();
        Self { cluster, served }
    }

    /// Returns the kubeconfig of an administrator with a client certificate, in namespace `shop`.
    pub(crate) fn kubeconfig(&self) -> Value {
        self.served.kubeconfig("admin", "shop").unwrap()
    }

    /// Returns a run with the kubeconfig of the administrator.
    pub(crate) fn run<A: Into<std::ffi::OsString>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        run_with(&self.kubeconfig(), args)
    }

    /// Returns the requests so far, each as method and path.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.cluster.requests().iter().map(simcluster::RecordedRequest::line).collect()
    }
}

/// Returns a run with this kubeconfig.
pub(crate) fn run_with<A: Into<std::ffi::OsString>>(
    kubeconfig: &Value,
    args: impl IntoIterator<Item = A>,
) -> Run {
    let path = file("kubeconfig", &kubeconfig.to_string());
    Run::of(args).env("KUBECONFIG", path)
}

/// Writes a file in cargo's directory for tests.
pub(crate) fn file(name: &str, content: &str) -> PathBuf {
    let path = directory().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Writes a shell script that can be run as a program.
pub(crate) fn program(name: &str, script: &str) -> PathBuf {
    let path = directory().join(name);
    harness::write_script(&path, script);
    path
}

/// Creates a directory that no other test uses.
pub(crate) fn directory() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("live-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}
