//! One connection to an API server: requests, deadlines, retries of reads, and renewal of credentials.

mod active_client;
mod body_stream;
mod client;
mod explain;
mod header_log;
mod in_process;
mod pool;
mod request;
mod request_error;
mod response;
mod response_limits;
mod retry;
mod round_trips;
mod shared_notices;
mod single_attempt;
mod timeouts;
mod transport;
mod transport_error;

pub(super) use request::ApiRequest;
pub(super) use request_error::RequestError;
pub(super) use response::ApiResponse;
pub(super) use response_limits::ResponseLimits;
pub(super) use retry::backoff_after;
pub(super) use transport_error::TransportError;

use std::time::Duration;

use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper_util::client::proxy::matcher::Intercept;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};

use self::active_client::ActiveClient;
use self::header_log::HeaderLog;
use self::round_trips::RoundTrips;
use self::shared_notices::SharedNotices;
use self::timeouts::Timeouts;
use super::credential::PluginContext;
use super::kubeconfig::{self, Endpoint};
use super::listener::{Listener, run_if_slow};
use super::proxy::{is_this_machine, proxy_for};
use super::served_versions::ServedVersions;
use crate::cluster::access::Overrides;
use crate::cluster::connection::explain::ApiServer;
use crate::cluster::notice::{Exchange, Notice};
use crate::error::{Error, Result};
use crate::world::World;

/// From this `-v` level on, every request is logged, as kubectl does.
const REQUEST_LOG_VERBOSITY: i32 = 6;

/// A connection to one API server.
#[derive(Debug)]
pub(super) struct Connection {
    endpoint: Endpoint,
    api_server: ApiServer,
    proxy: Option<Intercept>,
    plugin_context: PluginContext,
    timeouts: Timeouts,
    listener: Listener,
    logs_requests: bool,
    active_client: Mutex<Option<ActiveClient>>,
    header_log: HeaderLog,
    round_trips: RoundTrips,
    shared_notices: SharedNotices,
    /// The versions of types that are not Kubernetes' own.
    pub(super) served: ServedVersions,
}

impl Connection {
    /// Chooses the API server and the credentials. It sends nothing and runs no plugin yet.
    ///
    /// # Errors
    /// A usage or file error when the kubeconfig and the flags do not select a server and a user.
    pub(super) fn open(overrides: &Overrides, world: &World, listener: Listener) -> Result<Self> {
        let mut endpoint = kubeconfig::endpoint(overrides, &world.environment)?;
        let url = kubeconfig::server_url(&endpoint)?;
        let proxy = proxy_for(&url, endpoint.cluster.proxy_url.as_deref(), &world.environment)?;
        let is_loopback = is_this_machine(&url) && proxy.is_none();
        let withheld = !(is_loopback && overrides.server.loopback_credentials)
            && kubeconfig::withhold_credentials(&mut endpoint, &url);
        let timeouts = Timeouts::new(overrides.request_timeout);
        let proxy_address = proxy.as_ref().and_then(|proxy| proxy.uri().authority()).map(ToString::to_string);
        let api_server = ApiServer {
            url,
            proxy: proxy_address,
            source: endpoint.source.clone(),
            is_server_from_flag: endpoint.is_server_from_flag,
            withheld,
        };
        if withheld {
            listener.notify(&Notice::CredentialsWithheld { server: api_server.address(), is_loopback });
        }
        Ok(Self {
            api_server,
            endpoint,
            proxy,
            plugin_context: PluginContext {
                environment: world.environment.clone(),
                stdin_is_terminal: world.stdin_is_terminal,
                limit: timeouts.plugin,
                notice_after: timeouts.notice_after,
                listener: listener.clone(),
            },
            timeouts,
            listener,
            logs_requests: overrides.verbosity >= REQUEST_LOG_VERBOSITY,
            active_client: Mutex::new(None),
            header_log: HeaderLog::new(world.clock),
            round_trips: RoundTrips::default(),
            shared_notices: SharedNotices::default(),
            served: ServedVersions::default(),
        })
    }

