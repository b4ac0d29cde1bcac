//! Selects the cluster and the user from kubeconfig files, flags and the environment.
//!
//! The rules are kubectl's, and separate from reading files, so that tests need no files. Of kube only the types are used
//! (CONTRIBUTING.md, "Why not kube's own").

pub mod contexts;
mod files;
pub mod overrides;
mod server;

pub(super) use server::{is_this_machine, proxy_for, server_url, withhold_credentials};

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kube::config::{AuthInfo, Cluster, Context, Kubeconfig};

use self::overrides::{Overrides, override_credentials, override_impersonation, override_server};
use crate::error::{Error, ErrorKind, Result};
use crate::model::text::secret::{MASK, without_url_secrets};
use crate::world::Environment;

/// The kubeconfig, which the clusters of one command share: its files are read once.
#[derive(Clone, Default)]
pub struct SharedKubeconfig(Arc<OnceLock<Result<Kubeconfig>>>);

/// Omits the credentials.
impl fmt::Debug for SharedKubeconfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SharedKubeconfig")
    }
}

impl SharedKubeconfig {
    /// Returns the kubeconfig. Reads its files at the first call.
    ///
    /// # Errors
    /// When a file cannot be read or is not a kubeconfig.
    fn read(&self, overrides: &Overrides, environment: &Environment) -> Result<&Kubeconfig> {
        let read = || files::read(overrides.kubeconfig.as_deref(), environment);
        self.0.get_or_init(read).as_ref().map_err(Clone::clone)
    }
}

/// Selects the cluster and the user.
///
/// # Errors
/// When a file cannot be read, or a selected context, cluster or user does not exist.
pub(super) fn endpoint(
    kubeconfig: &SharedKubeconfig,
    overrides: &Overrides,
    environment: &Environment,
) -> Result<Endpoint> {
    let kubeconfig = kubeconfig.read(overrides, environment)?;
    let missing = if overrides.kubeconfig.is_none() { files::missing(environment) } else { Vec::new() };
    decide(kubeconfig, overrides, of_this_pod(environment), &missing)
}

/// A list in a kubeconfig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KubeconfigList {
    /// Its contexts, each with its cluster and namespace.
    Contexts,
    /// Its clusters, each with its address.
    Clusters,
    /// Its users, without a description: the fields of a user are secret.
    Users,
}

/// Returns the names in a list of the selected kubeconfig, each with its description.
///
/// # Errors
/// When a file cannot be read or is not a kubeconfig.
pub fn names(
    list: KubeconfigList,
    overrides: &Overrides,
    environment: &Environment,
) -> Result<Vec<(String, String)>> {
    let kubeconfig = files::read(overrides.kubeconfig.as_deref(), environment)?;
    let address = |cluster: Cluster| without_url_secrets(&cluster.server.unwrap_or_default(), MASK);
    Ok(match list {
        KubeconfigList::Contexts => {
            let contexts = kubeconfig.contexts.into_iter();
            contexts.map(|named| (named.name, named.context.map(describe).unwrap_or_default())).collect()
        }
        KubeconfigList::Clusters => {
            let clusters = kubeconfig.clusters.into_iter();
            clusters.map(|named| (named.name, named.cluster.map(address).unwrap_or_default())).collect()
        }
        KubeconfigList::Users => {
            kubeconfig.auth_infos.into_iter().map(|named| (named.name, String::new())).collect()
        }
    })
}

fn describe(context: Context) -> String {
    match context.namespace {
        Some(namespace) => format!("cluster {}, namespace {namespace}", context.cluster),
        None => format!("cluster {}", context.cluster),
    }
}

/// A cluster and a user. No request was sent and no plugin was run yet.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// The cluster; its `server` is set.
    pub(crate) cluster: Cluster,
    /// The user.
    pub(crate) user: AuthInfo,
    /// The namespace of the context.
    pub(crate) namespace: Option<String>,
    /// Where the selection comes from, for hints: `context "shop"`.
    pub(crate) source: String,
    /// Whether `--server` overrides the server of the selection.
    pub(crate) is_server_from_flag: bool,
}

/// Omits the user, because kube's `Debug` prints some secrets.
impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Endpoint").field("source", &self.source).finish_non_exhaustive()
    }
}

