//! The volume sources that kubectl describes, in the order in which it looks for them.

use serde_json::Value;

use super::claim;
use super::field::{IndentedText, flag, items, member, number, part, words};
use super::metadata::{pairs, shortened};

/// How kubectl describes one kind of volume source.
pub(super) struct VolumeSource {
    /// The member of the volume that holds it.
    pub(super) member: &'static str,
    /// kubectl's name of the type.
    pub(super) kind: &'static str,
    /// The lines: the text before the tab, the member, and the format of its value.
    pub(super) lines: &'static [(&'static str, &'static str, ValueFormat)],
    /// Writes further lines.
    pub(super) extra: fn(&mut IndentedText, &Value),
}

/// The format of a value.
#[derive(Clone, Copy)]
pub(super) enum ValueFormat {
    Words,
    /// `<none>` when not set.
    WordsOrNone,
    Number,
    /// `<none>` if not set.
    NumberOrNone,
    Flag,
    /// `[a b]`
    List,
    /// `a, b`
    Joined,
    /// `map[a:1]`
    Map,
    /// The name of a Secret in Go's notation; `nil` if not set.
    Reference,
    /// `<unset>` unless above zero.
    Size,
}

use ValueFormat::{Flag, Joined, List, Map, Number, NumberOrNone, Reference, Size, Words, WordsOrNone};

const READ_ONLY: (&str, &str, ValueFormat) = ("ReadOnly:", "readOnly", Flag);
const FS_TYPE: (&str, &str, ValueFormat) = ("FSType:", "fsType", Words);
const OPTIONAL: (&str, &str, ValueFormat) = ("Optional:", "optional", Flag);
const VOLUME_ID: (&str, &str, ValueFormat) = ("VolumeID:", "volumeID", Words);
const PARTITION: (&str, &str, ValueFormat) = ("Partition:", "partition", Number);
const SECRET_REF: (&str, &str, ValueFormat) = ("SecretRef:", "secretRef", Reference);
const PATH: (&str, &str, ValueFormat) = ("Path:", "path", Words);

