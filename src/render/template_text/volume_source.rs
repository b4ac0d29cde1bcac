//! The volume sources kubectl knows, in the order in which it looks for them.

use serde_json::Value;

use super::claim;
use super::field::{flag, items, member, number, part, words};
use super::metadata::{pairs, shortened};
use super::text::Text;

/// How kubectl describes one kind of volume source.
pub(super) struct Source {
    /// The member of the volume that holds it.
    pub(super) member: &'static str,
    /// What it is.
    pub(super) kind: &'static str,
    /// Its lines: what stands before the tab, the member, how its value is shown.
    pub(super) lines: &'static [(&'static str, &'static str, Shown)],
    /// Lines that are no single member's.
    pub(super) more: fn(&mut Text, &Value),
}

/// How the value of a line is shown.
#[derive(Clone, Copy)]
pub(super) enum Shown {
    Words,
    /// `<none>` when not set.
    WordsOrNone,
    Number,
    /// `<none>` when not set.
    NumberOrNone,
    Flag,
    /// `[a b]`
    List,
    /// `a, b`
    Joined,
    /// `map[a:1]`
    Map,
    /// The name of a Secret in Go's notation, `nil` when not set.
    Reference,
    /// `<unset>` unless above zero.
    Size,
}

use Shown::{Flag, Joined, List, Map, Number, NumberOrNone, Reference, Size, Words, WordsOrNone};

const READ_ONLY: (&str, &str, Shown) = ("ReadOnly:", "readOnly", Flag);
const FS_TYPE: (&str, &str, Shown) = ("FSType:", "fsType", Words);
const OPTIONAL: (&str, &str, Shown) = ("Optional:", "optional", Flag);
const VOLUME_ID: (&str, &str, Shown) = ("VolumeID:", "volumeID", Words);
const PARTITION: (&str, &str, Shown) = ("Partition:", "partition", Number);
const SECRET_REF: (&str, &str, Shown) = ("SecretRef:", "secretRef", Reference);
const PATH: (&str, &str, Shown) = ("Path:", "path", Words);

pub(super) const SOURCES: [Source; 30] = [
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
    Source {
        member: "ephemeral",
        kind: "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)",
        lines: &[],
        more: claim::describe,
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
    Source {
        member: "downwardAPI",
        kind: "DownwardAPI (a volume populated by information about the pod)",
        lines: &[],
        more: downward_items,
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
    Source {
        member: "projected",
        kind: "Projected (a volume that contains injected data from multiple sources)",
        lines: &[],
        more: projected_sources,
    },
    Source {
        member: "csi",
        kind: "CSI (a Container Storage Interface (CSI) volume source)",
        lines: &[("Driver:", "driver", Words), FS_TYPE, READ_ONLY],
        more: attributes,
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
    lines: &'static [(&'static str, &'static str, Shown)],
) -> Source {
    Source { member, kind, lines, more: |_, _| {} }
}

fn downward_items(text: &mut Text, source: &Value) {
    text.line(2, "Items:");
    for item in items(source, "items") {
        for (reference, name) in [("fieldRef", "fieldPath"), ("resourceFieldRef", "resource")] {
            if let Some(reference) = part(item, reference) {
                text.line(3, format_args!("{} -> {}", words(reference, name), words(item, "path")));
            }
        }
    }
}

/// Trust bundles and pod certificates are sources too, of which kubectl shows nothing.
fn projected_sources(text: &mut Text, source: &Value) {
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

fn attributes(text: &mut Text, source: &Value) {
    let attributes = pairs(member(source, "volumeAttributes"));
    let indented: Vec<_> = attributes.iter().map(|pair| format!("    {}", shortened(pair, 140))).collect();
    text.listed("    VolumeAttributes:\t", "        \t", &indented);
}
