//! UDP multicast: sockets, the receiving thread, and sending from any thread.
//!
//! Sending a large message is the kernel's time. Linux cuts each datagram into fragments of the
//! network's size: the nineteen of a raw 640x480 image into 47 each. Bare calls of `sendto` for
//! them took 300 to 440 µs when the image took 420 µs. Where multicast goes through the loopback
//! interface (`ip link set lo multicast on`, `ip route add 224.0.0.0/4 dev lo`), no datagram is
//! cut, and the image takes 127 µs.

use super::datagram::{Datagrams, MAX_DATAGRAM, MOST_PIECES, Packet};
use super::reassembly::{Limits, Reassembly};
use super::url::UdpmUrl;
use crate::message::encoded::Parts;
use crate::statistics::Counters;
use crate::{Error, ErrorKind, Result};
use smallvec::SmallVec;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::fmt;
use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Environment variable that lists who may use the network, as in Drake: `meshcat:lcm`, or `none`.
const NETWORK_VARIABLE: &str = "DRAKE_ALLOW_NETWORK";
/// Requested size of socket buffers, unless the URL sets another (bytes).
const BUFFER: usize = 8 << 20;
/// How long a datagram may wait for space in the sending socket's buffer.
const SEND_PATIENCE: Duration = Duration::from_millis(50);
/// Number of fragments (about 4 MB) after which sending pauses after each megabyte, because a
/// longer message may exceed the listener's socket buffer. On one machine, half of all 16 MB
/// messages get lost without these pauses, and one in fifteen with them.
const BREATH_AFTER: usize = 64;
const BREATH_EVERY: usize = 16;
const BREATH: Duration = Duration::from_micros(500);
/// How often the receiving thread checks for its end when nothing arrives.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// A multicast group for sending and receiving.
///
/// Sending never waits for receiving: they use separate sockets, and the receiving one is opened
/// with the first subscription.
#[derive(Debug)]
pub(crate) struct Udpm {
    /// The URL as given, for error messages.
    text: String,
    url: UdpmUrl,
    group: SockAddr,
    /// The interface in use; None leaves the choice to the routing table.
    interface: Option<Ipv4Addr>,
    counters: Arc<Counters>,
    socket: Socket,
    /// Sequence number of the next message. Locked while a message is sent, so that fragments stay
    /// together and numbers stay in order.
    sequence: Mutex<u32>,
    receiver: Mutex<Option<Receiver>>,
}

#[derive(Debug)]
struct Receiver {
    stop: Arc<AtomicBool>,
    socket: Arc<UdpSocket>,
    thread: JoinHandle<()>,
}

