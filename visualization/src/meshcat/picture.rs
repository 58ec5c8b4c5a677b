//! Screenshots of pages.

use super::Meshcat;
use super::frame::Framed;
use super::msgpack::Writer;
use crate::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;
use tarragon_sensors::{ImageIo, ImageRgba8U};

/// Maximum width and height of a picture (pixels).
const MAX_SIDE: usize = 8192;

impl Meshcat {
    /// Takes a picture of `width` x `height` pixels of what the most recently connected page shows.
    /// Waits for at most `timeout`.
    ///
    /// # Errors
    /// Returns an error if no page is connected, a side is 0 or more than 8192 pixels, or the page
    /// does not answer in time with a PNG picture.
    pub fn capture_image(
        &self,
        width: usize,
        height: usize,
        timeout: Duration,
    ) -> Result<ImageRgba8U> {
        let wrong = |what: String| Error::invalid(format!("Meshcat::capture_image: {what}"));
        if !(1..=MAX_SIDE).contains(&width) || !(1..=MAX_SIDE).contains(&height) {
            return Err(wrong(format!(
                "width and height must be from 1 to {MAX_SIDE} pixels, got {width} x {height}"
            )));
        }
        // Makes the page show everything that was set before.
        self.flush();
        let clients = self.0.shared.clients();
        let client = clients.last().ok_or_else(|| {
            wrong(format!(
                "no page is connected; open {} in a browser",
                self.web_url()
            ))
        })?;
        let mut w = Writer::default();
        w.map(3).key_str("type", "capture_image");
        w.key_uint("xres", width as u64)
            .key_uint("yres", height as u64);
        let (sender, receiver) = sync_channel(1);
        client.ask_for_picture(Framed::new(&w.into_inner()).frame().clone(), sender);
        let answer = receiver.recv_timeout(timeout).map_err(|e| match e {
            RecvTimeoutError::Timeout => wrong(format!(
                "the page did not answer within {} s",
                timeout.as_secs_f64()
            )),
            RecvTimeoutError::Disconnected => {
                wrong("the page disconnected, or has left too many requests unanswered".into())
            }
        })?;
        let png = png_of(&answer)
            .map_err(|e| wrong(format!("the answer of the page is invalid: {e}")))?;
        ImageIo::default().load_from_buffer_as(&png)
    }
}

/// Extracts the PNG file from `{"type":"img","data":"data:image/png;base64,..."}`.
pub(super) fn png_of(answer: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let answer: serde_json::Value = serde_json::from_slice(answer).map_err(|e| e.to_string())?;
    let data = answer.get("data").and_then(|d| d.as_str());
    let data = data.and_then(|d| d.strip_prefix("data:image/png;base64,"));
    BASE64
        .decode(data.ok_or("no PNG data URL")?)
        .map_err(|e| e.to_string())
}