/// Selects by kubectl's rules: flags, then the context, then the service account of a pod. `missing` are the files of
/// `$KUBECONFIG` that do not exist. In a pod, a context without a namespace has that of the pod
/// (`DeferredLoadingClientConfig.Namespace`).
fn decide(
    kubeconfig: &Kubeconfig,
    overrides: &Overrides,
    mounted: Option<Endpoint>,
    missing: &[PathBuf],
) -> Result<Endpoint> {
    let chosen = from_kubeconfig(kubeconfig, overrides)?;
    let of_pod = mounted.as_ref().and_then(|mounted| mounted.namespace.clone());
    let namespace = chosen.namespace.clone().or(of_pod);
    let has_server = chosen.cluster.server.is_some() || overrides.cluster_info.server.is_some();
    let endpoint = if has_server { Some(chosen) } else { mounted };
    let endpoint = endpoint.ok_or_else(|| no_cluster_configured(missing))?;
    let is_server_from_flag = overrides.cluster_info.server.is_some();
    let mut endpoint = Endpoint { namespace, is_server_from_flag, ..endpoint };
    override_server(&mut endpoint.cluster, &overrides.cluster_info)?;
    override_credentials(&mut endpoint.user, &overrides.auth_info);
    override_impersonation(&mut endpoint.user, &overrides.auth_info)?;
    if let Some(exec) = &mut endpoint.user.exec
        && exec.provide_cluster_info
    {
        let cluster = (&endpoint.cluster).try_into();
        exec.cluster = Some(cluster.map_err(|error: kube::config::KubeconfigError| {
            Error::new(ErrorKind::File, "cannot describe the cluster to the credential plugin")
                .caused_by(error)
        })?);
    }
    Ok(endpoint)
}

fn from_kubeconfig(kubeconfig: &Kubeconfig, overrides: &Overrides) -> Result<Endpoint> {
    let context_name = overrides.context.as_ref().or(kubeconfig.current_context.as_ref());
    let context = match context_name {
        None => Context::default(),
        Some(name) => {
            let found = kubeconfig.contexts.iter().find(|named| named.name == *name);
            found.ok_or_else(|| no_such("context", name))?.context.clone().unwrap_or_default()
        }
    };
    let cluster_name = overrides.cluster.clone().unwrap_or(context.cluster);
    let cluster = kubeconfig.clusters.iter().find(|named| named.name == cluster_name);
    let is_needed = overrides.cluster_info.server.is_none() || overrides.cluster.is_some();
    if cluster.is_none() && !cluster_name.is_empty() && is_needed {
        return Err(no_such("cluster", &cluster_name));
    }
    let cluster = cluster.and_then(|named| named.cluster.clone()).unwrap_or_default();
    // The service account of a pod must not stand in for what was chosen.
    let is_missing = match &overrides.context {
        _ if cluster.server.is_some() || overrides.cluster_info.server.is_some() => None,
        _ if !cluster_name.is_empty() => {
            Some(format!("the cluster {cluster_name:?} of the kubeconfig has no server"))
        }
        Some(name) => Some(format!("the context {name:?} of the kubeconfig has no cluster")),
        None => None,
    };
    if let Some(message) = is_missing {
        return Err(Error::usage(message).hint("kubectl config get-contexts"));
    }
    let user_name = overrides.user.clone().or(context.user);
    let user = kubeconfig.auth_infos.iter().find(|named| Some(&named.name) == user_name.as_ref());
    // As in kubectl, a context may refer to a missing user: an authenticating proxy needs no
    // credentials. A user that a flag selects must exist.
    if let (None, Some(name)) = (&user, &overrides.user) {
        return Err(no_such("user", name));
    }
    Ok(Endpoint {
        cluster,
        user: user.and_then(|named| named.auth_info.clone()).unwrap_or_default(),
        namespace: context.namespace,
        source: context_name
            .map_or_else(|| "the command line".to_owned(), |name| format!("context {name:?}")),
        is_server_from_flag: false,
    })
}

