//! Finds, reads and merges the kubeconfig files.

use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::config::{AuthInfo, Cluster, Context, Kubeconfig, KubeconfigError};
use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;

use crate::error::{Error, ErrorKind, Result};
use crate::world::Environment;

/// Reads the kubeconfig: the file of `--kubeconfig`, or those of `$KUBECONFIG`, or `~/.kube/config`.
///
/// Missing files are skipped unless `--kubeconfig` names them. When files are merged, the first value of
/// a field is used.
///
/// # Errors
/// When a file cannot be read or is not a kubeconfig.
pub(super) fn read(named: Option<&Path>, environment: &Environment) -> Result<Kubeconfig> {
    if let Some(path) = named {
        return read_file(path)?.ok_or_else(|| {
            Error::new(ErrorKind::File, format!("the kubeconfig {} does not exist", path.display()))
        });
    }
    let mut merged = Kubeconfig::default();
    for path in default_paths(environment) {
        if let Some(next) = read_file(&path)? {
            merged = merged.merge(next).map_err(|error| invalid(&path, error))?;
        }
    }
    Ok(merged)
}

fn default_paths(environment: &Environment) -> Vec<PathBuf> {
    if let Some(list) = environment.get("KUBECONFIG") {
        return std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect();
    }
    let home = environment.get("HOME").or_else(|| environment.get("USERPROFILE"));
    home.map(|home| Path::new(home).join(".kube").join("config")).into_iter().collect()
}

/// Returns the files of `$KUBECONFIG` that do not exist.
pub(super) fn missing(environment: &Environment) -> Vec<PathBuf> {
    let is_set = environment.get("KUBECONFIG").is_some();
    default_paths(environment).into_iter().filter(|path| is_set && !path.exists()).collect()
}

/// Reads one file; none if it does not exist.
fn read_file(path: &Path) -> Result<Option<Kubeconfig>> {
    let text = match crate::snapshot::files::read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let message = format!("cannot read the kubeconfig {}", path.display());
            return Err(Error::new(ErrorKind::File, message).caused_by(error));
        }
    };
    let kubeconfig = parse(&text, path)?;
    Ok(Some(normalized(kubeconfig, path.parent().unwrap_or(Path::new("")))))
}

fn parse(text: &str, path: &Path) -> Result<Kubeconfig> {
    match parse_as_kubectl(text) {
        Some(kubeconfig) => Ok(kubeconfig),
        // kube's error has a position.
        None => Kubeconfig::from_yaml(text).map_err(|error| invalid(path, error)),
    }
}

/// Parses a kubeconfig as kubectl does, where kube would refuse the whole file. A null is an absent value, and of two equal
/// keys the last one counts (`sigs.k8s.io/yaml`). A context without a cluster is usable with `--cluster` or `--server`.
fn parse_as_kubectl(text: &str) -> Option<Kubeconfig> {
    let options = serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins };
    let mut kubeconfig: Value = serde_saphyr::from_str_with_options(text, options).ok()?;
    remove_nulls(&mut kubeconfig);
    let contexts = kubeconfig.get_mut("contexts").and_then(Value::as_array_mut);
    for named in contexts.into_iter().flatten() {
        if let Some(context) = named.get_mut("context").and_then(Value::as_object_mut)
            && !context.contains_key("cluster")
        {
            context.insert("cluster".to_owned(), "".into());
        }
    }
    serde_json::from_value(kubeconfig).ok()
}

/// Removes the members of objects that are null.
fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// Creates the error of a file that is no kubeconfig. It has only the position of a parser's error, whose words quote the
/// file, which may contain a token.
fn invalid(path: &Path, error: KubeconfigError) -> Error {
    let invalid = Error::new(ErrorKind::File, format!("{} is not a kubeconfig", path.display()));
    match error {
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => invalid.caused_by(format!("line {}, column {}", at.line(), at.column())),
            None => invalid,
        },
        other => invalid.caused_by(other),
    }
}

/// Makes the paths of a kubeconfig absolute to its directory, and removes empty fields.
fn normalized(mut kubeconfig: Kubeconfig, directory: &Path) -> Kubeconfig {
    kubeconfig.current_context = kubeconfig.current_context.filter(|name| !name.is_empty());
    for named in &mut kubeconfig.contexts {
        named.context = named.context.take().map(without_empty_fields::<Context>);
    }
    for named in &mut kubeconfig.clusters {
        named.cluster = named.cluster.take().map(without_empty_fields::<Cluster>);
        if let Some(cluster) = &mut named.cluster {
            resolve(&mut cluster.certificate_authority, directory);
        }
    }
    for named in &mut kubeconfig.auth_infos {
        named.auth_info = named.auth_info.take().map(without_empty_fields::<AuthInfo>);
        if let Some(user) = &mut named.auth_info {
            resolve(&mut user.client_certificate, directory);
            resolve(&mut user.client_key, directory);
            resolve(&mut user.token_file, directory);
            if let Some(exec) = &mut user.exec
                && exec.command.as_ref().is_some_and(|command| command.contains(std::path::is_separator))
            {
                resolve(&mut exec.command, directory);
            }
        }
    }
    kubeconfig
}

/// Removes empty fields: `token: ""` means no token, but kube would send an empty one. Removes the line breaks of base64,
/// as Go does.
fn without_empty_fields<T: Clone + Serialize + DeserializeOwned>(value: T) -> T {
    let Ok(Value::Object(mut members)) = serde_json::to_value(&value) else {
        return value;
    };
    for (_, value) in members.iter_mut().filter(|(name, _)| name.ends_with("-data")) {
        *value = value.as_str().map(|base64| base64.replace(['\r', '\n'], "").into()).unwrap_or_default();
    }
    members.retain(|name, value| name == "cluster" || !(value.is_null() || value.as_str() == Some("")));
    serde_json::from_value(Value::Object(members)).unwrap_or(value)
}

