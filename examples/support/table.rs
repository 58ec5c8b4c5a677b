//! The scene of the camera examples: a table with a few objects, and a ball that circles above it.

use nalgebra::Isometry3;
use tarragon::geometry::{BoxShape, Cylinder, Ellipsoid, FrameId, RenderLabel, SourceId, Sphere};
use tarragon::prelude::*;

/// Height of the table (m).
pub(crate) const TOP: f64 = 0.7;

/// Registers the scene; returns the source and the ball's frame. Labels count from 1.
pub(crate) fn add_table(scene: &mut SceneGraph) -> Result<(SourceId, FrameId)> {
    let source = scene.register_source("table")?;
    let look = |label: i16, color: [f64; 3]| -> Result<_> {
        let color = Rgba::new(color[0], color[1], color[2], 1.0)?;
        let label = RenderLabel::new(label)?;
        Ok(PerceptionProperties::phong(color).with_label(label))
    };
    let mut add = |label, name: &str, shape: Shape, at: [f64; 3], color| {
        let at = Isometry3::translation(at[0], at[1], at[2]);
        let thing = GeometryInstance::new(at, shape, name)?.with_perception(look(label, color)?);
        scene.register_anchored_geometry(source, thing)?;
        Ok::<_, Error>(())
    };
    let [board, can, egg, block] = [0.02, 0.12, 0.05, 0.08];
    let wood = [0.6, 0.45, 0.3];
    add(
        1,
        "board",
        BoxShape::new(1.2, 0.8, board)?.into(),
        [0.0, 0.0, TOP - board / 2.0],
        wood,
    )?;
    add(
        2,
        "can",
        Cylinder::new(0.035, can)?.into(),
        [0.2, 0.1, TOP + can / 2.0],
        [0.8, 0.1, 0.1],
    )?;
    add(
        3,
        "egg",
        Ellipsoid::new(0.03, 0.03, egg / 2.0)?.into(),
        [-0.1, -0.1, TOP + egg / 2.0],
        [0.9, 0.9, 0.8],
    )?;
    add(
        4,
        "block",
        BoxShape::new(0.1, 0.15, block)?.into(),
        [-0.15, 0.15, TOP + block / 2.0],
        [0.1, 0.3, 0.8],
    )?;
    let frame = scene.register_frame(source, GeometryFrame::new("ball"))?;
    let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.05)?, "ball")?;
    let ball = ball.with_perception(look(5, [0.2, 0.7, 0.2])?);
    scene.register_geometry(source, frame, ball)?;
    Ok((source, frame))
}

/// System that moves the ball: one turn in 2 s, 0.15 m above the table.
pub(crate) struct Orbit {
    /// The frame of the ball.
    pub(crate) frame: FrameId,
}

impl LeafSystem<f64> for Orbit {
    type Ports = OutputPort<FramePoseVector<f64>>;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let model = FramePoseVector::from_iter([(self.frame, Isometry3::identity())]);
        d.output("poses", model, Dep::Time, |orbit, ctx, poses| {
            let (sin, cos) = (ctx.time() * std::f64::consts::PI).sin_cos();
            let x_wb = Isometry3::translation(0.25 * cos, 0.25 * sin, TOP + 0.15);
            *poses = FramePoseVector::from_iter([(orbit.frame, x_wb)]);
            Ok(())
        })
    }
}
