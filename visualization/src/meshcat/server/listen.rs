//! The socket that pages connect to.

use crate::meshcat::params::MeshcatParams;
use crate::{Error, Result};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use tokio::net::{TcpListener, TcpSocket};

/// What the system may keep of what a page has not taken yet. Left to itself, it keeps megabytes
/// for each: a slow page would be shown what was long ago, and many stuck ones would take
/// gigabytes.
const SEND_BUFFER: u32 = 256 << 10;
/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Binds the first port that is free.
pub(super) fn listen(params: &MeshcatParams) -> Result<TcpListener> {
    let ports = params.check()?;
    let hosts: Vec<IpAddr> = match params.host.trim_matches(['[', ']']) {
        "" | "localhost" => vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
        "*" => vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)],
        host => {
            let found = (host, 0).to_socket_addrs();
            let found = found.map_err(|e| {
                Error::invalid(format!(
                    "MeshcatParams: host '{host}' has no address ({e}); expected 'localhost', '*' or a \
                     name or address of this machine"
                ))
            })?;
            found.map(|a| a.ip()).collect()
        }
    };
    let mut last = None;
    for host in &hosts {
        for port in &ports {
            match bind(SocketAddr::new(*host, *port)) {
                Ok(listener) => return Ok(listener),
                Err(e) => last = Some(e),
            }
        }
    }
    let reason = last.map_or_else(|| "the host has no address".into(), |e| e.to_string());
    Err(Error::invalid(match params.port {
        None => format!(
            "Meshcat can not listen on {} at any port from 7000 to 7999 ({reason}); close a server that \
             is no longer needed, or set MeshcatParams::port to 0 for any free port",
            params.host
        ),
        Some(port) => format!(
            "Meshcat can not listen on {} at port {port} ({reason}); set MeshcatParams::port to another \
             port, to 0 for any free port, or to None for the first from 7000 on",
            params.host
        ),
    }))
}

/// Listens at one address; connections have its options.
fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // A port is free again as soon as its server ends. (On Windows, where it is, the option would
    // take it from a server that runs.)
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    // A computer that vanished without a word is noticed even if nothing is sent to it.
    socket.set_keepalive(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
