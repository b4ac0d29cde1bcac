//! The test environment: a served simulated cluster, its kubeconfig, and runs of the program.

use harness::{Run, snapshot};
use serde_json::Value;
use simcluster::{Protocols, Served, ServerCertificate, SimCluster, User};

use crate::files::file;

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
