//! Containers: image, command, resources, probes, environment and mounts.

use serde_json::Value;

use crate::model::api::quantity::Quantity;

use super::environment;
use super::field::IndentedText;
use super::field::{flag, items, member, number, part, quoted, texts, words};
use super::probe;

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
        environment::sources(text, container);
        environment::variables(text, container);
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
        // kubectl fails for an invalid quantity. Printing it as it is helps more.
        let raw = || written.as_str().map_or_else(|| written.to_string(), str::to_owned);
        text.field(3, name, Quantity::read(written).map_or_else(raw, |quantity| quantity.to_string()));
    }
}

fn probes(text: &mut IndentedText, container: &Value) {
    let probes =
        [("Liveness", "livenessProbe"), ("Readiness", "readinessProbe"), ("Startup", "startupProbe")];
    for (label, name) in probes {
        if let Some(probe) = part(container, name) {
            text.field(2, label, probe::line(probe));
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
            path => format!(",path={}", quoted(path)),
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
