//! Containers: image, command, resources, probes, environment and mounts.

use serde_json::Value;

use super::field::{IndentedText, as_stored, flag, items, list, member, number, part, port, texts, words};
use crate::model::api::quantity::Quantity;
use crate::model::text::untrusted::percent_encoded;

/// Writes a list of containers.
pub(super) fn describe(text: &mut IndentedText, label: &str, containers: &[&Value]) {
    text.line(1, format_args!("{label}:{}", if containers.is_empty() { " <none>" } else { "" }));
    for container in containers {
        text.line(0, format_args!("   {}:", words(container, "name")));
        text.field(2, "Image", words(container, "image"));
        ports(text, container);
        seccomp(text, container);
        lines(text, "Command", &texts(container, "command"));
        lines(text, "Args", &texts(container, "args"));
        let resources = member(container, "resources");
        quantities(text, "Limits", member(resources, "limits"));
        quantities(text, "Requests", member(resources, "requests"));
        probes(text, container);
        environment_sources(text, container);
        environment(text, container);
        mounts(text, container);
    }
}

fn ports(text: &mut IndentedText, container: &Value) {
    for (label, number_name) in [("Port", "containerPort"), ("Host Port", "hostPort")] {
        let ports = items(container, "ports");
        let ports: Vec<_> = ports.iter().map(|port| port_words(port, number_name)).collect();
        match ports.join(", ") {
            none if none.is_empty() => text.field(2, label, "<none>"),
            several if several.contains(',') => text.field(2, &format!("{label}s"), several),
            one => text.field(2, label, one),
        }
    }
}

fn port_words(port: &Value, number_name: &str) -> String {
    let numbered = format!("{}/{}", number(port, number_name), words(port, "protocol"));
    match words(port, "name") {
        "" => numbered,
        name => format!("{numbered} ({name})"),
    }
}

fn seccomp(text: &mut IndentedText, container: &Value) {
    let Some(profile) = part(member(container, "securityContext"), "seccompProfile") else { return };
    text.field(2, "SeccompProfile", words(profile, "type"));
    if words(profile, "type") == "Localhost" {
        text.field(3, "LocalhostProfile", words(profile, "localhostProfile"));
    }
}

/// Writes each line of each element on its own line.
fn lines(text: &mut IndentedText, label: &str, elements: &[&str]) {
    if elements.is_empty() {
        return;
    }
    text.line(2, format_args!("{label}:"));
    for line in elements.iter().flat_map(|element| element.split('\n')) {
        text.line(3, line);
    }
}

fn quantities(text: &mut IndentedText, label: &str, resources: &Value) {
    let Some(resources) = resources.as_object().filter(|resources| !resources.is_empty()) else { return };
    text.line(2, format_args!("{label}:"));
    let mut names: Vec<_> = resources.iter().collect();
    names.sort_unstable_by_key(|(name, _)| *name);
    for (name, written) in names {
        text.field(3, name, as_stored(written));
    }
}

fn probes(text: &mut IndentedText, container: &Value) {
    let probes =
        [("Liveness", "livenessProbe"), ("Readiness", "readinessProbe"), ("Startup", "startupProbe")];
    for (label, name) in probes {
        if let Some(probe) = part(container, name) {
            text.field(2, label, probe_line(probe));
        }
    }
}

fn mounts(text: &mut IndentedText, container: &Value) {
    let mut mounts = items(container, "volumeMounts");
    let none = if mounts.is_empty() { "\t<none>" } else { "" };
    text.line(2, format_args!("Mounts:{none}"));
    mounts.sort_by_key(|mount| words(mount, "mountPath"));
    for mount in mounts {
        let mode = if flag(mount, "readOnly") { "ro" } else { "rw" };
        let sub_path = match words(mount, "subPath") {
            "" => String::new(),
            path => format!(",path={path:?}"),
        };
        let (path, volume) = (words(mount, "mountPath"), words(mount, "name"));
        text.line(3, format_args!("{path} from {volume} ({mode}{sub_path})"));
    }
    let mut devices = items(container, "volumeDevices");
    if devices.is_empty() {
        return;
    }
    // As in kubectl, which has a bug here: the heading of the devices says `<none>` if there are no mounts.
    text.line(2, format_args!("Devices:{none}"));
    devices.sort_by_key(|device| words(device, "devicePath"));
    for device in devices {
        text.line(3, format_args!("{} from {}", words(device, "devicePath"), words(device, "name")));
    }
}

