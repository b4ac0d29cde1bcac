//! The volume claim template of an ephemeral volume.

use serde_json::Value;

use super::field::{IndentedText, member, part, words};
use super::metadata;

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Writes the lines of an ephemeral volume. kubectl indents each part of a line, so spaces follow the tabs.
pub(super) fn describe(text: &mut IndentedText, ephemeral: &Value) {
    let Some(claim) = part(ephemeral, "volumeClaimTemplate") else { return };
    let (metadata, spec) = (member(claim, "metadata"), member(claim, "spec"));
    let volume = words(spec, "volumeName");
    let annotations = member(metadata, "annotations");
    let beta_class = member(annotations, BETA_CLASS).as_str();
    text.field(2, "StorageClass", beta_class.unwrap_or_else(|| words(spec, "storageClassName")));
    text.field(2, "Volume", volume);
    let labels = metadata::pairs(member(metadata, "labels"));
    text.listed("    Labels:\t    ", "        \t    ", &labels);
    let annotations = metadata::annotations(annotations, "    ");
    text.listed("    Annotations:\t    ", "    \t    ", &annotations);
    // The capacity and the access modes come from a status, which a template does not have.
    text.field(2, "Capacity", if volume.is_empty() { "" } else { "0" });
    text.field(2, "Access Modes", "");
    if let Some(mode) = member(spec, "volumeMode").as_str() {
        text.field(2, "VolumeMode", mode);
    }
    data_source(text, spec);
}

fn data_source(text: &mut IndentedText, spec: &Value) {
    let Some(source) = part(spec, "dataSource") else { return };
    text.line(2, "DataSource:");
    if let Some(group) = member(source, "apiGroup").as_str() {
        text.field(3, "APIGroup", group);
    }
    text.field(3, "Kind", words(source, "kind"));
    text.field(3, "Name", words(source, "name"));
}
