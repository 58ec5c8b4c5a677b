//! Video files, frame by frame.

use super::apng::ApngWriter;
use super::avi::AviWriter;
use crate::error::{Error, Result};
use crate::image_io::file::UnfinishedFile;
use std::path::{Path, PathBuf};
use tarragon_geometry::render::{ImageRef, PixelScalar};

/// The formats of video files.
///
/// ```
/// use std::path::Path;
/// use tarragon_sensors::VideoFileFormat;
/// assert_eq!(VideoFileFormat::of_path(Path::new("a.avi"))?, VideoFileFormat::MotionJpegAvi);
/// assert!(VideoFileFormat::of_path(Path::new("a.mp4")).is_err());
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VideoFileFormat {
    /// JPEG pictures in an AVI file: small, plays in every video player.
    MotionJpegAvi,
    /// Animated PNG: every bit as rendered, plays in every web browser.
    AnimatedPng,
}

impl VideoFileFormat {
    /// By extension: `.avi`, `.png` or `.apng`, in small or capital letters.
    ///
    /// # Errors
    /// Returns an error if the extension is another one.
    pub fn of_path(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("avi") => Ok(Self::MotionJpegAvi),
            Some("png" | "apng") => Ok(Self::AnimatedPng),
            _ => Err(Error::invalid(format!(
                "{}: video files end in .avi, .png or .apng",
                path.display()
            ))),
        }
    }
}

/// A video that is being written, frame by frame.
///
/// Frames go to disk as they come, under a temporary name beside the file's own. The file has its
/// name, and is complete, when [`finish`](Self::finish) returns; a `VideoFile` that is dropped
/// finishes as well, without telling of errors other than by a log. A frame that can not be written
/// ends the video and leaves no file; a video without frames is no file.
///
/// An AVI file of more than 1 GiB goes on in further parts, which all of today's players know; one
/// of 256 GiB is full. Memory does not grow with the length but for 8 bytes per frame of the
/// running GiB.
///
/// ```
/// use tarragon_sensors::{ImageRgba8U, VideoFile};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("grey.avi");
/// let mut video = VideoFile::create(&path, 30.0)?;
/// for i in 0..10 {
///     video.write_frame(&ImageRgba8U::with_value(64, 48, 20 * i))?;
/// }
/// assert!(!path.exists());
/// assert_eq!(video.finish()?, 10);
/// assert!(path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VideoFile {
    path: PathBuf,
    format: VideoFileFormat,
    frame_rate: f64,
    state: State,
    frames: u64,
}

enum State {
    /// Before the first frame, which tells the size.
    Empty,
    Open {
        writer: Writer,
        size: (usize, usize),
        pixel_type: &'static str,
    },
    /// Nothing can be added: finished, or failed.
    Closed,
}

enum Writer {
    Avi(Box<AviWriter>),
    Apng(Box<ApngWriter>),
}

