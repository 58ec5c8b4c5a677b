//! System that converts images to messages.

use super::encode::Encoder;
use crate::images::io::ImageFilePixel;
use crate::images::writer::ImagePortIndex;
use crate::{Error, Result};
use std::any::Any;
use std::sync::Arc;
use tarragon_framework::prelude::*;
use tarragon_framework::{Scratch, to_microseconds};
use tarragon_geometry::render::{
    Depth32F, Image, ImageDepth32F, ImageLabel16I, ImageRef, ImageRgba8U, Label16I, Rgba8U,
};
use tarragon_lcm::types::LcmtImageArray;

/// System that combines any number of images in one message (Drake's `ImageToLcmImageArrayT`), for
/// an [`LcmPublisherSystem`](tarragon_lcm::LcmPublisherSystem).
///
/// | port | name | type |
/// |---|---|---|
/// | input | chosen per port | [`Image`] of the [pixel type](Self::declare_image_input_port) |
/// | output | `y0` | [`LcmtImageArray`] |
///
/// The message has the images in the order of the ports, each with the name of its port as
/// `frame_name`, and the time of the context (µs, rounded, where Drake cuts) in every header. All
/// ports must be connected; an image without pixels is sent as an empty image.
/// [`encode_image`](super::encode_image) describes the encoding of pixels.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::{Lcm, LcmPublisherSystem, Subscriber, types::LcmtImageArray};
/// use tarragon_sensors::{Grey8U, ImageGrey8U, ImageToLcmImageArrayT};
/// let lcm = Lcm::with_url("memq://")?;
/// let heard = Subscriber::<LcmtImageArray>::new(&lcm, "IMAGES")?;
/// let mut images = ImageToLcmImageArrayT::new(false);
/// let left = images.declare_image_input_port::<Grey8U>("left")?;
/// let mut b = DiagramBuilder::new();
/// let images = b.add_f64("images", images);
/// let publisher = LcmPublisherSystem::new("IMAGES", lcm.clone(), 0.1, 0.0)?;
/// let publisher = b.add_f64("publisher", publisher);
/// b.connect(images.image_array_t, publisher.lcm_message);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(images.image_port(left)?, ImageGrey8U::with_value(4, 3, 128))?;
/// Simulator::new(&diagram, ctx)?.advance_to(0.25)?;
/// lcm.handle_subscriptions(std::time::Duration::ZERO)?;
/// let message = heard.message().ok_or("nothing came")?;
/// assert_eq!((heard.count(), message.header.utime), (3, 200_000));
/// assert_eq!((&*message.images[0].header.frame_name, message.images[0].data[0]), ("left", 128));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ImageToLcmImageArrayT {
    ports: Vec<LcmPort>,
    do_compress: bool,
}

#[derive(Debug)]
struct LcmPort {
    name: String,
    /// Declares the port; an instance for its pixel type.
    declare: fn(&mut Declare<ImageToLcmImageArrayT, f64>, &str) -> LcmPortHandles,
}

type Read = dyn for<'a> Fn(&LeafContext<'a, f64>) -> Result<ImageRef<'a>> + Send + Sync;

struct LcmPortHandles {
    /// The `InputPort<Image<P>>`; `P` is the pixel type of the port.
    input: Arc<dyn Any + Send + Sync>,
    read: Box<Read>,
}

impl ImageToLcmImageArrayT {
    /// Creates a system without ports. With `do_compress`, images are compressed with zlib.
    pub fn new(do_compress: bool) -> Self {
        Self {
            ports: vec![],
            do_compress,
        }
    }
    /// Creates a system with the three ports of a camera, which have the names of their frames:
    /// [`color_image`](ImageToLcmImageArrayTPorts::color_image),
    /// [`depth_image`](ImageToLcmImageArrayTPorts::depth_image) and
    /// [`label_image`](ImageToLcmImageArrayTPorts::label_image).
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_sensors::{ImageDepth32F, ImageLabel16I, ImageRgba8U, ImageToLcmImageArrayT};
    /// let mut b = DiagramBuilder::new();
    /// let [color, depth, label] = ["color", "depth", "label"];
    /// let images = ImageToLcmImageArrayT::with_color_depth_label(color, depth, label, true)?;
    /// let images = b.add_f64("images", images);
    /// let mut ctx = b.build()?.default_context();
    /// ctx.fix(images.color_image()?, ImageRgba8U::new(4, 3))?;
    /// ctx.fix(images.depth_image()?, ImageDepth32F::new(4, 3))?;
    /// ctx.fix(images.label_image()?, ImageLabel16I::new(4, 3))?;
    /// assert_eq!(ctx.eval(images.image_array_t)?.images.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if two names are equal.
    pub fn with_color_depth_label(
        color_frame_name: &str,
        depth_frame_name: &str,
        label_frame_name: &str,
        do_compress: bool,
    ) -> Result<Self> {
        let mut system = Self::new(do_compress);
        system.declare_image_input_port::<Rgba8U>(color_frame_name)?;
        system.declare_image_input_port::<Depth32F>(depth_frame_name)?;
        system.declare_image_input_port::<Label16I>(label_frame_name)?;
        Ok(system)
    }
    /// Adds a port, whose name becomes the `frame_name` of its images.
    ///
    /// # Errors
    /// Returns an error if the name is taken.
    pub fn declare_image_input_port<P: ImageFilePixel>(
        &mut self,
        name: &str,
    ) -> Result<ImagePortIndex<P>> {
        if self.ports.iter().any(|p| p.name == name) {
            return Err(Error::exists(format!(
                "ImageToLcmImageArrayT port '{name}': a port of this name already exists; choose \
                 another name"
            )));
        }
        self.ports.push(LcmPort {
            name: name.into(),
            declare: declare_port::<P>,
        });
        Ok(ImagePortIndex::new(self.ports.len() - 1))
    }

