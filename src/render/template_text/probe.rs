//! Probes.

use std::fmt::Write;

use serde_json::Value;

use super::field::{list, number, part, port, texts, words};

/// Formats a probe: `ACTION delay=..s timeout=..s period=..s #success=.. #failure=..`
pub(super) fn line(probe: &Value) -> String {
    format!(
        "{} delay={}s timeout={}s period={}s #success={} #failure={}",
        action(probe),
        number(probe, "initialDelaySeconds"),
        number(probe, "timeoutSeconds"),
        number(probe, "periodSeconds"),
        number(probe, "successThreshold"),
        number(probe, "failureThreshold"),
    )
}

fn action(probe: &Value) -> String {
    if let Some(exec) = part(probe, "exec") {
        format!("exec {}", list(&texts(exec, "command")))
    } else if let Some(get) = part(probe, "httpGet") {
        format!("http-get {}", url(get))
    } else if let Some(socket) = part(probe, "tcpSocket") {
        format!("tcp-socket {}:{}", words(socket, "host"), port(socket, "port"))
    } else if let Some(grpc) = part(probe, "grpc") {
        format!("grpc <pod>:{} {}", number(grpc, "port"), words(grpc, "service"))
    } else {
        "unknown".to_owned()
    }
}

/// Formats the URL of an HTTP probe as Go's `net/url` does. An empty host stays empty.
fn url(get: &Value) -> String {
    let scheme = words(get, "scheme").to_lowercase();
    let port = port(get, "port");
    let host = match words(get, "host") {
        host if port.is_empty() => host.to_owned(),
        host if host.contains([':', '%']) => format!("[{host}]:{port}"),
        host => format!("{host}:{port}"),
    };
    let mut url = String::new();
    if !scheme.is_empty() {
        url = format!("{scheme}:");
    }
    let path = words(get, "path");
    if !host.is_empty() || !(scheme.is_empty() || path.is_empty()) {
        url.push_str("//");
        url.push_str(&escaped(&host, b"!$&'()*+,;=:[]<>\""));
    }
    if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
        url.push('/');
    }
    url.push_str(&if path == "*" { path.to_owned() } else { escaped(path, b"$&+,/:;=@") });
    url
}

/// Escapes all bytes as `%XX`, except letters, digits, `-_.~` and the `allowed` ones.
fn escaped(text: &str, allowed: &[u8]) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || allowed.contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn urls_look_as_go_writes_them() {
        for (get, written) in [
            (json!({"scheme": "HTTP", "port": 80, "path": "/"}), "http://:80/"),
            (json!({"scheme": "HTTPS", "port": "web", "host": "h", "path": "ok"}), "https://h:web/ok"),
            (json!({"scheme": "HTTP", "port": 80, "path": "/a?b=c d"}), "http://:80/a%3Fb=c%20d"),
            (json!({"scheme": "HTTP", "port": 80, "host": "::1"}), "http://[::1]:80"),
            (json!({"scheme": "HTTP", "port": ""}), "http:"),
            (json!({"port": 80, "path": "/x"}), "//:80/x"),
            (json!({}), "//:0"),
        ] {
            assert_eq!(url(&get), written, "{get}");
        }
    }

    #[test]
    fn actions_are_printed_as_in_kubectl() {
        for (probe, written) in [
            (json!({"exec": {}}), "exec []"),
            (json!({"tcpSocket": {"port": "http"}}), "tcp-socket :http"),
            (json!({"grpc": {"port": 5}}), "grpc <pod>:5 "),
            (json!({"exec": "not an object"}), "unknown"),
            (Value::Null, "unknown"),
        ] {
            assert_eq!(action(&probe), written, "{probe}");
        }
    }
}
