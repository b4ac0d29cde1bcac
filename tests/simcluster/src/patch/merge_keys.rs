//! How the lists of the served kinds merge; their names alone tell, for no two of them share a name and differ.

/// The member that identifies an item of a list; from the `patchMergeKey` tags of the API types.
pub(crate) fn merge_key(list: &str) -> Option<&'static str> {
    Some(match list {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "volumes"
        | "imagePullSecrets"
        | "resourceClaims"
        | "resourceClaimStatuses"
        | "schedulingGates" => "name",
        "ports" => "containerPort",
        "volumeMounts" => "mountPath",
        "volumeDevices" => "devicePath",
        "hostAliases" | "podIPs" | "hostIPs" => "ip",
        "topologySpreadConstraints" => "topologyKey",
        "conditions" | "addresses" => "type",
        "ownerReferences" => "uid",
        _ => return None,
    })
}

/// Lists of texts that merge as sets.
pub(super) fn is_set(list: &str) -> bool {
    matches!(list, "finalizers" | "podCIDRs")
}