impl Udpm {
    /// Opens the sending socket, and checks that the group can be joined.
    ///
    /// # Errors
    /// Returns an error if the environment forbids it, or the group cannot be reached.
    pub(crate) fn open(url: &UdpmUrl, text: &str, counters: Arc<Counters>) -> Result<Self> {
        check_network(text, std::env::var(NETWORK_VARIABLE).ok().as_deref())?;
        let interface = reachable_interface(url, text)?;
        let socket = sender(url, interface)
            .map_err(|source| socket_error(text, "cannot set up a socket to send", source))?;
        Ok(Self {
            text: text.into(),
            url: url.clone(),
            group: url.group.into(),
            interface,
            counters,
            socket,
            sequence: Mutex::new(0),
            receiver: Mutex::new(None),
        })
    }
    /// Sends a message.
    ///
    /// # Errors
    /// Returns an error if the channel or the size cannot be sent, or if the system does not accept
    /// a datagram because there is no route or its buffer stays full. What was sent of a long
    /// message is then lost, which listeners notice from its sequence number.
    pub(crate) fn publish<'a>(&self, channel: &str, data: impl Into<Parts<'a>>) -> io::Result<()> {
        let mut sequence = self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
        let datagrams = Datagrams::new(*sequence, channel, data.into())
            .map_err(|what| io::Error::new(io::ErrorKind::InvalidInput, what))?;
        *sequence = sequence.wrapping_add(1);
        for (k, packet) in datagrams.enumerate() {
            if k >= BREATH_AFTER && k % BREATH_EVERY == 0 {
                std::thread::sleep(BREATH);
            }
            self.send(&packet)?;
        }
        Ok(())
    }
    fn send(&self, packet: &Packet<'_>) -> io::Result<()> {
        let parts = std::iter::once(packet.header()).chain(packet.data.iter().copied());
        let parts: SmallVec<[_; MOST_PIECES + 1]> = parts.map(IoSlice::new).collect();
        let mut tries = 0;
        loop {
            match self.socket.send_to_vectored(&parts, &self.group) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // ENOBUFS: some systems report a full queue at once instead of waiting for the
                // timeout.
                Err(error) if tries < 20 && is_no_buffer(&error) => {
                    tries += 1;
                    std::thread::sleep(SEND_PATIENCE / 20);
                }
                Err(error) => return Err(error),
            }
        }
    }
    /// Starts the receiving thread, unless it is running; it ends with this bus.
    ///
    /// `sink` is called on that thread with the channel and the data of every message.
    ///
    /// # Errors
    /// Returns an error if the group cannot be joined.
    pub(crate) fn start_receiving(
        &self,
        sink: impl Fn(&str, Vec<u8>) + Send + 'static,
    ) -> Result<()> {
        let mut receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        if receiver.is_some() {
            return Ok(());
        }
        let socket = self
            .receiving_socket()
            .map_err(|source| self.error("cannot listen", source))?;
        let socket = Arc::new(socket);
        let stop = Arc::new(AtomicBool::new(false));
        let reassembly = Reassembly::new(Limits::default(), self.counters.clone());
        let (heard, ends) = (socket.clone(), stop.clone());
        let thread = std::thread::Builder::new()
            .name("lcm-receive".into())
            .spawn(move || receive(&heard, &ends, reassembly, sink))
            .map_err(|source| self.error("cannot start a thread", source))?;
        *receiver = Some(Receiver {
            stop,
            socket,
            thread,
        });
        Ok(())
    }
    fn error(&self, what: &str, source: io::Error) -> Error {
        socket_error(&self.text, what, source)
    }
    fn receiving_socket(&self) -> io::Result<UdpSocket> {
        let group = self.url.group;
        let socket = udp()?;
        socket.set_reuse_address(true)?;
        // On these systems, sockets that share a port must all set this option.
        #[cfg(any(
            target_os = "macos",
            target_os = "ios",
            target_os = "freebsd",
            target_os = "netbsd",
            target_os = "openbsd"
        ))]
        socket.set_reuse_port(true)?;
        let asked = self.url.recv_buf_size.unwrap_or(BUFFER);
        socket.set_recv_buffer_size(asked)?;
        let granted = socket.recv_buffer_size()?;
        tracing::debug!(
            "LCM: requested a receive buffer of {asked} bytes, the system granted {granted}"
        );
        // Linux reports twice the granted size, to cover its own overhead.
        if self.url.recv_buf_size.is_some() && granted < asked {
            tracing::warn!(
                "LCM URL '{}': recv_buf_size is {asked} bytes, but the system grants at most {granted}; on \
                 Linux 'sysctl -w net.core.rmem_max={asked}' lets it",
                self.text
            );
        }
        // Bound to the group's address, the socket receives neither other groups on this port nor
        // unicast datagrams.
        let bound = if cfg!(windows) {
            SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, group.port())
        } else {
            group
        };
        socket.bind(&bound.into())?;
        join(&socket, group, self.interface)?;
        socket.set_read_timeout(Some(LOOK_AROUND))?;
        Ok(socket.into())
    }
}

impl Drop for Udpm {
    fn drop(&mut self) {
        let receiver = self
            .receiver
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(receiver) = receiver.take() else {
            return;
        };
        receiver.stop.store(true, Ordering::Release);
        // Wakes a thread that waits for datagrams, even if it reports failure because nothing is
        // connected. On systems where it does not, the thread wakes up periodically.
        #[cfg(unix)]
        let _ = socket2::SockRef::from(&*receiver.socket).shutdown(std::net::Shutdown::Both);
        if receiver.thread.thread().id() != std::thread::current().id() {
            // A panic of the sink was already reported by its thread, and cannot be handled here.
            let _ = receiver.thread.join();
        }
    }
}

/// Body of the receiving thread: drains the socket until `stop` is set. No error ends it.
fn receive(
    socket: &UdpSocket,
    stop: &AtomicBool,
    mut reassembly: Reassembly,
    sink: impl Fn(&str, Vec<u8>),
) {
    // One byte more than the longest datagram, so that truncation is impossible.
    let mut buffer = vec![0; MAX_DATAGRAM + 1];
    let mut failures = 0_u32;
    while !stop.load(Ordering::Acquire) {
        let heard = await_datagram(socket, stop).and_then(|()| socket.recv_from(&mut buffer));
        match heard {
            Ok((len, from)) => {
                failures = 0;
                if let Some(message) = reassembly.accept(from, &buffer[..len], Instant::now()) {
                    sink(&message.channel, message.data);
                }
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    reassembly.give_up_stale(Instant::now());
                }
                io::ErrorKind::Interrupted => {}
                _ if stop.load(Ordering::Acquire) => {}
                _ => {
                    failures = failures.saturating_add(1);
                    if failures == 1 {
                        tracing::warn!("LCM: receiving failed and will be retried: {error}");
                    }
                    // A single failure may report on an earlier send; many in a row would keep a
                    // processor busy.
                    if failures > 8 {
                        std::thread::sleep(LOOK_AROUND / 10);
                    }
                }
            },
        }
    }
}