/// The directory of a pod's service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Returns the endpoint in a pod's environment, if this process runs in a pod with a service account.
fn of_this_pod(environment: &Environment) -> Option<Endpoint> {
    let directory = Path::new(SERVICE_ACCOUNT);
    let mounted = directory.join("token").is_file();
    let namespace = std::fs::read_to_string(directory.join("namespace")).ok();
    if mounted { from_environment(environment, namespace) } else { None }
}

fn from_environment(environment: &Environment, namespace: Option<String>) -> Option<Endpoint> {
    let host = environment.text("KUBERNETES_SERVICE_HOST")?;
    let port = environment.text("KUBERNETES_SERVICE_PORT")?;
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let namespace = environment.text("POD_NAMESPACE").map(str::to_owned).or(namespace);
    let file = |name: &str| Some(format!("{SERVICE_ACCOUNT}/{name}"));
    Some(Endpoint {
        cluster: Cluster {
            server: Some(format!("https://{host}:{port}")),
            certificate_authority: file("ca.crt"),
            ..Cluster::default()
        },
        user: AuthInfo { token_file: file("token"), ..AuthInfo::default() },
        namespace: namespace.map(|namespace| namespace.trim().to_owned()).filter(|name| !name.is_empty()),
        source: "the pod's service account".to_owned(),
        is_server_from_flag: false,
    })
}

/// kubectl tries `localhost:8080` in this case.
fn no_cluster_configured(missing: &[PathBuf]) -> Error {
    let files: Vec<_> = missing.iter().map(|path| path.display().to_string()).collect();
    let why = match files.as_slice() {
        [] => "no kubeconfig has a current context".to_owned(),
        [only] => format!("the file {only} in $KUBECONFIG does not exist"),
        several => format!("the files {} in $KUBECONFIG do not exist", several.join(", ")),
    };
    // The same kind as for a missing file of `--kubeconfig`.
    let kind = if missing.is_empty() { ErrorKind::Unreachable } else { ErrorKind::File };
    Error::new(kind, format!("no cluster is configured: {why}"))
        .hint("to list contexts: kubectl config get-contexts; choose one with --context, or a file with --kubeconfig")
}

