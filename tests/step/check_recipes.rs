//! The shell recipes of docs/: the checks of docs/step.md against a small server, and the script for Helm.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use harness::files::{directory, file, program};
use harness::write_script;
use serde_json::json;

use crate::step::setup::{changed, replicas_on, run_of};

/// Returns the scripts of a page in docs/.
fn scripts(page: &str) -> Vec<String> {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page)).unwrap();
    let mut scripts: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        let line = line.strip_prefix("    ").filter(|line| is_inside || line.starts_with("#!"));
        match line {
            Some(line) if is_inside => scripts.last_mut().unwrap().extend([line, "\n"]),
            Some(line) => scripts.push(format!("{line}\n")),
            None => {}
        }
        is_inside = line.is_some();
    }
    scripts
}

/// Serves one response for every request. Returns the address of the server.
fn serve(status: u16, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let response =
        format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 8192];
            let length = stream.read(&mut request).unwrap();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            // The recipe of Datadog must send the keys.
            let has_keys = !request.contains("/monitor/") || request.contains("DD-API-KEY: k");
            if has_keys {
                stream.write_all(response.as_bytes()).unwrap();
            }
        }
    });
    address
}

#[expect(clippy::print_stderr, reason = "a skipped test prints a note")]
fn are_installed(programs: &[&str]) -> bool {
    let has = |program: &&str| Command::new(program).arg("--version").output().is_ok();
    let are_there = programs.iter().all(has);
    if !are_there {
        eprintln!("skipped: one of {programs:?} is not there");
    }
    are_there
}

#[tokio::test(start_paused = true)]
async fn each_check_passes_and_fails_its_batch() {
    if !are_installed(&["curl", "jq"]) {
        return;
    }
    let prometheus =
        |value: &str| json!({"status": "success", "data": {"result": [{"value": [0, value]}]}}).to_string();
    let nothing = json!({"status": "success", "data": {"result": []}}).to_string();
    let monitor = |state: &str| json!({"overall_state": state}).to_string();
    let found = scripts("step.md");
    let [http, promql, proxied, datadog] = found.as_slice() else { panic!("{} recipes", found.len()) };
    let headers = file("headers", "DD-API-KEY: k\nDD-APPLICATION-KEY: a\n");
    // kubectl passes a query on to the server as the API server does.
    let bin = directory();
    let kubectl = "[ \"$1 $2\" = 'get --raw' ] || exit 2\n\
        case $3 in /api/v1/namespaces/monitoring/services/http:prometheus:9090/proxy/api/v1/query?query=sum*) ;; *) exit 2 ;; esac\n\
        exec curl -fsS \"$PROMETHEUS_URL$3\"";
    write_script(&bin.join("kubectl"), kubectl);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    for (name, script, status, body, exit) in [
        ("http", http, 200, "ok".to_owned(), 0),
        ("http", http, 404, "no".to_owned(), 4),
        ("promql", promql, 200, prometheus("0.002"), 0),
        ("promql", promql, 200, prometheus("0.02"), 4),
        ("promql", promql, 200, prometheus("NaN"), 4),
        ("promql", promql, 200, nothing, 4),
        ("promql", promql, 400, "{}".to_owned(), 4),
        ("proxied", proxied, 200, prometheus("0.002"), 0),
        ("proxied", proxied, 200, prometheus("0.02"), 4),
        ("proxied", proxied, 503, "{}".to_owned(), 4),
        ("datadog", datadog, 200, monitor("OK"), 0),
        ("datadog", datadog, 200, monitor("No Data"), 4),
        ("datadog", datadog, 403, "{}".to_owned(), 4),
    ] {
        let check = program(name, script);
        let address = serve(status, &body);
        let environment = [
            ("PATH", path.as_str()),
            ("SHOP_URL", &address),
            ("PROMETHEUS_URL", &address),
            ("DD_URL", &address),
            ("DD_HEADERS", headers.to_str().unwrap()),
            ("DD_MONITOR", "7"),
        ];
        let (cluster, db) = changed(2, &json!({})).await;
        let args = ["step", "statefulset/db", "--check", check.to_str().unwrap()];
        let output = run_of(&cluster, &args, &environment).await;
        let updated = replicas_on(&cluster, &db, "app:2.0");
        assert_eq!((output.exit, updated), (exit, 1), "{name} {status} {body}\n{}", output.transcript);
    }
}

#[test]
fn the_script_for_helm_ends_with_the_code_of_status() {
    let found = scripts("pipelines.md");
    let [helm] = found.as_slice() else { panic!("{} recipes", found.len()) };
    let (script, bin) = (program("deploy", helm), directory());
    let log = script.with_file_name("log");
    for (upgrade, status, commands) in [
        (0, 0, "helm upgrade,kubectl rollout2,"),
        (0, 3, "helm upgrade,kubectl rollout2,"),
        (0, 4, "helm upgrade,kubectl rollout2,helm rollback,"),
        (0, 5, "helm upgrade,kubectl rollout2,"),
        (9, 0, "helm upgrade,"),
    ] {
        let stub = |name: &str, exit: i32| {
            let text = format!("printf '%s %s,' {name} \"$1\" >> '{}'\nexit {exit}", log.display());
            write_script(&bin.join(name), &text);
        };
        stub("helm", upgrade);
        stub("kubectl", status);
        let _ = std::fs::remove_file(&log);
        let run = Command::new("/bin/sh").arg(&script).env("PATH", &bin).output().unwrap();
        let expected = if upgrade == 0 { status } else { 1 };
        assert_eq!(run.status.code(), Some(expected), "{run:?}");
        assert_eq!(std::fs::read_to_string(&log).unwrap(), commands, "{status}");
    }
}
