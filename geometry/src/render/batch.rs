//! Batches: images of many views at once, in contiguous memory.

use super::camera::{ColorRenderCamera, DepthRenderCamera, RenderCameraCore};
use super::camera_info::CameraInfo;
use super::image::{Depth32F, Label16I, PixelType, Rgba8U};
use crate::error::{Error, Result};
use std::fmt;

/// Cameras of a batch: which images are drawn of every view, and how.
///
/// ```
/// use tarragon_geometry::render::{CameraBatch, CameraInfo, ColorRenderCamera, DepthRenderCamera};
/// let info = CameraInfo::from_fov_y(64, 64, 1.0)?;
/// let cameras = CameraBatch::new()
///     .with_color(ColorRenderCamera::new("cpu", info))
///     .with_depth(DepthRenderCamera::new("cpu", info));
/// assert!(cameras.color().is_some() && cameras.label().is_none());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraBatch {
    color: Option<ColorRenderCamera>,
    depth: Option<DepthRenderCamera>,
    label: Option<ColorRenderCamera>,
}

impl CameraBatch {
    /// Creates a batch that draws nothing.
    pub fn new() -> Self {
        Self::default()
    }
    /// Returns the part of the cameras that they must have in common to draw one view: that of the
    /// first.
    ///
    /// # Errors
    /// Returns an error if there is no camera, or if two have different renderers or different
    /// poses `X_BS` in their body.
    pub(crate) fn common_core(&self) -> Result<&RenderCameraCore> {
        let color = self.color.as_ref().map(ColorRenderCamera::core);
        let depth = self.depth.as_ref().map(DepthRenderCamera::core);
        let label = self.label.as_ref().map(ColorRenderCamera::core);
        let mut cores = [color, depth, label].into_iter().flatten();
        let first = cores.next().ok_or_else(|| {
            Error::invalid("CameraBatch: at least one camera must be set, got none")
        })?;
        for other in cores {
            if other.renderer_name() != first.renderer_name() || other.x_bs() != first.x_bs() {
                return Err(Error::invalid(format!(
                    "CameraBatch: the cameras of a view must have one renderer and one pose X_BS, got \
                     the renderers '{}' and '{}' and the poses {} and {}",
                    first.renderer_name(),
                    other.renderer_name(),
                    first.x_bs(),
                    other.x_bs()
                )));
            }
        }
        Ok(first)
    }
    /// Sets the camera of the colour images.
    #[must_use]
    pub fn with_color(mut self, camera: ColorRenderCamera) -> Self {
        self.color = Some(camera);
        self
    }
    /// Sets the camera of the depth images.
    #[must_use]
    pub fn with_depth(mut self, camera: DepthRenderCamera) -> Self {
        self.depth = Some(camera);
        self
    }
    /// Sets the camera of the label images.
    #[must_use]
    pub fn with_label(mut self, camera: ColorRenderCamera) -> Self {
        self.label = Some(camera);
        self
    }
    /// Returns the camera of the colour images; `None` if there are none.
    pub fn color(&self) -> Option<&ColorRenderCamera> {
        self.color.as_ref()
    }
    /// Returns the camera of the depth images; `None` if there are none.
    pub fn depth(&self) -> Option<&DepthRenderCamera> {
        self.depth.as_ref()
    }
    /// Returns the camera of the label images; `None` if there are none.
    pub fn label(&self) -> Option<&ColorRenderCamera> {
        self.label.as_ref()
    }
}

/// Images of one size in one array with the axes `[count, height, width, channels]`.
///
/// ```
/// use tarragon_geometry::render::{Depth32F, ImageArray};
/// let mut images = ImageArray::<Depth32F>::default();
/// images.resize(10, 4, 3);
/// assert_eq!((images.shape(), images.data().len()), ([10, 3, 4, 1], 120));
/// assert_eq!(images.image(9).len(), 12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ImageArray<P: PixelType> {
    count: usize,
    width: usize,
    height: usize,
    data: Vec<P::Channel>,
}

impl<P: PixelType> Default for ImageArray<P> {
    fn default() -> Self {
        Self {
            count: 0,
            width: 0,
            height: 0,
            data: Vec::new(),
        }
    }
}

