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
    } else if let Some(x) = value.downcast_ref::<MujocoContact>() {
        format!("{x:?}")
    } else {
        value.type_name().into()
    }
}

/// An actuator. That of Drake without a controller is a motor of MuJoCo.
pub(super) fn actuator(plant: &MultibodyPlant, a: &JointActuator) -> String {
    let name = |j: JointIndex| plant.joint(j).unwrap().name().to_string();
    let joints = a
        .joints()
        .map(|(j, ratio)| format!(" {} {ratio:?}", name(j)));
    let mut text: String = joints.collect();
    let body = |b: BodyIndex| plant.body(b).unwrap().name().to_string();
    for p in a.path().unwrap_or_default() {
        text += &format!(" {}", part(p, body));
    }
    let limit = a.effort_limit();
    let control = a.affine_control().copied();
    let motor = a.controller_gains().is_none().then(AffineControl::motor);
    let gear = control.map_or(1.0, |control| control.gear);
    let control = control.or(motor).map(|control| AffineControl {
        effort_range: control.effort_range.map(|x| x.clamp(-limit, limit)),
        ..control
    });
    let limit = a.controller_gains().map(|gains| (gains, limit));
    let rotor = (a.default_rotor_inertia(), a.default_gear_ratio() / gear);
    text += &format!(" {limit:?} {rotor:?} {control:?}");
    text
}

/// Returns the pose at positions of a floating joint.
fn free_pose(q: &[f64]) -> Isometry3<f64> {
    let r = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
    let r = nalgebra::UnitQuaternion::from_quaternion(r);
    Isometry3::from_parts(nalgebra::Vector3::new(q[4], q[5], q[6]).into(), r)
}

fn pose(x: &Isometry3<f64>) -> String {
    let sign = if x.rotation.w < 0.0 { -1.0 } else { 1.0 };
    let r = x.rotation.coords * sign;
    format!("{:?} {:?}", x.translation.vector.as_slice(), r.as_slice())
}

/// A part of the path of a tendon.
fn part(part: &TendonPart, name: impl Fn(BodyIndex) -> String) -> String {
    match part {
        TendonPart::Site { body, position } => format!("{} {position:?}", name(*body)),
        TendonPart::Wrap(wrap) => format!(
            "{} {} {:?} {:?}",
            name(wrap.body),
            pose(&wrap.pose),
            (wrap.shape, wrap.radius),
            wrap.side.map(|(body, position)| (name(body), position))
        ),
        other => format!("{other:?}"),
    }
}

