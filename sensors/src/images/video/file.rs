//! Video files that are written frame by frame.

use super::apng::ApngWriter;
use super::avi::AviWriter;
use crate::images::io::file::UnfinishedFile;
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use tarragon_framework::counted;
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
    /// JPEG images in an AVI file: small, supported by every video player.
    MotionJpegAvi,
    /// Animated PNG: lossless, supported by every web browser.
    AnimatedPng,
}

impl VideoFileFormat {
    /// Returns the format of an extension: `.avi`, `.png` or `.apng`, in any letter case.
    ///
    /// # Errors
    /// Returns an error if the extension is unknown.
    pub fn of_path(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("avi") => Ok(Self::MotionJpegAvi),
            Some("png" | "apng") => Ok(Self::AnimatedPng),
            _ => Err(Error::unsupported(format!(
                "{}: video files end in .avi, .png or .apng",
                path.display()
            ))),
        }
    }
}

/// A video that is being written, frame by frame.
///
/// Each frame is written to disk at once, to a temporary name in the same directory. The file is
/// complete and has its name when [`finish`](Self::finish) returns. A `VideoFile` that is dropped
/// is finished as well, but errors are only logged. If a frame cannot be written, the video ends
/// and leaves no file; a video without frames leaves no file either.
///
/// An AVI file larger than 1 GiB continues in further parts, which all current players support; its
/// maximum size is 256 GiB. Memory does not grow with the length, except for 8 bytes per frame of
/// the current part.
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
    /// Before the first frame, which determines the size.
    Empty,
    Open {
        writer: Writer,
        size: (usize, usize),
        pixel_type: &'static str,
    },
    /// Finished or failed; accepts no more frames.
    Closed,
}

enum Writer {
    Avi(Box<AviWriter>),
    Apng(Box<ApngWriter>),
}

impl VideoFile {
    /// Begins a video of `frame_rate` frames per second. The extension selects the format, and the
    /// first frame determines the size.
    ///
    /// # Errors
    /// Returns an error if the extension is unknown, or the rate is not from 0.001 to 1000.
    pub fn create(path: impl Into<PathBuf>, frame_rate: f64) -> Result<Self> {
        let path = path.into();
        let format = VideoFileFormat::of_path(&path)?;
        if !(0.001..=1000.0).contains(&frame_rate) {
            return Err(Error::invalid(format!(
                "{}: the frame rate must be from 0.001 to 1000 per second, got {frame_rate:?}",
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
    /// Returns the number of frames so far.
    pub fn frame_count(&self) -> u64 {
        self.frames
    }
    /// Returns the path of the finished file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a frame, which must have colours or brightness of 8 bits per channel.
    ///
    /// # Errors
    /// Returns an error if the video has ended, the pixel type or the size differs from that of the
    /// first frame, or the frame cannot be written, which ends the video.
    pub fn write_frame<'a>(&mut self, image: impl Into<ImageRef<'a>>) -> Result<()> {
        let image = image.into();
        let size = (image.width(), image.height());
        let place = self.path.display();
        match &self.state {
            State::Empty => {
                if image.scalar() != PixelScalar::U8 || image.width() == 0 {
                    return Err(Error::invalid(format!(
                        "{place}: the first frame must have pixels of 8 bits per channel, got {} \
                         x {} pixels of type {}; see `color_map` for depths and labels",
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
                        "{place}: frame {0} must have {4} x {5} pixels of type {pixel_type} like \
                         the first, got {1} x {2} of type {3}",
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
                return Err(Error::state(format!(
                    "{place}: the video has ended after {frames}; begin a new file",
                    frames = counted(self.frames, "frame")
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
                    "{path}: a side of a video frame must have at most 65535 pixels, got {n}"
                ))
            })
        };
        let size = (side(image.width())?, side(image.height())?);
        let file = UnfinishedFile::create(&self.path)?;
        if !file.is_regular() {
            return Err(Error::invalid(format!(
                "{}: a video must be a regular file, got a pipe or a device",
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

    /// Completes the file, gives it its name and returns the number of frames. A video without
    /// frames leaves no file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written; then no file is left.
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

/// Returns frames per second as a fraction of whole numbers, which is exact for multiples of 0.001
/// and for NTSC rates such as 30000 / 1001.
fn rate_fraction(rate: f64) -> (u32, u32) {
    for scale in [1, 1000, 1001] {
        let n = rate * f64::from(scale);
        if (n - n.round()).abs() < 1e-9 * n {
            return (n.round() as u32, scale);
        }
    }
    ((rate * 1e6).round() as u32, 1_000_000)
}

/// Returns seconds per frame as a fraction of 16-bit numbers.
fn frame_delay(rate: f64) -> (u16, u16) {
    const MAX: f64 = u16::MAX as f64;
    let (n, scale) = rate_fraction(rate);
    match (u16::try_from(n), u16::try_from(scale)) {
        (Ok(n), Ok(scale)) => (scale, n),
        // The larger of the two numbers is made as large as possible, for accuracy.
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
    fn rates_become_accurate_fractions() {
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
            // The fraction has 16-bit terms.
            assert!(
                (f64::from(parts) / f64::from(seconds) / rate - 1.0).abs() < 1e-3,
                "{rate}"
            );
        }
    }
}
