//! Containers: images, configuration, commands, crashes.

use harness::prelude::*;

use super::{crashed, of_container, only, waiting};
use crate::status::objects::{broken_pod, cause_ids, document, warning, workload};

/// kubelet: `pkg/kubelet/images/image_manager.go` and types.go. The text after `ErrImagePull: `
/// comes from the container runtime; see `runtime_messages`.
#[test]
fn images_that_cannot_be_pulled_are_reported() {
    for (reason, message, expected) in [
        (
            "ImagePullBackOff",
            r#"Back-off pulling image "x:2": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/x:2": failed to resolve reference "docker.io/library/x:2": docker.io/library/x:2: not found"#,
            ("image-not-found", false, "ImagePullBackOff, no image x:2"),
        ),
        (
            "ErrImagePull",
            r#"failed to pull and unpack image "docker.io/library/x:2": failed to resolve reference "docker.io/library/x:2": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed"#,
            ("image-unauthorized", false, "ImagePullBackOff, not allowed to pull x:2"),
        ),
        (
            "ErrImagePull",
            r#"failed to do request: Head "https://registry-1.docker.io/v2/x/manifests/2": dial tcp 199.96.61.1:443: connect: connection timed out"#,
            ("registry-unreachable", true, "ImagePullBackOff, cannot reach the registry of x:2"),
        ),
        (
            "ErrImagePull",
            "429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit.",
            ("registry-rate-limit", true, "ImagePullBackOff, the registry limits pulls of x:2"),
        ),
        (
            "SignatureValidationFailed",
            "image pull failed for x:2 because the signature validation failed",
            (
                "image-signature-invalid",
                false,
                "SignatureValidationFailed, image x:2 is not signed as it must be",
            ),
        ),
        ("ErrImagePull", "layer is corrupt", ("image-pull", true, "ImagePullBackOff, cannot pull x:2")),
        (
            "ErrImageNeverPull",
            r#"Container image "x:2" is not present with pull policy of Never"#,
            ("image-not-found", false, "ErrImageNeverPull, image x:2 is not on the node"),
        ),
        (
            "InvalidImageName",
            r#"Failed to apply default image tag "x:2": couldn't parse image name "x:2": invalid reference format"#,
            ("image-name-invalid", false, "InvalidImageName x:2"),
        ),
    ] {
        let document = of_container(&waiting(reason, message));
        let (id, heals, summary, evidence) = only(&document);
        assert_eq!((id, heals, summary), expected);
        assert!(evidence.is_some_and(|evidence| message.ends_with(evidence)), "{evidence:?}");
    }
}

