//! Parameters of a server.

use super::property::PropertyValue;
use crate::{Error, Result};
use std::path::PathBuf;

/// Names what may use the network, as Drake's programs read it: `meshcat:lcm`, or `none`.
pub(crate) const NETWORK_VARIABLE: &str = "DRAKE_ALLOW_NETWORK";

/// A property that is set as soon as a server starts, as
/// [`Meshcat::set_property`](crate::Meshcat::set_property) does. Drake's
/// `MeshcatParams::PropertyTuple`.
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
    /// The path in the scene tree.
    pub path: String,
    /// The property's name.
    pub property: String,
    /// Its value.
    pub value: PropertyValue,
}

impl PropertyTuple {
    /// A property of a path.
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
    /// The host to listen on: a name or an address of this machine. `localhost`, the default, can
    /// be reached from this machine only; `*` listens on all interfaces, so that everybody on the
    /// network can look at the scene and move its sliders.
    pub host: String,
    /// The port: None takes the first free one from 7000 to 7999, 0 any free one; other ports must
    /// be 1024 or above.
    pub port: Option<u16>,
    /// What [`Meshcat::web_url`](crate::Meshcat::web_url) reports, with `{host}` and `{port}`
    /// replaced (`{{` and `}}` are braces): for servers behind a proxy. The host is `localhost`
    /// when the server listens on all interfaces.
    pub web_url_pattern: String,
    /// Properties that are set at the start.
    pub initial_properties: Vec<PropertyTuple>,
    /// The least real time between two reports of the realtime rate (s).
    pub realtime_rate_period: f64,
    /// Whether pages show their statistics.
    pub show_stats_plot: bool,
    /// A directory with another viewer page (`meshcat.html`, `index.html` or what
    /// `viewer/build.mjs` makes) to serve in place of the built-in one. The environment variable
    /// `TARRAGON_VIEWER` sets it where this is None.
    pub viewer_dir: Option<PathBuf>,
    /// Origins (`https://lab.example:8443`) of other sites whose pages may connect. Pages of this
    /// server always may; programs that are no browsers send no origin and may, too.
    pub allowed_origins: Vec<String>,
    /// The most pages that may be connected at one time; others are refused.
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
    /// Whether the environment lets servers listen; `allowed` is the value of [`NETWORK_VARIABLE`].
    ///
    /// # Errors
    /// If it names other things and not this one.
    pub(crate) fn check_network(allowed: Option<&str>) -> Result<()> {
        match allowed {
            None | Some("") => Ok(()),
            Some(list) if list.split(':').any(|name| name == "meshcat") => Ok(()),
            Some(list) => Err(Error::invalid(format!(
                "Meshcat may not listen: the environment variable {NETWORK_VARIABLE} is '{list}', expected \
                 'meshcat' among its names (separated by ':'), or no such variable"
            ))),
        }
    }
    /// The ports to try, in order.
    ///
    /// # Errors
    /// If a field has a value that is not allowed.
    pub(crate) fn check(&self) -> Result<Vec<u16>> {
        let wrong = |what: String| Err(Error::invalid(format!("MeshcatParams: {what}")));
        if !(self.realtime_rate_period > 0.0 && self.realtime_rate_period.is_finite()) {
            return wrong(format!(
                "realtime_rate_period is {} s, expected a positive finite time",
                self.realtime_rate_period
            ));
        }
        expand(&self.web_url_pattern, "", 0)?;
        match self.port {
            None => Ok((7000..=7999).collect()),
            Some(port @ 1..=1023) => wrong(format!(
                "port is {port}, expected 0 (any free port) or a port from 1024 on"
            )),
            Some(port) => Ok(vec![port]),
        }
    }
    /// Whether the server listens on all interfaces.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.host.as_str(), "*" | "0.0.0.0" | "::" | "[::]")
    }
    /// The host as URLs name it.
    pub(crate) fn url_host(&self) -> String {
        if self.host.is_empty() || self.is_open() {
            "localhost".into()
        } else if self.host.contains(':') && !self.host.starts_with('[') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        }
    }
    /// The URL of the page.
    pub(crate) fn web_url(&self, port: u16) -> Result<String> {
        expand(&self.web_url_pattern, &self.url_host(), port)
    }
}

/// Replaces `{host}` and `{port}`.
fn expand(pattern: &str, host: &str, port: u16) -> Result<String> {
    let wrong = |what: String| {
        Error::invalid(format!(
            "MeshcatParams: web_url_pattern '{pattern}' has {what}; expected {{host}}, {{port}}, and \
             {{{{ or }}}} for braces"
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
            "MeshcatParams: web_url_pattern 'http://{hots}' has '{hots}'; expected {host}, {port}, and \
             {{ or }} for braces"
        );
        assert!(url("http://{host").is_err() && url("a}b").is_err());
    }

    #[test]
    fn the_environment_can_deny_servers() {
        for allowed in [None, Some(""), Some("meshcat"), Some("lcm:meshcat")] {
            assert!(MeshcatParams::check_network(allowed).is_ok(), "{allowed:?}");
        }
        let error = MeshcatParams::check_network(Some("none")).unwrap_err();
        assert!(
            error.to_string().contains("DRAKE_ALLOW_NETWORK is 'none'"),
            "{error}"
        );
        assert!(MeshcatParams::check_network(Some("lcm")).is_err());
    }

    #[test]
    fn hosts_are_named_for_urls() {
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
