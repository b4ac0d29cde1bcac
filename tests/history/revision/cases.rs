//! The unit tests of kubectl for the description of a template, in the order of the upstream file.

use rollout2::render::template_text::pod_template_text;
use serde_json::{Value, json};

/// Returns the text of a template with these annotations, from their heading to the containers.
fn annotations(annotations: &Value) -> String {
    let text = pod_template_text(&json!({"metadata": {"annotations": annotations}}));
    let (_, text) = text.split_once("  Annotations:\t").expect("a heading");
    text.split_once("  Containers:").expect("containers").0.to_owned()
}

/// Returns the text of a container below its name.
fn container(fields: &Value) -> String {
    let text = pod_template_text(&json!({"spec": {"containers": [fields]}}));
    let (_, text) = text.split_once("   :\n").expect("a container");
    text.split_once("  Volumes:").expect("volumes").0.to_owned()
}

/// Returns the text of a pod spec after the volumes.
fn spec(spec: &Value) -> String {
    let text = pod_template_text(&json!({"spec": spec}));
    text.split_once("  Volumes:").expect("volumes").1.to_owned()
}

fn assert_contains(text: &str, lines: &str) {
    assert!(text.contains(lines), "expected\n{lines}\nin\n{text}");
}

#[test]
fn case_93_annotations_are_sorted_by_bytes() {
    assert_eq!(annotations(&json!({"col1": "one", "COL2": "two"})), "COL2: two\n\tcol1: one\n");
}

#[test]
fn case_94_an_annotation_of_140_bytes_stays_on_one_line() {
    let value = "x".repeat(140 - "key: ".len());
    assert_eq!(annotations(&json!({"key": value})), format!("key: {value}\n"));
}

#[test]
fn case_95_an_annotation_of_141_bytes_is_printed_below_its_name() {
    let value = "x".repeat(141 - "key: ".len());
    assert_eq!(annotations(&json!({"key": value})), format!("key:\n\t  {value}\n"));
}

#[test]
fn case_96_a_longer_annotation_is_cut_at_138_bytes() {
    let cut = "x".repeat(138);
    assert_eq!(annotations(&json!({"key": "x".repeat(300)})), format!("key:\n\t  {cut}...\n"));
}

#[test]
fn case_97_each_line_of_an_annotation_is_a_line() {
    let value = "value\nwith\nnewlines\n";
    assert_eq!(annotations(&json!({"key": value})), "key:\n\t  value\n\t  with\n\t  newlines\n");
}

#[test]
fn case_98_a_template_without_annotations() {
    let only = json!({"kubectl.kubernetes.io/last-applied-configuration": "{}"});
    assert_eq!(annotations(&only), "<none>\n");
    let text = pod_template_text(&json!({"metadata": {"annotations": {}}}));
    assert!(!text.contains("Annotations"), "{text}");
}

#[test]
fn case_99_sources_of_the_environment() {
    for (source, line) in [
        (json!({"configMapRef": {"name": "a123"}}), "a123\tConfigMap\tOptional: false"),
        (
            json!({"prefix": "p_", "configMapRef": {"name": "a123"}}),
            "a123\tConfigMap with prefix 'p_'\tOptional: false",
        ),
        (json!({"configMapRef": {"name": "a123", "optional": true}}), "a123\tConfigMap\tOptional: true"),
        (json!({"secretRef": {"name": "a123", "optional": true}}), "a123\tSecret\tOptional: true"),
        (
            json!({"prefix": "p_", "secretRef": {"name": "a123", "optional": true}}),
            "a123\tSecret with prefix 'p_'\tOptional: true",
        ),
    ] {
        let text = container(&json!({"envFrom": [source]}));
        assert_contains(
            &text,
            &format!("    Environment Variables from:\n      {line}\n    Environment:\t<none>\n"),
        );
    }
}

#[test]
fn case_100_each_word_of_a_command_has_its_line() {
    let text = container(&json!({"command": ["sleep", "1000\n2000"], "args": ["time", "x\n"]}));
    assert_contains(
        &text,
        "    Command:\n      sleep\n      1000\n      2000\n    Args:\n      time\n      x\n      \n",
    );
}