/// Constraints, force elements, equalities, sites, cameras, keyframes, sensors, deformable bodies
/// and gravity as texts.
///
/// `resolved` gives the poses of bodies at which points without a position on body B are.
pub(super) fn elements(plant: &MultibodyPlant, resolved: Option<&[Isometry3<f64>]>) -> Vec<String> {
    let body = |b: BodyIndex| format!("'{}'", plant.body(b).unwrap().name());
    let joint = |j: JointIndex| format!("'{}'", plant.joint(j).unwrap().name());
    let frame = |f: FrameIndex| {
        let f = plant.frame(f).unwrap();
        format!("{} {}", body(f.body()), pose(f.pose_in_body()))
    };
    let mut texts = vec![format!("'gravity' {:?}", plant.gravity().as_slice())];
    let lifted = plant
        .bodies()
        .filter(|(_, b)| b.gravity_compensation() != 0.0);
    texts.extend(lifted.map(|(index, b)| {
        format!(
            "gravity compensation {} {:?}",
            body(index),
            b.gravity_compensation()
        )
    }));
    for (number, constraint) in plant.constraints().iter().enumerate() {
        let is_active = plant.is_default_constraint_active(number).unwrap();
        let text = match constraint {
            Constraint::Coupler(c) => format!(
                "coupler {} {} {:?} {:?}",
                joint(c.joint0),
                joint(c.joint1),
                c.gear_ratio,
                c.offset
            ),
            Constraint::Ball(c) => {
                let at_default = resolved.map(|poses| {
                    let x_ba = poses[c.body_b.index()].inv_mul(&poses[c.body_a.index()]);
                    x_ba.transform_point(&c.p_ap.into()).coords
                });
                let ends = (c.p_ap, c.p_bq.or(at_default));
                format!("ball {} {} {ends:?}", body(c.body_a), body(c.body_b))
            }
            Constraint::Weld(c) => format!(
                "weld {} {} {}",
                body(c.body_a),
                body(c.body_b),
                pose(&(c.x_ap * c.x_bq.inverse()))
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
                    c.lower - c.offset,
                    c.upper - c.offset,
                    c.stiffness,
                    // Hard limits have none.
                    c.damping * f64::from(u8::from(c.stiffness.is_finite()))
                )
            ),
            Constraint::SpatialTendon(c) => format!(
                "limits of {:?} {:?}",
                c.path.iter().map(|p| part(p, body)).collect::<Vec<_>>(),
                (c.lower, c.upper, c.stiffness, c.damping)
            ),
            Constraint::Polynomial(c) => {
                let tendons = c.tendons.each_ref().map(|tendon| match tendon {
                    Tendon::Fixed(joints) => {
                        let terms = joints.iter().map(|(j, x)| format!("{} {x:?}", joint(*j)));
                        terms.collect::<Vec<_>>()
                    }
                    Tendon::Spatial(path) => path.iter().map(|p| part(p, body)).collect(),
                });
                format!("polynomial {tendons:?} {:?}", super::tendons::absolute(c))
            }
        };
        texts.push(text + if is_active { "" } else { " off" });
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
            ForceElement::TendonSpring {
                joints,
                free_lengths,
                stiffness,
                damping,
            } => format!(
                "tendon spring {:?} {:?}",
                joints
                    .iter()
                    .map(|(j, x)| (joint(*j), x))
                    .collect::<Vec<_>>(),
                (free_lengths, stiffness, damping)
            ),
            ForceElement::SpatialTendon {
                path,
                free_lengths,
                stiffness,
                damping,
            } => format!(
                "spatial tendon {:?} {:?}",
                path.iter().map(|p| part(p, body)).collect::<Vec<_>>(),
                (free_lengths, stiffness, damping)
            ),
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
        let mut text = format!("key '{}'", key.name);
        // Joints that the keyframe does not name keep their defaults.
        let own = |j: JointIndex| key.positions.iter().find(|(k, _)| *k == j);
        let placed = |b: BodyIndex| key.free_poses.iter().find(|(k, _)| *k == b);
        let mut parts = vec![];
        for (index, moved) in plant.joints().filter(|(_, j)| j.num_positions() > 0) {
            let q = own(index).map_or(moved.default_positions(), |(_, q)| q);
            parts.push(match (moved.is_ephemeral(), placed(moved.child_body())) {
                (false, _) => format!(" {} {q:?}", joint(index)),
                (true, Some((b, x))) => format!(" {} {}", body(*b), pose(x)),
                (true, None) => format!(" {} {}", body(moved.child_body()), pose(&free_pose(q))),
            });
        }
        parts.sort();
        text += &parts.concat();
        for (actuator, input) in &key.controls {
            let name = plant.actuators()[actuator.index()].name();
            text += &format!(" {name} {input:?}");
        }
        texts.push(text);
    }
    let subject = |s: SensorSubject| match s {
        SensorSubject::Plant => "plant".into(),
        SensorSubject::Body(b) => body(b),
        SensorSubject::CenterOfMass(b) => format!("mass of {}", body(b)),
        SensorSubject::Site(number) => format!("'{}'", plant.sites()[number].name()),
        SensorSubject::Joint(j) => joint(j),
        SensorSubject::Actuator(a) => format!("'{}'", plant.actuators()[a.index()].name()),
    };
    for sensor in plant.model_sensors() {
        texts.push(format!(
            "sensor '{}' {} {} {:?} {:?} {:?}",
            sensor.name,
            sensor.kind,
            subject(sensor.subject),
            sensor.reference.map(subject),
            sensor.noise,
            sensor.cutoff
        ));
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