    /// Returns the namespace of the kubeconfig's context.
    pub(super) fn namespace(&self) -> Option<&str> {
        self.endpoint.namespace.as_deref()
    }

    /// Returns the server's time, from the `Date` header of its last response. Before the first response it
    /// is the time of this machine.
    pub(super) fn now(&self) -> Timestamp {
        self.header_log.now()
    }

    /// Returns the number of distinct warnings that the server sent.
    pub(super) fn warnings(&self) -> usize {
        self.header_log.warnings()
    }

    /// Reads a path, with its query, and retries transient failures until the request timeout.
    ///
    /// # Errors
    /// When no response arrives, or when the response is neither JSON with a 2xx status nor `expected`.
    pub(super) async fn read(
        &self,
        path: &str,
        expected: impl Fn(&ApiResponse) -> bool,
    ) -> Result<ApiResponse, RequestError> {
        self.read_within(&mut ResponseLimits::of_response(), path, expected).await
    }

    /// Reads one of several responses that share a limit of bytes and time, such as the pages of a list.
    ///
    /// # Errors
    /// As [`read`](Self::read), and when the responses exceed the limits.
    pub(super) async fn read_within(
        &self,
        limits: &mut ResponseLimits,
        path: &str,
        expected: impl Fn(&ApiResponse) -> bool,
    ) -> Result<ApiResponse, RequestError> {
        // The deadline starts after the first client exists: a plugin may prompt the user for a password.
        let mut first = Some(self.client().await?);
        let deadline = limits.until(self.deadline());
        let bytes = limits.bytes();
        let notify = |failure: &RequestError, pause| {
            let (server, reason) = (self.api_server.address(), failure.summary());
            self.notify_once(&Notice::Retrying { server, reason, pause }, pause);
        };
        let request = ApiRequest::get(path);
        let once = async || {
            let client = match first.take() {
                Some(client) => client,
                None => self.client().await?,
            };
            match self.send_authenticated(client, &request, deadline, bytes).await? {
                response if response.is_json_success() || expected(&response) => Ok(response),
                response => Err(RequestError::Status(response)),
            }
        };
        // On the heap, because a caller that sends several requests concurrently stores all of these futures.
        let response = Box::pin(retry::retry_until(deadline, once, notify)).await?;
        limits.spend(response.body().len());
        Ok(response)
    }