#[test]
fn case_101_resources_are_sorted_by_name() {
    let list = json!({"memory": "4G", "cpu": "1000", "storage": "20G"});
    let text = container(&json!({"resources": {"limits": list, "requests": list}}));
    let lines = "      cpu:\t1k\n      memory:\t4G\n      storage:\t20G\n";
    assert_contains(&text, &format!("    Limits:\n{lines}    Requests:\n{lines}"));
}

#[test]
fn case_102_mounts_have_their_options() {
    for (mount, how) in [
        (json!({"readOnly": false}), "rw"),
        (json!({"readOnly": true}), "ro"),
        (json!({"subPath": "foo"}), "rw,path=\"foo\""),
    ] {
        let mut mount = mount;
        mount["name"] = "mounted-volume".into();
        mount["mountPath"] = "/opt/".into();
        let text = container(&json!({"volumeMounts": [mount]}));
        assert_contains(&text, &format!("    Mounts:\n      /opt/ from mounted-volume ({how})\n"));
    }
}

#[test]
fn case_103_devices() {
    let text = container(&json!({"volumeDevices": [{"name": "volume-device", "devicePath": "/dev/xvda"}]}));
    assert_contains(&text, "    Mounts:\t<none>\n    Devices:\t<none>\n      /dev/xvda from volume-device\n");
}

#[test]
fn case_104_tolerations() {
    let text = spec(&json!({"tolerations": [
        {"operator": "Exists"},
        {"operator": "Exists", "effect": "NoSchedule"},
        {"key": "key0", "operator": "Exists"},
        {"key": "key1", "value": "value1"},
        {"key": "key2", "operator": "Equal", "value": "value2", "effect": "NoSchedule"},
        {"key": "key3", "value": "value3", "effect": "NoExecute", "tolerationSeconds": 300},
        {"key": "key4", "effect": "NoExecute", "tolerationSeconds": 60},
    ]}));
    assert_contains(
        &text,
        "  Tolerations:\top=Exists\n\t:NoSchedule op=Exists\n\tkey0 op=Exists\n\tkey1=value1\n\t\
         key2=value2:NoSchedule\n\tkey3=value3:NoExecute for 300s\n\tkey4:NoExecute for 60s\n",
    );
}

#[test]
fn case_105_spread_constraints_with_and_without_a_selector() {
    let text = spec(&json!({"topologySpreadConstraints": [
        {"maxSkew": 3, "topologyKey": "topology.kubernetes.io/test2", "whenUnsatisfiable": "DoNotSchedule"},
        {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/test1", "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"key1": "val1", "key2": "val2"}}},
    ]}));
    assert_contains(
        &text,
        "  Topology Spread Constraints:\ttopology.kubernetes.io/test1:ScheduleAnyway when max skew 1 is exceeded \
         for selector key1=val1,key2=val2\n  \ttopology.kubernetes.io/test2:DoNotSchedule when max skew 3 is \
         exceeded\n",
    );
}

#[test]
fn case_106_an_image_volume() {
    let image = json!({"name": "image", "image": {"pullPolicy": "IfNotPresent", "reference": "image"}});
    let text = spec(&json!({"volumes": [image]}));
    let kind = "Image (a container image or OCI artifact)";
    assert_contains(
        &text,
        &format!("   image:\n    Type:\t{kind}\n    Reference:\timage\n    PullPolicy:\tIfNotPresent\n"),
    );
}

#[test]
fn case_107_a_projected_secret_can_be_optional() {
    let sources = json!([{"secret": {"name": "one", "optional": true}}, {"secret": {"name": "two"}}]);
    let text = spec(&json!({"volumes": [{"name": "p", "projected": {"sources": sources}}]}));
    assert_contains(
        &text,
        "    SecretName:\tone\n    Optional:\ttrue\n    SecretName:\ttwo\n    Optional:\tfalse\n",
    );
}

#[test]
fn a_scheduling_group() {
    let text = spec(&json!({"schedulingGroup": {"podGroupName": "workers"}}));
    assert!(text.ends_with("  SchedulingGroup:\n  PodGroupName:\tworkers\n"), "{text}");
}
