//! JSON that is generated from bytes. Every byte is one decision, so that a fuzzer can learn its effect.

use serde_json::{Map, Value};

use super::diff::SECRET;

/// The names with a meaning in a diff.
const NAMES: [&str; 32] = [
    "metadata",
    "spec",
    "containers",
    "initContainers",
    "env",
    "name",
    "value",
    "valueFrom",
    "image",
    "labels",
    "annotations",
    "limits",
    "requests",
    "resources",
    "ports",
    "containerPort",
    "protocol",
    "volumes",
    "configMap",
    "tolerations",
    "key",
    "effect",
    "args",
    "command",
    "volumeMounts",
    "mountPath",
    "envFrom",
    "$patch",
    "pod-template-hash",
    "kubectl.kubernetes.io/restartedAt",
    "livenessProbe",
    "items",
];

/// Strings with a special meaning in JSON or YAML, or similar to one.
const TEXTS: [&str; 16] = [
    "A",
    "B",
    "a#2",
    "true",
    "8080",
    "",
    "100m",
    "0.1",
    "1Gi",
    "web:1",
    "a\nb\n",
    "\u{1b}[31m",
    "\u{202e}",
    " x: y",
    "TCP",
    "2026-11-20T15:00:00Z",
];

/// A generator of JSON from the remaining bytes.
pub(crate) struct JsonGenerator<'a> {
    data: std::slice::Iter<'a, u8>,
    depth: usize,
}

impl<'a> JsonGenerator<'a> {
    /// Returns a generator at the first byte.
    pub(crate) fn of(data: &'a [u8]) -> Self {
        Self { data: data.iter(), depth: 0 }
    }

    /// Returns the next value; null after the last byte.
    pub(crate) fn value(&mut self) -> Value {
        let choice = self.byte();
        let is_deep = self.depth > 12;
        match choice % 12 {
            1 => Value::from(choice > 127),
            2 => Value::from(i64::from(self.byte()) - 1),
            3 => Value::from(f64::from(self.byte()) / 8.0),
            4..=6 => self.text().into(),
            7..=8 if !is_deep => self.nested(|tree| (0..tree.byte() % 5).map(|_| tree.value()).collect()),
            9..=11 if !is_deep => self.nested(Self::object),
            _ => Value::Null,
        }
    }

    /// Returns an object. Only values with secret-looking names contain the secret.
    fn object(&mut self) -> Value {
        let mut members = Map::new();
        for _ in 0..self.byte() % 6 {
            let name = self.name();
            let value = self.value();
            members.insert(name, value);
        }
        if self.byte().is_multiple_of(4) && !members.contains_key("env") {
            let text = format!("{SECRET}{}", self.byte());
            let name = ["DB_PASSWORD", "apiKey", "TOKEN"][usize::from(self.byte()) % 3];
            members.insert(
                "env".to_owned(),
                [serde_json::json!({"name": name, "value": text})].into_iter().collect(),
            );
        }
        members.into()
    }

    fn name(&mut self) -> String {
        match self.byte() {
            250.. => self.text(),
            choice => NAMES[usize::from(choice) % NAMES.len()].to_owned(),
        }
    }

    fn text(&mut self) -> String {
        match self.byte() {
            choice @ 0..200 => TEXTS[usize::from(choice) % TEXTS.len()].to_owned(),
            choice => {
                let bytes: Vec<u8> = (0..choice % 8).map(|_| self.byte()).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
        }
    }

    fn nested(&mut self, generate: impl FnOnce(&mut Self) -> Value) -> Value {
        self.depth += 1;
        let value = generate(self);
        self.depth -= 1;
        value
    }

    fn byte(&mut self) -> u8 {
        self.data.next().copied().unwrap_or_default()
    }
}
