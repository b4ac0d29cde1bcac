//! Missing ConfigMaps, Secrets and keys that a container refers to.

use super::CauseId;
use super::context::{CauseContext, Problem};
use crate::model::api::container::Container;
use crate::model::api::pod::Pod;

/// The waiting reason that the kubelet sets.
const CONFIG_ERROR: &str = "CreateContainerConfigError";

/// Returns the problem of a container whose configuration the kubelet cannot build.
pub(super) fn find_problem(container: &Container, _: &Pod, _: &CauseContext<'_>) -> Option<Problem> {
    if container.waiting_for() != CONFIG_ERROR {
        return None;
    }
    let message = container.waiting_message();
    Some(missing(message).unwrap_or_else(|| {
        let id = if is_cache_not_synced(message) { CauseId::ConfigCache } else { CauseId::ConfigError };
        Problem::new(id, CONFIG_ERROR, message)
    }))
}

/// Returns the missing object or key that a kubelet message names.
///
/// The API server writes `configmap "x" not found` and `secret "x" not found`. The kubelet writes `couldn't find
/// key K in ConfigMap NS/NAME` (`kubelet_pods.go`), and for volumes `configmap references non-existent config
/// key: K` (`pkg/volume/configmap`, `pkg/volume/secret`).
pub(super) fn missing(message: &str) -> Option<Problem> {
    let found = |id, summary: &str| Some(Problem::new(id, summary, ""));
    for (id, kind) in [(CauseId::MissingConfigMap, "configmap \""), (CauseId::MissingSecret, "secret \"")] {
        if let Some(start) = message.find(kind)
            && let Some(length) = message.get(start..)?.find("\" not found")
        {
            return found(id, message.get(start..start + length + "\" not found".len())?);
        }
    }
    let key =
        ["couldn't find key", "references non-existent"].into_iter().find_map(|phrase| message.find(phrase));
    found(CauseId::MissingKey, message.get(key?..)?.trim())
}

/// Whether the kubelet's cache lacks the ConfigMap or Secret. The kubelet writes: `failed to sync configmap
/// cache: timed out waiting for the condition` (`watch_based_manager.go`).
fn is_cache_not_synced(message: &str) -> bool {
    message.contains("failed to sync") && message.contains("cache")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_objects_and_keys_are_found() {
        for (message, id, summary) in [
            (
                r#"configmap "missing" not found"#,
                CauseId::MissingConfigMap,
                r#"configmap "missing" not found"#,
            ),
            (
                r#"MountVolume.SetUp failed for volume "tls" : secret "tls" not found"#,
                CauseId::MissingSecret,
                r#"secret "tls" not found"#,
            ),
            (
                "couldn't find key url in ConfigMap shop/cfg",
                CauseId::MissingKey,
                "couldn't find key url in ConfigMap shop/cfg",
            ),
            (
                r#"MountVolume.SetUp failed for volume "cfg" : configmap references non-existent config key: a.yaml"#,
                CauseId::MissingKey,
                "references non-existent config key: a.yaml",
            ),
        ] {
            assert_eq!(missing(message), Some(Problem::new(id, summary, "")));
        }
        assert_eq!(missing("container has runAsNonRoot and image will run as root"), None);
        assert_eq!(missing(r#"configmap "half"#), None);
    }
}
