//! Reads when ConfigMaps and Secrets changed, by their metadata. Values are not requested.

use k8s_openapi::jiff::Timestamp;

use super::concurrent::concurrently;
use super::source::Source;
use crate::cluster::list::ListQuery;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::resource_type::{CONFIG_MAP, SECRET};
use crate::model::finding::{Finding, Reason};
use crate::model::revision::references::{Configuration, NamedConfiguration};

/// The ConfigMaps and Secrets that were read.
#[derive(Debug, Default)]
pub struct ChangedConfiguration {
    /// Those that changed, and those whose metadata has no time of a change.
    pub objects: Vec<Configuration>,
    /// What is missing because it is forbidden.
    pub note: Option<Finding>,
    /// Why other lists failed.
    pub errors: Vec<Error>,
}

/// Lists the ConfigMaps and Secrets that live templates name, and keeps those that changed since a time or have none.
/// `all_namespaces` says that lists of the whole cluster serve. A type that no template names is not listed. All lists are
/// sent together.
pub async fn changed_configuration(
    named: &NamedConfiguration,
    all_namespaces: bool,
    since: Timestamp,
    source: &Source,
) -> ChangedConfiguration {
    let lists = [("ConfigMaps", &CONFIG_MAP), ("Secrets", &SECRET)].into_iter().flat_map(|(title, type_)| {
        let mut namespaces: Vec<_> = named.namespaces(type_).into_iter().map(Some).collect();
        if all_namespaces {
            namespaces = namespaces.first().map(|_| None).into_iter().collect();
        }
        namespaces.into_iter().map(move |namespace| (title, type_, namespace))
    });
    let lists = lists.map(async |(title, type_, namespace)| {
        let keep = |object| {
            let read = Configuration::read(type_, &object);
            let is_recent = read.change.as_ref().is_none_or(|change| change.time >= since);
            (is_recent && named.contains(&read)).then_some(read)
        };
        (title, source.list(&ListQuery::of(type_, namespace).metadata(), keep).await)
    });
    let (mut read, mut unread) = (ChangedConfiguration::default(), Vec::<(&str, Error)>::new());
    for (title, listed) in concurrently(lists).await {
        match listed {
            Ok(objects) => read.objects.extend(objects),
            Err(error) if error.kind() == ErrorKind::NotReadable => unread.push((title, error)),
            Err(error) => read.errors.push(error),
        }
    }
    if let Some((_, error)) = unread.first() {
        let mut titles: Vec<_> = unread.iter().map(|(title, _)| *title).collect();
        titles.dedup();
        let text = format!("changes of {} are not listed: {error}", titles.join(" and "));
        read.note = Some(Finding::note(Reason::Incomplete, text));
    }
    read
}

/// Reads the ConfigMaps and Secrets that live templates name, with one request for each. What cannot be read is left out.
pub async fn named_configuration(named: &NamedConfiguration, source: &Source) -> Vec<Configuration> {
    read_named(named, source).await.into_iter().flatten().flatten().collect()
}

/// Reads the ConfigMaps and Secrets that live templates name, as [`named_configuration`]. What does not exist is left out.
///
/// # Errors
/// When one cannot be read.
pub async fn required_configuration(
    named: &NamedConfiguration,
    source: &Source,
) -> Result<Vec<Configuration>> {
    let read: Result<Vec<_>> = read_named(named, source).await.into_iter().collect();
    Ok(read?.into_iter().flatten().collect())
}

async fn read_named(named: &NamedConfiguration, source: &Source) -> Vec<Result<Option<Configuration>>> {
    let read = named.keys().map(async |(type_, namespace, name)| {
        let object = source.metadata(type_, namespace, name).await?;
        Ok(object.map(|object| Configuration::read(type_, &object)))
    });
    concurrently(read).await
}
