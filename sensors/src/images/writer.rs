//! System that writes images to disk while a simulation runs.

use crate::images::file_name::{Field, FieldKind, FileNameFormat};
use crate::images::io::file::check_directory;
use crate::images::io::{EncodeBuffers, ImageFileFormat, ImageFilePixel, ImageIo};
use crate::{Error, Result};
use std::any::Any;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon_framework::prelude::*;
use tarragon_framework::warnings::warn;
use tarragon_framework::{FileNames, Scratch, to_microseconds, to_milliseconds};
use tarragon_geometry::render::{Image, PixelScalar};

const FIELDS: [(&str, FieldKind); 6] = [
    ("port_name", FieldKind::Text),
    ("image_type", FieldKind::Text),
    ("time_double", FieldKind::Real),
    ("time_usec", FieldKind::Integer),
    ("time_msec", FieldKind::Integer),
    ("count", FieldKind::Integer),
];
/// The fields that are constant over time; only they may be part of a directory.
const FIXED_FIELDS: [&str; 2] = ["port_name", "image_type"];
/// Number of images of each port whose names are compared with the names of other ports.
const COMPARED: u64 = 256;

/// System that writes images to files at fixed periods (Drake's `ImageWriter`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | chosen per port | [`Image`] of the [pixel type](Self::declare_image_input_port) |
///
/// A forced publish writes one image of every port.
///
/// Each port counts its files. The count belongs to the context and is shared by clones of the
/// context.
///
/// ```no_run
/// use tarragon_framework::prelude::*;
/// use tarragon_sensors::{ImageWriter, RgbdSensor, Rgba8U};
/// # type Done = Result<(), Box<dyn std::error::Error>>;
/// # fn demo(b: &mut DiagramBuilder, camera: Block<RgbdSensor>) -> Done {
/// let mut writer = ImageWriter::new();
/// let format = "frames/{image_type}_{count:04}";
/// let color = writer.declare_image_input_port::<Rgba8U>("color", format, 0.1, 0.0)?;
/// let writer = b.add_f64("writer", writer);
/// b.connect(camera.color_image, writer.image_port(color)?);
/// # Ok(()) }
/// ```
#[derive(Default)]
pub struct ImageWriter {
    ports: Vec<WriterPort>,
    io: ImageIo,
}

struct WriterPort {
    name: String,
    io: ImageIo,
    image_type: &'static str,
    extension: &'static str,
    format: FileNameFormat,
    period: f64,
    start_time: f64,
    /// Declares the port; an instance for its pixel type.
    declare: fn(&mut Declare<ImageWriter, f64>, usize, &WriterPort) -> WriterPortHandles,
}

#[derive(Clone)]
struct WriterPortHandles {
    /// The `InputPort<Image<P>>`; `P` is the pixel type of the port.
    input: Arc<dyn Any + Send + Sync>,
    progress: Param<Arc<Progress>>,
}

/// The number of files that a port has written, and memory that is reused for the next one.
#[derive(Default)]
struct Progress {
    count: AtomicU64,
    buffers: Scratch<EncodeBuffers>,
}

impl Progress {
    /// Calls `write` with the next file number. If `write` fails, the number becomes free again,
    /// unless a clone of the context has taken another one meanwhile.
    fn write<R, E>(
        &self,
        write: impl FnOnce(u64, &mut EncodeBuffers) -> Result<R, E>,
    ) -> Result<R, E> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let result = self.buffers.lend(|buffers| write(number, buffers));
        if result.is_err() {
            let (taken, free) = (number + 1, number);
            let relaxed = Ordering::Relaxed;
            let _ = (self.count).compare_exchange(taken, free, relaxed, relaxed);
        }
        result
    }
}

