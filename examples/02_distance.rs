//! Distances and contacts of moving shapes, and their derivatives with respect to a pose.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use tarragon::prelude::*;

fn main() -> Result<()> {
    // A capsule moving above a box that stands on the floor.
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys")?;
    let frame = scene.register_frame(source, GeometryFrame::new("capsule"))?;
    let solid = |shape: Shape, x, name: &str| {
        let instance = GeometryInstance::new(x, shape, name);
        instance.map(|instance| instance.with_proximity(ProximityProperties::new()))
    };
    let (capsule, block) = (Capsule::new(0.05, 0.3)?, BoxShape::new(0.4, 0.4, 0.2)?);
    let capsule = solid(capsule.into(), Isometry3::identity(), "capsule")?;
    scene.register_geometry(source, frame, capsule)?;
    let on_floor = Isometry3::translation(0.0, 0.0, 0.1);
    let block = solid(block.into(), on_floor, "box")?;
    scene.register_anchored_geometry(source, block)?;
    let floor = solid(HalfSpace.into(), Isometry3::identity(), "floor")?;
    scene.register_anchored_geometry(source, floor)?;

    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let diagram = b.build()?;
    let mut ctx = diagram.default_context();
    let port = scene.source_pose_port(source)?;

    for height in [0.5, 0.3, 0.22] {
        let tilted = math::pose(math::rotation_y(1.2), Vector3::new(0.05, 0.0, height));
        ctx.fix(port, FramePoseVector::from_iter([(frame, tilted)]))?;
        let query = ctx.eval(scene.query)?;
        println!("capsule at height {height} m");
        for pair in query.compute_signed_distance_pairwise_closest_points(f64::INFINITY)? {
            let name = query.inspector().name(pair.id_b)?;
            println!("  to the {name}: {:8.4} m", pair.distance);
        }
        for contact in query.compute_point_pair_penetration()? {
            println!(
                "  contact {:.4} m deep, normal {:.3?}",
                contact.depth,
                contact.nhat_ba_w.as_slice()
            );
        }
    }

    // Derivatives of the distance to the box with respect to tilt and height.
    let dual = diagram.to_scalar::<AutoDiff>()?;
    let dual_scene = dual.ports(&scene)?;
    let mut ctx = dual.default_context();
    let distance = |x: &[AutoDiff]| -> Result<AutoDiff> {
        let p = Vector3::new(AutoDiff::from(0.05), AutoDiff::from(0.0), x[1]);
        let pose = math::pose(math::rotation_y(x[0]), p);
        ctx.fix(
            dual_scene.source_pose_port(source)?,
            FramePoseVector::from_iter([(frame, pose)]),
        )?;
        let query = ctx.eval(dual_scene.query)?;
        Ok(query.compute_signed_distance_pairwise_closest_points(f64::INFINITY)?[0].distance)
    };
    let (value, gradient) = try_gradient(distance, &[1.2, 0.5])?;
    println!(
        "distance {value:.4} m, d/dtilt = {:.4} m/rad, d/dheight = {:.4}",
        gradient[0], gradient[1]
    );
    Ok(())
}
