//! Volumes, and the claim template of an ephemeral one.

use serde_json::Value;

use crate::model::api::quantity::Quantity;

use super::field::{
    self, IndentedText, annotations, flag, items, member, number, pairs, part, shortened, texts, words,
};

/// The volume sources that kubectl describes, in the order in which it looks for them.
///
/// A source has a line with the member of the volume that holds it, and kubectl's name of its type. The lines below it
/// begin with a tab. They have what kubectl prints before the value, a tab, and the member with its format.
const SOURCES: &str = include_str!("volume_sources.txt");

/// Writes the volumes.
pub(super) fn describe(text: &mut IndentedText, volumes: &[&Value]) {
    if volumes.is_empty() {
        text.line(1, "Volumes:\t<none>");
        return;
    }
    text.line(1, "Volumes:");
    for volume in volumes {
        text.line(0, format_args!("   {}:", words(volume, "name")));
        describe_source(text, volume);
    }
}

fn describe_source(text: &mut IndentedText, volume: &Value) {
    let mut lines = SOURCES.lines();
    let mut headings = lines.by_ref().filter(|line| !line.starts_with('\t'));
    let found = headings.find_map(|line| {
        let (name, type_) = line.split_once(": ")?;
        Some((name, type_, part(volume, name)?))
    });
    let Some((name, type_, source)) = found else {
        text.line(1, "<unknown>");
        return;
    };
    text.field(2, "Type", type_);
    for line in lines.map_while(|line| line.strip_prefix('\t')) {
        let (label, field) = line.split_once('\t').unwrap_or((line, ""));
        text.line(2, format_args!("{label}\t{}", value(source, field)));
    }
    match name {
        "ephemeral" => describe_claim(text, source),
        "downwardAPI" => describe_items(text, source),
        "projected" => describe_projected(text, source),
        "csi" => describe_attributes(text, source),
        _ => {}
    }
}

/// Formats the value of a field: its member, and the format unless it is a string.
fn value(source: &Value, field: &str) -> String {
    let (name, format) = field.split_once(' ').unwrap_or((field, ""));
    let none = || "<none>".to_owned();
    match format {
        "or-none" => member(source, name).as_str().map_or_else(none, str::to_owned),
        "number" => number(source, name).to_string(),
        "number-or-none" => member(source, name).as_i64().map_or_else(none, |number| number.to_string()),
        "flag" => flag(source, name).to_string(),
        "list" => field::list(&texts(source, name)),
        "joined" => texts(source, name).join(", "),
        "map" => field::map(member(source, name)),
        "reference" => field::reference(source, name),
        "size" => match Quantity::read(member(source, name)) {
            Some(size) if size > Quantity::zero() => field::as_stored(member(source, name)),
            _ => "<unset>".to_owned(),
        },
        _ => words(source, name).to_owned(),
    }
}

fn describe_items(text: &mut IndentedText, source: &Value) {
    text.line(2, "Items:");
    for item in items(source, "items") {
        for (reference, name) in [("fieldRef", "fieldPath"), ("resourceFieldRef", "resource")] {
            if let Some(reference) = part(item, reference) {
                text.line(3, format_args!("{} -> {}", words(reference, name), words(item, "path")));
            }
        }
    }
}

/// Writes the sources of a projected volume. kubectl shows nothing for trust bundles and pod certificates.
fn describe_projected(text: &mut IndentedText, source: &Value) {
    for source in items(source, "sources") {
        if let Some(secret) = part(source, "secret") {
            text.field(2, "SecretName", words(secret, "name"));
            text.field(2, "Optional", flag(secret, "optional"));
        } else if part(source, "downwardAPI").is_some() {
            text.field(2, "DownwardAPI", true);
        } else if let Some(map) = part(source, "configMap") {
            text.field(2, "ConfigMapName", words(map, "name"));
            text.field(2, "Optional", flag(map, "optional"));
        } else if let Some(token) = part(source, "serviceAccountToken") {
            text.field(2, "TokenExpirationSeconds", number(token, "expirationSeconds"));
        }
    }
}

fn describe_attributes(text: &mut IndentedText, source: &Value) {
    let attributes = pairs(member(source, "volumeAttributes"));
    let indented: Vec<_> = attributes.iter().map(|pair| format!("    {}", shortened(pair, 140))).collect();
    text.listed("    VolumeAttributes:\t", "        \t", &indented);
}

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Writes the lines of an ephemeral volume. kubectl indents each part of a line, so spaces follow the tabs.
fn describe_claim(text: &mut IndentedText, ephemeral: &Value) {
    let Some(claim) = part(ephemeral, "volumeClaimTemplate") else { return };
    let (metadata, spec) = (member(claim, "metadata"), member(claim, "spec"));
    let volume = words(spec, "volumeName");
    let notes = member(metadata, "annotations");
    let beta_class = member(notes, BETA_CLASS).as_str();
    text.field(2, "StorageClass", beta_class.unwrap_or_else(|| words(spec, "storageClassName")));
    text.field(2, "Volume", volume);
    text.listed("    Labels:\t    ", "        \t    ", &pairs(member(metadata, "labels")));
    text.listed("    Annotations:\t    ", "    \t    ", &annotations(notes, "    "));
    // The capacity and the access modes come from a status, which a template does not have.
    text.field(2, "Capacity", if volume.is_empty() { "" } else { "0" });
    text.field(2, "Access Modes", "");
    if let Some(mode) = member(spec, "volumeMode").as_str() {
        text.field(2, "VolumeMode", mode);
    }
    let Some(source) = part(spec, "dataSource") else { return };
    text.line(2, "DataSource:");
    if let Some(group) = member(source, "apiGroup").as_str() {
        text.field(3, "APIGroup", group);
    }
    text.field(3, "Kind", words(source, "kind"));
    text.field(3, "Name", words(source, "name"));
}
