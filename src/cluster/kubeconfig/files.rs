//! The kubeconfig files: which ones, read, and merged into one.

use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::config::{AuthInfo, Cluster, Context, Kubeconfig};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::world::Environment;

/// What stands between the files in `$KUBECONFIG`.
const LIST_SEPARATOR: char = if cfg!(windows) { ';' } else { ':' };

/// Reads the kubeconfig that is meant: the one named, or those of `$KUBECONFIG`, or `~/.kube/config`.
///
/// Of the files that nobody named on the command line, missing ones are skipped; where two say
/// something about the same thing, the first wins.
///
/// # Errors
/// When a file cannot be read or is no kubeconfig.
pub(super) fn read(named: Option<&Path>, environment: &Environment) -> Result<Kubeconfig> {
    if let Some(path) = named {
        return read_one(path)?.ok_or_else(|| {
            Error::new(ErrorKind::File, format!("the kubeconfig {} does not exist", path.display()))
                .in_compat(format!("stat {}: no such file or directory", path.display()))
        });
    }
    let mut merged = Kubeconfig::default();
    for path in usual_paths(environment) {
        if let Some(next) = read_one(&path)? {
            merged = merged.merge(next).map_err(|error| unreadable(&path, &error))?;
        }
    }
    Ok(merged)
}

fn usual_paths(environment: &Environment) -> Vec<PathBuf> {
    if let Some(list) = environment.text("KUBECONFIG") {
        return list.split(LIST_SEPARATOR).filter(|path| !path.is_empty()).map(PathBuf::from).collect();
    }
    let home = environment.get("HOME").or_else(|| environment.get("USERPROFILE"));
    home.map(|home| Path::new(home).join(".kube").join("config")).into_iter().collect()
}

/// One file, unless there is none.
fn read_one(path: &Path) -> Result<Option<Kubeconfig>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let message = format!("cannot read the kubeconfig {}", path.display());
            return Err(Error::new(ErrorKind::File, message).caused_by(error));
        }
    };
    let kubeconfig = Kubeconfig::from_yaml(text.trim_start_matches('\u{feff}'));
    let kubeconfig = kubeconfig.map_err(|error| unreadable(path, &error))?;
    Ok(Some(at_home(kubeconfig, path.parent().unwrap_or(Path::new("")))))
}

/// The parser shows the place over several lines; only the first says what is wrong, and the others
/// may hold a token.
fn unreadable(path: &Path, error: &kube::config::KubeconfigError) -> Error {
    let cause = error.to_string();
    Error::new(ErrorKind::File, format!("{} is no kubeconfig", path.display()))
        .caused_by(cause.lines().next().unwrap_or_default())
}

/// The same kubeconfig, with paths that do not depend on where we stand and nothing that is said but empty.
fn at_home(mut kubeconfig: Kubeconfig, directory: &Path) -> Kubeconfig {
    kubeconfig.current_context = kubeconfig.current_context.filter(|name| !name.is_empty());
    for named in &mut kubeconfig.contexts {
        named.context = named.context.take().map(without_blanks::<Context>);
    }
    for named in &mut kubeconfig.clusters {
        named.cluster = named.cluster.take().map(without_blanks::<Cluster>);
        if let Some(cluster) = &mut named.cluster {
            resolve(&mut cluster.certificate_authority, directory);
        }
    }
    for named in &mut kubeconfig.auth_infos {
        named.auth_info = named.auth_info.take().map(without_blanks::<AuthInfo>);
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

/// `token: ""` means no token, and `certificate-authority-data: ""` no data; kube takes both at their word.
fn without_blanks<T: Clone + Serialize + DeserializeOwned>(value: T) -> T {
    let Ok(Value::Object(mut members)) = serde_json::to_value(&value) else {
        return value;
    };
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
        at_home(Kubeconfig::from_yaml(text).unwrap(), Path::new("/home/u/.kube"))
    }

    #[test]
    fn the_usual_paths_are_kubectls() {
        let paths = |variables: &[(&str, &str)]| usual_paths(&variables.iter().copied().collect());
        assert_eq!(paths(&[("HOME", "/h")]), [Path::new("/h/.kube/config")]);
        assert_eq!(paths(&[("HOME", "/h"), ("KUBECONFIG", "/a::/b")]), [Path::new("/a"), Path::new("/b")]);
        assert_eq!(paths(&[("HOME", "/h"), ("KUBECONFIG", "")]), [Path::new("/h/.kube/config")]);
        assert!(paths(&[]).is_empty());
    }

    #[test]
    fn paths_are_relative_to_their_file_and_commands_to_the_path() {
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
    fn what_is_empty_is_not_said() {
        let kubeconfig = parsed(
            "current-context: ''\n\
             contexts: [{name: x, context: {cluster: '', user: '', namespace: ''}}]\n\
             clusters: [{name: c, cluster: {server: s, certificate-authority: '', certificate-authority-data: ''}}]\n\
             users: [{name: u, user: {token: '', tokenFile: '', client-key-data: null}}, {name: n}]",
        );
        assert_eq!(kubeconfig.current_context, None);
        let context = kubeconfig.contexts[0].context.clone().unwrap();
        assert_eq!((context.cluster.as_str(), context.user, context.namespace), ("", None, None));
        let cluster = kubeconfig.clusters[0].cluster.clone().unwrap();
        assert_eq!((cluster.certificate_authority, cluster.certificate_authority_data), (None, None));
        let user = kubeconfig.auth_infos[0].auth_info.clone().unwrap();
        assert!(user.token.is_none() && user.token_file.is_none());
    }
}
