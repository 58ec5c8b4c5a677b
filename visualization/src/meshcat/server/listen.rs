//! Listening socket of the server.

use crate::meshcat::params::MeshcatParams;
use crate::{Error, Result};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use tokio::net::{TcpListener, TcpSocket};

/// Socket send buffer: how much unread data the system may hold for a page. By default it holds
/// megabytes for each: a slow page would show a long outdated scene, and many stuck pages would
/// take gigabytes.
const SEND_BUFFER: u32 = 256 << 10;
/// Maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Binds the first free port.
pub(super) fn listen(params: &MeshcatParams) -> Result<TcpListener> {
    let ports = params.check()?;
    let hosts: Vec<IpAddr> = match params.host.trim_matches(['[', ']']) {
        "" | "localhost" => vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
        "*" => vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)],
        host => {
            let found = (host, 0).to_socket_addrs();
            let found = found.map_err(|e| {
                Error::invalid(format!(
                    "MeshcatParams: host must be 'localhost', '*' or a name or address of this \
                     machine, got '{host}' ({e})"
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
            "Meshcat cannot listen on {} at any port from 7000 to 7999 ({reason}); close a server that \
             is no longer needed, or set MeshcatParams::port to 0 for any free port",
            params.host
        ),
        Some(port) => format!(
            "Meshcat cannot listen on {} at port {port} ({reason}); set MeshcatParams::port to another \
             port, to 0 for any free port, or to None for the first from 7000 on",
            params.host
        ),
    }))
}

/// Listens at one address. Accepted connections inherit the socket options.
fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // Makes a port free again as soon as its server ends. Windows does so anyway; there the option
    // would take the port away from a running server.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    // Detects a computer that vanished silently even if nothing is sent to it.
    socket.set_keepalive(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
