//! Video files of a simulation.

mod apng;
mod avi;
mod file;
#[cfg(test)]
mod tests;

pub use file::{VideoFile, VideoFileFormat};

use crate::images::color_map::{colorize, depth_color, label_color};
use crate::images::io::ImageFilePixel;
use crate::images::io::file::check_directory;
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tarragon_framework::prelude::*;
use tarragon_framework::{FileNames, Scratch};
use tarragon_geometry::render::{
    Depth16U, Depth32F, DepthRange, Image, ImageRef, ImageRgba8U, Label16I, PixelScalar, Rgba8U,
};

/// System that writes the images of a camera to a video file (Drake's `VideoWriter`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `image` | [`Image`] of the pixel type `P` |
///
/// Frame `k` is the image at `start_time + k / frame_rate`; a forced publish also adds a frame. The
/// extension selects Motion JPEG (`.avi`) or animated PNG (`.png`, `.apng`).
///
/// The video belongs to the context. Its file is complete, under its name, when
/// [`VideoWriterPorts::finish`] returns, or when the context and all its clones (including those in
/// a [`Simulator`]) are dropped; until then it is written under a temporary name in the same
/// directory. If two contexts of one diagram write videos, both have the same file name, and the
/// video that ends last replaces the other.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_sensors::{DepthRange, ImageDepth32F, VideoWriter};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("depth.avi");
/// let mut b = DiagramBuilder::new();
/// let video = b.add_f64("video", VideoWriter::depth(&path, 25.0, DepthRange::new(0.1, 5.0)?)?);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(video.image, ImageDepth32F::with_value(64, 48, 1.5))?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(0.9)?;
/// assert_eq!(video.finish(sim.context())?, 23); // at 0, 0.04 ... 0.88 s
/// assert!(path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VideoWriter<P: ImageFilePixel = Rgba8U> {
    path: PathBuf,
    frame_rate: f64,
    start_time: f64,
    /// Converts pixels that a video cannot show to colours.
    draw: Option<Draw<P>>,
}

type Draw<P> = Box<dyn Fn(&Image<P>, &mut ImageRgba8U) + Send + Sync>;

impl<P: ImageFilePixel> VideoWriter<P> {
    /// Creates a writer of images with 8 bits per channel, `frame_rate` per second of simulated
    /// time.
    ///
    /// # Errors
    /// Returns an error if the extension is unknown, the rate is not from 0.001 to 1000, the
    /// directory does not exist or cannot be written to, or a channel has more than 8 bits.
    pub fn new(path: impl Into<PathBuf>, frame_rate: f64) -> Result<Self> {
        if P::SCALAR != PixelScalar::U8 {
            return Err(Error::unsupported(format!(
                "VideoWriter: a video cannot show {} pixels; use `VideoWriter::depth`, `depth_16u`, \
                 `label` or `with_color_map`",
                P::NAME
            )));
        }
        Self::build(path.into(), frame_rate, None)
    }
    /// Creates a writer that shows each pixel in the colour (red, green, blue, opacity) that
    /// `color` returns for its value. If pixels have several channels, the first one is used.
    ///
    /// ```
    /// use tarragon_sensors::{Grey8U, VideoWriter};
    /// // Brightness as red.
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("red.apng");
    /// let video = VideoWriter::<Grey8U>::with_color_map(path, 10.0, |grey| [grey, 0, 0, 255])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new), except that every pixel type is allowed.
    pub fn with_color_map(
        path: impl Into<PathBuf>,
        frame_rate: f64,
        color: impl Fn(P::Channel) -> [u8; 4] + Send + Sync + 'static,
    ) -> Result<Self> {
        let draw: Draw<P> = Box::new(move |image, picture| colorize(image, picture, &color));
        Self::build(path.into(), frame_rate, Some(draw))
    }
    /// Sets the time of the first frame (s); the default is 0.
    ///
    /// # Errors
    /// Returns an error if the time is negative or not finite.
    pub fn with_start_time(mut self, start_time: f64) -> Result<Self> {
        if !(start_time >= 0.0 && start_time.is_finite()) {
            return Err(Error::invalid(format!(
                "VideoWriter: the start time must be finite and at least 0, got {start_time:?} s"
            )));
        }
        self.start_time = start_time;
        Ok(self)
    }

    fn build(path: PathBuf, frame_rate: f64, draw: Option<Draw<P>>) -> Result<Self> {
        VideoFile::create(&path, frame_rate)?; // writes nothing before the first frame
        check_directory("VideoWriter", &path)?;
        Ok(Self {
            path,
            frame_rate,
            start_time: 0.0,
            draw,
        })
    }
}

