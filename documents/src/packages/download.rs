//! Download of an archive, with a check of its checksum.

use super::remote::{ArchiveLocation, RemotePackage, hex};
use super::settings::{NETWORK_VARIABLE, RemoteSettings};
use crate::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Downloads the archive from the first URL that serves it; else returns the failure of every URL.
pub(super) fn download(
    package: &RemotePackage,
    settings: &RemoteSettings,
    to: &Path,
) -> Result<()> {
    let wanted = package.sha256();
    let (mut failures, mut first) = (String::new(), None);
    for url in &package.params().urls {
        tracing::info!("downloading {url}");
        match download_one(url, settings, &wanted, to) {
            Ok(()) => return Ok(()),
            Err(error) => {
                failures += &format!("\n  {url}: {error}");
                first.get_or_insert(error.kind());
            }
        }
    }
    // Every failure is in the message, so none of them is its cause.
    Err(Error::new(
        first.unwrap_or(ErrorKind::Network),
        format!("at least one URL must serve the archive, got:{failures}"),
    ))
}

fn download_one(url: &str, settings: &RemoteSettings, wanted: &str, to: &Path) -> Result<()> {
    let sha256 = match ArchiveLocation::of(url).map_err(Error::invalid)? {
        ArchiveLocation::File(path) => {
            let file = File::open(&path).map_err(|e| Error::io(&path, e))?;
            // Reading a pipe could block forever.
            if !file.metadata().is_ok_and(|m| m.is_file()) {
                let path = path.display();
                return Err(Error::invalid(format!("'{path}' must be a regular file")));
            }
            save(file, settings, to)?
        }
        ArchiveLocation::Http | ArchiveLocation::Https => {
            let variable = std::env::var_os(NETWORK_VARIABLE);
            let variable = variable.as_ref().map(|list| list.to_string_lossy());
            if let Some(ban) = settings.network_ban(variable.as_deref()) {
                return Err(Error::state(ban));
            }
            fetch(url, settings, to)?
        }
    };
    if sha256 == wanted {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "the SHA-256 checksum of the file must be {wanted}, got {sha256}"
        )))
    }
}

fn network(message: String) -> Error {
    Error::new(ErrorKind::Network, message)
}

/// Copies a reader to a new file; returns the checksum.
fn save(mut from: impl Read, settings: &RemoteSettings, to: &Path) -> Result<String> {
    let max = settings.max_archive_bytes;
    let mut file = File::create(to).map_err(|e| Error::io(to, e))?;
    let mut sha256 = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut total = 0;
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => return Ok(hex(&sha256.finalize())),
            Ok(n) => n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(network(format!("after {total} bytes")).with_cause(error)),
        };
        total += n as u64;
        if total > max {
            return Err(Error::invalid(format!(
                "the archive must have at most {max} bytes (max_archive_bytes of the package \
                 map's RemoteSettings), got more"
            )));
        }
        sha256.update(&buffer[..n]);
        let written = file.write_all(&buffer[..n]);
        written.map_err(|e| Error::io(to, e))?;
    }
}

/// Downloads a URL by the program `curl`, following redirections; returns the checksum.
///
/// The program comes with most systems, and knows their certificates and proxies.
fn fetch(url: &str, settings: &RemoteSettings, to: &Path) -> Result<String> {
    // Curl takes no limits of centuries.
    let seconds = |limit: Duration| limit.as_secs_f64().clamp(0.001, 1e6);
    let (silence, total) = (
        seconds(settings.stall_timeout),
        seconds(settings.download_timeout),
    );
    let command = Command::new("curl")
        // Without the user's configuration, which may change what is written.
        .args(["--disable", "--silent", "--show-error", "--fail"])
        .args(["--proto", "=http,https", "--proto-redir", "=http,https"])
        .args(["--location", "--max-redirs"])
        .arg(settings.max_redirects.to_string())
        .args(["--connect-timeout", &silence.to_string()])
        .args(["--max-time", &total.to_string()])
        .args(["--speed-limit", "1", "--speed-time"])
        .arg(silence.ceil().to_string())
        .args(["--user-agent", USER_AGENT])
        .args(["--write-out", "%{stderr}\\n%{http_code}"])
        .args(["--globoff", "--url", url])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let command = command.map_err(|e| {
        network(
            "packages from http:// and https:// are fetched by the program curl, which could not \
             be started; install it, or fetch the archive yourself and name it by a file:// URL"
                .into(),
        )
        .with_cause(e)
    })?;
    let mut curl = Running(command);
    let body = curl.0.stdout.take().expect("is piped");
    let saved = save(body, settings, to)?;
    let mut report = String::new();
    let mut errors = curl.0.stderr.take().expect("is piped");
    let read = errors.read_to_string(&mut report);
    let status = read
        .and_then(|_| curl.0.wait())
        .map_err(|e| network("curl".into()).with_cause(e))?;
    let (message, answer) = report.rsplit_once('\n').unwrap_or((&report, ""));
    match status.code() {
        Some(0) if answer == "200" => Ok(saved),
        Some(0 | HTTP_ERROR) => Err(network(format!(
            "the server must answer 200 OK, got {answer}"
        ))),
        Some(TOO_MANY_REDIRECTS) => Err(network(format!(
            "the server must redirect at most {} times (max_redirects of the package map's \
             RemoteSettings), got more",
            settings.max_redirects
        ))),
        Some(TIMEOUT) => Err(network(format!("timeout: {}", message.trim()))),
        _ => Err(network(message.trim().to_owned())),
    }
}

const USER_AGENT: &str = concat!("tarragon/", env!("CARGO_PKG_VERSION"));

/// Exit codes of curl.
const HTTP_ERROR: i32 = 22;
const TIMEOUT: i32 = 28;
const TOO_MANY_REDIRECTS: i32 = 47;

/// A program that is ended with its result unused, if it still runs.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