impl VideoFile {
    /// Begins a video of a format that follows from the extension, of `frame_rate` frames per
    /// second. Its size is that of the first frame.
    ///
    /// # Errors
    /// Returns an error if the extension is unknown, or the rate is not between 0.001 and 1000.
    pub fn create(path: impl Into<PathBuf>, frame_rate: f64) -> Result<Self> {
        let path = path.into();
        let format = VideoFileFormat::of_path(&path)?;
        if !(0.001..=1000.0).contains(&frame_rate) {
            return Err(Error::invalid(format!(
                "{}: the frame rate is {frame_rate} per second, 0.001 to 1000 is expected",
                path.display()
            )));
        }
        Ok(Self {
            path,
            format,
            frame_rate,
            state: State::Empty,
            frames: 0,
        })
    }
    /// Number of frames so far.
    pub fn frame_count(&self) -> u64 {
        self.frames
    }
    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a frame: colours or brightness of 8 bits per channel.
    ///
    /// # Errors
    /// Returns an error if the image has other pixels or another size than the first, or can not be
    /// written; the latter ends the video. Also after the end.
    pub fn write_frame<'a>(&mut self, image: impl Into<ImageRef<'a>>) -> Result<()> {
        let image = image.into();
        let size = (image.width(), image.height());
        let place = self.path.display();
        match &self.state {
            State::Empty => {
                if image.scalar() != PixelScalar::U8 || image.width() == 0 {
                    return Err(Error::invalid(format!(
                        "{place}: the first frame has {} x {} pixels of type {}; pixels of 8 bits per \
                         channel are expected, see `color_map` for depths and labels",
                        size.0,
                        size.1,
                        image.pixel_type()
                    )));
                }
                self.state = State::Open {
                    writer: self.open(image)?,
                    size,
                    pixel_type: image.pixel_type(),
                };
            }
            State::Open {
                size: first,
                pixel_type,
                ..
            } => {
                if (*first, *pixel_type) != (size, image.pixel_type()) {
                    return Err(Error::invalid(format!(
                        "{place}: frame {} has {} x {} pixels of type {}, {} x {} of type {pixel_type} \
                         are expected as in the first",
                        self.frames,
                        size.0,
                        size.1,
                        image.pixel_type(),
                        first.0,
                        first.1
                    )));
                }
            }
            State::Closed => {
                return Err(Error::invalid(format!(
                    "{place}: the video has ended after {} frames; begin another file",
                    self.frames
                )));
            }
        }
        let State::Open { writer, .. } = &mut self.state else {
            return Ok(());
        };
        let written = match writer {
            Writer::Avi(avi) => avi.write_frame(image),
            Writer::Apng(apng) => apng.write_frame(image),
        };
        match &written {
            Ok(()) => self.frames += 1,
            Err(_) => self.state = State::Closed,
        }
        written
    }

    fn open(&self, image: ImageRef<'_>) -> Result<Writer> {
        let side = |n: usize| {
            u16::try_from(n).map(u32::from).map_err(|_| {
                let path = self.path.display();
                Error::invalid(format!(
                    "{path}: a frame of {n} pixels on a side is too large for a video, 65535 is the most"
                ))
            })
        };
        let size = (side(image.width())?, side(image.height())?);
        let file = UnfinishedFile::create(&self.path)?;
        if !file.is_regular() {
            return Err(Error::invalid(format!(
                "{}: this is no regular file; a video can not be written to a pipe or a device",
                self.path.display()
            )));
        }
        let rate = rate_fraction(self.frame_rate);
        Ok(match self.format {
            VideoFileFormat::MotionJpegAvi => {
                Writer::Avi(Box::new(AviWriter::create(file, size, rate)?))
            }
            VideoFileFormat::AnimatedPng => {
                let delay = frame_delay(self.frame_rate);
                let apng = ApngWriter::create(file, size, image.channels(), delay)?;
                Writer::Apng(Box::new(apng))
            }
        })
    }

    /// Completes the file and gives it its name. Returns the number of frames; without frames there
    /// is no file.
    ///
    /// # Errors
    /// Returns an error if the file can not be written; then there is none.
    pub fn finish(mut self) -> Result<u64> {
        self.end()?;
        Ok(self.frames)
    }
    pub(super) fn end(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Open { writer, .. } => match writer {
                Writer::Avi(avi) => avi.finish(),
                Writer::Apng(apng) => apng.finish(),
            },
            State::Empty | State::Closed => Ok(()),
        }
    }
}

impl Drop for VideoFile {
    fn drop(&mut self) {
        if let Err(e) = self.end() {
            tracing::warn!("the video is lost: {e}");
        }
    }
}

/// Frames per second as a fraction of whole numbers, exact for thousandths and for NTSC's rates
/// such as 30000 / 1001.
fn rate_fraction(rate: f64) -> (u32, u32) {
    for scale in [1, 1000, 1001] {
        let n = rate * f64::from(scale);
        if (n - n.round()).abs() < 1e-9 * n {
            return (n.round() as u32, scale);
        }
    }
    ((rate * 1e6).round() as u32, 1_000_000)
}

/// Seconds per frame as a fraction of 16-bit numbers.
fn frame_delay(rate: f64) -> (u16, u16) {
    const MAX: f64 = u16::MAX as f64;
    let (n, scale) = rate_fraction(rate);
    match (u16::try_from(n), u16::try_from(scale)) {
        (Ok(n), Ok(scale)) => (scale, n),
        // The larger of the two numbers is as large as it can be.
        _ if rate >= 1.0 => {
            let seconds = (MAX / rate).floor();
            (seconds as u16, (seconds * rate).round() as u16)
        }
        _ => {
            let parts = (MAX * rate).floor();
            ((parts / rate).round() as u16, parts as u16)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_fractions() {
        assert_eq!(rate_fraction(30.0), (30, 1));
        assert_eq!(rate_fraction(12.5), (12500, 1000));
        assert_eq!(rate_fraction(30000.0 / 1001.0), (30000, 1001));
        for rate in [0.001, 0.3, 1.0, 24.0, 29.97, 59.94, 123.456_789, 1000.0] {
            let (n, scale) = rate_fraction(rate);
            assert!(
                (f64::from(n) / f64::from(scale) / rate - 1.0).abs() < 1e-3,
                "{rate}"
            );
            let (seconds, parts) = frame_delay(rate);
            // Sixteen bits.
            assert!(
                (f64::from(parts) / f64::from(seconds) / rate - 1.0).abs() < 1e-3,
                "{rate}"
            );
        }
    }
}
