//! UDP multicast: the sockets, the thread that receives, sending from any thread.

use super::datagram::{Datagrams, MAX_DATAGRAM, MOST_PIECES, Packet};
use super::reassembly::{Limits, Reassembly};
use super::url::UdpmUrl;
use crate::error::{Error, Result};
use crate::message::encoded::Parts;
use crate::statistics::Counters;
use smallvec::SmallVec;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io::{self, ErrorKind, IoSlice};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Names what may use the network, as Drake's programs read it: `meshcat:lcm`, or `none`.
const NETWORK_VARIABLE: &str = "DRAKE_ALLOW_NETWORK";
/// What the system is asked to keep for us, unless the URL says another size (bytes).
const BUFFER: usize = 8 << 20;
/// How long a datagram may wait for a place in the buffer of the sending socket.
const SEND_PATIENCE: Duration = Duration::from_millis(50);
/// A message of more fragments than this, some 4 MB, may not fit into what the system keeps for a
/// listener: so that it can make room, sending rests after each megabyte. On the same machine, half
/// of the messages of 16 MB get lost without this, one in fifteen with it.
const BREATH_AFTER: usize = 64;
const BREATH_EVERY: usize = 16;
const BREATH: Duration = Duration::from_micros(500);
/// How often the receiving thread looks around when nothing comes.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// A multicast group that can be sent to and listened to.
///
/// Sending never waits for receiving: they have sockets of their own, and the one that receives is
/// only there once somebody listens.
#[derive(Debug)]
pub(crate) struct Udpm {
    /// The URL as it was given, for errors.
    text: String,
    url: UdpmUrl,
    group: SockAddr,
    /// The interface that is used; None leaves it to the routes.
    interface: Option<Ipv4Addr>,
    counters: Arc<Counters>,
    socket: Socket,
    /// The number of the next message; locked while a message is sent, so that its fragments are in
    /// a row and numbers go out in order.
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
    /// Opens what is needed for sending, and sees whether the group can be joined.
    ///
    /// # Errors
    /// Returns an error if the environment denies it, or the group cannot be reached.
    pub(crate) fn open(url: &UdpmUrl, text: &str, counters: Arc<Counters>) -> Result<Self> {
        check_network(text, std::env::var(NETWORK_VARIABLE).ok().as_deref())?;
        let interface = reachable_interface(url, text)?;
        let socket = sender(url, interface)
            .map_err(|source| Error::socket(text, "cannot set up a socket to send", source))?;
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
    /// Returns an error if the channel or the size cannot be sent, or the system does not take a
    /// datagram, because there is no route any more or its buffer stays full. What was sent of a
    /// long message is then lost; listeners see that by its number.
    pub(crate) fn publish<'a>(&self, channel: &str, data: impl Into<Parts<'a>>) -> io::Result<()> {
        let mut sequence = self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
        let datagrams = Datagrams::new(*sequence, channel, data.into())
            .map_err(|what| io::Error::new(ErrorKind::InvalidInput, what))?;
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
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // ENOBUFS: some systems say that a queue is full instead of waiting as the timeout
                // says.
                Err(error) if tries < 20 && is_no_buffer(&error) => {
                    tries += 1;
                    std::thread::sleep(SEND_PATIENCE / 20);
                }
                Err(error) => return Err(error),
            }
        }
    }
    /// Starts the thread that receives, unless it is there; it ends with this bus.
    ///
    /// `sink` gets the channel and the data of every message, on that thread.
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
        Error::socket(&self.text, what, source)
    }
    fn receiving_socket(&self) -> io::Result<UdpSocket> {
        let group = self.url.group;
        let socket = udp()?;
        socket.set_reuse_address(true)?;
        // There, sockets that share a port must all say this one.
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
        tracing::debug!("LCM: a buffer of {asked} bytes was asked for, {granted} are granted");
        // Linux reports twice what it granted, for its own needs.
        if self.url.recv_buf_size.is_some() && granted < asked {
            tracing::warn!(
                "LCM URL '{}': recv_buf_size is {asked} bytes, but the system grants {granted} at most; on \
                 Linux 'sysctl -w net.core.rmem_max={asked}' lets it",
                self.text
            );
        }
        // Bound to the group, a socket hears neither other groups of the port nor what is sent to
        // one machine.
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
        // Wakes a thread that waits for datagrams, even if this "fails" because nothing is
        // connected. Where it does not, the thread looks around by itself.
        #[cfg(unix)]
        let _ = socket2::SockRef::from(&*receiver.socket).shutdown(std::net::Shutdown::Both);
        if receiver.thread.thread().id() != std::thread::current().id() {
            // A sink that panicked has said so; there is nothing to be done about it here.
            let _ = receiver.thread.join();
        }
    }
}

