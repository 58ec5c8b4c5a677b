//! Bodies pulled by a spring, by the pointer of a page.

use std::error::Error;
use tarragon::multibody::{ExternallyAppliedSpatialForce, MultibodyPlant, SpatialVector};
use tarragon::prelude::*;
use tarragon::visualization::{Drag, Meshcat, MeshcatVisualizer};

/// Angular frequency of the spring with the mass of everything that hangs on the body (rad/s). It
/// sags by a decimetre under that weight.
const FREQUENCY: f64 = 10.0;
/// Largest force per mass of everything that hangs on the body (m/s^2), however far the pointer is.
const MAX_ACCELERATION: f64 = 30.0;
/// Largest product of damping and time step, per mass of the body alone, that stays stable: the
/// force acts for a whole step, and a light body at the end of a heavy arm turns easily.
const MAX_DAMPING: f64 = 0.2;
/// Largest product of stiffness and squared time step, per mass of the body alone.
const MAX_STIFFNESS: f64 = 0.02;
/// Path of the line from the held point to the pointer.
const PATH: &str = "drag";
/// Width of the line (pixels).
const WIDTH: f64 = 2.0;

/// A spring between a point of a body and a point of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pull {
    body: BodyIndex,
    /// Held point in the body (m).
    p_bobq_b: Vector3<f64>,
    /// Point of the world that it is pulled to (m).
    target: Vector3<f64>,
    stiffness: f64,
    damping: f64,
    /// Largest force of the spring, without the damping (N).
    max_force: f64,
}

/// System that computes the force of a spring from the motion of the bodies.
pub(super) struct DragSpring;

#[derive(Clone, Copy)]
pub(super) struct DragSpringPorts {
    pub(super) pull: InputPort<Option<Pull>>,
    pub(super) poses: InputPort<Vec<Isometry3<f64>>>,
    pub(super) velocities: InputPort<Vec<SpatialVector<f64>>>,
    pub(super) forces: OutputPort<Vec<ExternallyAppliedSpatialForce<f64>>>,
}

impl LeafSystem<f64> for DragSpring {
    type Ports = DragSpringPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let pull = d.input::<Option<Pull>>("pull");
        let poses = d.input::<Vec<Isometry3<f64>>>("poses");
        let velocities = d.input::<Vec<SpatialVector<f64>>>("velocities");
        let deps = (pull, poses, velocities);
        let forces = d.output("forces", vec![], deps, move |_, ctx, forces| {
            forces.clear();
            if let Some(pull) = ctx.eval(pull)? {
                let x_wb = ctx.eval(poses)?[pull.body.index()];
                let v_wb = ctx.eval(velocities)?[pull.body.index()];
                forces.push(pull.force(&x_wb, &v_wb));
            }
            Ok(())
        });
        DragSpringPorts {
            pull,
            poses,
            velocities,
            forces,
        }
    }
}

impl Pull {
    /// Force on a body with the pose `X_WB` and the velocity `V_WB`.
    fn force(
        &self,
        x_wb: &Isometry3<f64>,
        v_wb: &SpatialVector<f64>,
    ) -> ExternallyAppliedSpatialForce<f64> {
        let arm = x_wb.rotation * self.p_bobq_b;
        let position = x_wb.translation.vector + arm;
        let velocity = v_wb.velocity_at(&arm).translational;
        let reach = self.max_force / self.stiffness;
        let stretched = (self.target - position).cap_magnitude(reach);
        ExternallyAppliedSpatialForce {
            body: self.body,
            p_bobq_b: self.p_bobq_b,
            f_bq_w: SpatialVector {
                rotational: Vector3::zeros(),
                translational: stretched * self.stiffness - velocity * self.damping,
            },
        }
    }
}

/// State of the drag by a user of the page.
pub(super) struct Dragged {
    meshcat: Meshcat,
    visualizers: Vec<Block<MeshcatVisualizer>>,
    /// Time step of the force (s).
    step: f64,
    /// The last drag, and the spring if it is one of a body that can move.
    last: Option<(Drag, Option<Pull>)>,
    /// Ends of the line on the page.
    line: Option<[Vector3<f64>; 2]>,
}

impl Dragged {
    pub(super) fn new(
        meshcat: Meshcat,
        visualizers: Vec<Block<MeshcatVisualizer>>,
        step: f64,
    ) -> Self {
        Self {
            meshcat,
            visualizers,
            step,
            last: None,
            line: None,
        }
    }

    /// Reads the page. Returns the new spring if it has changed.
    pub(super) fn read(
        &mut self,
        plant: &MultibodyPlant,
        query: &QueryObject<f64>,
    ) -> Result<Option<Option<Pull>>, Box<dyn Error>> {
        let drag = self.meshcat.drag();
        if drag.as_ref() == self.last.as_ref().map(|(drag, _)| drag) {
            return Ok(None);
        }
        let Some(drag) = drag else {
            self.last = None;
            self.hide();
            return Ok(Some(None));
        };
        let pull = match self.last.take() {
            // The same grip with another target.
            Some((held, pull)) if held.path == drag.path && held.point == drag.point => pull,
            _ => self.grip(&drag, plant, query)?,
        };
        let target = drag.target;
        let pull = pull.map(|pull| Pull { target, ..pull });
        self.last = Some((drag, pull));
        Ok(Some(pull))
    }

