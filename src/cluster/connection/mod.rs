//! One connection to an API server: requests, deadlines, retries of reads, and renewal of credentials.

mod api_server;
mod body;
mod client;
mod http_client;
mod message;
mod no_response;
mod request_error;
mod response_log;
mod transport;
mod trust;

pub(super) use message::{ApiRequest, ApiResponse};
pub(super) use request_error::{Backoff, RequestError, SharedFailure};

use std::sync::Arc;
use std::time::Duration;

use http::{Response, StatusCode};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use self::api_server::ApiServer;
use self::body::ResponseBody;
use self::client::CurrentClient;
use self::request_error::Timeouts;
use self::response_log::ResponseLog;
use super::access::Access;
use super::credential::PluginContext;
use super::credential::exec_plugin::PluginRuns;
use super::kubeconfig;
use super::kubeconfig::overrides::Overrides;
use super::notice::{Listener, NOTICE_AFTER, OUTAGE_NOTE_INTERVAL, run_if_slow, seconds};
use super::served_versions::ServedVersions;
use crate::error::{Error, Result};
use crate::model::finding::{Finding, Reason};
use crate::world::{Clock, Environment, World};

/// How a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// For a read: transient failures are retried until the deadline.
    Retried,
    /// For a write, which is never retried: the server may have applied it although the response was lost.
    Once,
    /// For the observer, which repeats its reads, and reports an outage in one line for all its requests: no notice of a
    /// retry, and so many attempts, unless RBAC forbids the read.
    Quiet { attempts: u32 },
}

impl Policy {
    /// One attempt without a notice.
    pub(super) const QUIET: Self = Self::Quiet { attempts: 1 };

    /// Whether the user sees each notice about the request.
    fn has_notices(self) -> bool {
        matches!(self, Self::Retried | Self::Once)
    }
}

/// From this `-v` level on, every request is logged, as kubectl does.
const REQUEST_LOG_VERBOSITY: i32 = 6;

/// A live cluster: one connection to its API server.
#[derive(Debug)]
pub struct Cluster {
    server: Arc<ApiServer>,
    client: CurrentClient,
    timeouts: Timeouts,
    listener: Listener,
    logs_requests: bool,
    log: ResponseLog,
    pub(super) backoff: Backoff,
    /// The versions of types that are not Kubernetes' own.
    pub(super) served: ServedVersions,
}

impl Cluster {
    /// Chooses the API server and the credentials. It sends nothing and runs no plugin yet. `listener` receives the notices of
    /// later requests.
    ///
    /// # Errors
    /// A usage or file error when the kubeconfig and the flags do not select a server and a user.
    pub fn open(access: &Access, world: &World, listener: Listener) -> Result<Self> {
        let overrides = &access.overrides;
        let mut endpoint = kubeconfig::endpoint(&access.kubeconfig, overrides, &world.environment)?;
        let url = kubeconfig::server_url(&endpoint)?;
        let proxy = kubeconfig::proxy_for(&url, endpoint.cluster.proxy_url.as_deref(), &world.environment)?;
        let is_loopback = kubeconfig::is_this_machine(&url) && proxy.is_none();
        let withheld = !(is_loopback && overrides.loopback_credentials)
            && kubeconfig::withhold_credentials(&mut endpoint, &url);
        let server = ApiServer { url, proxy, endpoint, withheld };
        if withheld {
            let flag = if is_loopback { ", or add --insecure-loopback-credentials" } else { "" };
            let address = server.address();
            let text = format!(
                "no credentials are sent to http://{address}, because plain HTTP is not encrypted; \
                 write the server as https://HOST:PORT{flag}"
            );
            listener.notify(&Finding::warning(Reason::NoCredentials, text));
        }
        let plugin_context = PluginContext {
            environment: world.environment.clone(),
            kuberc: overrides.kuberc.clone(),
            stdin_is_terminal: world.stdin_is_terminal,
            limit: Timeouts::new(overrides.request_timeout).request,
            listener,
            runs: access.plugin_runs.clone(),
        };
        Ok(Self::new(server, overrides, plugin_context, world.clock))
    }

