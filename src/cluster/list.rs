//! Lists objects: which ones, how much of each, and in pages.

use std::collections::{HashMap, HashSet};

use http::StatusCode;

use crate::cluster::connection::{ApiRequest, ApiResponse, Cluster, Policy, RequestError};
use crate::cluster::list_decoder::{Page, read_page};
use crate::error::{Error, ErrorKind};
use crate::model::api::event;
use crate::model::api::field_selector::FieldSelector;
use crate::model::api::object::Object;
use crate::model::api::resource_type::{EVENT, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::text::untrusted::percent_encoded;
use crate::snapshot::json::is_too_large;

/// Which objects to list or to watch, and how much of each.
#[derive(Clone, Debug)]
pub struct ListQuery {
    pub(super) type_: &'static ResourceType,
    pub(super) namespace: Option<String>,
    pub(super) labels: Selector,
    /// The field selector; empty for none.
    pub(super) fields: String,
    form: ListForm,
}

/// How much of each object is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListForm {
    /// All fields; of objects other than workloads, pods and ControllerRevisions without `managedFields`.
    Facts,
    /// All fields.
    Whole,
    /// All metadata. No value of a Secret or ConfigMap is requested.
    Metadata,
}

impl ListQuery {
    /// Selects all objects of a type in one namespace, or in all. Objects other than workloads, pods and ControllerRevisions
    /// come without `managedFields`.
    #[must_use]
    pub fn of(type_: &'static ResourceType, namespace: Option<&str>) -> Self {
        let (labels, fields) = (Selector::default(), String::new());
        Self { type_, namespace: namespace.map(str::to_owned), labels, fields, form: ListForm::Facts }
    }

    /// Selects the events in one namespace, or in all, without those that say that all is well.
    #[must_use]
    pub fn events(namespace: Option<&str>) -> Self {
        Self { fields: event::FIELDS.to_owned(), ..Self::of(&EVENT, namespace) }
    }

    /// Selects the objects with these labels.
    #[must_use]
    pub fn with_labels(self, labels: &Selector) -> Self {
        Self { labels: labels.clone(), ..self }
    }

    /// Selects the objects with these fields. A snapshot ignores it.
    #[must_use]
    pub fn with_fields(self, fields: &FieldSelector) -> Self {
        Self { fields: fields.to_query(), ..self }
    }

    /// Keeps `managedFields`.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { form: ListForm::Whole, ..self }
    }

    /// Reads only metadata.
    #[must_use]
    pub fn metadata(self) -> Self {
        Self { form: ListForm::Metadata, ..self }
    }

    /// Returns the path of a request for these objects, with more `parameters`, which may be empty.
    pub(super) fn path(&self, parameters: &str, cluster: &Cluster) -> String {
        let collection = cluster.served.collection(self.type_, self.namespace.as_deref());
        format!("{collection}?{}", self.parameters(parameters))
    }

    fn parameters(&self, others: &str) -> String {
        let selector = |name: &str, text: &str| match text {
            "" => String::new(),
            text => format!("{name}={}", percent_encoded(text, "")),
        };
        let labels = selector("labelSelector", &self.labels.to_query());
        let all = [others.to_owned(), labels, selector("fieldSelector", &self.fields)];
        all.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&")
    }

    /// Lists the objects, one page after another. Returns what `keep` makes of each, and the resourceVersion of the list, at
    /// which a watch can start.
    ///
    /// # Errors
    /// When a request fails, or a response is not a page of the list.
    pub(super) async fn read<T>(
        &self,
        policy: Policy,
        cluster: &Cluster,
        keep: impl Fn(Object) -> Option<T>,
    ) -> Result<(Vec<T>, String), RequestError> {
        let (mut all, mut count, mut deadline) = (Vec::new(), 0, None);
        let mut page_parameters = format!("limit={PAGE_SIZE}");
        loop {
            let path = self.path(&page_parameters, cluster);
            let request = match self.form {
                ListForm::Metadata => ApiRequest::metadata_list(&path),
                ListForm::Facts | ListForm::Whole => ApiRequest::get(&path),
            };
            let may_expire = !page_parameters.is_empty();
            let is_expired = |response: &ApiResponse| may_expire && response.status == StatusCode::GONE;
            let response = cluster.send(&request, policy, &mut deadline, is_expired).await?;
            if is_expired(&response) {
                // The `continue` token expired between two pages. Paging again could expire again, so read one large page.
                (all, count, page_parameters) = (Vec::new(), 0, String::new());
                continue;
            }
            let page = self.page(&response, &keep).map_err(RequestError::Unusable)?;
            count += page.items;
            if count > MOST_OBJECTS {
                return Err(RequestError::Unusable(self.too_large("has more than 500,000 objects")));
            }
            all.extend(page.kept);
            if page.continue_token.is_empty() {
                return Ok((all, page.version));
            }
            if page.items >= PAGE_SIZE {
                deadline = None; // the limit is for one full page, and for all smaller ones together, which may never end
            }
            page_parameters =
                format!("limit={PAGE_SIZE}&continue={}", percent_encoded(&page.continue_token, ""));
        }
    }

    fn page<T>(
        &self,
        response: &ApiResponse,
        keep: impl FnMut(Object) -> Option<T>,
    ) -> Result<Page<T>, Error> {
        if is_too_large(response.body()) {
            return Err(self.too_large("takes more than 1 GiB of memory"));
        }
        let page = read_page(response.body(), self.type_, self.form != ListForm::Facts, keep);
        page.ok_or_else(|| self.unusable("is not a list"))
    }

    fn unusable(&self, why: &str) -> Error {
        Error::new(ErrorKind::Malformed, format!("the server's list of {} {why}", self.type_.plural))
    }

    fn too_large(&self, why: &str) -> Error {
        let count = format!("kubectl get {} -A -o name | wc -l", self.type_.plural);
        self.unusable(why).hint(format!("select fewer with -n or -l; to count them: {count}"))
    }
}

