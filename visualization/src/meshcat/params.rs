//! Parameters of a server.

use super::property::PropertyValue;
use crate::{Error, Result};
use std::path::PathBuf;

/// Environment variable that lists what may use the network, as Drake reads it: `meshcat:lcm`, or
/// `none`.
pub(crate) const NETWORK_VARIABLE: &str = "DRAKE_ALLOW_NETWORK";

/// A property to set when a server starts, as by
/// [`Meshcat::set_property`](crate::Meshcat::set_property). Drake's `MeshcatParams::PropertyTuple`.
///
/// ```
/// use tarragon_visualization::{MeshcatParams, PropertyTuple};
/// let params = MeshcatParams {
///     initial_properties: vec![PropertyTuple::new("/Grid", "visible", false)],
///     ..Default::default()
/// };
/// assert_eq!(params.initial_properties[0].property, "visible");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyTuple {
    /// Path in the scene tree.
    pub path: String,
    /// Name of the property.
    pub property: String,
    /// Value of the property.
    pub value: PropertyValue,
}

impl PropertyTuple {
    /// Creates a property of a path.
    pub fn new(
        path: impl Into<String>,
        property: impl Into<String>,
        value: impl Into<PropertyValue>,
    ) -> Self {
        Self {
            path: path.into(),
            property: property.into(),
            value: value.into(),
        }
    }
}

/// Parameters of a [`Meshcat`](crate::Meshcat) server.
///
/// ```
/// use tarragon_visualization::{Meshcat, MeshcatParams};
/// let params = MeshcatParams { port: Some(0), ..Default::default() };
/// let meshcat = Meshcat::new(params)?;
/// assert!(meshcat.web_url().starts_with("http://localhost:"));
/// # Ok::<(), tarragon_visualization::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MeshcatParams {
    /// Host to listen on: a name or an address of this machine. `localhost`, the default, is
    /// reachable from this machine only. `*` listens on all interfaces, so that everyone on the
    /// network can look at the scene and move its sliders.
    pub host: String,
    /// Port to listen on. `None` selects the first free one from 7000 to 7999, and 0 any free one.
    /// Other ports must be at least 1024.
    pub port: Option<u16>,
    /// Pattern of the URL that [`Meshcat::web_url`](crate::Meshcat::web_url) returns, for servers
    /// behind a proxy. `{host}` and `{port}` are replaced; `{{` and `}}` stand for braces. The host
    /// is `localhost` if the server listens on all interfaces.
    pub web_url_pattern: String,
    /// Properties to set at the start.
    pub initial_properties: Vec<PropertyTuple>,
    /// Minimum real time between two reports of the realtime rate (s).
    pub realtime_rate_period: f64,
    /// Whether pages show their statistics.
    pub show_stats_plot: bool,
    /// Directory with another viewer page to serve in place of the built-in one: `meshcat.html`,
    /// `index.html` or the output of `viewer/build.mjs`. If `None`, the environment variable
    /// `TARRAGON_VIEWER` may name the directory.
    pub viewer_dir: Option<PathBuf>,
    /// Origins (`https://lab.example:8443`) of other sites whose pages may connect. Pages of this
    /// server always may. Programs other than browsers send no origin and may connect too.
    pub allowed_origins: Vec<String>,
    /// Maximum number of pages connected at once; further pages are refused.
    pub max_connections: usize,
}

impl Default for MeshcatParams {
    fn default() -> Self {
        Self {
            host: "localhost".into(),
            port: None,
            web_url_pattern: "http://{host}:{port}".into(),
            initial_properties: Vec::new(),
            realtime_rate_period: 0.25,
            show_stats_plot: true,
            viewer_dir: None,
            allowed_origins: Vec::new(),
            max_connections: 1000,
        }
    }
}

