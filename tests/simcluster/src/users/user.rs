//! Users and their permissions.

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    name: String,
    groups: Vec<String>,
    /// `None` allows everything.
    rules: Option<Vec<Rule>>,
}

impl User {
    /// Returns a user with all permissions.
    pub fn admin(name: &str) -> Self {
        Self { name: name.to_owned(), groups: vec!["system:masters".to_owned()], rules: None }
    }

    /// Returns a user with the permissions of these rules only.
    pub fn limited(name: &str, rules: impl IntoIterator<Item = Rule>) -> Self {
        Self { name: name.to_owned(), groups: Vec::new(), rules: Some(rules.into_iter().collect()) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the rules allow a verb on a resource.
    pub(super) fn may(&self, verb: &str, resource: &str, namespace: Option<&str>) -> bool {
        self.rules
            .as_ref()
            .is_none_or(|rules| rules.iter().any(|rule| rule.allows(verb, resource, namespace)))
    }

    /// The groups, as a client certificate's organizations.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }
}

/// Verbs that are allowed on resources; `*` means all. A subresource is written as in RBAC, such as `pods/log`,
/// and a custom resource with its group, such as `clonesets.apps.kruise.io`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    verbs: Vec<String>,
    resources: Vec<String>,
    namespace: Option<String>,
}

impl Rule {
    /// Allows verbs on resources, in every namespace.
    pub fn allow(verbs: &[&str], resources: &[&str]) -> Self {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self { verbs: owned(verbs), resources: owned(resources), namespace: None }
    }

    /// Restricts the rule to one namespace.
    pub fn in_namespace(self, namespace: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), ..self }
    }

    fn allows(&self, verb: &str, resource: &str, namespace: Option<&str>) -> bool {
        let names = |words: &[String], wanted: &str| words.iter().any(|word| word == "*" || word == wanted);
        names(&self.verbs, verb)
            && names(&self.resources, resource)
            && self.namespace.as_deref().is_none_or(|only| namespace == Some(only))
    }
}
