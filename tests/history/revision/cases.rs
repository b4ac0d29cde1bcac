//! kubectl's own unit tests of the description of a template.

use harness::prelude::*;
use rollout2::render::template_text::pod_template_text;

/// Requires that the text of a template contains these lines.
fn has_lines(template: &Value, lines: &str) {
    let text = pod_template_text(template);
    assert!(text.contains(lines), "expected\n{lines}\nin\n{text}");
}

#[test]
fn annotations_and_containers_have_the_lines_of_kubectl() {
    let annotated = |annotations: Value| json!({"metadata": {"annotations": annotations}});
    let key = |value: &str| annotated(json!({"key": value}));
    let container = |fields: Value| json!({"spec": {"containers": [fields]}});
    let environment = |source: Value| container(json!({"envFrom": [source]}));
    let mount = |options: Value| {
        let mount = json!({"name": "mounted-volume", "mountPath": "/opt/"});
        container(json!({"volumeMounts": [merged(mount, &options)]}))
    };
    let list = json!({"memory": "4G", "cpu": "1k", "storage": "20G"});
    let listed = "      cpu:\t1k\n      memory:\t4G\n      storage:\t20G\n";
    let [at_140_bytes, at_141_bytes, cut] = [135, 136, 138].map(|length| "x".repeat(length));
    let last_applied = "kubectl.kubernetes.io/last-applied-configuration";
    for (template, lines) in [
        (
            annotated(json!({"col1": "one", "COL2": "two"})),
            "  Annotations:\tCOL2: two\n\tcol1: one\n  Containers:",
        ),
        (key(&at_140_bytes), &format!("  Annotations:\tkey: {at_140_bytes}\n  Containers:")),
        (key(&at_141_bytes), &format!("  Annotations:\tkey:\n\t  {at_141_bytes}\n  Containers:")),
        (key(&"x".repeat(300)), &format!("  Annotations:\tkey:\n\t  {cut}...\n  Containers:")),
        (
            key("value\nwith\nnewlines\n"),
            "  Annotations:\tkey:\n\t  value\n\t  with\n\t  newlines\n  Containers:",
        ),
        (annotated(json!({last_applied: "{}"})), "  Annotations:\t<none>\n  Containers:"),
        (annotated(json!({})), "  Labels:\t<none>\n  Containers:"),
        (environment(json!({"configMapRef": {"name": "a"}})), "      a\tConfigMap\tOptional: false\n"),
        (
            environment(json!({"prefix": "p_", "configMapRef": {"name": "a"}})),
            "      a\tConfigMap with prefix 'p_'\tOptional: false\n",
        ),
        (
            environment(json!({"configMapRef": {"name": "a", "optional": true}})),
            "    Environment Variables from:\n      a\tConfigMap\tOptional: true\n    Environment:\t<none>\n",
        ),
        (
            environment(json!({"secretRef": {"name": "a", "optional": true}})),
            "    Environment Variables from:\n      a\tSecret\tOptional: true\n    Environment:\t<none>\n",
        ),
        (
            environment(json!({"prefix": "p_", "secretRef": {"name": "a", "optional": true}})),
            "      a\tSecret with prefix 'p_'\tOptional: true\n",
        ),
        (
            container(json!({"command": ["sleep", "1000\n2000"], "args": ["time", "x\n"]})),
            "    Command:\n      sleep\n      1000\n      2000\n    Args:\n      time\n      x\n      \n",
        ),
        (
            container(json!({"resources": {"limits": list, "requests": list}})),
            &format!("    Limits:\n{listed}    Requests:\n{listed}"),
        ),
        (mount(json!({"readOnly": false})), "    Mounts:\n      /opt/ from mounted-volume (rw)\n"),
        (mount(json!({"readOnly": true})), "    Mounts:\n      /opt/ from mounted-volume (ro)\n"),
        (
            mount(json!({"subPath": "foo"})),
            "    Mounts:\n      /opt/ from mounted-volume (rw,path=\"foo\")\n",
        ),
        (
            container(json!({"volumeDevices": [{"name": "volume-device", "devicePath": "/dev/xvda"}]})),
            "    Mounts:\t<none>\n    Devices:\t<none>\n      /dev/xvda from volume-device\n",
        ),
    ] {
        has_lines(&template, lines);
    }
}

#[test]
fn the_spec_of_a_pod_has_the_lines_of_kubectl() {
    for (spec, lines) in [
        (
            json!({"tolerations": [
                {"operator": "Exists"},
                {"operator": "Exists", "effect": "NoSchedule"},
                {"key": "key0", "operator": "Exists"},
                {"key": "key1", "value": "value1"},
                {"key": "key2", "operator": "Equal", "value": "value2", "effect": "NoSchedule"},
                {"key": "key3", "value": "value3", "effect": "NoExecute", "tolerationSeconds": 300},
                {"key": "key4", "effect": "NoExecute", "tolerationSeconds": 60},
            ]}),
            "  Tolerations:\top=Exists\n\t:NoSchedule op=Exists\n\tkey0 op=Exists\n\tkey1=value1\n\t\
             key2=value2:NoSchedule\n\tkey3=value3:NoExecute for 300s\n\tkey4:NoExecute for 60s\n",
        ),
        (
            json!({"schedulingGroup": {"podGroupName": "workers"}}),
            "  SchedulingGroup:\n  PodGroupName:\tworkers\n",
        ),
    ] {
        has_lines(&json!({"spec": spec}), lines);
    }
}

/// kubectl has words for the sources of volumes that it knows, and for constraints. Here they are whole.
#[test]
fn volumes_and_topology_spread_constraints_are_yaml() {
    for (spec, lines) in [
        (
            json!({"volumes": [
                {"name": "tmp", "emptyDir": {}},
                {"name": "image", "image": {"pullPolicy": "IfNotPresent", "reference": "image"}},
                {"name": "p", "projected": {"sources": [{"secret": {"name": "one", "optional": true}}]}},
            ]}),
            "  Volumes:\n   tmp:\n    emptyDir: {}\n   image:\n    image:\n      pullPolicy: IfNotPresent\n      \
             reference: image\n   p:\n    projected:\n      sources:\n      - secret:\n          name: one\n          \
             optional: true\n",
        ),
        (
            json!({"topologySpreadConstraints": [
                {"maxSkew": 3, "topologyKey": "test2", "whenUnsatisfiable": "DoNotSchedule"},
            ]}),
            "  Topology Spread Constraints:\n    - maxSkew: 3\n      topologyKey: test2\n      \
             whenUnsatisfiable: DoNotSchedule\n",
        ),
    ] {
        has_lines(&json!({"spec": spec}), lines);
    }
}
