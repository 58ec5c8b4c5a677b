//! Elements and properties as text, with names in place of indices.

use nalgebra::Isometry3;
use std::collections::BTreeSet;
use tarragon_geometry::{
    CoulombFriction, GeometryId, GeometryProperties, HydroelasticType, PropertyValue, RenderLabel,
    Rgba, Role, SceneGraphInspector,
};
use tarragon_multibody::*;

/// The properties of a geometry in all roles.
pub(super) fn describe(inspector: &SceneGraphInspector<'_>, id: GeometryId) -> String {
    let mut text = String::new();
    for role in [Role::Proximity, Role::Illustration, Role::Perception] {
        if let Some(properties) = inspector.properties(id, role).unwrap() {
            text += &format!("{role:?} {{ {} }} ", of_role(properties, role));
        }
    }
    text
}

fn of_role(properties: &GeometryProperties, role: Role) -> String {
    let mut text = String::new();
    let default = CoulombFriction::DEFAULT;
    let mu = properties.try_get("material", "coulomb_friction");
    let mu = mu.ok().flatten().copied().unwrap_or(default);
    if role == Role::Proximity {
        text += &format!("{mu:?} ");
    }
    for group in properties.group_names() {
        for (name, value) in properties.properties_in_group(group).unwrap() {
            if name != "coulomb_friction" && name != "id" {
                text += &format!("{group} {name} {} ", shown(value));
            }
        }
    }
    text
}

fn shown(value: &PropertyValue) -> String {
    if let Some(x) = value.downcast_ref::<f64>() {
        format!("{x:?}")
    } else if let Some(x) = value.downcast_ref::<Rgba>() {
        // SDFormat keeps colours in single precision.
        format!("{:?}", x.rgba().map(|c| c as f32))
    } else if let Some(x) = value.downcast_ref::<HydroelasticType>() {
        format!("{x:?}")
    } else if let Some(x) = value.downcast_ref::<RenderLabel>() {
        format!("{x:?}")
    } else if let Some(x) = value.downcast_ref::<String>() {
        let path = std::path::Path::new(x);
        path.canonicalize()
            .unwrap_or_else(|_| path.into())
            .display()
            .to_string()
    } else if let Some(x) = value.downcast_ref::<BTreeSet<String>>() {
        format!("{x:?}")
    } else if let Some(x) = value.downcast_ref::<usize>() {
        x.to_string()
    } else if let Some(x) = value.downcast_ref::<bool>() {
        x.to_string()
    } else {
        value.type_name().into()
    }
}

fn pose(x: &Isometry3<f64>) -> String {
    let sign = if x.rotation.w < 0.0 { -1.0 } else { 1.0 };
    let r = x.rotation.coords * sign;
    format!("{:?} {:?}", x.translation.vector.as_slice(), r.as_slice())
}

/// Constraints, force elements, equalities, sites, cameras, keyframes, deformable bodies and
/// gravity as texts.
pub(super) fn elements(plant: &MultibodyPlant) -> Vec<String> {
    let body = |b: BodyIndex| format!("'{}'", plant.body(b).unwrap().name());
    let joint = |j: JointIndex| format!("'{}'", plant.joint(j).unwrap().name());
    let frame = |f: FrameIndex| {
        let f = plant.frame(f).unwrap();
        format!("{} {}", body(f.body()), pose(f.pose_in_body()))
    };
    let mut texts = vec![format!("'gravity' {:?}", plant.gravity().as_slice())];
    for constraint in plant.constraints() {
        texts.push(match constraint {
            Constraint::Coupler(c) => format!(
                "coupler {} {} {:?} {:?}",
                joint(c.joint0),
                joint(c.joint1),
                c.gear_ratio,
                c.offset
            ),
            Constraint::Ball(c) => format!(
                "ball {} {} {:?} {:?}",
                body(c.body_a),
                body(c.body_b),
                c.p_ap,
                c.p_bq
            ),
            Constraint::Weld(c) => format!(
                "weld {} {} {} {}",
                body(c.body_a),
                body(c.body_b),
                pose(&c.x_ap),
                pose(&c.x_bq)
            ),
            Constraint::Distance(c) => format!(
                "distance {} {} {:?}",
                body(c.body_a),
                body(c.body_b),
                (c.p_ap, c.p_bq, c.distance, c.stiffness, c.damping)
            ),
            Constraint::Tendon(c) => format!(
                "tendon {} {:?} {:?}",
                joint(c.joints[0]),
                c.joints.iter().map(|j| joint(*j)).collect::<String>(),
                (
                    &c.coefficients,
                    c.offset,
                    c.lower,
                    c.upper,
                    c.stiffness,
                    c.damping
                )
            ),
            other => format!("{other:?}"),
        });
    }
    for element in plant.force_elements() {
        texts.push(match element {
            ForceElement::RevoluteSpring {
                joint: j,
                nominal_angle,
                stiffness,
            } => {
                format!("spring {} {nominal_angle:?} {stiffness:?}", joint(*j))
            }
            ForceElement::PrismaticSpring {
                joint: j,
                nominal_position,
                stiffness,
            } => {
                format!("spring {} {nominal_position:?} {stiffness:?}", joint(*j))
            }
            ForceElement::DoorHinge { joint: j, config } => {
                format!("hinge {} {config:?}", joint(*j))
            }
            ForceElement::LinearSpringDamper {
                body_a,
                p_ap,
                body_b,
                p_bq,
                free_length,
                stiffness,
                damping,
            } => format!(
                "damper {} {} {:?}",
                body(*body_a),
                body(*body_b),
                (p_ap, p_bq, free_length, stiffness, damping)
            ),
            ForceElement::LinearBushingRollPitchYaw {
                frame_a,
                frame_c,
                torque_stiffness,
                torque_damping,
                force_stiffness,
                force_damping,
            } => format!(
                "bushing {} {} {:?}",
                frame(*frame_a),
                frame(*frame_c),
                (
                    torque_stiffness,
                    torque_damping,
                    force_stiffness,
                    force_damping
                )
            ),
            other => format!("{other:?}"),
        });
    }
    for equality in plant.model_equalities() {
        texts.push(format!(
            "equality '{}' {}",
            equality.name,
            match &equality.kind {
                EqualityKind::Weld(c) => format!(
                    "{} {} {}",
                    body(c.body_a),
                    body(c.body_b),
                    pose(&(c.x_ap * c.x_bq.inverse()))
                ),
                EqualityKind::Joint {
                    joint0,
                    joint1,
                    coefficients,
                } => format!(
                    "{} {:?} {coefficients:?}",
                    joint(*joint0),
                    joint1.map(joint)
                ),
                other => format!("{other:?}"),
            }
        ));
    }
    for site in plant.sites() {
        texts.push(format!(
            "site '{}' {} {}",
            site.name(),
            body(site.body()),
            pose(site.pose_in_body())
        ));
    }
    for c in plant.model_cameras() {
        let f = plant.frame(c.frame).unwrap();
        texts.push(format!(
            "camera '{}' {} {} {:?}",
            c.name,
            body(f.body()),
            pose(&(f.pose_in_body() * c.x_fc)),
            (
                c.width, c.height, c.fov_y, c.near, c.far, c.fps, c.rgb, c.depth
            )
        ));
    }
    for key in plant.keyframes() {
        texts.push(format!("key '{}'", key.name));
    }
    for deformable in plant.deformable_bodies() {
        texts.push(format!(
            "deformable '{}' {:?}",
            deformable.name(),
            deformable.config()
        ));
    }
    texts
}
