//! The client of this workspace.

use crate::support::{Mirror, assets, looks, server, server_with};
use nalgebra::{Isometry3, Translation3};
use tarragon_framework::math::rpy;
use tarragon_geometry::render::{
    ImageDepth32F, ImageLabel16I, ImageRgba8U, RenderEngine, RenderView,
};
use tarragon_render_server::RenderServerParams;
use tarragon_sensors::{RenderEngineGltfClientParams, make_render_engine_gltf_client};

#[test]
fn the_client_receives_what_the_engine_draws_in_process() {
    let assets = assets();
    for look in looks(assets.path()) {
        let server = server_with(RenderServerParams::default(), look.clone());
        let params = RenderEngineGltfClientParams {
            base_url: server.url(),
            ..RenderEngineGltfClientParams::default()
        };
        let mut client = make_render_engine_gltf_client(params).unwrap();
        let mirror = Mirror::with(assets.path(), look);
        mirror.register_with(&mut client);
        let (camera, depth_camera) = mirror.cameras();
        let info = *camera.core().intrinsics();
        let (width, height) = (info.width(), info.height());
        let mut color = ImageRgba8U::new(width, height);
        let mut depth = ImageDepth32F::new(width, height);
        let mut label = ImageLabel16I::new(width, height);
        for (i, turn) in [0.0, 0.3, 0.6].into_iter().enumerate() {
            let position = Translation3::new(0.2 * turn, -0.5 * turn, 0.3 * turn);
            let x_wc = Isometry3::from_parts(position, rpy(0.2 * turn, 0.3 * turn, turn));
            let poses = |id| mirror.poses.get(&id).copied();
            let view = RenderView::new(x_wc, &poses);
            client.render_color(&view, &camera, &mut color).unwrap();
            client
                .render_depth(&view, &depth_camera, &mut depth)
                .unwrap();
            client.render_label(&view, &camera, &mut label).unwrap();
            mirror.compare(&view, color.data(), depth.data(), label.data());
            let stats = server.stats();
            assert_eq!((stats.images(), stats.refused), (3 * (i as u64 + 1), 0));
            // The tile has two materials, which the client sends as two meshes.
            let meshes = mirror.poses.len() as u64 + 1;
            assert_eq!(stats.read_meshes, 3 * meshes, "{stats}");
        }
    }
}

#[test]
fn the_client_shows_the_reason_of_a_refusal() {
    let server = server(RenderServerParams {
        max_pixels: 100,
        ..RenderServerParams::default()
    });
    let params = RenderEngineGltfClientParams {
        base_url: server.url(),
        ..RenderEngineGltfClientParams::default()
    };
    let client = make_render_engine_gltf_client(params).unwrap();
    let (camera, _) = Mirror::new(assets().path()).cameras();
    let info = *camera.core().intrinsics();
    let mut image = ImageRgba8U::new(info.width(), info.height());
    let view = RenderView::new(Isometry3::identity(), &|_| None);
    let error = client.render_color(&view, &camera, &mut image);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("413") && error.contains("--max-pixels"),
        "{error}"
    );
}

#[test]
fn the_client_is_told_that_a_scene_is_too_large() {
    let server = server(RenderServerParams {
        max_request_bytes: 50_000,
        ..RenderServerParams::default()
    });
    let params = RenderEngineGltfClientParams {
        base_url: server.url(),
        ..RenderEngineGltfClientParams::default()
    };
    let mut client = make_render_engine_gltf_client(params).unwrap();
    let assets = assets();
    let mirror = Mirror::new(assets.path());
    mirror.register_with(&mut client);
    let (camera, _) = mirror.cameras();
    let info = *camera.core().intrinsics();
    let mut image = ImageRgba8U::new(info.width(), info.height());
    let poses = |id| mirror.poses.get(&id).copied();
    let view = RenderView::new(Isometry3::identity(), &poses);
    let error = client.render_color(&view, &camera, &mut image);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("413") && error.contains("--max-request-mib"),
        "{error}"
    );
}
