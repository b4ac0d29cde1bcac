//! The protocol, the number of connections, and connections that the server closes or resets.

use std::collections::BTreeSet;

use harness::prelude::*;
use http::Version;
use simcluster::{Protocols, ServerCertificate};

use crate::writes::messages;

async fn history(server: &Cluster) -> Output {
    server.command(["history", "deployment/web"]).run_async().await
}

fn connections(server: &Cluster) -> usize {
    let requests = server.sim.requests();
    requests.iter().map(|request| request.connection).collect::<BTreeSet<_>>().len()
}

#[tokio::test]
async fn alpn_selects_the_protocol() {
    for (protocols, version) in [
        (Protocols::Http2AndHttp1, Version::HTTP_2),
        (Protocols::Http1, Version::HTTP_11),
        (Protocols::NoAlpn, Version::HTTP_11),
    ] {
        let server = Cluster::recorded("shop").served_with(ServerCertificate::Good, protocols);
        let output = history(&server).await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{protocols:?}");
        let requests = server.sim.requests();
        assert!(requests.iter().all(|request| request.version == version), "{protocols:?}");
        // HTTP/2 has the name in a separate field.
        let host =
            if version == Version::HTTP_2 { String::new() } else { server.server().address().to_string() };
        assert!(requests.iter().all(|request| request.header("host") == host), "{protocols:?}");
    }
}

#[tokio::test]
async fn a_closed_connection_is_replaced_silently() {
    for protocols in Protocols::EACH {
        for (answers, expected) in [(1, 2), (usize::MAX, 3)] {
            let server = Cluster::recorded("shop").served_with(ServerCertificate::Good, protocols);
            let leaves = Fault::on(Requests::any(), FaultAction::LeaveConnection).times(answers);
            server.sim.fault(leaves);
            let output = server.command(["undo", "deployment/web", "--dry-run=server"]).run_async().await;
            assert_eq!((messages(&output).as_str(), output.exit), ("", 0), "{protocols:?}");
            assert_eq!(server.lines().len(), 5, "{protocols:?}: nothing is sent twice");
            assert!(connections(&server) >= expected, "{protocols:?}: {}", connections(&server));
        }
    }
}

/// The responses on the other streams of the connection continue.
#[tokio::test]
async fn a_reset_http2_stream_keeps_the_connection() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(Requests::any(), FaultAction::ResetStream).once());
    let output = history(&server).await;
    assert_eq!((output.stderr.lines().count(), output.exit), (1, 0), "{}", output.stderr);
    assert_eq!((server.lines().len(), connections(&server)), (4, 1));
}