fn no_such(what: &str, name: &str) -> Error {
    Error::usage(format!("the kubeconfig has no {what} {name:?}")).hint(format!("kubectl config get-{what}s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_read_once() {
        let path = std::env::temp_dir().join(format!("rollout2-kubeconfig-{}", std::process::id()));
        std::fs::write(&path, "current-context: first").unwrap();
        let overrides = Overrides { kubeconfig: Some(path.clone()), ..Overrides::default() };
        let shared = SharedKubeconfig::default();
        let current = |shared: SharedKubeconfig| {
            shared.read(&overrides, &Environment::default()).unwrap().current_context.clone().unwrap()
        };
        assert_eq!(current(shared.clone()), "first");
        std::fs::write(&path, "current-context: second").unwrap();
        assert_eq!(current(shared), "first");
        std::fs::remove_file(path).unwrap();
    }

    const TWO_CLUSTERS: &str = "
current-context: shop
contexts:
- {name: shop, context: {cluster: near, user: dev, namespace: shop}}
- {name: orphan, context: {cluster: near, user: gone}}
- {name: lost, context: {cluster: gone, user: dev}}
- {name: empty, context: {cluster: addressless, user: dev}}
- {name: loose, context: {cluster: '', user: dev}}
clusters:
- {name: near, cluster: {server: 'https://near', certificate-authority-data: Q0E=, tls-server-name: near.local}}
- {name: far, cluster: {server: 'https://far', insecure-skip-tls-verify: true}}
- {name: addressless, cluster: {insecure-skip-tls-verify: true}}
users:
- {name: dev, user: {tokenFile: /token}}
- {name: ops, user: {username: ops, password: p}}
";

    fn decided(overrides: &Overrides) -> Result<Endpoint> {
        decide(&Kubeconfig::from_yaml(TWO_CLUSTERS).unwrap(), overrides, None, &[])
    }

    fn named(context: Option<&str>, cluster: Option<&str>, user: Option<&str>) -> Overrides {
        let [context, cluster, user] = [context, cluster, user].map(|name| name.map(str::to_owned));
        Overrides { context, cluster, user, ..Overrides::default() }
    }

    #[test]
    fn each_flag_overrides_its_part_of_the_context() {
        let endpoint = decided(&Overrides::default()).unwrap();
        assert_eq!(endpoint.cluster.server.as_deref(), Some("https://near"));
        assert_eq!(endpoint.user.token_file.as_deref(), Some("/token"));
        assert_eq!(endpoint.namespace.as_deref(), Some("shop"));
        assert_eq!(endpoint.source, "context \"shop\"");

        let endpoint = decided(&named(None, Some("far"), Some("ops"))).unwrap();
        assert_eq!(endpoint.cluster.server.as_deref(), Some("https://far"));
        assert_eq!(endpoint.user.username.as_deref(), Some("ops"));
        assert_eq!(endpoint.namespace.as_deref(), Some("shop"));

        let endpoint = decided(&named(Some("orphan"), None, None)).unwrap();
        assert!(endpoint.user.token_file.is_none(), "a context's user may be missing");
    }

    #[test]
    fn a_missing_name_is_a_usage_error() {
        for (overrides, message) in [
            (named(Some("x"), None, None), "no context \"x\""),
            (named(Some("lost"), None, None), "no cluster \"gone\""),
            (named(None, Some("x"), None), "no cluster \"x\""),
            (named(None, None, Some("x")), "no user \"x\""),
        ] {
            let error = decided(&overrides).unwrap_err();
            assert!(error.to_string().contains(message), "{error:?}");
            assert_eq!(error.exit().code(), 2);
        }
    }

    /// The namespace of a pod would be another cluster's.
    #[test]
    fn the_service_account_of_the_pod_replaces_no_cluster_that_was_chosen() {
        let decided = |overrides: &Overrides| {
            decide(&Kubeconfig::from_yaml(TWO_CLUSTERS).unwrap(), overrides, Some(pod()), &[])
        };
        for (overrides, message) in [
            (named(Some("empty"), None, None), "the cluster \"addressless\" of the kubeconfig has no server"),
            (
                named(None, Some("addressless"), None),
                "the cluster \"addressless\" of the kubeconfig has no server",
            ),
            (named(Some("loose"), None, None), "the context \"loose\" of the kubeconfig has no cluster"),
        ] {
            let error = decided(&overrides).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.exit().code()), (message, 2));
            let cluster_info = Cluster { server: Some("https://flag".into()), ..Cluster::default() };
            let endpoint = decided(&Overrides { cluster_info, ..overrides }).unwrap();
            assert_eq!(endpoint.cluster.server.as_deref(), Some("https://flag"));
        }
    }

    /// Otherwise the certificate authority of the cluster would be missing without a word.
    #[test]
    fn a_cluster_of_a_flag_must_exist_beside_a_server() {
        let cluster_info = Cluster { server: Some("https://flag".into()), ..Cluster::default() };
        let typo = Overrides { cluster_info: cluster_info.clone(), ..named(None, Some("x"), None) };
        assert!(decided(&typo).unwrap_err().to_string().contains("no cluster \"x\""));
        let lost = Overrides { cluster_info, ..named(Some("lost"), None, None) };
        assert_eq!(decided(&lost).unwrap().cluster.server.as_deref(), Some("https://flag"));
    }

    #[test]
    fn in_a_pod_a_context_without_a_namespace_has_that_of_the_pod() {
        for (context, mounted, expected) in [
            ("orphan", Some(pod()), Some("own")),
            ("orphan", None, None),
            ("shop", Some(pod()), Some("shop")),
        ] {
            let kubeconfig = Kubeconfig::from_yaml(TWO_CLUSTERS).unwrap();
            let endpoint = decide(&kubeconfig, &named(Some(context), None, None), mounted, &[]).unwrap();
            assert_eq!(endpoint.namespace.as_deref(), expected, "{context}");
            assert_eq!(endpoint.cluster.server.as_deref(), Some("https://near"));
        }
    }

    #[test]
    fn an_authority_and_no_verification_exclude_each_other() {
        let both = TWO_CLUSTERS.replace("tls-server-name", "insecure-skip-tls-verify: true, tls-server-name");
        let decided =
            |overrides: &Overrides| decide(&Kubeconfig::from_yaml(&both).unwrap(), overrides, None, &[]);
        let error = decided(&Overrides::default()).unwrap_err();
        let message = "specifying a root certificates file with the insecure flag is not allowed";
        assert_eq!((error.to_string().as_str(), error.exit().code()), (message, 2));
        let cluster_info = Cluster { insecure_skip_tls_verify: Some(true), ..Cluster::default() };
        assert!(decided(&Overrides { cluster_info, ..Overrides::default() }).is_ok());
    }

    fn pod() -> Endpoint {
        Endpoint {
            cluster: Cluster { server: Some("https://pod".into()), ..Cluster::default() },
            user: AuthInfo::default(),
            namespace: Some("own".into()),
            source: String::new(),
            is_server_from_flag: false,
        }
    }

    #[test]
    fn server_flags_do_not_mix_with_the_trust_of_another_server() {
        let with =
            |cluster_info| decided(&Overrides { cluster_info, ..Overrides::default() }).unwrap().cluster;
        let cluster = with(Cluster { server: Some("https://other".into()), ..Default::default() });
        assert_eq!(cluster.server.as_deref(), Some("https://other"));
        assert_eq!(cluster.tls_server_name, None);
        assert_eq!(cluster.certificate_authority_data.as_deref(), Some("Q0E="), "kubectl keeps it as well");

        let cluster = with(Cluster { insecure_skip_tls_verify: Some(true), ..Default::default() });
        assert_eq!(cluster.insecure_skip_tls_verify, Some(true));
        assert_eq!(cluster.certificate_authority_data, None);

        let cluster = with(Cluster { certificate_authority: Some("/ca".into()), ..Default::default() });
        assert_eq!(cluster.certificate_authority.as_deref(), Some("/ca"));
        assert_eq!(cluster.certificate_authority_data, None);

        let cluster = with(Cluster {
            tls_server_name: Some("n".into()),
            disable_compression: Some(true),
            ..Default::default()
        });
        assert_eq!(cluster.tls_server_name.as_deref(), Some("n"));
        assert_eq!(cluster.disable_compression, Some(true));
    }

    #[test]
    fn without_a_kubeconfig_the_service_account_of_the_pod_is_used() {
        let endpoint = decide(&Kubeconfig::default(), &Overrides::default(), Some(pod()), &[]).unwrap();
        assert_eq!(endpoint.cluster.server.as_deref(), Some("https://pod"));
        let endpoint =
            decide(&Kubeconfig::from_yaml(TWO_CLUSTERS).unwrap(), &Overrides::default(), Some(pod()), &[]);
        assert_eq!(endpoint.unwrap().cluster.server.as_deref(), Some("https://near"));
        for (missing, words, exit) in [
            (&[][..], "no kubeconfig has a current context", 1),
            (&["/a".into()], "the file /a in $KUBECONFIG does not exist", 2),
            (&["/a".into(), "/b".into()], "the files /a, /b in $KUBECONFIG do not exist", 2),
        ] {
            let error = decide(&Kubeconfig::default(), &Overrides::default(), None, missing).unwrap_err();
            assert_eq!(error.to_string(), format!("no cluster is configured: {words}"));
            assert_eq!(error.exit().code(), exit);
        }
    }

    #[test]
    fn a_pods_environment_contains_its_endpoint() {
        let variables = [("KUBERNETES_SERVICE_HOST", "fd00::1"), ("KUBERNETES_SERVICE_PORT", "443")];
        let found = from_environment(&variables.into_iter().collect(), Some("shop\n".into())).unwrap();
        assert_eq!(found.cluster.server.as_deref(), Some("https://[fd00::1]:443"));
        assert_eq!(found.namespace.as_deref(), Some("shop"));
        assert_eq!(found.user.token_file, Some(format!("{SERVICE_ACCOUNT}/token")));
        let elsewhere = variables.into_iter().chain([("POD_NAMESPACE", "mine")]).collect();
        assert_eq!(
            from_environment(&elsewhere, Some("shop".into())).unwrap().namespace.as_deref(),
            Some("mine")
        );
        assert!(from_environment(&Environment::default(), None).is_none(), "not a pod");
    }
}
