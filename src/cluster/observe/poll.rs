//! The lists and gets of a reflector: before a watch, or instead of one.

use tokio::sync::mpsc;

use super::reflector::{Reflector, ReflectorError};
use super::update::{Delta, Update};
use crate::cluster::connection::{ApiRequest, ApiResponse, Policy, RequestError};
use crate::cluster::page::{Pages, percent_encoded};
use crate::error::{Error, ErrorKind};
use crate::model::api::object::Object;

impl Reflector {
    /// Lists all objects, and records the resourceVersion at which a watch starts.
    pub(super) async fn list(&mut self, sender: &mpsc::Sender<Update>) -> Result<(), ReflectorError> {
        let connection = &self.shared.connection;
        let mut pages = Pages::of(self.type_, &self.collection, &self.query, &connection.memory);
        let mut deadline = None;
        while let Some(path) = pages.next() {
            let is_expired = |response: &ApiResponse| pages.is_expired_page(response);
            let request = ApiRequest::get(&path);
            let response = connection.send(&request, Policy::Quiet, &mut deadline, is_expired).await?;
            let accepted = pages.accept(&response, |object| self.keep(object));
            accepted.map_err(|why| ReflectorError::Request(unusable_list(why)))?;
        }
        let (listed, version) = pages.finish();
        self.send(Delta::Listed(listed), sender).await?;
        self.version = Some(version);
        Ok(())
    }

    /// Gets each target, when RBAC allows neither watch nor list.
    pub(super) async fn get(&mut self, sender: &mpsc::Sender<Update>) -> Result<(), ReflectorError> {
        let mut kept = Vec::new();
        for target in self.targets() {
            let Some(watched) = self.shared.targets.get(target) else {
                continue;
            };
            let path = format!("{}/{}", self.collection, percent_encoded(&watched.name));
            let request = ApiRequest::get(&path);
            let connection = &self.shared.connection;
            let response =
                connection.send(&request, Policy::Quiet, &mut None, ApiResponse::is_not_found).await?;
            if !response.is_not_found() {
                kept.extend(Object::read(response.json()).ok().and_then(|object| self.keep(object)));
            }
        }
        self.send(Delta::Listed(kept), sender).await
    }
}

/// Returns the failure for an unusable list. It is retried: a proxy may have answered.
pub(super) fn unusable_list(why: &str) -> RequestError {
    RequestError::NotSent(Error::new(ErrorKind::Malformed, format!("the server's list {why}")))
}