/// An older kubelet: only the event has the reason.
#[test]
fn an_old_kubelet_reports_the_reason_in_an_event() {
    let pod = broken_pod(
        "Deployment",
        "web-2-a",
        2,
        &waiting("ImagePullBackOff", r#"Back-off pulling image "x:2""#),
    );
    let failed = r#"Failed to pull image "x:2": rpc error: code = Unknown desc = Error response from daemon: pull access denied for x, repository does not exist or may require 'docker login'"#;
    let event = warning("uid-web-2-a", "Failed", failed);
    let document = document("Deployment", &[workload("Deployment"), pod, event]);
    let (id, _, _, evidence) = only(&document);
    assert_eq!(id, "image-unauthorized");
    assert_eq!(
        evidence.unwrap(),
        "Error response from daemon: pull access denied for x, repository does not exist or may require 'docker login'"
    );
}

/// kubelet: `pkg/kubelet/kubelet_pods.go`, `security_context_others.go`, `util/manager/watch_based_manager.go`;
/// the API server's `KIND "NAME" not found`.
#[test]
fn missing_configuration_is_reported() {
    for (message, expected) in [
        (r#"configmap "cfg" not found"#, ("missing-configmap", false, r#"configmap "cfg" not found"#, None)),
        (r#"secret "tls" not found"#, ("missing-secret", false, r#"secret "tls" not found"#, None)),
        (
            "couldn't find key url in ConfigMap n/cfg",
            ("missing-key", false, "couldn't find key url in ConfigMap n/cfg", None),
        ),
        (
            "couldn't find key pass in Secret n/tls",
            ("missing-key", false, "couldn't find key pass in Secret n/tls", None),
        ),
        (
            r#"container has runAsNonRoot and image will run as root (pod: "web-2-a_n(u)", container: app)"#,
            (
                "config-error",
                false,
                "CreateContainerConfigError",
                Some(
                    r#"container has runAsNonRoot and image will run as root (pod: "web-2-a_n(u)", container: app)"#,
                ),
            ),
        ),
        (
            "failed to sync configmap cache: timed out waiting for the condition",
            (
                "config-cache",
                true,
                "CreateContainerConfigError",
                Some("failed to sync configmap cache: timed out waiting for the condition"),
            ),
        ),
    ] {
        assert_eq!(only(&of_container(&waiting("CreateContainerConfigError", message))), expected);
    }
}

/// containerd (reported in `lightspeed-core/lightspeed-stack`#226) and CRI-O (`opencontainers/runc`#4713)
/// with runc; kubelet: `pkg/kubelet/kuberuntime/kuberuntime_container.go` for the reasons.
#[test]
fn missing_commands_are_reported() {
    let runc = r#"failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "-c": executable file not found in $PATH"#;
    let document = of_container(&crashed("StartError", 128, runc));
    let (id, heals, summary, _) = only(&document);
    assert_eq!((id, heals, summary), ("command-not-found", false, r#"command "-c" not found"#));

    let crio = r#"container create failed: runc create failed: unable to start container process: exec: "/app": permission denied"#;
    let document = of_container(&waiting("CreateContainerError", crio));
    assert_eq!(only(&document).2, r#"command "/app" is not executable"#);

    let document = of_container(&waiting("RunContainerError", "context deadline exceeded"));
    let expected = ("container-start", true, "cannot be started", Some("context deadline exceeded"));
    assert_eq!(only(&document), expected);
}

/// A container that runs and is not ready yet, after attempts that failed.
#[test]
fn a_container_that_was_started_at_last_has_no_cause() {
    let ending =
        json!({"terminated": {"reason": "StartError", "exitCode": 128, "message": "exec: \"x\": not found"}});
    for restarts in [1, 4] {
        let document = of_container(&json!({
            "state": {"running": {"startedAt": "2026-11-20T13:59:59Z"}}, "restartCount": restarts, "lastState": ending,
        }));
        assert_eq!(cause_ids(&document), [""; 0], "{document}");
    }
}

/// kubelet: the status of a terminated container (`lastState.terminated`), with the termination message
/// or, with `FallbackToLogsOnError`, the end of its log.
#[test]
fn crash_loops_are_reported() {
    for (container, expected) in [
        (
            crashed("Error", 1, "panic: DB_URL is not set\n\ngoroutine 1 [running]:\n"),
            ("crash-loop", false, "CrashLoopBackOff, exit 1", Some("panic: DB_URL is not set")),
        ),
        (crashed("Completed", 0, ""), ("crash-loop", false, "CrashLoopBackOff, exit 0", None)),
        (crashed("Error", 139, ""), ("crash-loop", false, "CrashLoopBackOff, exit 139 (SIGSEGV)", None)),
        (crashed("OOMKilled", 137, ""), ("out-of-memory", false, "OOMKilled, exit 137", None)),
        (
            // The container terminated for the first time and will be restarted, so it may recover.
            json!({"state": {"terminated": {"reason": "Error", "exitCode": 2}}}),
            ("crash-loop", true, "crashed, exit 2", None),
        ),
        (
            json!({"state": {"terminated": {"reason": "Completed", "exitCode": 0}}}),
            ("crash-loop", true, "completed, exit 0", None),
        ),
        (
            // The container was restarted and is not ready yet: still the same crash loop.
            json!({
                "state": {"running": {"startedAt": "2026-11-20T13:59:59Z"}}, "restartCount": 4,
                "lastState": {"terminated": {"reason": "Error", "exitCode": 2}},
            }),
            ("crash-loop", false, "crashed, exit 2", None),
        ),
    ] {
        assert_eq!(only(&of_container(&container)), expected);
    }
}

#[test]
fn an_oom_kill_shows_the_memory_limit() {
    let limits = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "app", "image": "x:3", "resources": {"limits": {"memory": "64Mi"}}},
    ]}}}});
    let workload = merged(workload("Deployment"), &limits);
    let revision = merged(crate::status::objects::revision("Deployment", 3), &limits);
    let pod = broken_pod("Deployment", "web-3-a", 3, &crashed("OOMKilled", 137, ""));
    assert_eq!(
        only(&document("Deployment", &[workload, revision, pod])).2,
        "OOMKilled, exit 137, memory limit 64Mi"
    );
}

