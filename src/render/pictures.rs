//! Drawing and writing images.

use super::view::View;
use clap::ValueEnum;
use nalgebra::Isometry3;
use std::error::Error;
use std::path::Path;
use tarragon::sensors::color_map::{colorize_depth, colorize_label};
use tarragon::sensors::{
    DepthRange, ImageDepth32F, ImageIo, ImageLabel16I, ImageRgba8U, VideoFile,
};

/// Content of an image.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// Colours.
    Color,
    /// Depth (m); 0 is too close, infinity too far.
    Depth,
    /// Labels.
    Label,
    /// Depth in false colours: yellow is near, violet is far, white is nothing.
    DepthColor,
    /// Labels in false colours: black is nothing.
    LabelColor,
}

impl Picture {
    pub(super) fn all() -> [Self; 5] {
        use Picture::*;
        [Color, Depth, Label, DepthColor, LabelColor]
    }

    pub(super) fn file_name(self) -> &'static str {
        match self {
            Self::Color => "color.png",
            Self::Depth => "depth.tiff",
            Self::Label => "label.png",
            Self::DepthColor => "depth_color.png",
            Self::LabelColor => "label_color.png",
        }
    }
}

/// Draws the camera's view into reused images.
pub(super) struct Pictures<'a> {
    view: &'a View,
    /// Range of depths that the colours cover.
    range: DepthRange,
    color: ImageRgba8U,
    depth: ImageDepth32F,
    label: ImageLabel16I,
}

impl<'a> Pictures<'a> {
    pub(super) fn new(view: &'a View) -> Result<Self, Box<dyn Error>> {
        let info = view.color.core().intrinsics();
        let depth = view.depth.core().intrinsics();
        let [near, far] = view.depth_of_model();
        Ok(Self {
            view,
            range: DepthRange::new(near, far)?,
            color: ImageRgba8U::new(info.width(), info.height()),
            depth: ImageDepth32F::new(depth.width(), depth.height()),
            label: ImageLabel16I::new(info.width(), info.height()),
        })
    }

    /// Draws one image from the camera's initial pose, and saves it.
    pub(super) fn save(&mut self, picture: Picture, path: &Path) -> Result<(), Box<dyn Error>> {
        let io = ImageIo::new();
        let x_wb = self.view.x_wb;
        match picture {
            Picture::Depth => io.save(self.draw_depth(&x_wb)?, path)?,
            Picture::Label => io.save(self.draw_label(&x_wb)?, path)?,
            _ => io.save(self.draw_in_colors(picture, &x_wb)?, path)?,
        }
        Ok(())
    }

    fn draw_depth(&mut self, x_wb: &Isometry3<f64>) -> Result<&ImageDepth32F, Box<dyn Error>> {
        let (query, world) = (
            &self.view.query,
            self.view.query.inspector().world_frame_id(),
        );
        query.render_depth_image(&self.view.depth, world, x_wb, &mut self.depth)?;
        Ok(&self.depth)
    }

    fn draw_label(&mut self, x_wb: &Isometry3<f64>) -> Result<&ImageLabel16I, Box<dyn Error>> {
        let (query, world) = (
            &self.view.query,
            self.view.query.inspector().world_frame_id(),
        );
        query.render_label_image(&self.view.color, world, x_wb, &mut self.label)?;
        Ok(&self.label)
    }

    /// Draws an image for display; depth and labels in false colours.
    pub(super) fn draw_in_colors(
        &mut self,
        picture: Picture,
        x_wb: &Isometry3<f64>,
    ) -> Result<&ImageRgba8U, Box<dyn Error>> {
        match picture {
            Picture::Color => {
                let (query, world) = (
                    &self.view.query,
                    self.view.query.inspector().world_frame_id(),
                );
                let (camera, image) = (&self.view.color, &mut self.color);
                let info = camera.core().intrinsics();
                if (image.width(), image.height()) != (info.width(), info.height()) {
                    image.resize(info.width(), info.height());
                }
                query.render_color_image(camera, world, x_wb, image)?;
            }
            Picture::Depth | Picture::DepthColor => {
                self.draw_depth(x_wb)?;
                colorize_depth(&self.depth, self.range, &mut self.color);
            }
            Picture::Label | Picture::LabelColor => {
                self.draw_label(x_wb)?;
                colorize_label(&self.label, &mut self.color);
            }
        }
        Ok(&self.color)
    }
}

/// Writes a video of one turn around the model; `goes_on` is called after every frame. Returns
/// false if it ended early; the file then has the frames so far.
pub(super) fn write_turntable(
    pictures: &mut Pictures<'_>,
    picture: Picture,
    path: &Path,
    frames: u32,
    fps: f64,
    mut goes_on: impl FnMut() -> bool,
) -> Result<bool, Box<dyn Error>> {
    let mut video = VideoFile::create(path, fps)?;
    for k in 0..frames {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(frames);
        let x_wb = pictures.view.around(angle);
        video.write_frame(pictures.draw_in_colors(picture, &x_wb)?)?;
        if !goes_on() {
            video.finish()?;
            return Ok(false);
        }
    }
    video.finish()?;
    Ok(true)
}