    /// Sends a write exactly once. A write is never retried, because the server may have applied it although
    /// the response was lost.
    ///
    /// # Errors
    /// When no response arrives, or when the response is not JSON with a 2xx status.
    pub(super) async fn write(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, RequestError> {
        let client = self.client().await?;
        let bytes = ResponseLimits::of_response().bytes();
        match self.send_authenticated(client, request, self.deadline(), bytes).await? {
            response if response.is_json_success() => Ok(response),
            response => Err(RequestError::Status(response)),
        }
    }

    /// Returns the server as `HOST:PORT`.
    pub(super) fn server(&self) -> String {
        self.api_server.address()
    }

    /// Reports a notice to the listener.
    pub(super) fn notify(&self, notice: &Notice) {
        self.listener.notify(notice);
    }
    /// Turns a request error into an error for the user, with a hint.
    pub(super) fn explain(&self, failure: RequestError) -> Error {
        self.api_server.explain(failure)
    }

    /// Sends a request; after a 401 sends it once more with a renewed credential, if there is one. A request
    /// that was refused with 401 changed nothing, so this is safe for writes too.
    async fn send_authenticated(
        &self,
        client: Client,
        request: &ApiRequest<'_>,
        deadline: Instant,
        bytes: usize,
    ) -> Result<ApiResponse, RequestError> {
        let response = self.send_and_read(client, request, deadline, bytes).await?;
        if response.status == StatusCode::UNAUTHORIZED
            && let Some(renewed) = self.renew_client().await?
        {
            return self.send_and_read(renewed, request, self.deadline(), bytes).await;
        }
        Ok(response)
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.timeouts.request
    }

    async fn send_and_read(
        &self,
        client: Client,
        request: &ApiRequest<'_>,
        deadline: Instant,
        bytes: usize,
    ) -> Result<ApiResponse, RequestError> {
        let request = request.to_http().map_err(RequestError::NotSent)?;
        let complete = async { self.read_body(self.send_with_notice(client, request).await?, bytes).await };
        timeout_at(deadline, complete)
            .await
            .unwrap_or(Err(RequestError::DeadlineExceeded(self.timeouts.request)))
    }

    /// Sends a request, and reports a notice when the response headers take long.
    async fn send_with_notice(
        &self,
        client: Client,
        request: Request<Body>,
    ) -> Result<Response<Body>, RequestError> {
        let since = self.timeouts.notice_after;
        let slow = || {
            self.notify_once(&Notice::SlowResponse { server: self.api_server.address(), since }, since);
        };
        run_if_slow(since, self.send(client, request), slow).await
    }

    /// Reports a notice that may concern several requests, and suppresses the same notice for the time `lasts`.
    fn notify_once(&self, notice: &Notice, lasts: Duration) {
        if self.shared_notices.is_due(notice, lasts) {
            self.listener.notify(notice);
        }
    }

    /// Sends a request and waits for the response headers.
    async fn send(&self, client: Client, request: Request<Body>) -> Result<Response<Body>, RequestError> {
        let verb = request.method().to_string();
        let url = self.display_url(request.uri());
        let (sent, round_trip) = (Instant::now(), self.round_trips.begin());
        let outcome = match timeout(self.timeouts.read, client.send(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(RequestError::Transport(TransportError::of(&error))),
            Err(_) => Err(RequestError::ReadTimeout(self.timeouts.read)),
        };
        if self.logs_requests {
            let outcome = match &outcome {
                Ok(response) => response.status().to_string(),
                Err(failure) => failure.summary(),
            };
            let took = sent.elapsed();
            self.listener.notify(&Notice::Exchange(Exchange { verb, url, outcome, took, round_trip }));
        }
        self.round_trips.end(round_trip);
        if let Ok(response) = &outcome {
            for warning in self.header_log.record(response.headers()) {
                self.listener.notify(&Notice::Warning(warning));
            }
        }
        outcome
    }

    /// Reads the rest of a response, up to `limit` bytes after decompression. The read timeout applies to each
    /// frame.
    async fn read_body(&self, response: Response<Body>, limit: usize) -> Result<ApiResponse, RequestError> {
        let (head, mut body) = response.into_parts();
        let mut bytes = Vec::new();
        loop {
            let frame = timeout(self.timeouts.read, body.frame()).await;
            match frame.map_err(|_| RequestError::ReadTimeout(self.timeouts.read))? {
                None => break,
                Some(Err(error)) => return Err(RequestError::Transport(TransportError::of(&error))),
                Some(Ok(frame)) => bytes.extend_from_slice(frame.data_ref().map_or(&[], AsRef::as_ref)),
            }
            if bytes.len() > limit {
                return Err(RequestError::TooLarge(limit));
            }
        }
        Ok(ApiResponse::new(head.status, head.headers, bytes))
    }

    /// Returns the full URL of a request for the log, without the long `continue` token.
    fn display_url(&self, path: &http::Uri) -> String {
        let base = self.api_server.url.path().trim_end_matches('/');
        let query = path.query().map_or_else(String::new, |query| {
            let parts = query
                .split('&')
                .map(|part| if part.starts_with("continue=") { "continue=..." } else { part });
            format!("?{}", parts.collect::<Vec<_>>().join("&"))
        });
        let scheme = self.api_server.url.scheme_str().unwrap_or("https");
        format!("{scheme}://{}{base}{}{query}", self.api_server.address(), path.path())
    }
}
