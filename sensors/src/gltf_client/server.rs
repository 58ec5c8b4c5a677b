//! Requests to a render server.

use super::form::Form;
use super::params::{ENGINE, ServerUrl};
use crate::{Error, ErrorKind, Result};
use std::io::{self, Read};
use std::time::{Duration, Instant};
use ureq::config::AutoHeaderValue;
use ureq::{Agent, Body, SendBody};

/// Length (bytes) from which on an error message of the server is not shown, as in Drake.
const LONG_MESSAGE: u64 = 8192;
/// Stands for a missing message.
const NONE: &str = "None.";
/// Time between a failed request and its repetition.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum of the timeout, far above every useful one, because larger times overflow.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// Connection settings of a render server. Copies share one allocation.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) url: ServerUrl,
    /// Maximum time of a request, from the connection to the last byte of the reply.
    pub(super) timeout: Duration,
    /// Number of repetitions of a failed request.
    pub(super) retries: u32,
    pub(super) verbose: bool,
    agent: Agent,
}

/// Body of a reply, and its HTTP code.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) code: u16,
    pub(super) body: Vec<u8>,
}

/// Failure of one attempt.
struct Failure {
    error: Error,
    /// Whether another attempt may succeed.
    transient: bool,
}

impl Server {
    pub(super) fn new(url: ServerUrl, verbose: bool) -> Self {
        // A connection per request as in Drake, and nothing that the protocol does not have.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .max_idle_connections_per_host(0)
            .proxy(None)
            .user_agent(AutoHeaderValue::None)
            .accept_encoding(AutoHeaderValue::None)
            .no_delay(true);
        Self {
            url,
            timeout: Duration::from_secs(60),
            retries: 0,
            verbose,
            agent: config.build().new_agent(),
        }
    }

    /// Posts a form and returns the reply, which has at most `most` bytes.
    ///
    /// # Errors
    /// Returns an error with the URL, the HTTP code and the server's message if the server cannot
    /// be reached, does not answer in time, answers with an error or without an image, or sends too
    /// many bytes.
    pub(super) fn post(&self, form: &Form, most: usize) -> Result<Reply> {
        let mut attempt = 0;
        loop {
            match self.attempt(form, most) {
                Ok(reply) => return Ok(reply),
                Err(failure) if !failure.transient || attempt >= self.retries => {
                    return Err(failure.error);
                }
                Err(failure) => {
                    tracing::debug!("{}; the request is repeated", failure.error);
                    attempt += 1;
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    fn attempt(&self, form: &Form, most: usize) -> Result<Reply, Failure> {
        let start = Instant::now();
        if self.verbose {
            tracing::debug!(
                "{ENGINE}: POST {} with {} bytes, scene {}",
                self.url.text,
                form.len(),
                form.name.file("gltf")
            );
        }
        let mut reader = form.reader();
        let sent = self
            .agent
            .post(&self.url.text)
            // Spelling and order are those of Drake's client.
            .header_raw("Host", self.url.host.as_bytes())
            .header_raw("Accept", b"*/*")
            .header_raw("Content-Length", form.len().to_string().as_bytes())
            .header_raw("Content-Type", form.content_type().as_bytes())
            .config()
            .timeout_global(Some(self.timeout.min(LONGEST_TIMEOUT)))
            .build()
            .send(SendBody::from_reader(&mut reader));
        let response = sent.map_err(|e| self.failed(0, e))?;
        let (code, length) = (response.status().as_u16(), response.body().content_length());
        if self.verbose {
            let headers = response.headers();
            tracing::debug!(
                "{ENGINE}: HTTP code {code} after {:?}, headers {headers:?}",
                start.elapsed()
            );
        }
        let success = response.status().is_success();
        let mut body = response.into_body();
        if !success {
            let redirected = (300..400).contains(&code);
            return Err(Failure {
                error: self.error(
                    if redirected {
                        "Redirects are not followed"
                    } else {
                        NONE
                    },
                    code,
                    &message(&mut body),
                ),
                transient: code >= 500,
            });
        }
        let limit = most as u64;
        let mut bytes = Vec::new();
        if length.is_none_or(|n| n <= limit) {
            let read = body.as_reader().take(limit + 1).read_to_end(&mut bytes);
            read.map_err(|e| self.failed(code, e.into()))?;
        }
        if self.verbose {
            tracing::debug!(
                "{ENGINE}: {} bytes received after {:?}",
                bytes.len(),
                start.elapsed()
            );
        }
        let wrong = |what: String| Failure {
            error: self.error(&what, code, NONE),
            transient: false,
        };
        match length.unwrap_or(bytes.len() as u64) {
            0 => Err(wrong(
                "the server was supposed to respond with a file but did not".into(),
            )),
            n if n > limit => Err(wrong(format!(
                "the reply must have at most {limit} bytes for an image of this size, got more"
            ))),
            _ => Ok(Reply { code, body: bytes }),
        }
    }

    /// Returns the failure of a connection; `code` is 0 before the reply has begun.
    fn failed(&self, code: u16, error: ureq::Error) -> Failure {
        use io::ErrorKind::*;
        let service = match &error {
            ureq::Error::Io(e) => match e.kind() {
                ConnectionRefused => "Could not connect to server; start a render server there",
                UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe if code == 0 => {
                    "Server returned nothing (no headers, no data)"
                }
                UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe => {
                    "The connection ended before the reply was complete"
                }
                _ => "The connection failed",
            },
            ureq::Error::HostNotFound => "Could not resolve the name of the host",
            ureq::Error::Timeout(_) => "Timeout was reached",
            ureq::Error::Protocol(_) => "The reply is not valid HTTP",
            _ => "The request failed",
        };
        let service = match &error {
            ureq::Error::Timeout(_) => format!("{service} ({:?})", self.timeout),
            _ => service.to_owned(),
        };
        Failure {
            error: self.error(&service, code, NONE).with_cause(error),
            transient: true,
        }
    }

    /// Returns an error with the facts that Drake's client reports.
    fn error(&self, service: &str, code: u16, server: &str) -> Error {
        Error::new(
            ErrorKind::Network,
            format!(
                "{ENGINE}: the server must reply to a POST with an image, got an error | URL: {} | \
                 Service Message: {service} | HTTP Code: {code} | Server Message: {server}",
                self.url.text
            ),
        )
    }
}

/// Returns the message of a reply that reports an error.
fn message(body: &mut Body) -> String {
    let mut bytes = Vec::new();
    // A message that breaks off is better than none.
    let _ = body.as_reader().take(LONG_MESSAGE).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    match text.trim() {
        "" => NONE.into(),
        _ if bytes.len() as u64 >= LONG_MESSAGE => NONE.into(),
        text => text.into(),
    }
}
