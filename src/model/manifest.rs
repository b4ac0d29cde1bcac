//! Workloads that are named by their manifests (`-f`): what a file says counts only as a name.

use std::path::PathBuf;

use super::kind::{TypeWord, read_type};
use super::object::Object;
use super::target::AskedType;
use crate::error::{Error, Result};

/// The manifests that were asked for, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifests {
    /// Where they are.
    pub origins: Vec<Origin>,
    /// Whether the directories in a directory count too.
    pub recursive: bool,
}

/// Where manifests are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file, a directory, or a pattern of such.
    Path(PathBuf),
    /// `-`: standard input.
    Stdin,
}

impl Manifests {
    /// Reads the words that stand after `-f`.
    ///
    /// # Errors
    /// When a word is a URL, which we do not fetch, or standard input is named twice.
    pub fn read(words: &[String], recursive: bool) -> Result<Self> {
        let origins = words.iter().map(|word| match word.as_str() {
            "-" => Ok(Origin::Stdin),
            url if url.starts_with("http://") || url.starts_with("https://") => Err(no_url(url)),
            path => Ok(Origin::Path(PathBuf::from(path))),
        });
        let origins = origins.collect::<Result<Vec<_>>>()?;
        if origins.iter().filter(|origin| **origin == Origin::Stdin).count() > 1 {
            return Err(Error::usage("standard input cannot be used for multiple arguments"));
        }
        Ok(Self { origins, recursive })
    }

    /// Whether standard input is one of them.
    #[must_use]
    pub fn use_stdin(&self) -> bool {
        self.origins.contains(&Origin::Stdin)
    }
}

/// An object as a manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// `Deployment`.
    pub kind: String,
    /// `apps/v1`.
    pub api_version: String,
    /// Its name.
    pub name: String,
    /// Its namespace, if the manifest says one.
    pub namespace: Option<String>,
    /// The file that it is in, for errors.
    pub origin: String,
}

impl Declared {
    /// What an object in a file declares.
    #[must_use]
    pub fn by(object: &Object, origin: &str) -> Self {
        let namespace = object.namespace();
        Self {
            kind: object.kind().to_owned(),
            api_version: object.text("/apiVersion").unwrap_or_default().to_owned(),
            name: object.name().to_owned(),
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            origin: origin.to_owned(),
        }
    }

    /// The type it is of, if we know it. Old manifests call the group of workloads `extensions`.
    #[must_use]
    pub fn type_(&self) -> Option<AskedType> {
        let group = self.api_version.split_once('/').map_or("", |(group, _)| group);
        let known = match read_type(&self.kind) {
            TypeWord::Kind(kind) => AskedType::Kind(kind),
            TypeWord::Other(type_) => AskedType::Other(type_),
            TypeWord::All | TypeWord::Unknown => return None,
        };
        let is_old = group == "extensions" && matches!(known, AskedType::Kind(_));
        (is_old || known.type_().group() == group).then_some(known)
    }
}

/// A server of manifests is outside of everything we know how to trust; `curl` knows the user's own ways.
fn no_url(url: &str) -> Error {
    Error::usage("-f does not fetch from a URL").hint(format!("curl -sSL {url} | kubectl rollout2 ... -f -"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::kind::Kind;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn files_directories_and_standard_input_are_origins_and_urls_are_not() {
        let manifests = Manifests::read(&words("a.yaml - dir"), true).unwrap();
        assert_eq!(
            manifests.origins,
            [Origin::Path("a.yaml".into()), Origin::Stdin, Origin::Path("dir".into())]
        );
        assert!(manifests.recursive && manifests.use_stdin());
        let error = Manifests::read(&words("https://x/y.yaml"), false).unwrap_err();
        assert_eq!(error.next_step(), Some("curl -sSL https://x/y.yaml | kubectl rollout2 ... -f -"));
        assert!(Manifests::read(&words("- -"), false).is_err());
    }

    #[test]
    fn a_manifest_names_an_object_by_kind_and_group() {
        let type_ = |api_version: &str, kind: &str| {
            let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
            Declared::by(&Object::read(object).unwrap(), "f").type_()
        };
        assert_eq!(type_("apps/v1", "Deployment"), Some(AskedType::Kind(Kind::Deployment)));
        assert_eq!(type_("extensions/v1beta1", "DaemonSet"), Some(AskedType::Kind(Kind::DaemonSet)));
        assert!(matches!(type_("v1", "Service"), Some(AskedType::Other(_))));
        assert_eq!(type_("apps.kruise.io/v1beta1", "StatefulSet"), None);
        assert_eq!(type_("example.org/v1", "Widget"), None);
    }
}