    fn fill(
        &self,
        ports: &[LcmPortHandles],
        ctx: &LeafContext<'_, f64>,
        encoder: &mut Encoder,
        message: &mut LcmtImageArray,
    ) -> Result<()> {
        let utime = to_microseconds(ctx.time())?;
        message.header.utime = utime;
        message.images.resize_with(ports.len(), Default::default);
        let images = message.images.iter_mut().zip(ports).zip(&self.ports);
        for ((image, port), config) in images {
            image.header.utime = utime;
            image.header.frame_name.clone_from(&config.name);
            let done = encoder.encode((port.read)(ctx)?, self.do_compress, image);
            done.map_err(|e| {
                let name = &config.name;
                e.at(format!("ImageToLcmImageArrayT port '{name}'"))
            })?;
        }
        Ok(())
    }
}

fn declare_port<P: ImageFilePixel>(
    d: &mut Declare<ImageToLcmImageArrayT, f64>,
    name: &str,
) -> LcmPortHandles {
    let input: InputPort<Image<P>> = d.input(name);
    LcmPortHandles {
        input: Arc::new(input),
        read: Box::new(move |ctx| Ok(P::borrow(ctx.eval(input)?))),
    }
}

/// Ports of [`ImageToLcmImageArrayT`].
#[derive(Clone)]
pub struct ImageToLcmImageArrayTPorts {
    inputs: Vec<Arc<dyn Any + Send + Sync>>,
    /// Message with all images.
    pub image_array_t: OutputPort<LcmtImageArray>,
}

impl ImageToLcmImageArrayTPorts {
    /// Returns the input port that was declared with the given index.
    ///
    /// # Errors
    /// Returns an error if the index comes from another system.
    pub fn image_port<P: ImageFilePixel>(
        &self,
        port: ImagePortIndex<P>,
    ) -> Result<InputPort<Image<P>>> {
        let index = port.index();
        self.port(index).ok_or_else(|| {
            Error::not_found(format!(
                "ImageToLcmImageArrayT: there is no port {index} for {} images; use the index that \
                 `declare_image_input_port` of this system returned",
                P::NAME
            ))
        })
    }
    fn port<P: ImageFilePixel>(&self, index: usize) -> Option<InputPort<Image<P>>> {
        self.inputs.get(index)?.downcast_ref().copied()
    }
    fn camera_port<P: ImageFilePixel>(
        &self,
        index: usize,
        what: &str,
    ) -> Result<InputPort<Image<P>>> {
        self.port(index).ok_or_else(|| {
            Error::not_found(format!(
                "ImageToLcmImageArrayT: there is no {what} port; create the system with \
                 `with_color_depth_label`, or use `image_port`"
            ))
        })
    }
    /// Returns the port of the colour image of a system created with
    /// [`with_color_depth_label`](ImageToLcmImageArrayT::with_color_depth_label).
    ///
    /// # Errors
    /// Returns an error if the system was created otherwise.
    pub fn color_image(&self) -> Result<InputPort<ImageRgba8U>> {
        self.camera_port(0, "colour")
    }
    /// Returns the port of the depth image, like [`color_image`](Self::color_image).
    ///
    /// # Errors
    /// Returns an error if the system was created otherwise.
    pub fn depth_image(&self) -> Result<InputPort<ImageDepth32F>> {
        self.camera_port(1, "depth")
    }
    /// Returns the port of the label image, like [`color_image`](Self::color_image).
    ///
    /// # Errors
    /// Returns an error if the system was created otherwise.
    pub fn label_image(&self) -> Result<InputPort<ImageLabel16I>> {
        self.camera_port(2, "label")
    }
}

impl LeafSystem<f64> for ImageToLcmImageArrayT {
    type Ports = ImageToLcmImageArrayTPorts;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let ports = self.ports.iter();
        let ports: Vec<LcmPortHandles> = ports
            .map(|config| (config.declare)(d, &config.name))
            .collect();
        let inputs = ports.iter().map(|port| port.input.clone()).collect();
        // Buffers of the encoder, shared by a context and its clones.
        let encoder = d.fresh_param(Arc::<Scratch<Encoder>>::default);
        let deps = (Dep::Time, Dep::AllInputs, encoder);
        let model = LcmtImageArray::default();
        let image_array_t = d.output("y0", model, deps, move |system, ctx, message| {
            let encoder: &Arc<Scratch<Encoder>> = ctx.param(encoder);
            encoder.lend(|encoder| system.fill(&ports, ctx, encoder, message))
        });
        ImageToLcmImageArrayTPorts {
            inputs,
            image_array_t,
        }
    }
}
