//! Parameters of the client of a render server.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use ureq::http::Uri;

/// Name of the engine in messages.
pub(super) const ENGINE: &str = "RenderEngineGltfClient";

/// Environment variable that lists what may use the network, as Drake reads it:
/// `render_gltf_client:lcm`, or `none`.
pub(super) const NETWORK_VARIABLE: &str = "DRAKE_ALLOW_NETWORK";

/// Parameters of the engine that requests images from a server (Drake's
/// `RenderEngineGltfClientParams`).
///
/// ```
/// use tarragon_sensors::RenderEngineGltfClientParams;
/// assert_eq!(RenderEngineGltfClientParams::default().render_endpoint, "render");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderEngineGltfClientParams {
    /// Address of the server: `http://HOST:PORT`, with or without a path.
    pub base_url: String,
    /// Path on the server, appended to the address after one `/`. If empty, images are requested
    /// from the address itself.
    pub render_endpoint: String,
    /// Whether requests and replies are logged, at the debug level of `tracing`.
    pub verbose: bool,
    /// If false, the scenes sent and the images received are kept as files in the
    /// [directory](crate::RenderEngineGltfClient::files_directory) of the engine; otherwise no
    /// files are written.
    pub cleanup: bool,
}

impl Default for RenderEngineGltfClientParams {
    fn default() -> Self {
        Self {
            base_url: "http://127.0.0.1:8000".into(),
            render_endpoint: "render".into(),
            verbose: false,
            cleanup: true,
        }
    }
}

/// Address to which requests are posted.
#[derive(Clone, Debug)]
pub(super) struct ServerUrl {
    /// The whole URL.
    pub(super) text: String,
    /// Value of the `Host` header: name or address, and the port if the URL has one.
    pub(super) host: String,
}

impl RenderEngineGltfClientParams {
    /// Returns the URL of requests.
    ///
    /// # Errors
    /// Returns an error if `base_url` is not an `http://` URL with a host, or the endpoint has
    /// characters that a URL cannot have.
    pub(super) fn url(&self) -> Result<ServerUrl> {
        let base = &*self.base_url;
        let scheme = base.split_once("://").map(|(scheme, _)| scheme);
        match scheme.map(str::to_ascii_lowercase).as_deref() {
            Some("http") => {}
            Some("https") => {
                return Err(Error::unsupported(format!(
                    "RenderEngineGltfClientParams: base_url must begin with http://, got '{base}'; \
                     https is not supported, so run the server in your own network or behind a \
                     tunnel on this machine"
                )));
            }
            _ => return Err(self.invalid_base_url()),
        }
        let endpoint = self.render_endpoint.trim_start_matches('/');
        let text = match endpoint {
            "" => base.to_owned(),
            _ => format!("{}/{endpoint}", base.trim_end_matches('/')),
        };
        let uri = |text: &str| text.parse::<Uri>();
        let host_of = |uri: &Uri| uri.authority().map(|a| a.host().to_owned());
        let Some(host) = uri(base).ok().and_then(|uri| host_of(&uri)) else {
            return Err(self.invalid_base_url());
        };
        let whole = uri(&text).map_err(|e| {
            Error::invalid(format!(
                "RenderEngineGltfClientParams: render_endpoint must be a path of a URL, got '{}'",
                self.render_endpoint
            ))
            .with_cause(e)
        })?;
        let host = match whole.port() {
            Some(port) => format!("{host}:{port}"),
            None => host,
        };
        Ok(ServerUrl { text, host })
    }

    fn invalid_base_url(&self) -> Error {
        Error::invalid(format!(
            "RenderEngineGltfClientParams: base_url must be an address such as \
             http://127.0.0.1:8000, got '{}'",
            self.base_url
        ))
    }
}

/// Checks that the environment lets render clients use the network; `allowed` is the value of
/// [`NETWORK_VARIABLE`].
pub(super) fn check_network(allowed: Option<&str>) -> Result<()> {
    match allowed {
        None | Some("") => Ok(()),
        Some(list) if list.split(':').any(|name| name == "render_gltf_client") => Ok(()),
        Some(list) => Err(Error::unsupported(format!(
            "{ENGINE} has been disabled via the {NETWORK_VARIABLE} environment variable, which \
             must be unset or have 'render_gltf_client' among its names (separated by ':'), got \
             '{list}'"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn params(base_url: &str, render_endpoint: &str) -> RenderEngineGltfClientParams {
        RenderEngineGltfClientParams {
            base_url: base_url.into(),
            render_endpoint: render_endpoint.into(),
            ..Default::default()
        }
    }

    #[test]
    fn urls_have_one_slash_before_the_endpoint() {
        for (base, endpoint, url, host) in [
            (
                "http://127.0.0.1:8000",
                "render",
                "http://127.0.0.1:8000/render",
                "127.0.0.1:8000",
            ),
            (
                "http://lab:80/",
                "/render",
                "http://lab:80/render",
                "lab:80",
            ),
            ("http://lab/a//", "//b/c", "http://lab/a/b/c", "lab"),
            ("http://[::1]:9", "", "http://[::1]:9", "[::1]:9"),
            ("HTTP://me@lab/a", "", "HTTP://me@lab/a", "lab"),
        ] {
            let made = params(base, endpoint).url().unwrap();
            assert_eq!((&*made.text, &*made.host), (url, host));
        }
    }

    #[test]
    fn wrong_urls_are_refused_with_the_cure() {
        for base in [
            "",
            "127.0.0.1:8000",
            "ftp://lab",
            "http://",
            "http:// lab",
            "http:/lab",
        ] {
            let error = params(base, "render").url().unwrap_err();
            let text = error.to_string();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(
                text.contains("such as http://127.0.0.1:8000, got"),
                "{text}"
            );
        }
        let error = params("https://lab", "render").url().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("https is not supported"));
        let error = params("http://lab", "re nder").url().unwrap_err();
        assert!(error.to_string().contains("render_endpoint must be"));
    }

    #[test]
    fn environment_can_forbid_requests() {
        for allowed in [
            None,
            Some(""),
            Some("render_gltf_client"),
            Some("lcm:render_gltf_client"),
        ] {
            assert!(check_network(allowed).is_ok(), "{allowed:?}");
        }
        for forbidden in ["none", "lcm:meshcat", "render_gltf_client2"] {
            let error = check_network(Some(forbidden)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            let text = error.to_string();
            assert!(
                text.starts_with(
                    "RenderEngineGltfClient has been disabled via the DRAKE_ALLOW_NETWORK \
                     environment variable"
                ),
                "{text}"
            );
        }
    }
}
