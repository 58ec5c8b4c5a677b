//! A connected page.

use super::pipe::{Decoder, MAX_MESSAGE, MAX_PICTURE};
use super::{Shared, lock};
use crate::meshcat::batch::Encoding;
use crate::meshcat::client_message::ClientMessage;
use bytes::Bytes;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Notify, watch};
use tungstenite::protocol::Message;

/// Maximum number of bytes that wait for one page alone, such as answers to pings. A page that
/// leaves more unread is disconnected.
const MAX_OUTBOX: usize = 256 << 10;
/// Maximum number of unanswered picture requests of one page.
const MAX_PICTURES: usize = 16;
/// A page that takes nothing for this time is not waited for.
const STALLED: Duration = Duration::from_secs(30);
/// A page that takes nothing for this time is disconnected. It is long because networks and
/// sleeping computers may come back.
const GONE: Duration = Duration::from_secs(300);
/// Close frame with the status "going away" (RFC 6455, section 7.4.1).
const GOING_AWAY: [u8; 4] = [0x88, 2, 0x03, 0xe9];

/// A connected page.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: u64,
    pub(crate) encoding: Encoding,
    /// Last revision that was sent.
    pub(super) seen: AtomicU64,
    /// Whether the initial scene was sent.
    has_scene: AtomicBool,
    /// Time since which the page has taken nothing; `None` if it is up to date.
    stuck: Mutex<Option<Instant>>,
    outbox: Mutex<Outbox>,
    wake: Notify,
    /// Wakes the task that ends the connection when the outbox is full.
    full: Notify,
    /// Receivers of pictures, in the order in which the page was asked.
    pictures: Mutex<VecDeque<SyncSender<Vec<u8>>>>,
}

/// Messages that wait to be sent to one page alone.
#[derive(Debug, Default)]
struct Outbox {
    frames: Vec<Bytes>,
    /// Total length of the frames in bytes.
    length: usize,
    /// Indices of sliders that another page moved.
    moved: BTreeSet<usize>,
}

impl Client {
    pub(super) fn new(id: u64, encoding: Encoding, seen: u64) -> Self {
        Self {
            id,
            encoding,
            seen: AtomicU64::new(seen),
            has_scene: AtomicBool::new(false),
            stuck: Mutex::default(),
            outbox: Mutex::default(),
            wake: Notify::new(),
            full: Notify::new(),
            pictures: Mutex::default(),
        }
    }
    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }
    /// Returns whether a flush must wait for this page to be sent revision `seq`.
    pub(super) fn delays(&self, seq: u64) -> bool {
        let is_sent = self.has_scene.load(Ordering::Acquire) && self.seen() >= seq;
        !is_sent && lock(&self.stuck).is_none_or(|since| since.elapsed() < STALLED)
    }
    pub(super) fn notify(&self) {
        self.wake.notify_one();
    }
    /// Sends a frame to this page alone.
    fn send(&self, frame: Bytes) {
        let mut outbox = lock(&self.outbox);
        outbox.length += frame.len();
        if outbox.length > MAX_OUTBOX {
            self.full.notify_one();
            return;
        }
        outbox.frames.push(frame);
        drop(outbox);
        self.notify();
    }
    /// Schedules the value of a slider that another page moved.
    pub(super) fn send_slider(&self, index: usize) {
        lock(&self.outbox).moved.insert(index);
        self.notify();
    }
    /// Takes the sliders whose values must be sent.
    pub(super) fn take_moved(&self) -> BTreeSet<usize> {
        std::mem::take(&mut lock(&self.outbox).moved)
    }
    fn take_frames(&self) -> Vec<Bytes> {
        let mut outbox = lock(&self.outbox);
        outbox.length = 0;
        std::mem::take(&mut outbox.frames)
    }
    /// Requests a picture. The answer, a JSON text, is sent to `receiver`, which is dropped if the
    /// page disconnects or has too many unanswered requests.
    pub(crate) fn ask_for_picture(&self, request: Bytes, receiver: SyncSender<Vec<u8>>) {
        let mut pictures = lock(&self.pictures);
        if pictures.len() < MAX_PICTURES {
            pictures.push_back(receiver);
            // Sent while the list is locked, so that requests and receivers have the same order.
            self.send(request);
        }
    }
}

/// Guard of a page that joined: the page leaves when its task ends, for whatever reason.
struct Joined {
    shared: Arc<Shared>,
    client: Arc<Client>,
}

impl Drop for Joined {
    fn drop(&mut self) {
        // Ends the waits for pictures of this page.
        lock(&self.client.pictures).clear();
        self.shared.leave(&self.client);
    }
}

