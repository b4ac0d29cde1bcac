//! Which protocol is spoken, over how many connections, and what a server does to them.

use std::collections::BTreeSet;

use harness::Ended;
use http::Version;
use simcluster::Protocols;
use simcluster::fault::{Fault, FaultAction, Requests};

use crate::changes::narration;
use crate::setup::Ground;

async fn history(ground: &Ground) -> Ended {
    ground.run(["history", "deployment/web"]).run_here().await
}

fn connections(ground: &Ground) -> usize {
    let requests = ground.cluster.requests();
    requests.iter().map(|request| request.connection).collect::<BTreeSet<_>>().len()
}

#[tokio::test]
async fn alpn_selects_the_protocol() {
    for (protocols, version) in [
        (Protocols::Http2AndHttp1, Version::HTTP_2),
        (Protocols::Http1, Version::HTTP_11),
        (Protocols::NoAlpn, Version::HTTP_11),
    ] {
        let ground = Ground::over(protocols, "shop");
        let ended = history(&ground).await;
        assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0), "{protocols:?}");
        let requests = ground.cluster.requests();
        assert!(requests.iter().all(|request| request.version == version), "{protocols:?}");
        // HTTP/2 has the name in a separate field.
        let host =
            if version == Version::HTTP_2 { String::new() } else { ground.served.address().to_string() };
        assert!(requests.iter().all(|request| request.header("host") == host), "{protocols:?}");
    }
}

#[tokio::test]
async fn a_closed_connection_is_replaced_silently() {
    for protocols in Protocols::EACH {
        for (answers, expected) in [(1, 2), (usize::MAX, 3)] {
            let ground = Ground::over(protocols, "shop");
            let leaves = Fault::on(Requests::any(), FaultAction::LeaveConnection).times(answers);
            ground.cluster.fault(leaves);
            let ended = ground.run(["undo", "deployment/web", "--dry-run=server"]).run_here().await;
            assert_eq!((narration(&ended).as_str(), ended.exit), ("", 0), "{protocols:?}");
            assert_eq!(ground.lines().len(), 4, "{protocols:?}: nothing is sent twice");
            assert!(connections(&ground) >= expected, "{protocols:?}: {}", connections(&ground));
        }
    }
}

/// The responses on the other streams of the connection continue.
#[tokio::test]
async fn a_reset_http2_stream_keeps_the_connection() {
    let ground = Ground::of("shop");
    ground.cluster.fault(Fault::on(Requests::any(), FaultAction::ResetStream).once());
    let ended = history(&ground).await;
    assert_eq!((ended.stderr.lines().count(), ended.exit), (1, 0), "{}", ended.stderr);
    assert_eq!((ground.lines().len(), connections(&ground)), (4, 1));
}
