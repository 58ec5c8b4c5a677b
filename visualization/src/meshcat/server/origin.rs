//! Access checks for connections.
//!
//! Browsers let any site open websockets to any server, including one on this machine, but tell the
//! server which site it is (RFC 6455, section 10.2). In addition, a site can make its own name
//! resolve to the address of this machine ("DNS rebinding"); the host name in the request reveals
//! this.

use crate::meshcat::params::MeshcatParams;
use std::net::IpAddr;

/// Returns whether a request that names `host` may be answered. On loopback, the host must be one
/// of the names of this machine.
pub(super) fn is_host_allowed(params: &MeshcatParams, url: &str, host: Option<&str>) -> bool {
    let Some(host) = host else {
        // HTTP/1.0 clients, which are not browsers.
        return true;
    };
    let name = without_port(host);
    params.is_open()
        || is_loopback(name)
        || name.eq_ignore_ascii_case(without_port(&params.url_host()))
        || authority(url).is_some_and(|a| name.eq_ignore_ascii_case(without_port(a)))
}

/// Returns whether a page from `origin` may open a websocket.
pub(super) fn is_origin_allowed(
    params: &MeshcatParams,
    url: &str,
    host: Option<&str>,
    origin: Option<&str>,
) -> bool {
    let Some(origin) = origin else {
        return true;
    };
    let same = |other: Option<&str>| {
        let origin = authority(origin);
        origin.is_some()
            && origin
                .zip(other)
                .is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
    };
    same(host)
        || same(authority(url))
        || params
            .allowed_origins
            .iter()
            .any(|o| o.trim_end_matches('/').eq_ignore_ascii_case(origin))
}

/// Returns the host and port of a URL.
fn authority(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    rest.split(['/', '?', '#']).next().filter(|a| !a.is_empty())
}

fn without_port(host: &str) -> &str {
    if let Some(end) = host.strip_prefix('[').and_then(|h| h.find(']')) {
        return &host[..end + 2];
    }
    host.split(':').next().unwrap_or(host)
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|a| a.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_other_sites_are_refused() {
        let params = MeshcatParams::default();
        let url = "https://proxy.example/lab";
        let origin = |origin| is_origin_allowed(&params, url, Some("localhost:7000"), Some(origin));
        assert!(origin("http://localhost:7000"));
        assert!(origin("https://proxy.example"));
        assert!(!origin("http://localhost:8000"));
        assert!(!origin("https://evil.example") && !origin("null") && !origin(""));
        assert!(is_origin_allowed(
            &params,
            url,
            Some("localhost:7000"),
            None
        ));
        let allowed_origins = vec!["https://lab.example".into()];
        let params = MeshcatParams {
            allowed_origins,
            ..params
        };
        assert!(is_origin_allowed(
            &params,
            url,
            Some("localhost:7000"),
            Some("https://lab.example")
        ));
    }

    #[test]
    fn rebound_host_names_are_refused() {
        let params = MeshcatParams::default();
        let host = |host| is_host_allowed(&params, "http://localhost:7000", Some(host));
        assert!(host("localhost:7000") && host("127.0.0.1:7000") && host("[::1]:7000"));
        assert!(!host("evil.example:7000") && !host("localhost.evil.example"));
        let open = MeshcatParams {
            host: "*".into(),
            ..params
        };
        assert!(is_host_allowed(
            &open,
            "http://localhost:7000",
            Some("robot.lab:7000")
        ));
    }
}