impl MeshcatParams {
    /// Checks whether the environment allows servers to listen; `allowed` is the value of
    /// [`NETWORK_VARIABLE`].
    ///
    /// # Errors
    /// Returns an error if the variable is set and does not name `meshcat`.
    pub(crate) fn check_network(allowed: Option<&str>) -> Result<()> {
        match allowed {
            None | Some("") => Ok(()),
            Some(list) if list.split(':').any(|name| name == "meshcat") => Ok(()),
            Some(list) => Err(Error::invalid(format!(
                "Meshcat may not listen: the environment variable {NETWORK_VARIABLE} must be unset or \
                 contain the name 'meshcat' (names are separated by ':'), got '{list}'"
            ))),
        }
    }
    /// Checks the parameters and returns the ports to try, in order.
    ///
    /// # Errors
    /// Returns an error if a field has an invalid value.
    pub(crate) fn check(&self) -> Result<Vec<u16>> {
        let wrong = |what: String| Err(Error::invalid(format!("MeshcatParams: {what}")));
        if !(self.realtime_rate_period > 0.0 && self.realtime_rate_period.is_finite()) {
            return wrong(format!(
                "realtime_rate_period must be positive and finite, got {:?} s",
                self.realtime_rate_period
            ));
        }
        expand(&self.web_url_pattern, "", 0)?;
        match self.port {
            None => Ok((7000..=7999).collect()),
            Some(port @ 1..=1023) => wrong(format!(
                "port must be 0 (any free port) or at least 1024, got {port}"
            )),
            Some(port) => Ok(vec![port]),
        }
    }
    /// Returns whether the server listens on all interfaces.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.host.as_str(), "*" | "0.0.0.0" | "::" | "[::]")
    }
    /// Returns the host as it appears in URLs.
    pub(crate) fn url_host(&self) -> String {
        if self.host.is_empty() || self.is_open() {
            "localhost".into()
        } else if self.host.contains(':') && !self.host.starts_with('[') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        }
    }
    /// Returns the URL of the page.
    pub(crate) fn web_url(&self, port: u16) -> Result<String> {
        expand(&self.web_url_pattern, &self.url_host(), port)
    }
}

/// Replaces `{host}` and `{port}` in a pattern.
fn expand(pattern: &str, host: &str, port: u16) -> Result<String> {
    let wrong = |what: String| {
        Error::invalid(format!(
            "MeshcatParams: braces in web_url_pattern must form {{host}}, {{port}}, {{{{ or }}}}, \
             got {what} in '{pattern}'"
        ))
    };
    let mut url = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '}']) {
        url.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            url.push_str(brace);
            rest = after;
            continue;
        }
        let end = rest.find('}').filter(|_| brace == "{");
        let end = end.ok_or_else(|| wrong(format!("a single '{brace}'")))?;
        match &rest[..end] {
            "host" => url.push_str(host),
            "port" => url.push_str(&port.to_string()),
            other => return Err(wrong(format!("'{{{other}}}'"))),
        }
        rest = &rest[end + 1..];
    }
    url.push_str(rest);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_expanded() {
        let url = |pattern: &str| expand(pattern, "lab", 7001);
        assert_eq!(url("http://{host}:{port}").unwrap(), "http://lab:7001");
        assert_eq!(url("https://x/{{{port}}}/").unwrap(), "https://x/{7001}/");
        assert_eq!(
            url("http://{hots}").unwrap_err().to_string(),
            "MeshcatParams: braces in web_url_pattern must form {host}, {port}, {{ or }}, \
             got '{hots}' in 'http://{hots}'"
        );
        assert!(url("http://{host").is_err() && url("a}b").is_err());
    }

    #[test]
    fn environment_can_forbid_servers() {
        for allowed in [None, Some(""), Some("meshcat"), Some("lcm:meshcat")] {
            assert!(MeshcatParams::check_network(allowed).is_ok(), "{allowed:?}");
        }
        let error = MeshcatParams::check_network(Some("none")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("DRAKE_ALLOW_NETWORK must be unset")
                && error.to_string().contains("got 'none'"),
            "{error}"
        );
        assert!(MeshcatParams::check_network(Some("lcm")).is_err());
    }

    #[test]
    fn open_hosts_are_named_localhost_in_urls() {
        let host = |host: &str| {
            let host = host.into();
            let params = MeshcatParams {
                host,
                ..Default::default()
            };
            params.url_host()
        };
        assert_eq!(host("*"), "localhost");
        assert_eq!(host(""), "localhost");
        assert_eq!(host("::1"), "[::1]");
        assert_eq!(host("10.0.0.2"), "10.0.0.2");
    }
}
