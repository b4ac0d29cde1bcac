//! One connection to an API server: kept warm, told about, renewed when its credential runs out.

mod answer;
mod ask;
mod client;
mod failure;
mod fault;
mod observations;
mod patience;
mod peer;
mod retry;
mod stream;
mod through;
mod transport;

pub(super) use answer::Answer;
pub(super) use ask::Ask;
pub(super) use failure::Failure;
pub(super) use fault::Fault;
pub(super) use retry::pause_after;

use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper_util::client::proxy::matcher::Intercept;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};

use self::client::Live;
use self::observations::Observations;
use self::patience::Patience;
use self::peer::Peer;
use super::credential::PluginWorld;
use super::kubeconfig::{self, Endpoint};
use super::listener::Listener;
use super::proxy::proxy_for;
use crate::error::{Error, Result};
use crate::model::access::Overrides;
use crate::model::notice::{Exchange, Notice};
use crate::world::World;

/// From this `-v` on every request is told, as kubectl does.
const TELLS_REQUESTS: i32 = 6;

/// A way to an API server.
#[derive(Debug)]
pub(super) struct Connection {
    endpoint: Endpoint,
    peer: Peer,
    proxy: Option<Intercept>,
    plugin_world: PluginWorld,
    patience: Patience,
    listener: Listener,
    tells_requests: bool,
    live: Mutex<Option<Live>>,
    observations: Observations,
}

impl Connection {
    /// Decides where the cluster is and who we are. Nothing is sent and no plugin is run yet.
    ///
    /// # Errors
    /// When the kubeconfig and the flags do not make a whole.
    pub(super) fn open(overrides: &Overrides, world: &World, listener: Listener) -> Result<Self> {
        let endpoint = kubeconfig::endpoint(overrides, &world.environment)?;
        let url = client::server_url(&endpoint)?;
        let proxy = proxy_for(&url, endpoint.cluster.proxy_url.as_deref(), &world.environment)?;
        let patience = Patience::new(overrides.request_timeout);
        let proxy_address = proxy.as_ref().and_then(|proxy| proxy.uri().authority()).map(ToString::to_string);
        Ok(Self {
            peer: Peer { url, proxy: proxy_address, source: endpoint.source.clone() },
            endpoint,
            proxy,
            plugin_world: PluginWorld {
                environment: world.environment.clone(),
                somebody_is_there: world.stdin_is_terminal,
                limit: patience.plugin,
                untold: patience.untold,
                listener: listener.clone(),
            },
            patience,
            listener,
            tells_requests: overrides.verbosity >= TELLS_REQUESTS,
            live: Mutex::new(None),
            observations: Observations::new(world.clock),
        })
    }

    /// The namespace that the context names.
    pub(super) fn namespace(&self) -> Option<&str> {
        self.endpoint.namespace.as_deref()
    }

    /// The server's time, as nearly as its last answer tells; the machine's before the first.
    pub(super) fn now(&self) -> Timestamp {
        self.observations.now()
    }

    /// How many different warnings the server sent.
    pub(super) fn warnings(&self) -> usize {
        self.observations.warnings()
    }

    /// Reads a path, with its query, whole. What fails in passing is tried again.
    ///
    /// # Errors
    /// When no answer came, or one that is neither a yes in JSON nor a no that is `expected`.
    pub(super) async fn read(
        &self,
        path: &str,
        expected: impl Fn(&Answer) -> bool,
    ) -> Result<Answer, Failure> {
        // A plugin that asks somebody for a password may take its time; a server may not.
        let mut first = Some(self.client().await?);
        let deadline = self.deadline();
        let tell = |failure: &Failure, pause| {
            let reason = failure.in_short();
            self.listener.tell(&Notice::Retrying { server: self.peer.address(), reason, pause });
        };
        let ask = Ask::get(path);
        let once = async || {
            let client = match first.take() {
                Some(client) => client,
                None => self.client().await?,
            };
            match self.once(client, &ask, deadline).await? {
                answer if answer.is_a_yes() || expected(&answer) => Ok(answer),
                answer => Err(Failure::Refused(answer)),
            }
        };
        retry::until(deadline, once, tell).await
    }

