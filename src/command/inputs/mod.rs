//! What the arguments of a verb name outside of the command line: the flags of the connection, manifests, and standard input.
//! It is read here, once, before the verb runs.

mod manifest;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::cli::common::{CommonArgs, ConnectionArgs};
use crate::cli::scope::{ScopeArgs, TargetWord};
use crate::cli::{Arguments, Verb};
use crate::cluster::access::Access;
use crate::cluster::kubeconfig::overrides::{AuthInfo, Cluster, Overrides};
use crate::cluster::list::ListQuery;
use crate::error::{Error, Result};
use crate::model::api::field_selector::FieldSelector;
use crate::model::api::object::Object;
use crate::model::api::selector::Selector;
use crate::model::kind::Kind;
use crate::world::World;

/// Which workloads the user named or selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetScope {
    /// The names and types on the command line.
    pub targets: Vec<TargetWord>,
    /// The label selector (`-l`).
    pub selector: Selector,
    /// The field selector (`--field-selector`).
    pub fields: FieldSelector,
    /// The namespace (`-n`).
    pub namespace: Option<String>,
    /// Whether to search all namespaces (`-A`).
    pub all_namespaces: bool,
    /// Whether a search that finds nothing is a success (`--allow-empty`).
    pub allow_empty: bool,
    /// Whether manifests select workloads of kinds that are only read, such as a Job.
    pub includes_read_only: bool,
    /// The objects in the manifests (`-f`), and the errors of those that cannot be read.
    pub manifests: Vec<Result<Object>>,
}

impl TargetScope {
    /// Returns the query for the workloads of a kind that the selectors match.
    pub(super) fn query(&self, kind: &dyn Kind, namespace: Option<&str>) -> ListQuery {
        ListQuery::of(kind.type_(), namespace).with_labels(&self.selector).with_fields(&self.fields)
    }

    /// Whether a target is a type without a name, so that it may match several workloads.
    #[must_use]
    pub fn is_selection(&self) -> bool {
        self.targets.iter().any(|word| matches!(word, TargetWord::All(_) | TargetWord::IfServed(_)))
    }

    /// Whether it can have several workloads, so that one document of them is a list.
    #[must_use]
    pub fn is_for_several(&self) -> bool {
        self.is_selection() || self.targets.len() + self.manifests.len() > 1
    }
}

/// What was read for the arguments of a command.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// The cluster or the snapshot to read from.
    pub(super) access: Access,
    /// The workloads that the command is about; empty for a verb that is about one.
    pub(super) scope: TargetScope,
    /// Standard input, if it is one of the manifests of `preview`.
    pub(super) stdin: Vec<u8>,
}

impl Inputs {
    /// Reads the inputs of a command. An error of a manifest is one of its target.
    ///
    /// # Errors
    /// When the targets are not valid, and when a manifest of `preview` cannot be read.
    pub(super) fn read(arguments: &Arguments, world: &mut World) -> Result<Self> {
        let common = &arguments.common;
        let mut inputs = Self { access: access(common), ..Self::default() };
        let of = |targets, selector: &Selector, all_namespaces: bool, allow_empty| TargetScope {
            targets,
            selector: selector.clone(),
            namespace: common.namespace().filter(|_| !all_namespaces).map(str::to_owned),
            all_namespaces,
            allow_empty,
            ..TargetScope::default()
        };
        let mut scope = |args: &ScopeArgs| {
            let scope = of(args.targets()?, &args.selector, args.all_namespaces, args.allow_empty);
            let recursive = args.recursive.unwrap_or_default();
            let manifests = manifest::read(&args.files, recursive, &mut world.stdin);
            Ok::<_, Error>(TargetScope { manifests, ..scope })
        };
        match &arguments.verb {
            Verb::List(args) => {
                let scope = of(args.targets()?, &args.selector, args.all_namespaces, args.allow_empty);
                inputs.scope = TargetScope { fields: args.field_selector.clone(), ..scope };
            }
            Verb::Status(args) => {
                inputs.scope = TargetScope { includes_read_only: true, ..scope(&args.scope)? };
            }
            Verb::History(args) => inputs.scope = scope(&args.scope)?,
            Verb::Undo(args) => inputs.scope = scope(&args.write.scope)?,
            Verb::Restart(args) => inputs.scope = scope(&args.write.scope)?,
            Verb::Pause(args) => inputs.scope = scope(&args.write.scope)?,
            Verb::Resume(args) => inputs.scope = scope(&args.write.scope)?,
            Verb::Preview(args) => inputs.stdin = manifest::input_of(&args.files, &mut world.stdin)?,
            Verb::Diff(_) | Verb::Step(_) | Verb::Completion(_) | Verb::Explain(_) | Verb::Version(_) => {}
        }
        Ok(inputs)
    }
}

/// Returns what the flags of every verb say about the source.
pub(super) fn access(common: &CommonArgs) -> Access {
    let snapshot = match common.from.as_slice() {
        [only] => Some(only.path.clone()),
        _ => None, // each of several is the access of a context
    };
    Access {
        snapshot,
        namespace: common.namespace().map(str::to_owned),
        overrides: overrides(&common.connection),
        ..Access::default()
    }
}

/// Returns the flags that override the kubeconfig. As in kubectl, an empty value is as no flag, so that a script can pass a
/// variable that may be empty.
fn overrides(flags: &ConnectionArgs) -> Overrides {
    let mut extra = HashMap::<String, Vec<String>>::new();
    for (key, value) in &flags.as_user_extra {
        extra.entry(key.clone()).or_default().push(value.clone());
    }
    let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let file = |file: &Option<OsString>| file.as_ref().filter(|file| !file.is_empty()).map(PathBuf::from);
    let path = |path| file(path).map(|path| path.to_string_lossy().into_owned());
    Overrides {
        kubeconfig: file(&flags.kubeconfig),
        kuberc: file(&flags.kuberc),
        context: text(&flags.kube_context),
        cluster: text(&flags.cluster),
        user: text(&flags.user),
        cluster_info: Cluster {
            server: text(&flags.server),
            certificate_authority: path(&flags.certificate_authority),
            insecure_skip_tls_verify: flags.insecure_skip_tls_verify,
            tls_server_name: text(&flags.tls_server_name),
            disable_compression: flags.disable_compression,
            ..Cluster::default()
        },
        auth_info: AuthInfo {
            token: text(&flags.token).map(Into::into),
            username: text(&flags.username),
            password: text(&flags.password).map(Into::into),
            client_certificate: path(&flags.client_certificate),
            client_key: path(&flags.client_key),
            impersonate: text(&flags.as_user),
            impersonate_uid: text(&flags.as_uid),
            impersonate_groups: Some(flags.as_group.clone()).filter(|groups| !groups.is_empty()),
            impersonate_user_extra: Some(extra).filter(|extra| !extra.is_empty()),
            ..AuthInfo::default()
        },
        loopback_credentials: flags.insecure_loopback_credentials.unwrap_or_default(),
        request_timeout: flags.request_timeout.filter(|timeout| !timeout.is_zero()),
        verbosity: flags.verbosity.unwrap_or_default(),
        warnings_as_errors: flags.warnings_as_errors.unwrap_or_default(),
    }
}