/// Index of a port of an [`ImageWriter`] or an
/// [`ImageToLcmImageArrayT`](crate::ImageToLcmImageArrayT) that is not yet part of a diagram.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_sensors::{Grey8U, ImageGrey8U, ImagePortIndex, ImageWriter};
/// let folder = tempfile::tempdir()?;
/// let mut writer = ImageWriter::new();
/// let format = format!("{}/{{count:02}}", folder.path().display());
/// let grey: ImagePortIndex<Grey8U> = writer.declare_image_input_port("grey", &format, 0.1, 0.0)?;
/// let mut b = DiagramBuilder::new();
/// let writer = b.add_f64("writer", writer);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(writer.image_port(grey)?, ImageGrey8U::new(4, 3))?;
/// Simulator::new(&diagram, ctx)?.advance_to(0.15)?;
/// assert!(folder.path().join("01.png").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ImagePortIndex<P> {
    index: usize,
    marker: PhantomData<fn() -> P>,
}
impl<P> Clone for ImagePortIndex<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for ImagePortIndex<P> {}
impl<P> ImagePortIndex<P> {
    pub(crate) fn new(index: usize) -> Self {
        let marker = PhantomData;
        Self { index, marker }
    }
    pub(crate) fn index(self) -> usize {
        self.index
    }
}

impl ImageWriter {
    /// Creates a writer without ports.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the JPEG quality of ports that are declared from now on to that of `io`. The file
    /// format still follows from the extension.
    pub fn set_image_io(&mut self, io: ImageIo) {
        self.io = io.by_extension();
    }

    /// Adds a writer of the images of one output port to a diagram, and connects them. The name of
    /// the writer and of its port is `name`; the other arguments are those of
    /// [`declare_image_input_port`](Self::declare_image_input_port).
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_geometry::SceneGraph;
    /// use tarragon_sensors::*;
    /// let folder = tempfile::tempdir()?;
    /// let config = CameraConfig { width: 64, height: 48, fps: 4.0, ..CameraConfig::default() };
    /// let mut scene = SceneGraph::new();
    /// add_camera_renderers([&config], &mut scene)?;
    /// let mut b = DiagramBuilder::new();
    /// b.add("scene_graph", scene);
    /// let camera = apply_camera_config(&config, &mut b)?;
    /// let (format, image) = (folder.path().join("{port_name}_{count}"), camera.color_image()?);
    /// let format = format.display().to_string();
    /// ImageWriter::add_to_builder(&mut b, "top", image, &format, camera.period, camera.offset)?;
    /// let diagram = b.build()?;
    /// Simulator::new(&diagram, diagram.default_context())?.advance_to(1.0)?;
    /// assert!(folder.path().join("top_4.png").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`declare_image_input_port`](Self::declare_image_input_port). Nothing
    /// is added then.
    pub fn add_to_builder<P: ImageFilePixel>(
        builder: &mut DiagramBuilder,
        name: &str,
        image: OutputPort<Image<P>>,
        file_name_format: &str,
        publish_period: f64,
        start_time: f64,
    ) -> Result<Block<Self>> {
        let mut writer = Self::new();
        let port =
            writer.declare_image_input_port(name, file_name_format, publish_period, start_time)?;
        let writer = builder.add_f64(name, writer);
        builder.connect(image, writer.image_port(port)?);
        Ok(writer)
    }

