//! Words for constraints and force elements in diagnostics.

use tarragon_multibody::{
    BodyIndex, Constraint, ForceElement, JointIndex, MultibodyPlant, Tendon, TendonPart,
};

/// Returns the words for a constraint, and the names of what it connects.
pub(crate) fn of_constraint<'p>(
    plant: &'p MultibodyPlant,
    constraint: &Constraint,
) -> (&'static str, Vec<&'p str>) {
    let bodies = |a, b| names_of_bodies(plant, [a, b]);
    match constraint {
        Constraint::Ball(c) => ("ball constraint", bodies(c.body_a, c.body_b)),
        Constraint::Weld(c) => ("weld constraint", bodies(c.body_a, c.body_b)),
        Constraint::Distance(c) => ("distance constraint", bodies(c.body_a, c.body_b)),
        Constraint::Coupler(c) => ("coupler of joint", names_of_joints(plant, [c.joint0])),
        Constraint::Tendon(c) => {
            let joints = c.joints.iter().copied();
            ("tendon over joint", names_of_joints(plant, joints))
        }
        Constraint::SpatialTendon(c) => (
            "limits of a spatial tendon on bodies",
            names_on_path(plant, &c.path),
        ),
        Constraint::Polynomial(c) => {
            let names = c.tendons.iter().flat_map(|tendon| match tendon {
                Tendon::Fixed(joints) => {
                    names_of_joints(plant, joints.iter().map(|(joint, _)| *joint))
                }
                Tendon::Spatial(path) => names_on_path(plant, path),
            });
            ("polynomial constraint of", names.collect())
        }
    }
}

/// Returns the names of what a force element acts on.
pub(crate) fn of_force<'p>(plant: &'p MultibodyPlant, element: &ForceElement) -> Vec<&'p str> {
    match element {
        ForceElement::RevoluteSpring { joint, .. }
        | ForceElement::PrismaticSpring { joint, .. }
        | ForceElement::DoorHinge { joint, .. } => names_of_joints(plant, [*joint]),
        ForceElement::LinearSpringDamper { body_a, body_b, .. } => {
            names_of_bodies(plant, [*body_a, *body_b])
        }
        ForceElement::SpatialTendon { path, .. } => names_on_path(plant, path),
        ForceElement::TendonSpring { joints, .. } => {
            names_of_joints(plant, joints.iter().map(|(joint, _)| *joint))
        }
        ForceElement::LinearBushingRollPitchYaw {
            frame_a, frame_c, ..
        } => names_of_bodies(plant, [frame_a, frame_c].map(|f| plant[*f].body())),
    }
}

/// Returns the names of the bodies on a path, in its order and each once.
fn names_on_path<'p>(plant: &'p MultibodyPlant, path: &[TendonPart]) -> Vec<&'p str> {
    let mut bodies = vec![];
    for body in path.iter().flat_map(TendonPart::bodies) {
        if !bodies.contains(&body) {
            bodies.push(body);
        }
    }
    names_of_bodies(plant, bodies)
}

fn names_of_bodies(
    plant: &MultibodyPlant,
    bodies: impl IntoIterator<Item = BodyIndex>,
) -> Vec<&str> {
    let names = bodies.into_iter().map(|body| plant[body].name());
    names.collect()
}

fn names_of_joints(
    plant: &MultibodyPlant,
    joints: impl IntoIterator<Item = JointIndex>,
) -> Vec<&str> {
    let names = joints.into_iter().map(|joint| plant[joint].name());
    names.collect()
}
