//! Refusals: responses that say why there is no image.

use hyper::StatusCode;
use tarragon_framework::{Error, ErrorKind};

/// Length that a message must not reach (bytes): Drake's client does not show longer ones.
const MOST_BYTES: usize = 8192;

/// Status and reason of a request that is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() >= MOST_BYTES {
            let end = message.floor_char_boundary(MOST_BYTES - 4);
            message.truncate(end);
            message.push_str("...");
        }
        Self { status, message }
    }
    /// Returns the refusal of a request that is wrong.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
    /// Returns the refusal of a request that is too large.
    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }
    /// Returns the refusal for a failure of the server itself.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

/// Errors about a scene are the client's, all others the server's.
impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::InvalidArgument
            | ErrorKind::NotFound
            | ErrorKind::Parse
            | ErrorKind::Unsupported => Self::bad(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_short_enough_for_drake() {
        let refusal = Refusal::bad("ü".repeat(MOST_BYTES));
        assert!(refusal.message.len() < MOST_BYTES && refusal.message.ends_with("ü..."));
        assert_eq!(Refusal::bad("short").message, "short");
    }
}