/// The kubelet sometimes reports `Error` for a container that exceeds its limit. A failed probe has the same exit code.
#[test]
fn a_kill_is_one_for_memory_only_without_probes() {
    let probe = json!({"livenessProbe": {"tcpSocket": {"port": 80}}});
    for (probe, id) in [(json!({}), "out-of-memory"), (probe, "crash-loop")] {
        let container = json!({"name": "app", "image": "x:3", "resources": {"limits": {"memory": "64Mi"}}});
        let spec = json!({"spec": {"template": {"spec": {"containers": [merged(container, &probe)]}}}});
        let workload = merged(workload("Deployment"), &spec);
        let revision = merged(crate::status::objects::revision("Deployment", 3), &spec);
        let pod = broken_pod("Deployment", "web-3-a", 3, &crashed("Error", 137, ""));
        assert_eq!(only(&document("Deployment", &[workload, revision, pod])).0, id);
    }
}

#[test]
fn a_failing_init_container_is_reported_instead_of_the_waiting_containers() {
    let init = merged(crashed("Error", 1, "no route to db"), &json!({"name": "migrate"}));
    let pod = broken_pod("Deployment", "web-2-a", 2, &waiting("PodInitializing", ""));
    let pod = merged(pod, &json!({"status": {"initContainerStatuses": [init]}}));
    let document = document("Deployment", &[workload("Deployment"), pod]);
    let expected = ("init-crash", false, "init container, CrashLoopBackOff, exit 1", Some("no route to db"));
    assert_eq!(only(&document), expected);
    assert_eq!(document["causes"][0]["container"], "migrate");
}

/// A container with `restartPolicy: Never` ends its pod, and the ReplicaSet replaces the pod at once.
#[test]
fn pods_that_ended_and_were_replaced_count_as_restarts() {
    let ended = |name: &str, finished: &str| {
        let ending = json!({"exitCode": 1, "reason": "Error", "startedAt": finished, "finishedAt": finished});
        let pod = broken_pod("Deployment", name, 2, &json!({"state": {"terminated": ending}}));
        merged(pod, &json!({"status": {"phase": "Failed"}}))
    };
    let recent = ["2026-11-20T13:59:50Z", "2026-11-20T13:59:55Z", "2026-11-20T13:59:59Z"];
    let mut objects: Vec<_> =
        recent.iter().zip(["a", "b", "c"]).map(|(time, name)| ended(name, time)).collect();
    objects.push(workload("Deployment"));
    let status = document("Deployment", &objects);
    assert_eq!(only(&status), ("crash-loop", false, "crashed, exit 1", None));
    assert_eq!((&status["causes"][0]["restarts"], &status["causes"][0]["pods"]), (&json!(3), &json!(3)));

    let old = document("Deployment", &[workload("Deployment"), ended("a", "2026-11-20T13:50:00Z")]);
    assert_eq!(cause_ids(&old), [""; 0], "the pods since then did not crash");
}

/// Recorded on Kubernetes 1.36: three resizes with `resizePolicy: RestartContainer` within 12 seconds. Other changes of the
/// spec increment the generation too.
#[test]
fn restarts_by_resizes_are_no_crash_loop() {
    for (subresource, ids) in [("resize", &[][..]), ("ephemeralcontainers", &["crash-loop"])] {
        let ending = json!({"exitCode": 0, "reason": "Completed", "startedAt": "2026-11-20T13:59:50Z",
            "finishedAt": "2026-11-20T13:59:58Z"});
        let container = json!({"restartCount": 3, "lastState": {"terminated": ending},
            "state": {"running": {"startedAt": "2026-11-20T13:59:59Z"}}});
        let policies = json!([{"resourceName": "memory", "restartPolicy": "RestartContainer"}]);
        let pod = merged(
            broken_pod("Deployment", "web-2-a", 2, &container),
            &json!({"metadata": {"generation": 4, "managedFields": [
                    {"manager": "vpa", "subresource": subresource, "time": "2026-11-20T13:59:57Z"}]},
                "spec": {"containers": [{"name": "app", "resizePolicy": policies}]}}),
        );
        assert_eq!(cause_ids(&document("Deployment", &[workload("Deployment"), pod])), ids);
    }
}