fn resolve(path: &mut Option<String>, directory: &Path) {
    if let Some(written) = path {
        *written = directory.join(&*written).to_string_lossy().into_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Kubeconfig {
        normalized(Kubeconfig::from_yaml(text).unwrap(), Path::new("/home/u/.kube"))
    }

    #[test]
    fn a_misplaced_value_is_not_quoted() {
        let (exec, cluster) = ("users: [{name: u, user: {exec: ", "clusters: [{name: c, cluster: ");
        for text in [
            format!("{exec}{{command: x, interactiveMode: s3same}}}}}}]"),
            format!("{exec}s3same}}}}]"),
            format!("{exec}{{args: s3same}}}}}}]"),
            format!("{exec}{{provideClusterInfo: s3same}}}}}}]"),
            format!("{cluster}{{server: s, insecure-skip-tls-verify: s3same}}}}]"),
            format!("{cluster}s3same}}]"),
            "users: s3same".to_owned(),
            "s3same".to_owned(),
        ] {
            let error = parse(&text, Path::new("config")).unwrap_err().to_string();
            assert!(!error.contains("s3same"), "{text}: {error}");
        }
    }

    #[test]
    fn the_error_of_the_parser_is_its_position() {
        for (text, words) in [
            ("clusters: [", "config is not a kubeconfig: line 1, column 11"),
            ("users: s3same", "config is not a kubeconfig: line 1, column 8"),
        ] {
            assert_eq!(parse(text, Path::new("config")).unwrap_err().to_string(), words);
        }
    }

    #[test]
    fn the_default_paths_are_kubectls() {
        let paths = |variables: &[(&str, &str)]| default_paths(&variables.iter().copied().collect());
        assert_eq!(paths(&[("HOME", "/h")]), [Path::new("/h/.kube/config")]);
        assert_eq!(paths(&[("HOME", "/h"), ("KUBECONFIG", "/a::/b")]), [Path::new("/a"), Path::new("/b")]);
        assert_eq!(paths(&[("HOME", "/h"), ("KUBECONFIG", "")]), [Path::new("/h/.kube/config")]);
        assert!(paths(&[]).is_empty());
    }

    #[test]
    #[cfg(unix)]
    fn a_path_need_not_be_utf8() {
        use std::ffi::{OsStr, OsString};
        use std::os::unix::ffi::OsStrExt;
        let list = OsStr::from_bytes(b"/caf\xe9:/b").to_owned();
        let environment = [(OsString::from("KUBECONFIG"), list), ("HOME".into(), "/h".into())];
        let paths = default_paths(&environment.into_iter().collect());
        assert_eq!(paths, [Path::new(OsStr::from_bytes(b"/caf\xe9")), Path::new("/b")]);
    }

    #[test]
    fn a_context_may_have_no_cluster() {
        for context in ["{user: u}", "{cluster: null, user: u}"] {
            let text =
                format!("contexts: [{{name: x, context: {context}}}, {{name: z, context: {{cluster: c}}}}]");
            let contexts = parse(&text, Path::new("config")).unwrap().contexts;
            let clusters: Vec<_> = contexts.into_iter().map(|named| named.context.unwrap().cluster).collect();
            assert_eq!(clusters, ["", "c"], "{context}");
        }
    }

    #[test]
    fn paths_are_relative_to_the_file_and_commands_to_the_search_path() {
        let kubeconfig = parsed(
            "clusters: [{name: c, cluster: {server: s, certificate-authority: ca.crt}}]\n\
             users:\n- {name: u, user: {client-key: ../k, tokenFile: /t, exec: {command: bin/login}}}\n\
             - {name: v, user: {exec: {command: aws}}}",
        );
        let cluster = kubeconfig.clusters[0].cluster.clone().unwrap();
        let [u, v] = [0, 1].map(|index| kubeconfig.auth_infos[index].auth_info.clone().unwrap());
        assert_eq!(cluster.certificate_authority.unwrap(), "/home/u/.kube/ca.crt");
        assert_eq!(u.client_key.unwrap(), "/home/u/.kube/../k");
        assert_eq!(u.token_file.unwrap(), "/t");
        assert_eq!(u.exec.unwrap().command.unwrap(), "/home/u/.kube/bin/login");
        assert_eq!(v.exec.unwrap().command.unwrap(), "aws");
    }

    #[test]
    fn empty_fields_are_removed() {
        let kubeconfig = parsed(
            "current-context: ''\n\
             contexts: [{name: x, context: {cluster: '', user: '', namespace: ''}}]\n\
             clusters: [{name: c, cluster: {server: s, certificate-authority: '', certificate-authority-data: ''}}]\n\
             users: [{name: u, user: {token: '', tokenFile: '', client-key-data: null}}, {name: n},\n  \
                    {name: b, user: {client-certificate-data: \"Q0\\nE=\\n\"}}]",
        );
        assert_eq!(kubeconfig.current_context, None);
        let context = kubeconfig.contexts[0].context.clone().unwrap();
        assert_eq!((context.cluster.as_str(), context.user, context.namespace), ("", None, None));
        let cluster = kubeconfig.clusters[0].cluster.clone().unwrap();
        assert_eq!((cluster.certificate_authority, cluster.certificate_authority_data), (None, None));
        let user = kubeconfig.auth_infos[0].auth_info.clone().unwrap();
        assert!(user.token.is_none() && user.token_file.is_none());
        let broken = kubeconfig.auth_infos[2].auth_info.clone().unwrap();
        assert_eq!(broken.client_certificate_data.as_deref(), Some("Q0E="), "lines of base64 are joined");
    }
}