impl VideoWriter<Depth32F> {
    /// Creates a writer that shows depths in metres with [`depth_color`].
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new), except that every pixel type is allowed.
    pub fn depth(path: impl Into<PathBuf>, frame_rate: f64, range: DepthRange) -> Result<Self> {
        Self::with_color_map(path, frame_rate, move |metres| depth_color(metres, range))
    }
}

impl VideoWriter<Depth16U> {
    /// Creates a writer that shows depths in millimetres with [`depth_color`]; the range is in
    /// metres.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new), except that every pixel type is allowed.
    pub fn depth_16u(path: impl Into<PathBuf>, frame_rate: f64, range: DepthRange) -> Result<Self> {
        Self::with_color_map(path, frame_rate, move |millimetres| {
            let metres = match millimetres {
                Depth16U::TOO_FAR => f32::INFINITY,
                mm => f32::from(mm) / 1000.0,
            };
            depth_color(metres, range)
        })
    }
}

impl VideoWriter<Label16I> {
    /// Creates a writer that shows labels with [`label_color`].
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new), except that every pixel type is allowed.
    pub fn label(path: impl Into<PathBuf>, frame_rate: f64) -> Result<Self> {
        Self::with_color_map(path, frame_rate, label_color)
    }
}

/// The video of a context; `None` before the first frame.
#[derive(Default)]
struct VideoProgress {
    video: Mutex<Option<VideoFile>>,
    pictures: Scratch<ImageRgba8U>,
}

impl VideoProgress {
    /// Locks the video. A poisoned lock is ignored: after a panic, a video still accepts or refuses
    /// frames.
    fn video(&self) -> MutexGuard<'_, Option<VideoFile>> {
        self.video.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type SharedProgress = Arc<VideoProgress>;

/// Ports of [`VideoWriter`].
#[derive(Clone, Copy)]
pub struct VideoWriterPorts<P: ImageFilePixel> {
    /// Image to show.
    pub image: InputPort<Image<P>>,
    progress: Param<SharedProgress>,
}

impl<P: ImageFilePixel> VideoWriterPorts<P> {
    /// Completes the video of `context` and returns its number of frames (Drake's `Save`). Later
    /// frames cause errors. A video without frames leaves no file.
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram, or the file cannot be written;
    /// then no file is left.
    pub fn finish(&self, context: &Context<f64>) -> Result<u64> {
        let mut video = context.param(self.progress)?.video();
        let Some(video) = &mut *video else {
            return Ok(0);
        };
        video.end()?;
        Ok(video.frame_count())
    }
    /// Returns the number of frames in the video of `context` so far.
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram.
    pub fn frame_count(&self, context: &Context<f64>) -> Result<u64> {
        let video = context.param(self.progress)?.video();
        Ok(video.as_ref().map_or(0, VideoFile::frame_count))
    }
}

impl<P: ImageFilePixel> LeafSystem<f64> for VideoWriter<P> {
    type Ports = VideoWriterPorts<P>;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let image = d.input("image");
        let progress = d.fresh_param(SharedProgress::default);
        let directory = self.path.parent().unwrap_or(Path::new(""));
        let names = FileNames::new(directory).with_scheduled(self.path.file_name());
        d.writes_files(names);
        let (period, offset) = (self.frame_rate.recip(), self.start_time);
        for trigger in [Trigger::Periodic { period, offset }, Trigger::Forced] {
            d.publish_on(trigger, move |writer, ctx| {
                let (image, progress) = (ctx.eval(image)?, ctx.param(progress));
                writer.write_frame(image, progress)?;
                Ok(EventStatus::Succeeded)
            });
        }
        VideoWriterPorts { image, progress }
    }
}

impl<P: ImageFilePixel> VideoWriter<P> {
    fn write_frame(&self, image: &Image<P>, progress: &SharedProgress) -> Result<()> {
        let write = |frame: ImageRef<'_>| {
            let mut video = progress.video();
            let video = match &mut *video {
                Some(video) => video,
                None => video.insert(VideoFile::create(&self.path, self.frame_rate)?),
            };
            video.write_frame(frame)
        };
        match &self.draw {
            Some(draw) => progress.pictures.lend(|picture| {
                // The colour map is user code, so no lock is held while it runs.
                draw(image, picture);
                write((&*picture).into())
            }),
            None => write(P::borrow(image)),
        }
    }
}