/// Writes `envFrom`.
fn environment_sources(text: &mut IndentedText, container: &Value) {
    let sources = items(container, "envFrom");
    if sources.is_empty() {
        return;
    }
    text.line(2, "Environment Variables from:");
    for source in sources {
        let (kind, of) = match (part(source, "configMapRef"), part(source, "secretRef")) {
            (Some(map), _) => ("ConfigMap", map),
            (None, Some(secret)) => ("Secret", secret),
            (None, None) => ("", &Value::Null),
        };
        let prefix = match words(source, "prefix") {
            "" => String::new(),
            prefix => format!(" with prefix '{prefix}'"),
        };
        let (name, optional) = (words(of, "name"), flag(of, "optional"));
        text.line(3, format_args!("{name}\t{kind}{prefix}\tOptional: {optional}"));
    }
}

/// Writes `env`. As in kubectl, a variable with an unknown source is left out.
fn environment(text: &mut IndentedText, container: &Value) {
    let variables = items(container, "env");
    text.line(2, format_args!("Environment:{}", if variables.is_empty() { "\t<none>" } else { "" }));
    for variable in variables {
        let value = match part(variable, "valueFrom") {
            None => Some(words(variable, "value").replace('\n', "\n      \t")),
            Some(source) => source_words(source, container),
        };
        if let Some(value) = value {
            text.field(3, words(variable, "name"), value);
        }
    }
}

fn source_words(source: &Value, container: &Value) -> Option<String> {
    if let Some(field) = part(source, "fieldRef") {
        // A template has no value for the field; only a pod has.
        return Some(format!(" ({}:{})", words(field, "apiVersion"), words(field, "fieldPath")));
    }
    if let Some(field) = part(source, "resourceFieldRef") {
        let resource = words(field, "resource");
        return Some(format!("{} ({resource})", resource_value(field, container)));
    }
    if let Some(secret) = part(source, "secretKeyRef") {
        let (key, name) = (words(secret, "key"), words(secret, "name"));
        let optional = flag(secret, "optional");
        return Some(format!("<set to the key '{key}' in secret '{name}'>\tOptional: {optional}"));
    }
    if let Some(map) = part(source, "configMapKeyRef") {
        let (key, name) = (words(map, "key"), words(map, "name"));
        let optional = flag(map, "optional");
        return Some(format!("<set to the key '{key}' of config map '{name}'>\tOptional: {optional}"));
    }
    None
}

/// Returns the value of a resource such as `limits.cpu`, in units of the divisor, rounded up. kubectl reads it from
/// the container with the variable, even if `containerName` is another container.
fn resource_value(field: &Value, container: &Value) -> String {
    let resource = words(field, "resource");
    let Some((list, name)) = resource.split_once('.') else { return String::new() };
    let is_known = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
    if !is_known || !matches!(list, "limits" | "requests") {
        return String::new();
    }
    let resources = member(member(container, "resources"), list);
    let amount = Quantity::read(member(resources, name)).unwrap_or_else(Quantity::zero);
    let divisor = Quantity::read(member(field, "divisor")).unwrap_or_else(Quantity::one);
    match amount.divided_by(&divisor) {
        // Without a limit, a container may use all that the node can allocate.
        0 if matches!(resource, "limits.cpu" | "limits.memory") => "node allocatable".to_owned(),
        count => count.to_string(),
    }
}

/// Formats a probe: `ACTION delay=..s timeout=..s period=..s #success=.. #failure=..`
fn probe_line(probe: &Value) -> String {
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
    let (scheme, port) = (words(get, "scheme").to_lowercase(), port(get, "port"));
    let host = match words(get, "host") {
        host if host.contains([':', '%']) => format!("[{host}]"),
        host => host.to_owned(),
    };
    let path = words(get, "path");
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{host}:{port}{slash}{}", percent_encoded(path, "$&+,/:;=@"))
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