    /// Adds a port whose images are written at `start_time + k * publish_period` (s).
    ///
    /// `file_name_format` may use the fields of Drake's writer, with the formats of `fmt::format`:
    ///
    /// | field | value | example |
    /// |---|---|---|
    /// | `port_name` | name of the port | `{port_name}` |
    /// | `image_type` | `color`, `depth`, `label` or `grey_scale` | `{image_type}` |
    /// | `time_double` | time of the context in s | `{time_double:08.3f}` |
    /// | `time_usec`, `time_msec` | time in µs or ms, rounded | `{time_msec:05}` |
    /// | `count` | files of this port so far, from 0 | `{count:04d}` |
    ///
    /// Two ports, of one or of two writers, must not write the same file: a diagram is refused if
    /// any of the first 256 names of two ports are equal. If only their times separate two ports,
    /// so that a forced publish writes one file twice, there is a warning. Neither time nor count
    /// separates ports; `{port_name}` does.
    ///
    /// `{{` and `}}` are literal braces. The extension selects the file format: `.png`, `.tiff`,
    /// `.tif`, `.jpg` or `.jpeg`. If the name has none of these, or its format cannot hold the
    /// pixels, the default extension is appended as in Drake: `.tiff` for
    /// [`Depth32F`](crate::Depth32F), `.png` for the others. A format that cannot hold the pixels
    /// also causes a [warning](tarragon_framework::warnings): `x.png` becomes `x.png.tiff` for
    /// [`Depth32F`](crate::Depth32F), because 16-bit PNG files hold [`Depth16U`](crate::Depth16U)
    /// (mm), which would round and clip the depth.
    ///
    /// # Errors
    /// Returns an error if the name is taken, the period is not positive and finite, the start time
    /// is negative or not finite, the format is invalid, or its directory depends on time or count,
    /// does not exist or cannot be written to.
    pub fn declare_image_input_port<P: ImageFilePixel>(
        &mut self,
        port_name: &str,
        file_name_format: &str,
        publish_period: f64,
        start_time: f64,
    ) -> Result<ImagePortIndex<P>> {
        let fail = |why: String| {
            Err(Error::invalid(format!(
                "ImageWriter port '{port_name}': {why}"
            )))
        };
        if self.ports.iter().any(|p| p.name == port_name) {
            return Err(Error::exists(format!(
                "ImageWriter port '{port_name}': a port of this name already exists"
            )));
        }
        if !(publish_period > 0.0 && publish_period.is_finite()) {
            return fail(format!(
                "the publish period must be positive and finite, got {publish_period:?} s"
            ));
        }
        if !(start_time >= 0.0 && start_time.is_finite()) {
            return fail(format!(
                "the start time must be finite and at least 0, got {start_time:?} s"
            ));
        }
        if file_name_format.is_empty() || file_name_format.ends_with('/') {
            return fail(format!(
                "the format must end with the name of a file, got '{file_name_format}'"
            ));
        }
        let format = FileNameFormat::parse(file_name_format, &FIELDS)?;
        if let Some(field) = format
            .directory_fields()
            .find(|f| !FIXED_FIELDS.contains(f))
        {
            return fail(format!(
                "the directory of '{file_name_format}' depends on {{{field}}}; it may depend only \
                 on {{port_name}} and {{image_type}}"
            ));
        }
        let default = P::DEFAULT_FORMAT.extension();
        let given = ImageFileFormat::of_path(Path::new(file_name_format)).ok();
        let has_extension = given.is_some_and(|format| format.can_hold(P::SCALAR));
        let config = WriterPort {
            name: port_name.into(),
            io: self.io,
            image_type: P::IMAGE_TYPE,
            extension: if has_extension { "" } else { default },
            format,
            period: publish_period,
            start_time,
            declare: declare_port::<P>,
        };
        check_directory(
            &format!("ImageWriter port '{port_name}'"),
            &config.path(0.0, 0)?,
        )?;
        if let Some(format) = given.filter(|_| !has_extension) {
            let pixels = P::NAME;
            let cure = match P::SCALAR {
                PixelScalar::F32 => ", or convert the image to Depth16U (mm) for .png",
                _ => "",
            };
            warn(format!(
                "ImageWriter port '{port_name}': the extension must be of a format that holds \
                 {pixels} pixels, got {format}; the files are named '{file_name_format}.{default}'; \
                 use .{default}{cure}"
            ));
        }
        self.ports.push(config);
        Ok(ImagePortIndex::new(self.ports.len() - 1))
    }
}