    /// Finds the body that a page holds.
    fn grip(
        &self,
        drag: &Drag,
        plant: &MultibodyPlant,
        query: &QueryObject<f64>,
    ) -> Result<Option<Pull>, Box<dyn Error>> {
        let inspector = query.inspector();
        for visualizer in &self.visualizers {
            let Some(id) = visualizer.system().geometry_at(&inspector, &drag.path)? else {
                continue;
            };
            let Some(body) = plant.body_from_frame_id(inspector.frame_id(id)?) else {
                continue;
            };
            let (own, all) = masses(plant, body)?;
            if all == 0.0 {
                continue;
            }
            let own = own.max(0.01 * all);
            let x_bg = inspector.pose_in_frame(id)?;
            return Ok(Some(Pull {
                body,
                p_bobq_b: x_bg.rotation * drag.point + x_bg.translation.vector,
                target: drag.target,
                stiffness: (all * FREQUENCY * FREQUENCY)
                    .min(MAX_STIFFNESS * own / (self.step * self.step)),
                max_force: all * MAX_ACCELERATION,
                damping: (2.0 * all * FREQUENCY).min(MAX_DAMPING * own / self.step),
            }));
        }
        Ok(None)
    }

    /// Draws a line from the held point to the pointer.
    pub(super) fn show(&mut self, poses: &[Isometry3<f64>]) -> Result<(), Box<dyn Error>> {
        if let Some((_, Some(pull))) = &self.last {
            let x_wb = poses[pull.body.index()];
            let held = x_wb.rotation * pull.p_bobq_b + x_wb.translation.vector;
            let line = [held, pull.target];
            if self.line != Some(line) {
                let color = Rgba::new(0.9, 0.5, 0.1, 1.0)?;
                self.meshcat.set_line(PATH, &line, WIDTH, color)?;
                self.line = Some(line);
            }
        }
        Ok(())
    }

    /// Removes the line.
    pub(super) fn hide(&mut self) {
        self.meshcat.delete(PATH);
        self.line = None;
    }
}

/// Mass of a body with everything welded to it, and of all that hangs together with it (kg); 0 for
/// what cannot move.
fn masses(plant: &MultibodyPlant, body: BodyIndex) -> Result<(f64, f64)> {
    let (part, tree) = (root_of(plant, body, true)?, root_of(plant, body, false)?);
    if part == BodyIndex::WORLD {
        return Ok((0.0, 0.0));
    }
    let (mut own, mut all) = (0.0, 0.0);
    for (index, other) in plant.bodies() {
        let mass = other.spatial_inertia().mass();
        if root_of(plant, index, false)? == tree {
            all += mass;
        }
        if root_of(plant, index, true)? == part {
            own += mass;
        }
    }
    Ok((own, all))
}

/// The body nearest to the world that welds connect with a body, or if `only_welds` is false, that
/// any joints do; the world only if welds alone lead there.
fn root_of(plant: &MultibodyPlant, body: BodyIndex, only_welds: bool) -> Result<BodyIndex> {
    let mut at = body;
    while let Some(joint) = plant.inboard_joint(at) {
        let joint = plant.joint(joint)?;
        let moves = joint.num_velocities() > 0;
        let is_base = moves && root_of(plant, joint.parent_body(), true)? == BodyIndex::WORLD;
        if is_base || (moves && only_welds) {
            break;
        }
        at = joint.parent_body();
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A welded base, an arm of two links, and a tool welded to the second one.
    fn arm() -> MultibodyPlant {
        let link = |name: &str, mass: f64| {
            format!(
                "<link name='{name}'><inertial><mass value='{mass}'/><inertia ixx='1' iyy='1' \
                 izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
            )
        };
        let joint = |kind: &str, parent: &str, child: &str| {
            format!(
                "<joint name='{child}' type='{kind}'><parent link='{parent}'/><child \
                 link='{child}'/><axis xyz='0 0 1'/></joint>"
            )
        };
        let text = format!(
            "<robot name='r'>{}{}{}{}{}{}{}</robot>",
            link("base", 16.0),
            link("upper", 8.0),
            link("lower", 4.0),
            link("tool", 2.0),
            joint("continuous", "base", "upper"),
            joint("continuous", "upper", "lower"),
            joint("fixed", "lower", "tool"),
        );
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        let mut parser = Parser::new(&mut plant);
        parser.add_models_from_string(&text, "urdf").unwrap();
        plant.weld_unattached_bodies(Isometry3::identity()).unwrap();
        plant.build().unwrap()
    }

    #[test]
    fn masses_are_those_that_move_with_a_body() {
        let plant = arm();
        let of = |name: &str| masses(&plant, plant.body_by_name(name).unwrap()).unwrap();
        assert_eq!(of("base"), (0.0, 0.0));
        assert_eq!(of("upper"), (8.0, 14.0));
        assert_eq!(of("lower"), (6.0, 14.0));
        assert_eq!(of("tool"), (6.0, 14.0));
    }

    #[test]
    fn the_force_of_the_spring_pulls_and_brakes() {
        let pull = Pull {
            body: BodyIndex::WORLD,
            p_bobq_b: Vector3::x(),
            target: Vector3::new(1.0, 0.0, 2.0),
            stiffness: 10.0,
            damping: 3.0,
            max_force: 20.0,
        };
        let spin = SpatialVector {
            rotational: Vector3::z(),
            translational: Vector3::zeros(),
        };
        let force = pull.force(&Isometry3::identity(), &spin).f_bq_w;
        assert_eq!(force.translational, Vector3::new(0.0, -3.0, 20.0));
        assert_eq!(force.rotational, Vector3::zeros());
        // However far it is pulled, the force is bounded.
        let target = Vector3::new(1.0, 0.0, 1e100);
        let far = Pull { target, ..pull };
        let force = far.force(&Isometry3::identity(), &SpatialVector::zero());
        let expected = Vector3::new(0.0, 0.0, 20.0);
        assert!((force.f_bq_w.translational - expected).norm() < 1e-12);
    }
}
