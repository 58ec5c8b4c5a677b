//! From a depth camera to a coloured point cloud with normals, downsampled and cropped, as a PLY
//! file.
//!
//! MeshLab, Blender, Open3D and others display `target/10_point_cloud/table.ply`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

#[path = "support/table.rs"]
mod table;

use table::{Orbit, TOP, add_table};
use tarragon::prelude::*;
use tarragon::sensors::{
    BaseField, Depth32F, DepthImageToPointCloud, PointCloudEncoding, save_point_cloud,
};

fn main() -> Result<()> {
    // The scene and a camera that looks at it from the side.
    let mut scene = SceneGraph::new();
    let (source, frame) = add_table(&mut scene)?;
    scene.add_renderer(
        "cpu",
        RenderEngineCpu::new(RenderEngineCpuParams::default())?,
    )?;
    let world = scene.world_frame_id();
    let info = CameraInfo::from_fov_y(640, 480, 0.8)?;
    let camera = DepthRenderCamera::new("cpu", info).with_depth_range(0.1..5.0)?;
    let eye = Vector3::new(0.6, -1.0, 1.4);
    let x_wb = look_at(&eye, &Vector3::new(0.0, 0.0, TOP));

    // Depth, colour and the pose of the camera make a cloud in the world frame.
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let camera = b.add_f64("camera", RgbdSensor::from_depth_camera(world, x_wb, camera));
    let fields = BaseField::XYZS | BaseField::RGBS;
    let to_cloud = DepthImageToPointCloud::<Depth32F>::new(info, fields)?;
    let to_cloud = b.add_f64("to_cloud", to_cloud);
    b.connect(scene.query, camera.geometry_query);
    b.connect(camera.depth_image_32f, to_cloud.depth_image);
    b.connect(camera.color_image, to_cloud.color_image);
    b.connect(camera.body_pose_in_world, to_cloud.camera_pose);
    let orbit = b.add_f64("orbit", Orbit { frame });
    b.connect(*orbit.ports(), scene.source_pose_port(source)?);
    let ctx = b.build()?.default_context();
    let cloud = ctx.eval(to_cloud.point_cloud)?;

    // The objects on the table, one point per 5 mm, with normals towards the camera.
    let (low, high) = (
        Vector3::new(-0.6, -0.4, TOP as f32 + 0.002),
        Vector3::new(0.6, 0.4, 2.0),
    );
    let mut things = cloud.crop(low, high)?.voxelized_down_sample(0.005)?;
    let all = things.estimate_normals(0.02, 30)?;
    things.flip_normals_toward_point(eye.cast())?;
    println!(
        "{} pixels, {} points on the table, normals of {}",
        cloud.size(),
        things.size(),
        if all { "all" } else { "most" }
    );

    std::fs::create_dir_all("target/10_point_cloud")?;
    let path = "target/10_point_cloud/table.ply";
    save_point_cloud(&things, path, PointCloudEncoding::Binary)?;
    println!("wrote {path}");
    Ok(())
}