/// The number of objects of a page, as in kubectl.
const PAGE_SIZE: usize = 500;

/// The limit of the objects of a list: three times as many as the pods of the largest cluster that Kubernetes supports.
const MOST_OBJECTS: usize = 500_000;

/// One label that the selector of each workload requires, so that the pods of others are dropped as they are read.
#[derive(Debug, Default)]
pub(super) struct PodLabels {
    /// Values by key.
    required: HashMap<String, HashSet<String>>,
    /// Whether a selector requires no label of one value, so that every pod may belong to its workload.
    any: bool,
}

impl PodLabels {
    /// Adds the selector of a workload.
    pub(super) fn add(&mut self, selector: &Selector) {
        match selector.required_labels().next() {
            Some((key, values)) => {
                self.required.entry(key.to_owned()).or_default().extend(values.iter().cloned());
            }
            None => self.any = true,
        }
    }

    /// Whether a pod may belong to one of the workloads.
    pub(super) fn may_belong(&self, pod: &Object) -> bool {
        let has = |(key, values): (&String, &HashSet<String>)| {
            pod.label(key).is_some_and(|value| values.contains(value))
        };
        self.any || self.required.iter().any(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::resource_type::POD;
    use serde_json::json;

    #[test]
    fn a_request_has_the_selectors() {
        let pods = ListQuery::of(&POD, Some("shop"));
        assert_eq!(pods.parameters("limit=500"), "limit=500");
        assert_eq!(pods.parameters(""), "");
        let selected = pods.with_labels(&Selector::parse("a=b,c in (d,e)").unwrap());
        assert_eq!(selected.parameters("limit=500"), "limit=500&labelSelector=a%3Db%2Cc%20in%20%28d%2Ce%29");
        let events = ListQuery::events(None).parameters("");
        assert!(
            events.starts_with("fieldSelector=reason%21%3DScheduled%2Creason%21%3DPulling%2C"),
            "{events}"
        );
    }

    #[test]
    fn a_selector_without_a_required_label_keeps_every_pod() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "p", "labels": {"app": "web"}}});
        let pod = Object::read(pod).unwrap();
        for (selectors, is_kept) in [
            (&["app=web"][..], true),
            (&["app=db"], false),
            (&["!legacy"], true),
            (&["app=db", "!legacy"], true),
        ] {
            let mut labels = PodLabels::default();
            for text in selectors {
                labels.add(&Selector::parse(text).unwrap());
            }
            assert_eq!(labels.may_belong(&pod), is_kept, "{selectors:?}");
        }
    }
}