impl WriterPort {
    /// Returns the path of image number `count`, written at `time` (s).
    fn path(&self, time: f64, count: u64) -> Result<PathBuf> {
        let (micros, millis) = (to_microseconds(time)?, to_milliseconds(time)?);
        let mut path = self.format.format(|field| match field {
            "port_name" => Field::Text(&self.name),
            "image_type" => Field::Text(self.image_type),
            "time_double" => Field::Real(time),
            "time_usec" => Field::Integer(micros),
            "time_msec" => Field::Integer(millis),
            _ => Field::Integer(count as i64),
        });
        if !self.extension.is_empty() {
            path.push('.');
            path.push_str(self.extension);
        }
        Ok(path.into())
    }
    /// Returns the names for the check that ports have files of their own.
    fn file_names(&self) -> FileNames {
        let name = |time: f64, count: u64| {
            // Only a time that is no number has no name.
            let path = self.path(time, count).unwrap_or_default();
            path.file_name().unwrap_or_default().to_owned()
        };
        let time = |k: u64| self.start_time + k as f64 * self.period;
        let directory = self.path(0.0, 0).unwrap_or_default();
        let directory = directory.parent().unwrap_or(Path::new(""));
        FileNames::new(directory)
            .with_port(&self.name)
            .with_cure("put {port_name} or another folder into its format")
            .with_scheduled((0..COMPARED).map(|k| name(time(k), k)))
            // A time and a count that no two fields write alike.
            .with_forced([name(1.234_567_89, 1_000_003)])
    }
}

fn declare_port<P: ImageFilePixel>(
    d: &mut Declare<ImageWriter, f64>,
    index: usize,
    config: &WriterPort,
) -> WriterPortHandles {
    let input: InputPort<Image<P>> = d.input(&config.name);
    let progress = d.fresh_param(Arc::<Progress>::default);
    let (period, offset) = (config.period, config.start_time);
    for trigger in [Trigger::Periodic { period, offset }, Trigger::Forced] {
        d.publish_on(trigger, move |writer, ctx| {
            let image = ctx.eval(input)?;
            let progress: &Arc<Progress> = ctx.param(progress);
            let port = &writer.ports[index];
            let path = progress.write(|count, buffers| {
                let path = port.path(ctx.time(), count)?;
                port.io.save_with(P::borrow(image), &path, buffers)?;
                Ok::<_, Error>(path)
            })?;
            tracing::debug!(path = %path.display(), "wrote image");
            Ok(EventStatus::Succeeded)
        });
    }
    WriterPortHandles {
        input: Arc::new(input),
        progress,
    }
}

/// Ports of [`ImageWriter`].
#[derive(Clone)]
pub struct ImageWriterPorts {
    ports: Vec<WriterPortHandles>,
}

impl ImageWriterPorts {
    /// Returns the input port that was declared with the given index.
    ///
    /// # Errors
    /// Returns an error if the index comes from another writer.
    pub fn image_port<P: ImageFilePixel>(
        &self,
        port: ImagePortIndex<P>,
    ) -> Result<InputPort<Image<P>>> {
        let found = self
            .ports
            .get(port.index)
            .and_then(|p| p.input.downcast_ref());
        found.copied().ok_or_else(|| {
            Error::not_found(format!(
                "ImageWriter: there is no port {} for {} images; use the index that \
                 `declare_image_input_port` of this writer returned",
                port.index,
                P::NAME
            ))
        })
    }
    /// Returns the number of files that a port has written in `context` and its clones.
    ///
    /// # Errors
    /// Returns an error if the index comes from another writer, or the context belongs to another
    /// diagram.
    pub fn image_count<P: ImageFilePixel>(
        &self,
        port: ImagePortIndex<P>,
        context: &Context<f64>,
    ) -> Result<u64> {
        self.image_port(port)?;
        let progress = context.param(self.ports[port.index].progress)?;
        Ok(progress.count.load(Ordering::Relaxed))
    }
    /// Resets the count of every port to zero (Drake's `ResetAllImageCounts`); later images may
    /// overwrite files.
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram.
    pub fn reset_all_image_counts(&self, context: &Context<f64>) -> Result<()> {
        for port in &self.ports {
            let progress = context.param(port.progress)?;
            progress.count.store(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl LeafSystem<f64> for ImageWriter {
    type Ports = ImageWriterPorts;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        for port in &self.ports {
            d.writes_files(port.file_names());
        }
        let ports = self.ports.iter().enumerate();
        let ports = ports
            .map(|(i, config)| (config.declare)(d, i, config))
            .collect();
        ImageWriterPorts { ports }
    }
}
