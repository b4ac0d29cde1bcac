//! Authentication and authorization.

mod user;

use std::collections::BTreeMap;

use http::{HeaderMap, header::AUTHORIZATION};

pub use self::user::{Rule, User};
use crate::{
    refusal::Refusal,
    request::{Route, Target},
};

/// The users and their bearer tokens.
#[derive(Clone, Debug, Default)]
pub struct Users {
    users: BTreeMap<String, User>,
    /// The users of bearer tokens.
    tokens: BTreeMap<String, String>,
}

/// The user of requests without a credential.
const ANONYMOUS: &str = "system:anonymous";

impl Users {
    /// Adds a user, or replaces one of the same name.
    pub fn add(&mut self, user: User) {
        self.users.insert(user.name().to_owned(), user);
    }

    /// Returns the user with a name.
    pub fn get(&self, name: &str) -> Option<&User> {
        self.users.get(name)
    }

    /// Adds a bearer token of a user.
    pub fn grant_token(&mut self, token: &str, user: &str) {
        self.tokens.insert(token.to_owned(), user.to_owned());
    }

    /// Revokes a token.
    pub fn revoke_token(&mut self, token: &str) {
        self.tokens.remove(token);
    }

    /// Returns the user of a request: by its bearer token, else by the client certificate, else anonymous; or the
    /// user that it impersonates.
    pub(crate) fn authenticate(
        &self,
        headers: &HeaderMap,
        connection_user: Option<&str>,
    ) -> Result<String, Refusal> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let user = match headers.get(AUTHORIZATION) {
            Some(value) => self.token_user(value.to_str().unwrap_or_default())?,
            None => connection_user.unwrap_or(ANONYMOUS).to_owned(),
        };
        let Some(other) = text("impersonate-user") else {
            return Ok(user);
        };
        if self.allows(&user, "impersonate", "users", None) {
            return Ok(other.to_owned());
        }
        let why = format!(
            "User \"{user}\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope"
        );
        Err(Refusal::with_status(403, format!("users \"{other}\" is forbidden: {why}")))
    }

    fn token_user(&self, authorization: &str) -> Result<String, Refusal> {
        authorization
            .strip_prefix("Bearer ")
            .and_then(|token| self.tokens.get(token))
            .cloned()
            .ok_or_else(Refusal::unauthorized)
    }

    /// Whether a user has the permission for a request. Every authenticated user can read the paths of no resource.
    pub(crate) fn authorize(&self, user: &str, route: &Route) -> Result<(), Refusal> {
        match route {
            Route::Path(path)
                if user == ANONYMOUS
                    && !matches!(path.as_str(), "/version" | "/healthz" | "/livez" | "/readyz") =>
            {
                Err(Refusal::forbidden_path(&format!("User \"{user}\" cannot get path \"{path}\"")))
            }
            Route::Path(_) => Ok(()),
            Route::Resource(target) => self.authorize_target(user, target),
        }
    }

    fn authorize_target(&self, user: &str, target: &Target) -> Result<(), Refusal> {
        let resource = match target.subresource.as_str() {
            "" => target.resource.plural.to_owned(),
            part => format!("{}/{part}", target.resource.plural),
        };
        let in_rules = if target.resource.is_custom() {
            format!("{resource}.{}", target.resource.group)
        } else {
            resource.clone()
        };
        if self.allows(user, target.verb.word(), &in_rules, target.namespace.as_deref()) {
            return Ok(());
        }
        let place = match &target.namespace {
            Some(namespace) => format!("in the namespace \"{namespace}\""),
            None => "at the cluster scope".to_owned(),
        };
        let (verb, group) = (target.verb.word(), target.resource.group);
        let why =
            format!("User \"{user}\" cannot {verb} resource \"{resource}\" in API group \"{group}\" {place}");
        Err(Refusal::forbidden(target.resource, target.name.as_deref().unwrap_or_default(), &why))
    }

    fn allows(&self, user: &str, verb: &str, resource: &str, namespace: Option<&str>) -> bool {
        self.users.get(user).is_some_and(|user| user.may(verb, resource, namespace))
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Method};

    use super::*;
    use crate::request::Query;

    fn users() -> Users {
        let mut users = Users::default();
        users.add(User::admin("admin"));
        users.add(User::limited(
            "gina",
            [Rule::allow(&["get"], &["deployments", "pods/log"]).in_namespace("shop")],
        ));
        users
    }

    fn refusal(user: &str, path: &str) -> Option<String> {
        let route = Route::of(&Method::GET, path, &Query::default());
        users().authorize(user, &route).err().map(|refusal| refusal.message)
    }

    #[test]
    fn rules_allow_requests_and_refusals_have_a_reason() {
        assert_eq!(refusal("admin", "/api/v1/nodes"), None);
        assert_eq!(refusal("gina", "/apis/apps/v1/namespaces/shop/deployments/web"), None);
        assert_eq!(refusal("gina", "/api/v1/namespaces/shop/pods/web-1/log"), None);
        assert_eq!(
            refusal("gina", "/apis/apps/v1/namespaces/shop/deployments").unwrap(),
            "deployments.apps is forbidden: User \"gina\" cannot list resource \"deployments\" in API group \"apps\" in the namespace \"shop\""
        );
        assert_eq!(
            refusal("gina", "/api/v1/nodes").unwrap(),
            "nodes is forbidden: User \"gina\" cannot list resource \"nodes\" in API group \"\" at the cluster scope"
        );
    }

    #[test]
    fn impersonation_needs_permission() {
        let mut headers = HeaderMap::new();
        headers.insert("impersonate-user", HeaderValue::from_static("gina"));
        assert_eq!(users().authenticate(&headers, Some("admin")).unwrap(), "gina");
        assert_eq!(users().authenticate(&headers, Some("gina")).unwrap_err().code, 403);
        assert_eq!(users().authenticate(&HeaderMap::new(), None).unwrap(), ANONYMOUS);
    }
}
