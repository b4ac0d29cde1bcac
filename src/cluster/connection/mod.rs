//! One connection to an API server: requests, deadlines, retries of reads, and renewal of credentials.

mod active_client;
mod body_stream;
mod client;
mod explain;
mod http_client;
mod in_process;
mod log;
mod request;
mod request_error;
mod response;
mod retry;
mod timeouts;
mod transport;
mod transport_error;

pub(super) use request::ApiRequest;
pub(super) use request_error::RequestError;
pub(super) use response::ApiResponse;
pub(super) use retry::Backoff;
pub(super) use transport_error::TransportError;

use std::time::Duration;

use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper_util::client::proxy::matcher::Intercept;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use self::active_client::ActiveClient;
use self::body_stream::BodyStream;
use self::log::ConnectionLog;
use self::timeouts::Timeouts;
use super::credential::PluginContext;
use super::kubeconfig::{self, Endpoint};
use super::notice::{Listener, run_if_slow};
use super::proxy::{is_this_machine, proxy_for};
use super::served_versions::ServedVersions;
use super::shared_failure::SharedFailure;
use crate::cluster::access::Overrides;
use crate::cluster::connection::explain::ApiServer;
use crate::cluster::notice::{Exchange, Notice};
use crate::error::{Error, Result};
use crate::snapshot::memory_budget::{ALL_OBJECTS, COMMAND_TOO_LARGE, CommandMemory};
use crate::world::World;

/// The limit of a response after decompression, in bytes. The API server's largest responses are pages of 500 objects, and
/// lists that it does not page.
const RESPONSE_LIMIT: usize = 256 << 20;