/// Waits until there is a datagram, without reading it.
///
/// Shutting down a socket wakes a thread that waits in it, with an empty datagram without sender;
/// the standard library's `recv_from` panics on that. Peeking first costs a third of a microsecond.
#[cfg(unix)]
fn await_datagram(socket: &UdpSocket, stop: &AtomicBool) -> io::Result<()> {
    socket.peek(&mut [0])?;
    if stop.load(Ordering::Acquire) {
        Err(io::ErrorKind::Interrupted.into())
    } else {
        Ok(())
    }
}

/// On other systems, shutting down a socket does not wake the thread.
#[cfg(not(unix))]
fn await_datagram(_: &UdpSocket, _: &AtomicBool) -> io::Result<()> {
    Ok(())
}

/// Checks that the environment lets buses use the network; `allowed` is the value of
/// [`NETWORK_VARIABLE`].
fn check_network(text: &str, allowed: Option<&str>) -> Result<()> {
    match allowed {
        None | Some("") => Ok(()),
        Some(list) if list.split(':').any(|name| name == "lcm") => Ok(()),
        Some(list) => Err(Error::invalid(format!(
            "LCM URL '{text}': the environment variable {NETWORK_VARIABLE} must name 'lcm' or be unset, got \
             '{list}'; add 'lcm' to its names (separated by ':'), unset it, or use the URL \
             'memq://'"
        ))),
    }
}

fn udp() -> io::Result<Socket> {
    Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))
}

fn sender(url: &UdpmUrl, interface: Option<Ipv4Addr>) -> io::Result<Socket> {
    let socket = udp()?;
    socket.set_multicast_ttl_v4(u32::from(url.ttl))?;
    socket.set_multicast_loop_v4(true)?;
    socket.set_send_buffer_size(BUFFER)?;
    socket.set_write_timeout(Some(SEND_PATIENCE))?;
    if let Some(interface) = interface {
        socket.set_multicast_if_v4(&interface)?;
    }
    Ok(socket)
}

fn join(socket: &Socket, group: SocketAddrV4, interface: Option<Ipv4Addr>) -> io::Result<()> {
    let interface = interface.unwrap_or(Ipv4Addr::UNSPECIFIED);
    socket.join_multicast_v4(group.ip(), &interface)
}

/// Chooses the interface: that of the URL, or that of the routing table, or the loopback if
/// messages stay on this machine and there is no route.
fn reachable_interface(url: &UdpmUrl, text: &str) -> Result<Option<Ipv4Addr>> {
    // Connecting a UDP socket sends nothing; it only looks up the route.
    let reach = |interface| -> io::Result<()> {
        let socket = sender(url, interface)?;
        join(&socket, url.group, interface)?;
        socket.connect(&url.group.into())
    };
    let ip = url.group.ip();
    let failure = match reach(url.interface) {
        Ok(()) => return Ok(url.interface),
        Err(failure) => failure,
    };
    if let Some(interface) = url.interface {
        let what = format!(
            "cannot reach the group {ip} on the interface {interface}, which must be the address of one \
             that is up"
        );
        return Err(socket_error(text, what, failure));
    }
    if url.ttl == 0 && reach(Some(Ipv4Addr::LOCALHOST)).is_ok() {
        tracing::debug!(
            "LCM URL '{text}': there is no route to {ip} ({failure}); using the loopback interface"
        );
        return Ok(Some(Ipv4Addr::LOCALHOST));
    }
    let what = format!(
        "no interface reaches the group {ip}; add a route ('ip route add 224.0.0.0/4 dev eth0' on Linux) or \
         name an interface by its address ('interface=192.168.1.2' in the URL)"
    );
    Err(socket_error(text, what, failure))
}

#[cfg(unix)]
fn is_no_buffer(error: &io::Error) -> bool {
    // POSIX does not fix its number: 105 on Linux, 55 on the BSDs and macOS.
    let no_buffer = if cfg!(any(target_os = "linux", target_os = "android")) {
        105
    } else {
        55
    };
    error.raw_os_error() == Some(no_buffer)
}

#[cfg(not(unix))]
fn is_no_buffer(error: &io::Error) -> bool {
    // WSAENOBUFS
    error.raw_os_error() == Some(10055)
}

fn socket_error(url: &str, what: impl fmt::Display, cause: io::Error) -> Error {
    Error::new(ErrorKind::Network, format!("LCM URL '{url}': {what}")).with_cause(cause)
}

#[cfg(test)]
mod tests;