    /// Creates a cluster that is reached through a client of the caller, in the same process. `seed` decides the random
    /// part of the pauses before retries.
    #[must_use]
    pub fn in_process(client: Client, clock: Clock, seed: u64, listener: Listener) -> Self {
        let server = ApiServer::in_process(client.default_namespace());
        let overrides = Overrides::default();
        let plugin_context = PluginContext {
            environment: Environment::default(),
            kuberc: None,
            stdin_is_terminal: false,
            limit: Timeouts::new(None).request,
            listener,
            runs: PluginRuns::default(),
        };
        let connection = Self::new(server, &overrides, plugin_context, clock);
        Self { client: connection.client.permanent(client), backoff: Backoff::seeded(seed), ..connection }
    }

    fn new(server: ApiServer, overrides: &Overrides, plugin_context: PluginContext, clock: Clock) -> Self {
        let timeouts = Timeouts::new(overrides.request_timeout);
        let (server, listener) = (Arc::new(server), plugin_context.listener.clone());
        Self {
            client: CurrentClient::new(&server, plugin_context, timeouts.connect),
            server,
            timeouts,
            listener,
            logs_requests: overrides.verbosity >= REQUEST_LOG_VERBOSITY,
            log: ResponseLog::new(clock),
            backoff: Backoff::random(),
            served: ServedVersions::default(),
        }
    }

    /// Returns a kubeconfig with the server and the credential of this connection, for another program. It holds secrets, and
    /// needs no plugin and no flag.
    ///
    /// # Errors
    /// When there is no credential, or the path of the certificate authority cannot be made absolute.
    pub async fn kubeconfig(&self) -> Result<Value> {
        self.client.kubeconfig(|| self.now()).await
    }

    /// Returns the pause before a command repeats what failed `tries` times before, as between the retries of a read.
    #[must_use]
    pub fn pause_before_retry(&self, tries: u32) -> Duration {
        self.backoff.pause(tries)
    }

    /// Returns the namespace of the kubeconfig's context.
    pub(super) fn namespace(&self) -> Option<&str> {
        self.server.endpoint.namespace.as_deref()
    }

