//! Responses and files without an end. The program runs as a process with limited memory. If it allocates more, it
//! aborts without an exit code.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use harness::files::{directory, file};

/// The address space of the process in KiB: twice the limit of a command, and more for the rest of the program.
const ADDRESS_SPACE: u64 = 3 << 20;

struct ProcessOutput {
    stderr: String,
    exit: Option<i32>,
    took: Duration,
}

/// Runs the program with limited memory.
fn run(args: &[&str], kubeconfig: Option<&Path>) -> ProcessOutput {
    let begun = Instant::now();
    let mut command = Command::new("/bin/sh");
    let script = format!("ulimit -v {ADDRESS_SPACE}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_kubectl-rollout2")]).args(args).env_clear();
    if let Some(kubeconfig) = kubeconfig {
        command.env("KUBECONFIG", kubeconfig);
    }
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    ProcessOutput { stderr, exit: output.status.code(), took: begun.elapsed() }
}

/// Starts a server that reads one request from each connection and responds with `answer`. Returns its kubeconfig.
fn serve(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> std::path::PathBuf {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let Ok(mut socket) = socket else { continue };
            let mut request = [0; 16_384];
            let length = socket.read(&mut request).unwrap_or_default();
            let head = String::from_utf8_lossy(&request[..length]).into_owned();
            answer(head.lines().next().unwrap_or_default(), &mut socket);
        }
    });
    let kubeconfig = json!({
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": format!("http://{address}")}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "", "namespace": "shop"}}],
    });
    file("kubeconfig", &kubeconfig.to_string())
}

/// Writes the head of a response, and then the same bytes until the reader closes the connection.
fn endless(head: &str, first: &[u8], again: &[u8], socket: &mut TcpStream) {
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n{head}\r\n");
    let again = again.repeat(1 + (1 << 16) / again.len());
    if socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(first)).is_ok() {
        while socket.write_all(&again).is_ok() {}
    }
}

fn page(body: &str, socket: &mut TcpStream) {
    let length = body.len();
    let _ = write!(
        socket,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
}

/// Returns the beginning of a gzip stream of blanks, and 13 bytes that add 2064 blanks each time. The stream is one
/// block of deflate with fixed codes (RFC 1951, 3.2.6): a blank, and then copies of 258 bytes at distance 1.
fn bomb() -> (Vec<u8>, Vec<u8>) {
    let mut bits: Vec<bool> = vec![false, true, false]; // not the last block, fixed codes
    let code = |value: u16, length: u32| (0..length).rev().map(move |bit| value >> bit & 1 == 1);
    bits.extend(code(0x30 + u16::from(b' '), 8));
    let again: Vec<bool> = code(0b1100_0101, 8).chain(code(0, 5)).collect();
    bits.extend(&again);
    let bytes = |bits: &[bool]| -> Vec<u8> {
        bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |all, bit| all << 1 | u8::from(*bit))).collect()
    };
    let head = [31, 139, 8, 0, 0, 0, 0, 0, 0, 255];
    ([head.to_vec(), bytes(&bits)].concat(), bytes(&again.repeat(8)))
}

fn assert_fails(output: &ProcessOutput, error: &str) {
    assert!(output.stderr.contains(error), "{error:?} is not in {}", output.stderr);
    assert_eq!(output.exit, Some(1), "{}", output.stderr);
}

#[test]
fn an_endless_response_is_an_error() {
    let one =
        serve(|_, socket| endless("", b"{\"items\": [", b"{\"a\": \"bcdefghijklmnopqrstuvwxyz\"},", socket));
    assert_fails(&run(&["history", "deployment/web"], Some(&one)), "has more than 256 MiB");
    assert_fails(&run(&["history", "deployments"], Some(&one)), "has more than 256 MiB");
    assert_fails(&run(&["status", "deployments", "--timeout", "20s"], Some(&one)), "has more than 256 MiB");
}

