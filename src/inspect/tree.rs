//! Draws a model as a tree of text.

use super::constraints::{self, is_bound};
use super::report::Inspected;
use std::error::Error;
use std::fmt::Write;
use tarragon::formats::MjcfSemantics;
use tarragon::framework::counted;
use tarragon::geometry::GeometryId;
use tarragon::multibody::{BodyIndex, Joint, JointIndex};

/// A joint's range, as short text.
fn range(joint: &Joint) -> String {
    let limits = joint
        .position_lower_limits()
        .iter()
        .zip(joint.position_upper_limits());
    let bounded = |(l, u): &(&f64, &f64)| is_bound(**l) || is_bound(**u);
    let ranges: Vec<String> = limits
        .filter(bounded)
        .map(|(l, u)| constraints::range(*l, *u))
        .collect();
    ranges.join(" ")
}

/// Draws models, their bodies below the joints that carry them, with masses and geometries.
///
/// `warnings` has the lines about what the parser has left out.
pub(super) fn draw(inspected: &Inspected, warnings: &[String]) -> Result<String, Box<dyn Error>> {
    let plant = &inspected.plant;
    let mut text = String::new();
    let models: Vec<String> = inspected
        .models
        .iter()
        .map(|m| inspected.model_name(*m))
        .collect();
    let reading = match inspected.mjcf_semantics {
        None => "",
        Some(MjcfSemantics::MuJoCo) => " (MJCF as MuJoCo reads it)",
        Some(MjcfSemantics::Drake) => " (MJCF as Drake reads it)",
    };
    writeln!(text, "models: {}{reading}", models.join(", "))?;
    writeln!(
        text,
        "{}, {}, {}, {}, {}, {:.6} kg",
        counted(plant.num_bodies(), "body"),
        counted(plant.num_joints(), "joint"),
        counted(plant.num_positions(), "position"),
        counted(plant.num_velocities(), "velocity"),
        counted(plant.actuators().len(), "actuator"),
        plant.calc_total_mass()
    )?;
    let mut children: Vec<Vec<(JointIndex, BodyIndex)>> = vec![vec![]; plant.num_bodies()];
    for (body, _) in plant.bodies() {
        if let Some(index) = plant.inboard_joint(body) {
            let joint = plant.joint(index)?;
            let parent = if joint.child_body() == body {
                joint.parent_body()
            } else {
                joint.child_body()
            };
            children[parent.index()].push((index, body));
        }
    }
    writeln!(text, "world{}", geometries(inspected, BodyIndex::WORLD)?)?;
    // Bodies to draw, each with the lines to its left.
    let mut stack: Vec<(JointIndex, BodyIndex, String, bool)> = vec![];
    push(&mut stack, &children[0], "");
    while let Some((index, body, left, last)) = stack.pop() {
        let joint = plant.joint(index)?;
        let found = plant.body(body)?;
        let branch = if last { "`-" } else { "|-" };
        let mut how = format!("{} '{}'", joint.kind().type_name(), joint.name());
        if let Some(axis) = joint.kind().axis() {
            write!(how, " about [{:.4} {:.4} {:.4}]", axis.x, axis.y, axis.z)?;
        }
        for part in [range(joint), passive(joint), motors(inspected, index)] {
            if !part.is_empty() {
                write!(how, " {part}")?;
            }
        }
        writeln!(
            text,
            "{left}{branch} {}  {:.6} kg{}  <- {how}",
            inspected.body_name(body)?,
            found.spatial_inertia().mass(),
            geometries(inspected, body)?
        )?;
        let left = format!("{left}{}", if last { "   " } else { "|  " });
        push(&mut stack, &children[body.index()], &left);
    }
    for body in plant.deformable_bodies() {
        writeln!(
            text,
            "deformable {}::{}  {:.6} kg, {}, {}, {:?}",
            inspected.model_name(body.model_instance()),
            body.name(),
            body.mass(),
            counted(body.num_vertices(), "vertex"),
            counted(body.num_elements(), "tetrahedron"),
            body.config().material_model
        )?;
    }
    let inspector = inspected.scene.model_inspector();
    for id in inspector.all_driven_geometry_ids() {
        if let Some(skin) = inspector.skin(id)? {
            let bones = counted(skin.bones().len(), "bone");
            writeln!(text, "skin {}  {bones}", inspector.name(id)?)?;
        }
    }
    for constraint in inspected.constraints()? {
        writeln!(text, "constraint {}", constraint.text)?;
    }
    for equality in inspected.equalities()? {
        writeln!(text, "equality that does not act: {}", equality.text)?;
    }
    let inactive = inspected.inactive_constraints()?.len();
    if inactive > 0 {
        let all = counted(plant.constraints().len(), "constraint");
        writeln!(text, "{inactive} of {all} inactive")?;
    }
    if !warnings.is_empty() {
        let count = counted(inspected.diagnostics.len(), "warning");
        writeln!(text, "{count}:")?;
    }
    for line in warnings {
        writeln!(text, "  {line}")?;
    }
    Ok(text.trim_end().to_string())
}

fn push(
    stack: &mut Vec<(JointIndex, BodyIndex, String, bool)>,
    children: &[(JointIndex, BodyIndex)],
    left: &str,
) {
    for (i, (joint, body)) in children.iter().enumerate().rev() {
        stack.push((*joint, *body, left.to_string(), i + 1 == children.len()));
    }
}

/// Armature and dry friction of a joint that has some.
fn passive(joint: &Joint) -> String {
    let (armature, friction) = (joint.armature(), joint.dry_friction());
    let parts = [("armature", armature), ("dry friction", friction)];
    let parts = parts.into_iter().filter(|(_, value)| *value != 0.0);
    let parts: Vec<String> = parts
        .map(|(what, value)| format!("{what} {value}"))
        .collect();
    parts.join(" ")
}

fn motors(inspected: &Inspected, joint: JointIndex) -> String {
    let motors = inspected.plant.actuators().iter().filter_map(|motor| {
        let coupled = motor.coupled_joints();
        let ratio = if motor.joint() == Some(joint) {
            1.0
        } else {
            coupled.iter().find(|(other, _)| *other == joint)?.1
        };
        let (name, limit) = (motor.name(), motor.effort_limit() * ratio.abs());
        let others = if coupled.is_empty() {
            ""
        } else {
            " with others"
        };
        let limit = if is_bound(limit) {
            format!("up to {limit}")
        } else {
            "without an effort limit".into()
        };
        Some(format!("driven by '{name}'{others} {limit}"))
    });
    motors.collect::<Vec<_>>().join(", ")
}

/// Number of a body's geometries in each role.
fn geometries(inspected: &Inspected, body: BodyIndex) -> Result<String, Box<dyn Error>> {
    let plant = &inspected.plant;
    let (visuals, collisions) = (
        plant.visual_geometries(body),
        plant.collision_geometries(body),
    );
    let inspector = inspected.scene.model_inspector();
    let names = |ids: &[GeometryId]| -> Result<String, Box<dyn Error>> {
        let names = ids.iter().map(|id| Ok(inspector.shape(*id)?.type_name()));
        let mut names = names.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
        names.sort_unstable();
        let counted: Vec<String> = names
            .chunk_by(|a, b| a == b)
            .map(|same| match same.len() {
                1 => same[0].to_string(),
                n => format!("{n} {}", same[0]),
            })
            .collect();
        Ok(counted.join(" "))
    };
    let mut text = String::new();
    for (what, ids) in [("visual", visuals), ("collision", collisions)] {
        if !ids.is_empty() {
            write!(text, ", {what}: {}", names(ids)?)?;
        }
    }
    Ok(text)
}
