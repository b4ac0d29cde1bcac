//! Reads several clusters, each of a context, at the same time.

use futures_util::stream::{StreamExt, iter};
use k8s_openapi::jiff::Timestamp;

use crate::cluster::source::{ContextSource, Source};
use crate::error::Result;
use crate::render::contexts::ReadContext;

/// How many clusters are read at the same time.
const MAX_CLUSTERS: usize = 16;

/// Reads each context, in any order, because one that does not answer must not keep others from being read. Returns them in
/// their order. `with_version` reads the version of each API server too.
pub(super) async fn read_each<'a, T>(
    contexts: &'a [ContextSource],
    with_version: bool,
    read: impl AsyncFn(&'a Source) -> Result<T>,
) -> Vec<(ReadContext, Option<T>)> {
    let reads = contexts.iter().enumerate().map(async |(index, context)| {
        let version = async {
            let source = context.source.as_ref().ok().filter(|_| with_version)?;
            source.version().await.ok()
        };
        let read = async { read(context.source.as_ref().map_err(Clone::clone)?).await };
        let (read, server_version) = tokio::join!(read, version);
        let (read, error) = match read {
            Ok(read) => (Some(read), None),
            Err(error) => (None, Some(error)),
        };
        let (now, is_live) = match &context.source {
            Ok(source) => (source.now(), source.is_live()),
            Err(_) => (Timestamp::UNIX_EPOCH, false),
        };
        let name = context.name.clone();
        (index, (ReadContext { name, server_version, error, now, is_live }, read))
    });
    let mut all: Vec<_> = iter(reads).buffer_unordered(MAX_CLUSTERS).collect().await;
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, read)| read).collect()
}