/// Serves a page until it disconnects or the server ends.
pub(super) async fn serve(
    shared: Arc<Shared>,
    stream: TcpStream,
    received: Bytes,
    encoding: Encoding,
    stopped: watch::Receiver<bool>,
) {
    let (client, frames) = shared.join(encoding);
    let joined = Joined { shared, client };
    let Joined { shared, client } = &joined;
    tracing::debug!(id = client.id, "a page connected");
    let (reader, writer) = stream.into_split();
    let why = tokio::select! {
        why = read(shared, client, reader, received) => why,
        why = write(shared, client, writer, frames, stopped) => why,
        () = client.full.notified() => "does not take messages",
    };
    tracing::debug!(id = client.id, why, "a page disconnected");
}

/// Receives messages until the connection ends, and returns the reason.
async fn read(
    shared: &Shared,
    client: &Client,
    mut reader: OwnedReadHalf,
    received: Bytes,
) -> &'static str {
    let mut decoder = Decoder::new();
    decoder.feed(&received);
    let mut buffer = vec![0; 16 << 10];
    let mut complained = false;
    loop {
        let asked = !lock(&client.pictures).is_empty();
        decoder.set_limit(if asked { MAX_PICTURE } else { MAX_MESSAGE });
        loop {
            match decoder.next() {
                Ok(None) => break,
                Ok(Some(message)) => {
                    if let Err(error) = receive(shared, client, message)
                        && !std::mem::replace(&mut complained, true)
                    {
                        let error: String = error.escape_debug().take(200).collect();
                        tracing::warn!("ignored a message from a page: {error}");
                    }
                }
                Err(error) => {
                    let mut answer = decoder.take_output();
                    answer.extend_from_slice(close_frame(&error));
                    if !answer.is_empty() {
                        client.send(answer.into());
                        // Gives the writer time to send the answer.
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    tracing::debug!("the connection of a page ended: {error}");
                    return "closed or broken";
                }
            }
        }
        let answer = decoder.take_output();
        if !answer.is_empty() {
            client.send(answer.into());
        }
        match reader.read(&mut buffer).await {
            Ok(0) | Err(_) => return "gone",
            Ok(n) => decoder.feed(&buffer[..n]),
        }
    }
}

fn receive(shared: &Shared, client: &Client, message: Message) -> Result<(), String> {
    match message {
        Message::Binary(bytes) => shared.receive(client, ClientMessage::decode(&bytes)?),
        Message::Text(text) => {
            let waiting = lock(&client.pictures).pop_front();
            let waiting = waiting.ok_or("a text, but no picture was requested")?;
            // The requester may have given up.
            let _ = waiting.try_send(text.as_bytes().to_vec());
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Sends frames until the connection ends, and returns the reason.
async fn write(
    shared: &Shared,
    client: &Client,
    mut writer: OwnedWriteHalf,
    replay: Arc<Vec<Bytes>>,
    stopped: watch::Receiver<bool>,
) -> &'static str {
    if client.write(&mut writer, &replay).await.is_err() {
        return "does not take the scene";
    }
    drop(replay);
    client.has_scene.store(true, Ordering::Release);
    shared.note_progress();
    loop {
        if *stopped.borrow() {
            let goodbye = Bytes::from_static(&GOING_AWAY);
            let _ = client.write(&mut writer, &[goodbye]).await;
            let _ = writer.shutdown().await;
            return "the server ends";
        }
        let frames = client.take_frames();
        if client.write(&mut writer, &frames).await.is_err() {
            return "does not take messages";
        }
        match shared.next_frames(client) {
            None => client.wake.notified().await,
            Some(Err(_)) => return "too far behind",
            Some(Ok((to, frames))) => {
                if client.write(&mut writer, &frames).await.is_err() {
                    return "does not take changes";
                }
                client.seen.store(to, Ordering::Release);
                shared.note_progress();
            }
        }
    }
}

impl Client {
    /// Writes frames. Returns an error if the page takes nothing for a long time; a slow page may
    /// take as long as it needs.
    async fn write(&self, writer: &mut OwnedWriteHalf, frames: &[Bytes]) -> std::io::Result<()> {
        for frame in frames {
            let mut rest = &frame[..];
            while !rest.is_empty() {
                *lock(&self.stuck) = Some(Instant::now());
                let n = tokio::time::timeout(GONE, writer.write(rest)).await??;
                if n == 0 {
                    return Err(std::io::ErrorKind::WriteZero.into());
                }
                rest = &rest[n..];
            }
        }
        *lock(&self.stuck) = None;
        Ok(())
    }
}

/// Returns the frame that tells a page why its connection ends (RFC 6455, section 7.4.1).
fn close_frame(error: &tungstenite::Error) -> &'static [u8] {
    match error {
        tungstenite::Error::Protocol(_) => &[0x88, 2, 0x03, 0xea],
        tungstenite::Error::Utf8(_) => &[0x88, 2, 0x03, 0xef],
        tungstenite::Error::Capacity(_) => &[0x88, 2, 0x03, 0xf1],
        _ => &[],
    }
}
