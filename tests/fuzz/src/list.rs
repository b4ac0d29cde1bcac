//! Responses to a list request: pages, gzip, and any other content.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Mutex, OnceLock};

use rollout2::exit::Exit;
use rollout2::world::{Clock, Signals, Stream, World};

/// The separator of two responses.
const SEPARATOR: &[u8] = b"\n=====\n";

/// The next responses of the server, last one first. The final response is repeated.
static ANSWERS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Runs one command that lists, against these responses.
pub fn one(data: &[u8]) {
    let mut answers: Vec<Vec<u8>> = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) {
        answers.push(rest[..at].to_vec());
        rest = &rest[at + SEPARATOR.len()..];
    }
    answers.push(rest.to_vec());
    answers.reverse();
    *ANSWERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = answers;
    let args = ["kubectl-rollout2", "history", "deployments", "-n", "n", "--request-timeout", "2s"];
    let mut world = World {
        environment: [("KUBECONFIG", kubeconfig())].into_iter().collect(),
        host: None,
        processes: rollout2::world::process::Processes::Unknown,
        clock: Clock::System,
        stdin: Box::new(std::io::empty()),
        stdin_is_terminal: false,
        signals: Signals::Ignored,
        out: Stream::new(std::io::sink(), None),
        err: Stream::new(std::io::sink(), None),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| panic!("{error}"));
    let exit = runtime.block_on(rollout2::run(args.map(Into::into), &mut world));
    assert!([Exit::Done, Exit::Error].contains(&exit), "{exit:?}");
}

/// Returns the path of a kubeconfig for the server of this process.
fn kubeconfig() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("{error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                answer(socket);
            }
        });
        let path = std::env::current_exe().unwrap_or_default().with_extension("kubeconfig");
        let text = format!(
            "current-context: c\nclusters: [{{name: c, cluster: {{server: 'http://{address}'}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: ''}}}}]\n"
        );
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{error}"));
        path.display().to_string()
    })
}

fn answer(mut socket: std::net::TcpStream) {
    let _ = socket.read(&mut [0; 16_384]);
    let mut answers = ANSWERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let body = if answers.len() > 1 { answers.pop() } else { answers.first().cloned() }.unwrap_or_default();
    drop(answers);
    let encoding = if body.starts_with(&[0x1f, 0x8b]) { "content-encoding: gzip\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n{encoding}content-length: {}\r\n\r\n",
        body.len()
    );
    let _ = socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(&body));
}