impl<P: PixelType> ImageArray<P> {
    /// Sets the number of images and their size (pixels). Values are kept or zero.
    pub fn resize(&mut self, count: usize, width: usize, height: usize) {
        (self.count, self.width, self.height) = (count, width, height);
        let zero = P::Channel::default();
        self.data.resize(count * width * height * P::CHANNELS, zero);
    }
    /// Returns the number of images.
    pub fn len(&self) -> usize {
        self.count
    }
    /// Returns true if there are no images.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Returns `[count, height, width, channels]`.
    pub fn shape(&self) -> [usize; 4] {
        [self.count, self.height, self.width, P::CHANNELS]
    }
    /// Returns the channels of all images.
    pub fn data(&self) -> &[P::Channel] {
        &self.data
    }
    /// Returns the channels of all images.
    pub fn data_mut(&mut self) -> &mut [P::Channel] {
        &mut self.data
    }
    /// Returns the channels of all images, and leaves none.
    pub fn take_data(&mut self) -> Vec<P::Channel> {
        (self.count, self.width, self.height) = (0, 0, 0);
        std::mem::take(&mut self.data)
    }
    /// Returns the number of channels of one image.
    pub fn stride(&self) -> usize {
        self.width * self.height * P::CHANNELS
    }
    /// Returns the channels of one image, row by row.
    pub fn image(&self, index: usize) -> &[P::Channel] {
        &self.data[index * self.stride()..(index + 1) * self.stride()]
    }
    /// Sets the size for images of a camera; no images without one.
    fn fit(&mut self, count: usize, info: Option<&CameraInfo>) {
        match info {
            Some(info) => self.resize(count, info.width(), info.height()),
            None => self.resize(0, 0, 0),
        }
    }
}

/// Images of a batch. Reuse it from batch to batch to reuse its memory.
///
/// ```
/// use tarragon_geometry::render::ImageBatch;
/// assert!(ImageBatch::default().color.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageBatch {
    /// Colour images, one per view; empty if the batch has none.
    pub color: ImageArray<Rgba8U>,
    /// Depth images (m), one per view; empty if the batch has none.
    pub depth: ImageArray<Depth32F>,
    /// Label images, one per view; empty if the batch has none.
    pub label: ImageArray<Label16I>,
}

impl ImageBatch {
    /// Sets the sizes for the images that these cameras draw of `count` views.
    pub fn fit(&mut self, count: usize, cameras: &CameraBatch) {
        let (color, depth, label) = (cameras.color(), cameras.depth(), cameras.label());
        self.color.fit(count, color.map(|c| c.core().intrinsics()));
        self.depth.fit(count, depth.map(|c| c.core().intrinsics()));
        self.label.fit(count, label.map(|c| c.core().intrinsics()));
    }
    /// Returns the memory of every view's images. The sizes must be those of [`fit`](Self::fit).
    pub(crate) fn views(&mut self, count: usize) -> Vec<ViewImages<'_>> {
        let mut views: Vec<ViewImages<'_>> = Vec::new();
        views.resize_with(count, ViewImages::default);
        let (color, depth, label) = (&mut self.color, &mut self.depth, &mut self.label);
        let n = color.stride().max(1);
        for (view, image) in views.iter_mut().zip(color.data.chunks_exact_mut(n)) {
            view.color = Some(image);
        }
        let n = depth.stride().max(1);
        for (view, image) in views.iter_mut().zip(depth.data.chunks_exact_mut(n)) {
            view.depth = Some(image);
        }
        let n = label.stride().max(1);
        for (view, image) in views.iter_mut().zip(label.data.chunks_exact_mut(n)) {
            view.label = Some(image);
        }
        views
    }
}

/// Memory of the images of one view.
#[derive(Default)]
pub(crate) struct ViewImages<'a> {
    pub(crate) color: Option<&'a mut [u8]>,
    pub(crate) depth: Option<&'a mut [f32]>,
    pub(crate) label: Option<&'a mut [i16]>,
}

/// A batch that is being drawn. Dropping it discards the images.
///
/// ```
/// use tarragon_geometry::render::{BatchTicket, ImageBatch};
/// let ticket = BatchTicket::ready(ImageBatch::default());
/// let mut images = ImageBatch::default();
/// ticket.wait(&mut images)?;
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub struct BatchTicket(Box<Finish>);

type Finish = dyn FnOnce(&mut ImageBatch) -> Result<()> + Send;

impl BatchTicket {
    /// Creates the ticket of a batch that `finish` completes: it waits for the images and moves
    /// them into its argument.
    pub fn new(finish: impl FnOnce(&mut ImageBatch) -> Result<()> + Send + 'static) -> Self {
        Self(Box::new(finish))
    }
    /// Creates the ticket of a batch that is drawn.
    pub fn ready(images: ImageBatch) -> Self {
        Self::new(move |out| {
            *out = images;
            Ok(())
        })
    }
    /// Waits for the images. `out` is resized as needed.
    ///
    /// # Errors
    /// Returns an error if the images cannot be drawn.
    pub fn wait(self, out: &mut ImageBatch) -> Result<()> {
        (self.0)(out)
    }
}

impl fmt::Debug for BatchTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BatchTicket")
    }
}