/// How a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// For a read: transient failures are retried until the deadline.
    Retried,
    /// For a write, which is never retried: the server may have applied it although the response was lost.
    Once,
    /// For the observer, which retries itself, and reports an outage in one line for all its requests: no retry and no
    /// notice.
    Quiet,
}

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
    credential_failure: SharedFailure<RequestError>,
    log: ConnectionLog,
    pub(super) backoff: Backoff,
    /// The memory that all responses to the command take.
    pub(super) memory: CommandMemory,
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
                kuberc: overrides.kuberc.clone(),
                stdin_is_terminal: world.stdin_is_terminal,
                limit: timeouts.plugin,
                notice_after: timeouts.notice_after,
                listener: listener.clone(),
            },
            timeouts,
            listener,
            logs_requests: overrides.verbosity >= REQUEST_LOG_VERBOSITY,
            active_client: Mutex::new(None),
            credential_failure: SharedFailure::default(),
            log: ConnectionLog::new(world.clock),
            backoff: Backoff::random(),
            memory: CommandMemory::new(ALL_OBJECTS),
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
        self.log.now()
    }

    /// Returns the number of distinct warnings that the server sent.
    pub(super) fn warnings(&self) -> usize {
        self.log.warnings()
    }

    /// Reads a path, with its query, and retries transient failures until the request timeout.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub(super) async fn read(
        &self,
        path: &str,
        expected: impl Fn(&ApiResponse) -> bool,
    ) -> Result<ApiResponse, RequestError> {
        self.send(&ApiRequest::get(path), Policy::Retried, &mut None, expected).await
    }

    /// Sends a write exactly once.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub(super) async fn write(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, RequestError> {
        self.send(request, Policy::Once, &mut None, |_| false).await
    }

    /// Sends a request and reads its response. The requests of one list share `deadline`, which the first one sets.
    ///
    /// # Errors
    /// When no response arrives, or when the response is neither JSON with a 2xx status nor `expected`.
    pub(super) async fn send(
        &self,
        request: &ApiRequest<'_>,
        policy: Policy,
        deadline: &mut Option<Instant>,
        expected: impl Fn(&ApiResponse) -> bool,
    ) -> Result<ApiResponse, RequestError> {
        // The deadline starts after the first client exists: a plugin may prompt the user for a password.
        let mut client = self.client().await?;
        let deadline = *deadline.get_or_insert_with(|| self.deadline());
        let mut tries = 0;
        loop {
            // On the heap, because a caller that sends several requests concurrently stores all of these futures.
            let failure = match Box::pin(self.attempt(client, request, policy, deadline)).await {
                Ok(response) if response.is_json_success() || expected(&response) => return Ok(response),
                Ok(response) => RequestError::Status(response),
                Err(failure) => failure,
            };
            let pause = self.backoff.before_retry(tries, &failure, deadline);
            let Some(pause) = pause.filter(|_| policy == Policy::Retried) else {
                return Err(failure);
            };
            let (server, reason) = (self.api_server.address(), failure.summary());
            self.notify_once(&Notice::Retrying { server, reason, pause }, pause);
            sleep(pause).await;
            tries += 1;
            client = self.client().await?;
        }
    }

    async fn attempt(
        &self,
        client: Client,
        request: &ApiRequest<'_>,
        policy: Policy,
        deadline: Instant,
    ) -> Result<ApiResponse, RequestError> {
        let (response, deadline) = self.send_authenticated(client, request, policy, deadline).await?;
        self.within(deadline, self.read_body(response)).await
    }

    /// Opens a streamed response: a watch or a log.
    ///
    /// # Errors
    /// When no response arrives, or an error response.
    pub(super) async fn stream(&self, path: &str) -> Result<BodyStream, RequestError> {
        let (client, request) = (self.client().await?, ApiRequest::stream(path));
        let (response, deadline) =
            self.send_authenticated(client, &request, Policy::Quiet, self.deadline()).await?;
        if response.status().is_success() {
            return Ok(BodyStream::new(response));
        }
        Err(RequestError::Status(self.within(deadline, self.read_body(response)).await?))
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

    /// Sends a request, and waits for the head of its response. After a 401 it sends the request once more with a renewed
    /// credential, if there is one: a request that was refused with 401 changed nothing. Returns the deadline of the
    /// response too.
    async fn send_authenticated(
        &self,
        client: Client,
        request: &ApiRequest<'_>,
        policy: Policy,
        deadline: Instant,
    ) -> Result<(Response<Body>, Instant), RequestError> {
        let response = self.answered(deadline, self.send_with_notice(client, request, policy)).await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(renewed) = self.renew_client().await?
        {
            let deadline = self.deadline(); // a plugin may have prompted the user
            let again = self.answered(deadline, self.send_with_notice(renewed, request, policy)).await?;
            return Ok((again, deadline));
        }
        Ok((response, deadline))
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.timeouts.request
    }

    /// Waits for the head of a response. When (nearly) the whole limit passes without one, the failure is that of a silent
    /// server, whichever of two equal limits ended the wait: six requests then fail with one error.
    async fn answered<T>(
        &self,
        deadline: Instant,
        head: impl Future<Output = Result<T, RequestError>>,
    ) -> Result<T, RequestError> {
        let begun = Instant::now();
        self.within(deadline, head).await.map_err(|failure| match failure {
            RequestError::DeadlineExceeded(limit) if begun.elapsed() >= limit.mul_f32(0.9) => {
                RequestError::ReadTimeout(limit)
            }
            other => other,
        })
    }

    async fn within<T>(
        &self,
        deadline: Instant,
        response: impl Future<Output = Result<T, RequestError>>,
    ) -> Result<T, RequestError> {
        let exceeded = Err(RequestError::DeadlineExceeded(self.timeouts.request));
        timeout_at(deadline, response).await.unwrap_or(exceeded)
    }

    /// Sends a request, and reports a notice when the head of the response takes long.
    async fn send_with_notice(
        &self,
        client: Client,
        request: &ApiRequest<'_>,
        policy: Policy,
    ) -> Result<Response<Body>, RequestError> {
        let response = self.send_once(client, request.to_http().map_err(RequestError::NotSent)?);
        if policy == Policy::Quiet {
            return response.await;
        }
        let since = self.timeouts.notice_after;
        let slow = || {
            self.notify_once(&Notice::SlowResponse { server: self.api_server.address(), since }, since);
        };
        run_if_slow(since, response, slow).await
    }

    /// Reports a notice that may concern several requests, and suppresses the same notice for the time `lasts`.
    fn notify_once(&self, notice: &Notice, lasts: Duration) {
        if self.log.is_due(notice, lasts) {
            self.listener.notify(notice);
        }
    }

    async fn send_once(
        &self,
        client: Client,
        request: Request<Body>,
    ) -> Result<Response<Body>, RequestError> {
        let verb = request.method().to_string();
        let url = self.display_url(request.uri());
        let (sent, round_trip) = (Instant::now(), self.log.begin_round_trip());
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
        self.log.end_round_trip(round_trip);
        if let Ok(response) = &outcome {
            for warning in self.log.record(response.headers()) {
                self.listener.notify(&Notice::Warning(warning));
            }
        }
        outcome
    }

    /// Reads the rest of a response within the limits of memory. The read timeout applies to each frame.
    async fn read_body(&self, response: Response<Body>) -> Result<ApiResponse, RequestError> {
        let (head, mut body) = response.into_parts();
        let (mut bytes, mut memory) = (Vec::new(), self.memory.budget());
        loop {
            let frame = timeout(self.timeouts.read, body.frame()).await;
            let data = match frame.map_err(|_| RequestError::ReadTimeout(self.timeouts.read))? {
                None => break,
                Some(Err(error)) => return Err(RequestError::Transport(TransportError::of(&error))),
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            };
            if bytes.len() + data.len() > RESPONSE_LIMIT {
                return Err(RequestError::TooLarge("has more than 256 MiB"));
            }
            if !memory.take(data.len()) {
                return Err(RequestError::TooLarge(COMMAND_TOO_LARGE));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(ApiResponse::new(head.status, head.headers, bytes).holding(memory))
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