pub(super) const SOURCES: [VolumeSource; 30] = [
    plain(
        "hostPath",
        "HostPath (bare host directory volume)",
        &[PATH, ("HostPathType:", "type", WordsOrNone)],
    ),
    plain(
        "emptyDir",
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        &[("Medium:", "medium", Words), ("SizeLimit:", "sizeLimit", Size)],
    ),
    plain(
        "gcePersistentDisk",
        "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
        &[("PDName:", "pdName", Words), FS_TYPE, PARTITION, READ_ONLY],
    ),
    plain(
        "awsElasticBlockStore",
        "AWSElasticBlockStore (a Persistent Disk resource in AWS)",
        &[VOLUME_ID, FS_TYPE, PARTITION, READ_ONLY],
    ),
    plain(
        "gitRepo",
        "GitRepo (a volume that is pulled from git when the pod is created)",
        &[("Repository:", "repository", Words), ("Revision:", "revision", Words)],
    ),
    plain(
        "secret",
        "Secret (a volume populated by a Secret)",
        &[("SecretName:", "secretName", Words), OPTIONAL],
    ),
    plain(
        "configMap",
        "ConfigMap (a volume populated by a ConfigMap)",
        &[("Name:", "name", Words), OPTIONAL],
    ),
    plain(
        "nfs",
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        &[("Server:", "server", Words), PATH, READ_ONLY],
    ),
    plain(
        "iscsi",
        "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)",
        &[
            ("TargetPortal:", "targetPortal", Words),
            ("IQN:", "iqn", Words),
            ("Lun:", "lun", Number),
            ("ISCSIInterface", "iscsiInterface", Words), // without the colon, as kubectl
            FS_TYPE,
            READ_ONLY,
            ("Portals:", "portals", List),
            ("DiscoveryCHAPAuth:", "chapAuthDiscovery", Flag),
            ("SessionCHAPAuth:", "chapAuthSession", Flag),
            SECRET_REF,
            ("InitiatorName:", "initiatorName", WordsOrNone),
        ],
    ),
    plain(
        "glusterfs",
        "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
        &[("EndpointsName:", "endpoints", Words), PATH, READ_ONLY],
    ),
    plain(
        "persistentVolumeClaim",
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        &[("ClaimName:", "claimName", Words), READ_ONLY],
    ),
    VolumeSource {
        member: "ephemeral",
        kind: "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)",
        lines: &[],
        extra: claim::describe,
    },
    plain(
        "rbd",
        "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
        &[
            ("CephMonitors:", "monitors", List),
            ("RBDImage:", "image", Words),
            FS_TYPE,
            ("RBDPool:", "pool", Words),
            ("RadosUser:", "user", Words),
            ("Keyring:", "keyring", Words),
            SECRET_REF,
            READ_ONLY,
        ],
    ),
    plain(
        "quobyte",
        "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
        &[("Registry:", "registry", Words), ("Volume:", "volume", Words), READ_ONLY],
    ),
    VolumeSource {
        member: "downwardAPI",
        kind: "DownwardAPI (a volume populated by information about the pod)",
        lines: &[],
        extra: downward_items,
    },
    plain(
        "azureDisk",
        "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
        &[
            ("DiskName:", "diskName", Words),
            ("DiskURI:", "diskURI", Words),
            ("Kind: ", "kind", Words), // with the blank, as kubectl
            FS_TYPE,
            ("CachingMode:", "cachingMode", Words),
            READ_ONLY,
        ],
    ),
    plain(
        "vsphereVolume",
        "vSphereVolume (a Persistent Disk resource in vSphere)",
        &[("VolumePath:", "volumePath", Words), FS_TYPE, ("StoragePolicyName:", "storagePolicyName", Words)],
    ),
    plain(
        "cinder",
        "Cinder (a Persistent Disk resource in OpenStack)",
        &[VOLUME_ID, FS_TYPE, READ_ONLY, SECRET_REF],
    ),
    plain(
        "photonPersistentDisk",
        "PhotonPersistentDisk (a Persistent Disk resource in photon platform)",
        &[("PdID:", "pdID", Words), FS_TYPE],
    ),
    plain("portworxVolume", "PortworxVolume (a Portworx Volume resource)", &[VOLUME_ID]),
    plain(
        "scaleIO",
        "ScaleIO (a persistent volume backed by a block device in ScaleIO)",
        &[
            ("Gateway:", "gateway", Words),
            ("System:", "system", Words),
            ("Protection Domain:", "protectionDomain", Words),
            ("Storage Pool:", "storagePool", Words),
            ("Storage Mode:", "storageMode", Words),
            ("VolumeName:", "volumeName", Words),
            FS_TYPE,
            READ_ONLY,
        ],
    ),
    plain(
        "cephfs",
        "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
        &[
            ("Monitors:", "monitors", List),
            PATH,
            ("User:", "user", Words),
            ("SecretFile:", "secretFile", Words),
            SECRET_REF,
            READ_ONLY,
        ],
    ),
    plain(
        "storageos",
        "StorageOS (a StorageOS Persistent Disk resource)",
        &[
            ("VolumeName:", "volumeName", Words),
            ("VolumeNamespace:", "volumeNamespace", Words),
            FS_TYPE,
            READ_ONLY,
        ],
    ),
    plain(
        "fc",
        "FC (a Fibre Channel disk)",
        &[("TargetWWNs:", "targetWWNs", Joined), ("LUN:", "lun", NumberOrNone), FS_TYPE, READ_ONLY],
    ),
    plain(
        "azureFile",
        "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
        &[("SecretName:", "secretName", Words), ("ShareName:", "shareName", Words), READ_ONLY],
    ),
    plain(
        "flexVolume",
        "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)",
        &[("Driver:", "driver", Words), FS_TYPE, SECRET_REF, READ_ONLY, ("Options:", "options", Map)],
    ),
    plain(
        "flocker",
        "Flocker (a Flocker volume mounted by the Flocker agent)",
        &[("DatasetName:", "datasetName", Words), ("DatasetUUID:", "datasetUUID", Words)],
    ),
    VolumeSource {
        member: "projected",
        kind: "Projected (a volume that contains injected data from multiple sources)",
        lines: &[],
        extra: projected_sources,
    },
    VolumeSource {
        member: "csi",
        kind: "CSI (a Container Storage Interface (CSI) volume source)",
        lines: &[("Driver:", "driver", Words), FS_TYPE, READ_ONLY],
        extra: attributes,
    },
    plain(
        "image",
        "Image (a container image or OCI artifact)",
        &[("Reference:", "reference", Words), ("PullPolicy:", "pullPolicy", Words)],
    ),
];

const fn plain(
    member: &'static str,
    kind: &'static str,
    lines: &'static [(&'static str, &'static str, ValueFormat)],
) -> VolumeSource {
    VolumeSource { member, kind, lines, extra: |_, _| {} }
}

fn downward_items(text: &mut IndentedText, source: &Value) {
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
fn projected_sources(text: &mut IndentedText, source: &Value) {
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

fn attributes(text: &mut IndentedText, source: &Value) {
    let attributes = pairs(member(source, "volumeAttributes"));
    let indented: Vec<_> = attributes.iter().map(|pair| format!("    {}", shortened(pair, 140))).collect();
    text.listed("    VolumeAttributes:\t", "        \t", &indented);
}
