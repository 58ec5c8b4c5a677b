//! From a request to an image file.

use crate::form::{Camera, RenderRequest};
use crate::keeper::{Keeper, Prepared};
use crate::refusal::Refusal;
use crate::scene::Scene;
use crate::stats::{Counters, add};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Instant;
use tarragon_geometry::render::{
    Image, ImageDepth32F, ImageLabel16I, ImageRgb8U, ImageRgba8U, PixelType, RenderView,
};
use tarragon_sensors::{ImageFileFormat, ImageFilePixel, ImageIo};

/// An image file with its media type.
pub(crate) struct ImageFile {
    pub(crate) media_type: &'static str,
    pub(crate) content: Bytes,
}

/// Draws what a request asks for. Takes a while; not for asynchronous code.
pub(crate) fn draw(
    request: RenderRequest,
    keeper: &Keeper,
    max_triangles: usize,
    counters: &Counters,
) -> Result<ImageFile, Refusal> {
    let start = Instant::now();
    let key = (request.hash, request.camera.image_type());
    let scene = match keeper.find(key) {
        Some(scene) => scene,
        None => Arc::new(Scene::read(&request, max_triangles)?),
    };
    let prepared = keeper.prepare(key, scene, request.scene)?;
    let read = Instant::now();
    let (image, drawn) = render(&request.camera, &prepared)?;
    let encoded = Instant::now();
    for (time, from, to) in [(0, start, read), (1, read, drawn), (2, drawn, encoded)] {
        add(&counters.times[time], (to - from).as_nanos() as u64);
    }
    add(&counters.images[request.camera.image_type() as usize], 1);
    add(&counters.sent_bytes, image.content.len() as u64);
    tracing::debug!(
        "{:?} image: {:?} reading, {:?} drawing, {:?} encoding",
        request.camera.image_type(),
        read - start,
        drawn - read,
        encoded - drawn
    );
    Ok(image)
}

/// Draws and encodes an image; returns the time between the two.
fn render(camera: &Camera, prepared: &Prepared) -> Result<(ImageFile, Instant), Refusal> {
    let poses = |id| prepared.poses.get(&id).copied();
    let view = RenderView::new(prepared.x_wc, &poses);
    let info = camera.core().intrinsics();
    let (width, height) = (info.width(), info.height());
    let engine = &prepared.engine;
    match camera {
        Camera::Color(camera) => {
            let mut image = ImageRgba8U::try_new(width, height)?;
            engine.render_color(&view, camera, &mut image)?;
            encode(&image, ImageFileFormat::Png)
        }
        Camera::Depth(camera) => {
            let mut image = ImageDepth32F::try_new(width, height)?;
            engine.render_depth(&view, camera, &mut image)?;
            encode(&image, ImageFileFormat::Tiff)
        }
        Camera::Label(camera) => {
            let mut image = ImageLabel16I::try_new(width, height)?;
            engine.render_label(&view, camera, &mut image)?;
            encode(&colors_of(&image)?, ImageFileFormat::Png)
        }
    }
}

/// Returns the colours that stand for labels: red plus 256 times green. That of empty pixels is
/// (254, 127, 0).
fn colors_of(labels: &ImageLabel16I) -> Result<ImageRgb8U, Refusal> {
    let mut colors = ImageRgb8U::try_new(labels.width(), labels.height())?;
    let pixels = colors.data_mut().chunks_exact_mut(3);
    for (pixel, label) in pixels.zip(labels.data()) {
        let [low, high] = label.to_le_bytes();
        pixel.copy_from_slice(&[low, high, 0]);
    }
    Ok(colors)
}

fn encode<P: PixelType + ImageFilePixel>(
    image: &Image<P>,
    format: ImageFileFormat,
) -> Result<(ImageFile, Instant), Refusal> {
    let drawn = Instant::now();
    let content = ImageIo::new().save_to_buffer(P::borrow(image), format)?;
    let media_type = match format {
        ImageFileFormat::Tiff => "image/tiff",
        _ => "image/png",
    };
    let file = ImageFile {
        media_type,
        content: content.into(),
    };
    Ok((file, drawn))
}
