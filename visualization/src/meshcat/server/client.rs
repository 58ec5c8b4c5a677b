//! One connected page.

use super::pipe::{Decoder, MAX_MESSAGE, MAX_PICTURE};
use super::{Shared, lock};
use crate::meshcat::batch::Encoding;
use crate::meshcat::client_message::ClientMessage;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Notify, watch};
use tungstenite::protocol::Message;

/// Messages for one page alone that may wait; a page that leaves more unread is disconnected.
const MAX_OUTBOX: usize = 1024;
/// The time within which a page has to take a part of what it is sent.
const STALLED: Duration = Duration::from_secs(30);
/// The length of such a part.
const PART: usize = 256 << 10;
/// A close frame that says "going away" (RFC 6455, section 7.4.1).
const GOING_AWAY: [u8; 4] = [0x88, 2, 0x03, 0xe9];

/// A connected page.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: u64,
    pub(crate) encoding: Encoding,
    /// The last change that was sent.
    seen: AtomicU64,
    outbox: Mutex<VecDeque<Bytes>>,
    wake: Notify,
    /// Who waits for a picture.
    picture: Mutex<Option<SyncSender<Vec<u8>>>>,
}

impl Client {
    pub(super) fn new(id: u64, encoding: Encoding, seen: u64) -> Self {
        Self {
            id,
            encoding,
            seen: AtomicU64::new(seen),
            outbox: Mutex::default(),
            wake: Notify::new(),
            picture: Mutex::default(),
        }
    }
    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }
    pub(super) fn notify(&self) {
        self.wake.notify_one();
    }
    /// Sends a frame to this page alone.
    pub(crate) fn send(&self, frame: Bytes) {
        lock(&self.outbox).push_back(frame);
        self.notify();
    }
    /// Asks for a picture; the answer, JSON text, goes to `receiver`.
    pub(crate) fn ask_for_picture(&self, request: Bytes, receiver: SyncSender<Vec<u8>>) {
        *lock(&self.picture) = Some(receiver);
        self.send(request);
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
    tracing::debug!(id = client.id, "a page connected");
    let (reader, writer) = stream.into_split();
    let why = tokio::select! {
        why = read(&shared, &client, reader, received) => why,
        why = write(&shared, &client, writer, frames, stopped) => why,
    };
    tracing::debug!(id = client.id, why, "a page left");
    shared.leave(&client);
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
        let asked = lock(&client.picture).is_some();
        decoder.set_limit(if asked { MAX_PICTURE } else { MAX_MESSAGE });
        loop {
            match decoder.next() {
                Ok(None) => break,
                Ok(Some(message)) => {
                    if let Err(error) = receive(shared, client, message)
                        && !std::mem::replace(&mut complained, true)
                    {
                        tracing::warn!("ignored a message of a page: {error}");
                    }
                }
                Err(error) => {
                    let answer = decoder.take_output();
                    if !answer.is_empty() {
                        client.send(answer.into());
                        // The writer gets its turn to send the answer to a close.
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
        if lock(&client.outbox).len() > MAX_OUTBOX {
            return "does not read";
        }
        match reader.read(&mut buffer).await {
            Ok(0) | Err(_) => return "gone",
            Ok(n) => decoder.feed(&buffer[..n]),
        }
    }
}

fn receive(shared: &Shared, client: &Client, message: Message) -> Result<(), String> {
    match message {
        Message::Binary(bytes) => {
            shared.receive(client, ClientMessage::decode(&bytes)?);
            Ok(())
        }
        Message::Text(text) => {
            let waiting = lock(&client.picture).take();
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
    replay: Vec<Bytes>,
    stopped: watch::Receiver<bool>,
) -> &'static str {
    if send(&mut writer, &replay).await.is_err() {
        return "does not take the scene";
    }
    drop(replay);
    shared.note_progress();
    loop {
        if *stopped.borrow() {
            let _ = send(&mut writer, &[Bytes::from_static(&GOING_AWAY)]).await;
            let _ = writer.shutdown().await;
            return "the server ends";
        }
        let outbox: Vec<Bytes> = std::mem::take(&mut *lock(&client.outbox)).into();
        if outbox.len() > MAX_OUTBOX || send(&mut writer, &outbox).await.is_err() {
            return "does not take messages";
        }
        match shared.next_frames(client.seen(), client.encoding) {
            None => client.wake.notified().await,
            Some(Err(_)) => return "too far behind",
            Some(Ok((to, frames))) => {
                if send(&mut writer, &frames).await.is_err() {
                    return "does not take changes";
                }
                client.seen.store(to, Ordering::Release);
                shared.note_progress();
            }
        }
    }
}

/// Writes frames; fails where the page takes nothing for long.
async fn send(writer: &mut OwnedWriteHalf, frames: &[Bytes]) -> std::io::Result<()> {
    for frame in frames {
        for part in frame.chunks(PART) {
            tokio::time::timeout(STALLED, writer.write_all(part)).await??;
        }
    }
    Ok(())
}
