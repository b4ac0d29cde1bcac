//! Servers that are not API servers.

use harness::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::connection::failures::fails;

/// Serves one fixed response to every request and returns the address.
async fn serve(answer: impl Into<Vec<u8>>) -> String {
    let answer = answer.into();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 4096]).await;
            let _ = socket.write_all(&answer).await;
        }
    });
    address
}

#[tokio::test]
async fn each_foreign_response_has_its_own_message() {
    for (scheme, text, error, hint) in [
        (
            "http",
            "HTTP/1.1 302 Found\r\nlocation: https://login.corp/?token=secret\r\ncontent-length: 0\r\n\r\n",
            "does not respond like an API server: 302 Found",
            "a login proxy",
        ),
        (
            "http",
            "HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 18\r\n\r\n404 page not found",
            "404 Not Found, 404 page not found",
            "the address may be wrong",
        ),
        (
            "http",
            "HTTP/1.0 400 Bad Request\r\ncontent-type: text/plain\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
            "400 Bad Request, Client sent an HTTP request to an HTTPS server.",
            "the address may be wrong",
        ),
        ("https", "HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak TLS", "http://HOST:PORT"),
    ] {
        let address = serve(text).await;
        let mut kubeconfig = Cluster::recorded("shop").served().kubeconfig();
        kubeconfig["clusters"][0]["cluster"]["server"] = json!(format!("{scheme}://{address}"));
        kubeconfig["users"][0]["user"] = json!({});
        fails(&kubeconfig, error, hint).await;
    }
}

#[tokio::test]
async fn compressed_responses_are_decompressed() {
    // {"kind": "Status", "reason": "BadRequest", "message": "unpacked", ...}, packed by gzip.
    const PACKED: [u8; 112] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 37, 202, 49, 14, 128, 32, 12, 133, 225, 171, 144, 206, 14, 152,
        56, 57, 58, 120, 0, 77, 220, 27, 104, 12, 65, 1, 41, 184, 24, 239, 174, 13, 227, 251, 254, 247, 128,
        119, 193, 194, 168, 96, 45, 88, 42, 67, 167, 0, 147, 219, 40, 179, 139, 65, 252, 238, 197, 184, 213,
        127, 207, 232, 142, 154, 73, 48, 19, 114, 59, 77, 104, 23, 186, 42, 113, 17, 63, 137, 25, 119, 146,
        80, 67, 66, 227, 201, 10, 155, 104, 197, 6, 173, 223, 15, 148, 127, 221, 201, 119, 0, 0, 0,
    ];
    let mut answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        PACKED.len()
    )
    .into_bytes();
    answer.extend(PACKED);
    let address = serve(answer).await;
    let mut kubeconfig = Cluster::recorded("shop").served().kubeconfig();
    kubeconfig["clusters"][0]["cluster"]["server"] = json!(format!("http://{address}"));
    kubeconfig["users"][0]["user"] = json!({});
    let output = Run::of(["history", "deploy/web"]).kubeconfig(&kubeconfig).run_async().await;
    output.reports_last("returned 400 Bad Request: unpacked\n").ends(1);
}
