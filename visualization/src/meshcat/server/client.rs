//! One connected page.

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

/// Bytes for one page alone that may wait, such as answers to pings; a page that leaves more unread
/// is disconnected.
const MAX_OUTBOX: usize = 256 << 10;
/// The most pictures that one page may owe.
const MAX_PICTURES: usize = 16;
/// A page that takes nothing for this long is not waited for,
const STALLED: Duration = Duration::from_secs(30);
/// and for this long is disconnected: networks and sleeping computers come back.
const GONE: Duration = Duration::from_secs(300);
/// A close frame that says "going away" (RFC 6455, section 7.4.1).
const GOING_AWAY: [u8; 4] = [0x88, 2, 0x03, 0xe9];

/// A connected page.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: u64,
    pub(crate) encoding: Encoding,
    /// The last change that was sent.
    pub(super) seen: AtomicU64,
    /// Whether the scene that it found was sent.
    has_scene: AtomicBool,
    /// Since when it takes nothing of what is sent.
    stuck: Mutex<Option<Instant>>,
    outbox: Mutex<Outbox>,
    wake: Notify,
    /// Wakes who ends the connection when the outbox is full.
    full: Notify,
    /// Who waits for pictures, in the order in which the page was asked.
    pictures: Mutex<VecDeque<SyncSender<Vec<u8>>>>,
}

/// What waits to be sent to one page alone.
#[derive(Debug, Default)]
struct Outbox {
    frames: Vec<Bytes>,
    /// The length of all frames.
    length: usize,
    /// Sliders that another page moved, by index.
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
    /// Whether a flush has to wait for this page until it was sent a change.
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
    /// Has a slider's value sent, which another page moved.
    pub(super) fn send_slider(&self, index: usize) {
        lock(&self.outbox).moved.insert(index);
        self.notify();
    }
    /// The sliders whose values are to be sent.
    pub(super) fn take_moved(&self) -> BTreeSet<usize> {
        std::mem::take(&mut lock(&self.outbox).moved)
    }
    fn take_frames(&self) -> Vec<Bytes> {
        let mut outbox = lock(&self.outbox);
        outbox.length = 0;
        std::mem::take(&mut outbox.frames)
    }
    /// Asks for a picture; the answer, JSON text, goes to `receiver`, which is dropped where the
    /// page leaves or owes too many pictures.
    pub(crate) fn ask_for_picture(&self, request: Bytes, receiver: SyncSender<Vec<u8>>) {
        let mut pictures = lock(&self.pictures);
        if pictures.len() < MAX_PICTURES {
            pictures.push_back(receiver);
            // While the list is locked: requests have its order.
            self.send(request);
        }
    }
}

/// A page that joined; it leaves whatever ends its task.
struct Joined {
    shared: Arc<Shared>,
    client: Arc<Client>,
}

impl Drop for Joined {
    fn drop(&mut self) {
        // Who waits for a picture of this page waits no longer.
        lock(&self.client.pictures).clear();
        self.shared.leave(&self.client);
    }
}

/// Serves a page until it leaves or the server ends.
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
    tracing::debug!(id = client.id, why, "a page left");
}

/// Receives until the connection ends; returns why.
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
                        tracing::warn!("ignored a message of a page: {error}");
                    }
                }
                Err(error) => {
                    let mut answer = decoder.take_output();
                    answer.extend_from_slice(close_frame(&error));
                    if !answer.is_empty() {
                        client.send(answer.into());
                        // The writer gets its turn to send the answer.
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    tracing::debug!("a page's connection ends: {error}");
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
            let waiting = waiting.ok_or("a text, and no picture was asked for")?;
            // Who asked may have given up.
            let _ = waiting.try_send(text.as_bytes().to_vec());
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Sends until the connection ends; returns why.
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
    /// Writes frames; fails where the page takes nothing for long. However slow a page is, it may
    /// take its time.
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

/// What tells a page why its connection ends (RFC 6455, section 7.4.1).
fn close_frame(error: &tungstenite::Error) -> &'static [u8] {
    match error {
        tungstenite::Error::Protocol(_) => &[0x88, 2, 0x03, 0xea],
        tungstenite::Error::Utf8(_) => &[0x88, 2, 0x03, 0xef],
        tungstenite::Error::Capacity(_) => &[0x88, 2, 0x03, 0xf1],
        _ => &[],
    }
}
