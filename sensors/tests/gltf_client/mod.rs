//! The client of a render server against a server that records requests and answers as told.

mod cameras;
mod failures;
mod files;
mod maps;
mod materials;
mod recorder;
mod replies;
mod requests;
mod scenes;

use nalgebra::Isometry3;
use recorder::Recorder;
use std::time::Duration;
use tarragon_geometry::render::{RenderEngine, RenderView};
use tarragon_geometry::{GeometryId, PerceptionProperties, Shape};
use tarragon_sensors::*;

const WIDTH: usize = 64;
const HEIGHT: usize = 48;

/// Camera of the captures.
fn camera() -> DepthRenderCamera {
    let info = CameraInfo::new(WIDTH, HEIGHT, 50.0, 51.0, 31.0, 23.25).unwrap();
    let clipping = ClippingRange::new(0.05, 20.0).unwrap();
    let core = RenderCameraCore::new("r", info, clipping, Isometry3::identity());
    DepthRenderCamera::from_core(core, DepthRange::new(0.1, 10.0).unwrap()).unwrap()
}

fn engine(server: &Recorder) -> RenderEngineGltfClient {
    let params = RenderEngineGltfClientParams {
        base_url: server.base_url(),
        ..Default::default()
    };
    let engine = make_render_engine_gltf_client(params).unwrap();
    engine.with_timeout(Duration::from_secs(30)).unwrap()
}

/// Registers a shape under a new id.
fn add(
    engine: &mut RenderEngineGltfClient,
    shape: impl Into<Shape>,
    properties: &PerceptionProperties,
) -> GeometryId {
    let id = GeometryId::new();
    let accepted = engine.register_visual(id, &shape.into(), properties);
    assert!(accepted.unwrap());
    id
}

fn color_with(engine: &RenderEngineGltfClient, view: &RenderView<'_>) -> Result<ImageRgba8U> {
    let mut image = ImageRgba8U::new(WIDTH, HEIGHT);
    engine.render_color(view, &camera().to_color(), &mut image)?;
    Ok(image)
}

fn depth_with(engine: &RenderEngineGltfClient, view: &RenderView<'_>) -> Result<ImageDepth32F> {
    let mut image = ImageDepth32F::new(WIDTH, HEIGHT);
    engine.render_depth(view, &camera(), &mut image)?;
    Ok(image)
}

fn label_with(engine: &RenderEngineGltfClient, view: &RenderView<'_>) -> Result<ImageLabel16I> {
    let mut image = ImageLabel16I::new(WIDTH, HEIGHT);
    engine.render_label(view, &camera().to_color(), &mut image)?;
    Ok(image)
}

/// View of an empty scene.
fn nothing() -> RenderView<'static> {
    RenderView::new(Isometry3::identity(), &|_| None)
}

/// View of everything at one pose.
fn everything() -> RenderView<'static> {
    RenderView::new(Isometry3::identity(), &|_| {
        Some(Isometry3::translation(0.0, 0.0, 2.0))
    })
}
