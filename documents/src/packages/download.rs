//! Download of an archive, with a check of its checksum.

use super::remote::{ArchiveLocation, RemotePackage, hex};
use super::settings::{NETWORK_VARIABLE, RemoteSettings};
use crate::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;
use ureq::http::StatusCode;
use ureq::http::header::LOCATION;
use ureq::{Agent, Body};

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
            save(
                request(url, settings).map_err(network)?.into_reader(),
                settings,
                to,
            )?
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

/// Requests a URL, following redirections; returns the body of the response.
fn request(url: &str, settings: &RemoteSettings) -> Result<Body, String> {
    let start = Instant::now();
    let mut url = url.to_string();
    for redirects in 0.. {
        let agent = agent(&url, settings, start)?;
        let response = agent.get(&url).call().map_err(|e| e.to_string())?;
        let status = response.status();
        let location = response.headers().get(LOCATION);
        match location.filter(|_| status.is_redirection()) {
            Some(_) if redirects >= settings.max_redirects => break,
            Some(location) => {
                let location = location.to_str().map_err(|_| {
                    "the server must redirect to a URL, got other bytes".to_string()
                })?;
                url = redirected(&url, location)?;
            }
            None if status == StatusCode::OK => return Ok(response.into_body()),
            None => return Err(format!("the server must answer 200 OK, got {status}")),
        }
    }
    Err(format!(
        "the server must redirect at most {} times (max_redirects of the package map's \
         RemoteSettings), got more",
        settings.max_redirects
    ))
}

/// Resolves the address of a redirection (RFC 3986, section 5.2, without removal of dot segments,
/// which servers do as well).
fn redirected(from: &str, location: &str) -> Result<String, String> {
    let (scheme, rest) = from.split_once("://").unwrap_or(("http", from));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
    let to = if location.contains("://") {
        location.into()
    } else if let Some(rest) = location.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{location}")
    };
    match ArchiveLocation::of(&to) {
        Ok(ArchiveLocation::Http | ArchiveLocation::Https) => Ok(to),
        _ => Err(format!(
            "the server must redirect to an http:// or https:// address, got '{to}'"
        )),
    }
}

/// Creates the HTTP client for one URL.
fn agent(url: &str, settings: &RemoteSettings, start: Instant) -> Result<Agent, String> {
    let stall = Some(settings.stall_timeout);
    let left = settings.download_timeout.saturating_sub(start.elapsed());
    let config = Agent::config_builder()
        .user_agent(concat!("tarragon/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(left))
        .timeout_resolve(stall)
        .timeout_connect(stall)
        .timeout_recv_response(stall)
        .timeout_per_read(stall);
    let config = match ArchiveLocation::of(url)? {
        ArchiveLocation::Https => encrypted(config)?,
        _ => config,
    };
    Ok(config.build().new_agent())
}

type ConfigBuilder = ureq::config::ConfigBuilder<ureq::typestate::AgentScope>;

#[cfg(all(
    feature = "remote-https",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn encrypted(config: ConfigBuilder) -> Result<ConfigBuilder, String> {
    // The TLS library panics on processors without these instructions.
    #[cfg(target_arch = "x86_64")]
    let capable = std::arch::is_x86_feature_detected!("aes")
        && std::arch::is_x86_feature_detected!("pclmulqdq")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("adx")
        && std::arch::is_x86_feature_detected!("avx2");
    #[cfg(target_arch = "aarch64")]
    let capable = std::arch::is_aarch64_feature_detected!("neon")
        && std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull")
        && std::arch::is_aarch64_feature_detected!("sha2");
    if !capable {
        return Err(
            "https:// needs a processor with AES instructions (on x86-64, one of 2013 or later); \
             use http:// or file://"
                .into(),
        );
    }
    let tls = ureq::tls::TlsConfig::builder()
        .root_certs(root_certificates())
        .unversioned_rustls_crypto_provider(
            std::sync::Arc::new(rustls_graviola::default_provider()),
        )
        .build();
    Ok(config.tls_config(tls))
}

/// Returns the machine's root certificates (or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`),
/// because companies have their own; Mozilla's if there are none.
#[cfg(all(
    feature = "remote-https",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn root_certificates() -> ureq::tls::RootCerts {
    use ureq::tls::{Certificate, RootCerts};
    let own = rustls_native_certs::load_native_certs();
    for error in &own.errors {
        tracing::warn!("certificates of this machine: {error}");
    }
    let own: Vec<_> = own
        .certs
        .iter()
        .map(|der| Certificate::from_der(der).to_owned())
        .collect();
    if own.is_empty() {
        RootCerts::WebPki
    } else {
        own.into()
    }
}

#[cfg(not(all(
    feature = "remote-https",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
fn encrypted(_: ConfigBuilder) -> Result<ConfigBuilder, String> {
    Err(
        "this program was built without https://, which needs the feature remote-https and an \
         x86-64 or ARM64 processor; use http:// or file://"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirections_resolve_to_http_addresses_only() {
        let from = "https://a.org:8080/x/y.zip?z=/w";
        for (location, to) in [
            ("http://b.org/q", "http://b.org/q"),
            ("//b.org/q", "https://b.org/q"),
            ("/q?r", "https://a.org:8080/q?r"),
            ("q.zip", "https://a.org:8080/x/q.zip"),
        ] {
            assert_eq!(redirected(from, location).unwrap(), to);
        }
        assert_eq!(redirected("http://a", "q").unwrap(), "http://a/q");
        for location in ["file:///etc/passwd", "ftp://a/b"] {
            assert!(redirected(from, location).is_err());
        }
    }
}
