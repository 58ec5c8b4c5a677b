//! Listening socket of the server.

use crate::{Error, ErrorKind, RenderServerParams, Result};
use std::net::{IpAddr, Ipv4Addr, TcpListener, ToSocketAddrs};

/// Binds the host and port of the parameters.
pub(crate) fn listen(params: &RenderServerParams) -> Result<TcpListener> {
    let host = params.host.trim_matches(['[', ']']);
    let hosts: Vec<IpAddr> = match host {
        "" | "localhost" => vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
        "*" => vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)],
        host => {
            let found = (host, 0).to_socket_addrs().map_err(|e| {
                Error::invalid(format!(
                    "RenderServerParams: host must be a name or address of this machine, or '*' for \
                     all of them, got '{host}'"
                ))
                .with_cause(e)
            })?;
            found.map(|a| a.ip()).collect()
        }
    };
    let mut last = None;
    for host in hosts {
        match TcpListener::bind((host, params.port)) {
            Ok(listener) => return Ok(listener),
            Err(e) => last = Some(e),
        }
    }
    let message = format!(
        "render server: cannot listen on {host} at port {}; choose another port, or 0 for any free \
         port",
        params.port
    );
    let error = Error::new(ErrorKind::Network, message);
    Err(match last {
        Some(cause) => error.with_cause(cause),
        None => error,
    })
}