    /// Returns the server's time, from the `Date` header of its last response. Before the first response it
    /// is the time of this machine.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.log.now()
    }

    /// Returns the number of distinct warnings that the server sent.
    pub(super) fn warnings(&self) -> usize {
        self.log.warnings()
    }

    /// Counts a warning that the server sent to another program of this command.
    pub fn count_warning(&self, warning: &str) {
        self.log.count_warning(warning);
    }

    /// Returns the server as `HOST:PORT`.
    pub(super) fn server(&self) -> String {
        self.server.address()
    }

    /// Reports a notice to the listener.
    pub(super) fn notify(&self, notice: &Finding) {
        self.listener.notify(notice);
    }

    /// Turns a request error into an error for the user, with a hint.
    pub(super) fn explain(&self, failure: &RequestError) -> Error {
        self.server.explain(failure)
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
        let mut client = self.client.get(|| self.now()).await?;
        let deadline = *deadline.get_or_insert_with(|| self.deadline());
        let mut tries = 0;
        loop {
            // On the heap, because a caller that sends several requests concurrently stores all of these futures.
            let attempt = async {
                let (response, deadline) = self.send_authenticated(client, request, policy, deadline).await?;
                self.complete(response, deadline).await
            };
            let failure = match Box::pin(attempt).await {
                Ok(response) if response.is_json_success() || expected(&response) => return Ok(response),
                Ok(response) => RequestError::Status(response),
                Err(failure) => failure,
            };
            let pause = match policy {
                Policy::Retried => self.backoff.before_retry(tries, &failure, deadline),
                Policy::Quiet { attempts } if tries + 1 < attempts && !failure.is_forbidden() => {
                    Some(self.backoff.after(tries, &failure)).filter(|pause| *pause < NOTICE_AFTER)
                }
                Policy::Quiet { .. } | Policy::Once => None,
            };
            let Some(pause) = pause else { return Err(failure) };
            if policy.has_notices() {
                let reason = self.explain(&failure).to_string();
                let text = format!("{reason}; retrying in {}", seconds(pause));
                let notice = Finding::note(Reason::Retrying, text);
                self.notify_once("retrying", &notice, pause);
            }
            sleep(pause).await;
            tries += 1;
            client = self.client.get(|| self.now()).await?;
        }
    }

    /// Opens a streamed response: a watch or a log.
    ///
    /// # Errors
    /// When no response arrives, or an error response.
    pub(super) async fn stream(&self, path: &str) -> Result<ResponseBody, RequestError> {
        let (client, request) = (self.client.get(|| self.now()).await?, ApiRequest::stream(path));
        let (response, deadline) =
            self.send_authenticated(client, &request, Policy::QUIET, self.deadline()).await?;
        if response.status().is_success() {
            return Ok(ResponseBody::new(response.into_body(), &self.server));
        }
        Err(RequestError::Status(self.complete(response, deadline).await?))
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
        let sent = Instant::now();
        let response = self.send_once(client, request, policy, deadline).await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(renewed) = self.client.renew(sent, self.now()).await?
        {
            let deadline = self.deadline(); // a plugin may have prompted the user
            return Ok((self.send_once(renewed, request, policy, deadline).await?, deadline));
        }
        Ok((response, deadline))
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.timeouts.request
    }

    /// Sends a request, and waits for the head of its response. Reports a notice when that takes long.
    async fn send_once(
        &self,
        client: Client,
        request: &ApiRequest<'_>,
        policy: Policy,
        deadline: Instant,
    ) -> Result<Response<Body>, RequestError> {
        let request = request.to_http().map_err(RequestError::NotSent)?;
        let (verb, url) = (request.method().to_string(), self.server.display_url(request.uri()));
        let sent = Instant::now();
        let slow = || {
            let waited = seconds(NOTICE_AFTER);
            let notice = Finding::note(Reason::Waiting, format!("no answer for {waited}; still waiting"))
                .about(self.server.address());
            let lasts = if policy.has_notices() { NOTICE_AFTER } else { OUTAGE_NOTE_INTERVAL };
            self.notify_once("slow response", &notice, lasts);
        };
        let head = timeout(self.timeouts.read, client.send(request));
        let outcome = match timeout_at(deadline, run_if_slow(head, slow)).await {
            Ok(Ok(Ok(response))) => Ok(response),
            Ok(Ok(Err(error))) => Err(self.server.no_response(&error)),
            Ok(Err(_)) => Err(self.server.late(self.timeouts.read)),
            Err(_) => Err(self.server.late(self.timeouts.request)),
        };
        if self.logs_requests {
            let outcome = match &outcome {
                Ok(response) => response.status().to_string(),
                Err(failure) => self.explain(failure).to_string(),
            };
            let took = sent.elapsed().as_millis();
            let text = format!("{verb} {url} {outcome} in {took} milliseconds");
            self.notify(&Finding::info(Reason::Request, text));
        }
        if let Ok(response) = &outcome {
            for warning in self.log.record(response.headers()) {
                self.notify(&Finding::info(Reason::Passed, format!("Warning: {warning}")));
            }
        }
        outcome
    }

    /// Reads the rest of a response.
    async fn complete(
        &self,
        response: Response<Body>,
        deadline: Instant,
    ) -> Result<ApiResponse, RequestError> {
        let (head, body) = response.into_parts();
        let body = ResponseBody::new(body, &self.server);
        let whole = timeout_at(deadline, body.read_whole(self.timeouts.read)).await;
        let bytes = whole.map_err(|_| self.server.late(self.timeouts.request))??;
        Ok(ApiResponse::new(head.status, head.headers, bytes))
    }

    /// Reports a notice that may concern several requests, and suppresses those with the same key for the time `lasts`.
    pub(super) fn notify_once(&self, key: &'static str, notice: &Finding, lasts: Duration) {
        if self.log.is_due(key, lasts) {
            self.notify(notice);
        }
    }
}
