//! Configuration that a container needs and does not get.

use super::CauseId;
use super::sight::{Sight, Trouble};
use crate::model::container::Container;
use crate::model::pod::Pod;

/// The kubelet's word for it.
const CONFIG_ERROR: &str = "CreateContainerConfigError";

/// Containers whose environment cannot be made.
pub(super) fn of(container: &Container, _: &Pod, _: &Sight<'_>) -> Option<Trouble> {
    if container.waiting_for() != CONFIG_ERROR {
        return None;
    }
    let message = container.waiting_message();
    Some(missing(message).unwrap_or_else(|| {
        let id = if is_cache(message) { CauseId::ConfigCache } else { CauseId::ConfigError };
        Trouble::new(id, CONFIG_ERROR, message)
    }))
}

/// What is missing, in the words of the kubelet: `configmap "x" not found`, `secret "x" not found`
/// (the API server's), `couldn't find key K in ConfigMap NS/NAME` (`kubelet_pods.go`), and of volumes
/// `configmap references non-existent config key: K` (`pkg/volume/configmap`, and likewise of secrets).
pub(super) fn missing(message: &str) -> Option<Trouble> {
    let found = |id, words: &str| Some(Trouble::new(id, words, ""));
    for (id, kind) in [(CauseId::MissingConfigMap, "configmap \""), (CauseId::MissingSecret, "secret \"")] {
        if let Some(start) = message.find(kind)
            && let Some(length) = message.get(start..)?.find("\" not found")
        {
            return found(id, message.get(start..start + length + "\" not found".len())?);
        }
    }
    let key =
        ["couldn't find key", "references non-existent"].into_iter().find_map(|words| message.find(words));
    found(CauseId::MissingKey, message.get(key?..)?.trim())
}

/// The kubelet watches what its pods refer to, and may not have seen it yet: `failed to sync configmap
/// cache: timed out waiting for the condition` (`watch_based_manager.go`).
fn is_cache(message: &str) -> bool {
    message.contains("failed to sync") && message.contains("cache")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
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
            assert_eq!(missing(message), Some(Trouble::new(id, summary, "")));
        }
        assert_eq!(missing("container has runAsNonRoot and image will run as root"), None);
        assert_eq!(missing(r#"configmap "half"#), None);
    }
}