#[test]
fn a_decompression_bomb_is_an_error() {
    let bomb = serve(|_, socket| {
        let (first, again) = bomb();
        endless("content-encoding: gzip\r\n", &first, &again, socket);
    });
    assert_fails(&run(&["history", "deployments"], Some(&bomb)), "has more than 256 MiB");
}

#[test]
fn an_endless_list_ends_with_the_request_timeout() {
    let pages = AtomicU64::new(0);
    let kubeconfig = serve(move |_, socket| {
        let token = pages.fetch_add(1, Ordering::Relaxed).to_string();
        let item = json!({"metadata": {"name": "a", "namespace": "shop"}, "spec": {}});
        let items: Vec<_> = (0..20).map(|_| &item).collect();
        page(&json!({"items": items, "metadata": {"continue": token}}).to_string(), socket);
    });
    for verb in ["history", "status"] {
        let output = run(&[verb, "deployments", "--request-timeout", "500ms"], Some(&kubeconfig));
        assert_fails(&output, "did not send a complete response within 500ms");
        assert!(output.took < Duration::from_secs(20), "{:?}", output.took);
    }
}

#[test]
fn empty_or_circular_pages_end_with_the_request_timeout() {
    for (items, token) in
        [(json!([]), None), (json!([{"metadata": {"name": "a", "namespace": "shop"}}]), Some("same"))]
    {
        let kubeconfig = serve(move |line, socket| {
            let next = "x".repeat(line.len());
            let token = token.unwrap_or(&next);
            page(&json!({"items": items, "metadata": {"continue": token}}).to_string(), socket);
        });
        let output = run(&["history", "deployments", "--request-timeout", "500ms"], Some(&kubeconfig));
        assert_fails(&output, "did not send a complete response within 500ms");
    }
}

#[test]
fn a_list_of_tiny_objects_is_an_error_before_it_exhausts_memory() {
    let many = serve(|_, socket| {
        page(&format!("{{\"metadata\": {{}}, \"items\": [{}1]}}", "{\"a\":1},".repeat(2_000_000)), socket);
    });
    assert_fails(&run(&["history", "deployments"], Some(&many)), "takes more than 1 GiB of memory");
}

#[test]
fn an_endless_list_of_small_objects_is_an_error() {
    let item = r#"{"metadata":{"name":"a","namespace":"shop"},"spec":{}},"#;
    let items = item.repeat(20_000);
    let pages = AtomicU64::new(0);
    let endless = serve(move |_, socket| {
        let token = pages.fetch_add(1, Ordering::Relaxed);
        let items = items.trim_end_matches(',');
        page(&format!(r#"{{"metadata": {{"continue": "{token}"}}, "items": [{items}]}}"#), socket);
    });
    let output = run(&["history", "deployments", "--request-timeout", "10m"], Some(&endless));
    assert_fails(&output, "has more than 500,000 objects");
    let hint = "hint: select fewer with -n or -l; to count them: kubectl get ";
    assert!(output.stderr.contains(hint), "{}", output.stderr);
}

#[test]
fn endless_files_are_refused() {
    let tiny = directory().join("tiny.json");
    let object = r#""kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "default"}"#;
    let text = format!("{{{object}, \"spec\": [{}1]}}", "{\"a\":1},".repeat(2_000_000));
    std::fs::write(&tiny, text).unwrap();
    let unused = serve(|_, _| ());
    let sparse = directory().join("sparse.json");
    std::fs::File::create(&sparse).unwrap().set_len((1 << 30) + 1).unwrap();
    let (tiny, sparse) = (tiny.to_str().unwrap(), sparse.to_str().unwrap());
    for (args, error) in [
        (&["history", "all", "--from", tiny][..], "too large for the memory"),
        (&["status", "-f", tiny], "too large for the memory"),
        (&["history", "all", "--from", sparse], "it has more than 1 GiB"),
        (&["status", "-f", "/dev/zero"], "it has more than 1 GiB"),
    ] {
        let output = run(args, Some(&unused));
        assert!(output.stderr.contains(error), "{args:?}: {error:?} is not in {}", output.stderr);
        assert_eq!(output.exit, Some(2), "{args:?}: {}", output.stderr);
    }
}