    /// Sends a change, once: a failure that may pass is no reason to try again, because nobody knows
    /// what became of the first try.
    ///
    /// # Errors
    /// When no answer came, or one that is no yes in JSON.
    pub(super) async fn write(&self, ask: &Ask<'_>) -> Result<Answer, Failure> {
        let client = self.client().await?;
        match self.once(client, ask, self.deadline()).await? {
            answer if answer.is_a_yes() => Ok(answer),
            answer => Err(Failure::Refused(answer)),
        }
    }

    /// A failure in words, with the way out.
    pub(super) fn explain(&self, failure: Failure) -> Error {
        self.peer.explain(failure)
    }

    /// One try; after a 401 a second one with a new credential, if there is one to be had. Whoever is
    /// not let in has changed nothing, so that is as right for a change as for a read.
    async fn once(&self, client: Client, ask: &Ask<'_>, deadline: Instant) -> Result<Answer, Failure> {
        let answer = self.exchange(client, ask, deadline).await?;
        if answer.status == StatusCode::UNAUTHORIZED
            && let Some(renewed) = self.renew().await?
        {
            return self.exchange(renewed, ask, self.deadline()).await;
        }
        Ok(answer)
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.patience.whole
    }

    async fn exchange(&self, client: Client, ask: &Ask<'_>, deadline: Instant) -> Result<Answer, Failure> {
        let request = ask.request().map_err(Failure::NotSent)?;
        let whole = async { self.whole(self.send(client, request).await?).await };
        timeout_at(deadline, whole).await.unwrap_or(Err(Failure::OutOfTime(self.patience.whole)))
    }

    /// Sends a request and waits for the head of the answer, and says so when that takes long.
    async fn send(&self, client: Client, request: Request<Body>) -> Result<Response<Body>, Failure> {
        let silent = || Notice::Silent { server: self.peer.address(), since: self.patience.untold };
        self.listener.told_after(self.patience.untold, self.deliver(client, request), silent).await
    }

    /// Sends a request and waits for the head of the answer.
    async fn deliver(&self, client: Client, request: Request<Body>) -> Result<Response<Body>, Failure> {
        let verb = request.method().to_string();
        let url = self.shown(request.uri());
        let sent = Instant::now();
        let outcome = match timeout(self.patience.silence, client.send(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(Failure::Fault(Fault::of(&error))),
            Err(_) => Err(Failure::Silent(self.patience.silence)),
        };
        if self.tells_requests {
            let outcome = match &outcome {
                Ok(response) => response.status().to_string(),
                Err(failure) => failure.in_short(),
            };
            self.listener.tell(&Notice::Exchanged(Exchange { verb, url, outcome, took: sent.elapsed() }));
        }
        if let Ok(response) = &outcome {
            for warning in self.observations.take(response.headers()) {
                self.listener.tell(&Notice::Warning(warning));
            }
        }
        outcome
    }

    /// The rest of an answer, as long as it goes on coming.
    async fn whole(&self, response: Response<Body>) -> Result<Answer, Failure> {
        let (head, mut body) = response.into_parts();
        let mut bytes = Vec::new();
        loop {
            let frame = timeout(self.patience.silence, body.frame()).await;
            match frame.map_err(|_| Failure::Silent(self.patience.silence))? {
                None => break,
                Some(Err(error)) => return Err(Failure::Fault(Fault::of(&error))),
                Some(Ok(frame)) => bytes.extend_from_slice(frame.data_ref().map_or(&[], AsRef::as_ref)),
            }
        }
        Ok(Answer::new(head.status, head.headers, bytes))
    }

    /// The whole address of a request. Where a list goes on is long and of no use to a reader.
    fn shown(&self, path: &http::Uri) -> String {
        let base = self.peer.url.path().trim_end_matches('/');
        let query = path.query().map_or_else(String::new, |query| {
            let parts = query
                .split('&')
                .map(|part| if part.starts_with("continue=") { "continue=..." } else { part });
            format!("?{}", parts.collect::<Vec<_>>().join("&"))
        });
        let scheme = self.peer.url.scheme_str().unwrap_or("https");
        format!("{scheme}://{}{base}{}{query}", self.peer.address(), path.path())
    }
}