/// What the receiving thread does: drains the socket until it is told to stop. No error ends it.
fn receive(
    socket: &UdpSocket,
    stop: &AtomicBool,
    mut reassembly: Reassembly,
    sink: impl Fn(&str, Vec<u8>),
) {
    // One byte more than there can be, so that nothing is ever cut off.
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
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    reassembly.give_up_stale(Instant::now());
                }
                ErrorKind::Interrupted => {}
                _ if stop.load(Ordering::Acquire) => {}
                _ => {
                    failures = failures.saturating_add(1);
                    if failures == 1 {
                        tracing::warn!("LCM: receiving failed, and goes on: {error}");
                    }
                    // One is news about something sent; many in a row would keep a processor busy.
                    if failures > 8 {
                        std::thread::sleep(LOOK_AROUND / 10);
                    }
                }
            },
        }
    }
}

/// Waits until there is a datagram, which stays.
///
/// A socket that is shut down wakes a thread that waits in it, with a datagram of nobody;
/// `recv_from` of the standard library then panics. Looking first costs a third of a microsecond.
#[cfg(unix)]
fn await_datagram(socket: &UdpSocket, stop: &AtomicBool) -> io::Result<()> {
    socket.peek(&mut [0])?;
    match stop.load(Ordering::Acquire) {
        true => Err(ErrorKind::Interrupted.into()),
        false => Ok(()),
    }
}

/// Elsewhere, sockets are not woken so.
#[cfg(not(unix))]
fn await_datagram(_: &UdpSocket, _: &AtomicBool) -> io::Result<()> {
    Ok(())
}

/// Whether the environment lets buses use the network; `allowed` is the value of
/// [`NETWORK_VARIABLE`].
fn check_network(text: &str, allowed: Option<&str>) -> Result<()> {
    match allowed {
        None | Some("") => Ok(()),
        Some(list) if list.split(':').any(|name| name == "lcm") => Ok(()),
        Some(list) => Err(Error::invalid(format!(
            "LCM URL '{text}': the network may not be used: the environment variable {NETWORK_VARIABLE} is \
             '{list}', expected 'lcm' among its names (separated by ':'), no such variable, or the URL \
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

/// The interface to use: that of the URL, the routes' choice, or, for messages that stay on this
/// machine and where there is no route, the loopback.
fn reachable_interface(url: &UdpmUrl, text: &str) -> Result<Option<Ipv4Addr>> {
    // Sends nothing: connecting a UDP socket asks for the route.
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
            "the group {ip} cannot be reached on the interface {interface}, expected the address of one \
             that is up"
        );
        return Err(Error::socket(text, what, failure));
    }
    if url.ttl == 0 && reach(Some(Ipv4Addr::LOCALHOST)).is_ok() {
        tracing::debug!(
            "LCM URL '{text}': there is no route to {ip} ({failure}); the loopback interface is used"
        );
        return Ok(Some(Ipv4Addr::LOCALHOST));
    }
    let what = format!(
        "no interface reaches the group {ip}; add a route ('ip route add 224.0.0.0/4 dev eth0' on Linux) or \
         name an interface by its address ('interface=192.168.1.2' in the URL)"
    );
    Err(Error::socket(text, what, failure))
}

#[cfg(unix)]
fn is_no_buffer(error: &io::Error) -> bool {
    // POSIX has no number for it: Linux 105, the BSDs and macOS 55.
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

#[cfg(test)]
mod tests;
