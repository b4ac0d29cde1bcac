//! Limits the size of responses after decompression, and the time of a list.

use tokio::time::Instant;

/// The limit of a response that is not a page of a list, in bytes.
const RESPONSE_LIMIT: usize = 64 << 20;

/// The limit of one page of a list, in bytes.
const PAGE_LIMIT: usize = 256 << 20;

/// The limit of all pages of a list, in bytes.
const LIST_LIMIT: usize = 1 << 30;

/// The limits of the next response.
#[derive(Clone, Debug)]
pub(crate) struct ResponseLimits {
    /// The limit of one response, in bytes.
    response: usize,
    /// The bytes that are left for all responses.
    left: usize,
    /// When the last response must be complete; none before the first request.
    until: Option<Instant>,
}

impl ResponseLimits {
    /// Returns the limits of one response.
    pub(super) fn of_response() -> Self {
        Self { response: RESPONSE_LIMIT, left: RESPONSE_LIMIT, until: None }
    }

    /// Returns the limits of all pages of a list together.
    pub(crate) fn of_list() -> Self {
        Self { response: PAGE_LIMIT, left: LIST_LIMIT, until: None }
    }

    /// Returns the limit of the next response, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.response.min(self.left)
    }

    /// Returns when the next response must be complete; for the first one it is `deadline`.
    pub(super) fn until(&mut self, deadline: Instant) -> Instant {
        *self.until.get_or_insert(deadline)
    }

    /// Subtracts the bytes of a response.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }
}
